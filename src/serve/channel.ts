// A thread with a program of its own, and the messages between the two. node:worker_threads in Node and Bun, the Worker of
// the web in Deno: its node:worker_threads looks at every byte of a message by itself (Deno 2.9: 16 s for 22 MB, 0.07 s
// with its Worker).

import { Worker as NodeWorker, parentPort, type WorkerOptions } from "node:worker_threads";
import { keepThreadsSmall } from "./garbage.ts";

/** The other side of a channel. */
export interface Side<In, Out> {
  send(message: Out, transfer?: readonly ArrayBuffer[]): void;
  /** Takes the messages from now on. */
  listen(take: (message: In) => void): void;
}

/** A thread as the one that started it sees it. */
export interface Thread<In, Out> extends Side<In, Out> {
  /** Settles when it has ended, with the error that ended it if there was one. */
  readonly ended: Promise<unknown>;
  end(): void;
}

const inDeno = "Deno" in globalThis;

/** Starts a program; `megabytes` bound its heap where the runtime knows how to. */
export function startThread<In, Out>(program: URL, megabytes: number): Thread<In, Out> {
  keepThreadsSmall();
  return inDeno ? webThread(program) : nodeThread(program, megabytes);
}

function nodeThread<In, Out>(program: URL, megabytes: number): Thread<In, Out> {
  const options: WorkerOptions & { smol: boolean } = {
    resourceLimits: { maxOldGenerationSizeMb: megabytes },
    smol: true, // Bun's word for a heap that is kept small
  };
  const worker = new NodeWorker(program, options);
  const ended = new Promise<unknown>((done) => {
    worker.once("error", done);
    worker.once("exit", () => done(undefined));
  });
  // The server keeps the program alive, not its thread.
  worker.unref();
  return {
    ended,
    send: (message, transfer = []) => worker.postMessage(message, transfer),
    listen: (take) => void worker.on("message", take),
    end: () => void worker.terminate(),
  };
}

function webThread<In, Out>(program: URL): Thread<In, Out> {
  const worker = new Worker(program, { type: "module" });
  let finish = (_?: unknown): void => {};
  const ended = new Promise<unknown>((done) => {
    finish = done;
  });
  worker.onerror = (event) => {
    event.preventDefault();
    finish(new Error(event.message));
  };
  return {
    ended,
    send: (message, transfer = []) => worker.postMessage(message, [...transfer]),
    listen: (take) => {
      worker.onmessage = (event) => take(event.data);
    },
    end: () => {
      worker.terminate();
      finish();
    },
  };
}

/** The side of the thread's program. */
export function ownSide<In, Out>(): Side<In, Out> {
  if (!inDeno && parentPort) {
    const port = parentPort;
    return {
      send: (message, transfer = []) => port.postMessage(message, transfer),
      listen: (take) => void port.on("message", take),
    };
  }
  const own = globalThis as unknown as Worker;
  return {
    send: (message, transfer = []) => own.postMessage(message, [...transfer]),
    listen: (take) => own.addEventListener("message", ({ data }) => take(data)),
  };
}
