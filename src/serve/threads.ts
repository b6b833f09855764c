// A thread with a program of its own, whose methods the thread that started it calls by name: one after another, answered
// in their order. node:worker_threads in Node and Bun, the Worker of the web in Deno: its node:worker_threads looks at every
// byte of a message by itself (Deno 2.9: 16 s for 22 MB, 0.07 s with its Worker).

import { Worker as NodeWorker, parentPort, type WorkerOptions } from "node:worker_threads";
import { keepThreadsSmall } from "./garbage.ts";
import { HttpError } from "./http.ts";

/** Programs of threads: their source in a clone, and their file in the package. */
const PROGRAMS = {
  bulk: ["./bulkthread.ts", "serve-thread.js"],
  learning: ["./learning/thread.ts", "learn-thread.js"],
} as const;

function programOf(name: keyof typeof PROGRAMS): URL {
  const here = import.meta.url;
  const [source, built] = PROGRAMS[name];
  if (here.endsWith(".ts")) return new URL(source, here);
  return new URL(here.includes("/chunks/") ? `../${built}` : built, here);
}

export type Methods = Readonly<Record<string, (argument: never) => unknown>>;

type Call = { readonly method: string; readonly argument: unknown };

/** An error as plain data; `status` where it is an HttpError. */
interface Fault {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
  readonly code?: string;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

type Answer = { readonly value: unknown } | { readonly fault: Fault };

const inDeno = "Deno" in globalThis;

function startWorker(program: URL, megabytes: number): NodeWorker | Worker {
  if (inDeno) return new Worker(program, { type: "module" });
  const options: WorkerOptions & { smol: boolean } = {
    resourceLimits: { maxOldGenerationSizeMb: megabytes },
    smol: true, // Bun's word for a heap that is kept small
  };
  return new NodeWorker(program, options);
}

export class Thread<M extends Methods> {
  readonly #worker: NodeWorker | Worker;
  #waiting: { done(value: never): void; failed(error: unknown): void }[] = [];
  #retired = false;
  ended = false;

  /** Starts a program; `megabytes` bound its heap where the runtime knows how to. */
  constructor(program: keyof typeof PROGRAMS, megabytes: number) {
    keepThreadsSmall();
    const answered = (answer: Answer): void => {
      const waiting = this.#waiting.shift();
      if ("fault" in answer) waiting?.failed(errorOf(answer.fault));
      else waiting?.done(answer.value as never);
      if (this.#retired && this.#waiting.length === 0) this.end();
    };
    const ended = (error: unknown = new Error(`the ${program} thread ended`)): void => {
      this.ended = true;
      for (const { failed } of this.#waiting.splice(0)) failed(error);
    };
    const worker = startWorker(programOf(program), megabytes);
    this.#worker = worker;
    if (worker instanceof NodeWorker) {
      worker.on("message", answered);
      worker.once("error", ended).once("exit", () => ended());
      return;
    }
    worker.onmessage = (event) => answered(event.data);
    worker.onerror = (event) => {
      event.preventDefault();
      ended(new Error(event.message));
    };
  }

  call<Name extends keyof M & string>(
    method: Name,
    argument: Parameters<M[Name]>[0],
    transfer: readonly ArrayBuffer[] = [],
  ): Promise<Awaited<ReturnType<M[Name]>>> {
    return new Promise((done, failed) => {
      if (this.ended) throw new Error("found a thread that has ended, expected one that runs");
      this.#waiting.push({ done, failed });
      this.#worker.postMessage({ method, argument } satisfies Call, [...transfer]);
    });
  }

  retire(): void {
    this.#retired = true;
    if (this.#waiting.length === 0) this.end();
  }

  /** Ends now; calls that wait fail with the error. */
  end(error?: unknown): unknown {
    for (const { failed } of this.#waiting.splice(0)) failed(error ?? new Error("the thread was ended"));
    this.ended = true;
    return this.#worker.terminate();
  }
}

function errorOf({ status, message, headers, ...others }: Fault): Error {
  if (status !== undefined) return new HttpError(status, message, headers);
  return Object.assign(new Error(message), others);
}

function faultOf(error: unknown): Fault {
  const { name = "Error", message = String(error), stack, code, ...rest } = (error ?? {}) as Partial<Fault>;
  return { name, message, stack, code, ...(error instanceof HttpError && rest) };
}

/** Whole buffers in the fields of an answer: they are handed over, not copied. */
export function buffersIn(value: unknown): ArrayBuffer[] {
  return Object.values(value ?? {})
    .flat()
    .flatMap((each) => (each instanceof Uint8Array ? [each] : []))
    .filter(({ byteLength, buffer }) => byteLength === buffer.byteLength)
    .map(({ buffer }) => buffer as ArrayBuffer);
}

/** Makes this thread answer the calls of the one that started it. */
export function answerCalls(methods: Methods): void {
  const scope = globalThis as unknown as Worker;
  const post = (answer: Answer, transfer: ArrayBuffer[]): void =>
    parentPort && !inDeno ? parentPort.postMessage(answer, transfer) : scope.postMessage(answer, transfer);
  const next = oneByOne();
  const take = ({ method, argument }: Call): void => {
    void next(async () => {
      try {
        const value = await methods[method](argument as never);
        post({ value }, buffersIn(value));
      } catch (error) {
        post({ fault: faultOf(error) }, []);
      }
    });
  };
  if (parentPort && !inDeno) parentPort.on("message", take);
  else scope.addEventListener("message", ({ data }) => take(data));
}

/** Does one piece of work after another, whether those before went well or not. */
export function oneByOne(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = last.then(work);
    last = done.catch(() => {});
    return done;
  };
}
