// Large requests in a thread of their own (thread.ts), started when the first one comes. It is sent each model when it
// needs it; if it fails, its request is lost and the next one gets a new thread.

import { Worker } from "node:worker_threads";
import type { LabelLists } from "../metrics/allowed.ts";
import type { Answer } from "./answer.ts";
import type { Limits } from "./limits.ts";
import type { Project, ServedModel } from "./project.ts";
import { Refusal } from "./refusal.ts";
import type { ThreadAnswer, ThreadAsked, ThreadStart } from "./thread.ts";
import type { Job } from "./work.ts";

const MEGABYTE = 2 ** 20;
/** Heap of the thread: what it needs by itself, and for each byte of a body. Only Node keeps to it. */
const HEAP_MEGABYTES = 192;
const HEAP_PER_BYTE = 64;

/** Where the thread's program is: beside this one in the package, a source file in a clone. */
function program(): URL {
  const here = import.meta.url;
  if (here.endsWith(".ts")) return new URL("./thread.ts", here);
  return new URL(here.includes("/chunks/") ? "../serve-thread.js" : "./serve-thread.js", here);
}

export class OtherThread {
  readonly #projects: readonly Project[];
  readonly #start: ThreadStart;
  #worker: Worker | undefined;
  /** The models that the thread has. */
  #loaded: (ServedModel | undefined)[] = [];

  constructor(projects: readonly Project[], limits: Limits, lists: LabelLists) {
    this.#projects = projects;
    this.#start = {
      limits,
      lists,
      projects: projects.map(({ language, subjects }) => ({
        language,
        ...(subjects ? { subjects: subjects.rows } : {}),
      })),
    };
  }

  /** Does a job; one at a time. */
  readonly answer = async (job: Job): Promise<Answer> => {
    const { model } = this.#projects[job.project] as Project;
    if (this.#loaded[job.project] !== model) {
      await this.#ask({ project: job.project, model: model.bytes as Uint8Array });
      this.#loaded[job.project] = model;
    }
    const said = await this.#ask({ job });
    if ("answer" in said) return said.answer;
    throw new Error("found no answer from the thread for large requests, expected one");
  };

  #ask(asked: ThreadAsked): Promise<ThreadAnswer> {
    const worker = this.#running();
    return new Promise((done, failed) => {
      const settle = (outcome: () => void): void => {
        worker.removeListener("message", take).removeListener("error", fail).removeListener("exit", leave);
        outcome();
      };
      const take = (said: ThreadAnswer): void =>
        settle(() => {
          if ("refusal" in said) {
            const { status, sentence, headers } = said.refusal;
            failed(new Refusal(status, sentence, headers));
          } else if ("fault" in said) failed(new Error(said.fault));
          else done(said);
        });
      const fail = (error: unknown): void => settle(() => failed(error));
      const leave = (): void => fail(new Error("the thread for large requests ended"));
      worker.on("message", take).on("error", fail).on("exit", leave).postMessage(asked);
    });
  }

  #running(): Worker {
    if (this.#worker) return this.#worker;
    const heap = Math.ceil((HEAP_PER_BYTE * this.#start.limits.bodyBytes) / MEGABYTE);
    const worker = new Worker(program(), {
      workerData: this.#start,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MEGABYTES + heap },
    });
    const forget = (): void => {
      if (this.#worker !== worker) return;
      this.#worker = undefined;
      this.#loaded = [];
    };
    // Listeners of its own: an error that nobody hears would end the server.
    worker.on("error", forget).on("exit", forget).unref();
    this.#worker = worker;
    return worker;
  }

  stop(): void {
    void this.#worker?.terminate();
  }
}
