// Large requests in a thread of their own (thread.ts), started when the first one comes. It is sent each model when it
// needs it; if it fails, its request is lost and the next one gets a new thread.

import type { LabelLists } from "../metrics/allowed.ts";
import type { Answer } from "./answer.ts";
import { startThread, type Thread } from "./channel.ts";
import { HEAP_PER_BYTE, type Limits } from "./limits.ts";
import type { Project, ServedModel } from "./project.ts";
import { busy, Refusal } from "./refusal.ts";
import type { ThreadAnswer, ThreadAsked, ThreadStart } from "./thread.ts";
import type { Job } from "./work.ts";

const MEGABYTE = 2 ** 20;
/** Heap of the thread: what it needs by itself. Only Node keeps to it. */
const HEAP_MEGABYTES = 192;

/** Where the thread's program is: beside this one in the package, a source file in a clone. */
function program(): URL {
  const here = import.meta.url;
  if (here.endsWith(".ts")) return new URL("./thread.ts", here);
  return new URL(here.includes("/chunks/") ? "../serve-thread.js" : "./serve-thread.js", here);
}

type Other = Thread<ThreadAnswer, ThreadAsked>;

export class OtherThread {
  readonly #projects: readonly Project[];
  readonly #start: ThreadStart;
  #thread: Other | undefined;
  /** The models that the thread has. */
  #loaded: (ServedModel | undefined)[] = [];
  /** Who waits for its next message. */
  #waiting: { done(said: ThreadAnswer): void; failed(error: unknown): void } | undefined;

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
    if (!this.#thread) {
      this.#thread = this.#begin();
      await this.#ask({ start: this.#start });
    }
    const { model } = this.#projects[job.project] as Project;
    if (this.#loaded[job.project] !== model) {
      await this.#ask({ project: job.project, model: model.bytes as Uint8Array });
      this.#loaded[job.project] = model;
    }
    // Bytes of a buffer that is theirs alone are handed over, not copied.
    const whole = job.bytes.byteLength === job.bytes.buffer.byteLength;
    const said = await this.#ask({ job }, whole ? [job.bytes.buffer as ArrayBuffer] : []);
    if ("answer" in said) return said.answer;
    if ("refusal" in said) {
      const { status, sentence, headers } = said.refusal;
      throw new Refusal(status, sentence, headers);
    }
    throw new Error("fault" in said ? said.fault : "found no answer from the thread, expected one");
  };

  #ask(asked: ThreadAsked, transfer: ArrayBuffer[] = []): Promise<ThreadAnswer> {
    return new Promise((done, failed) => {
      this.#waiting = { done, failed };
      this.#thread?.send(asked, transfer);
    });
  }

  #begin(): Other {
    const { limits } = this.#start;
    const megabytes = HEAP_MEGABYTES + Math.ceil((HEAP_PER_BYTE * limits.bodyBytes) / MEGABYTE);
    const thread: Other = startThread(program(), megabytes);
    thread.listen((said) => {
      const waiting = this.#waiting;
      this.#waiting = undefined;
      waiting?.done(said);
    });
    void thread.ended.then((error) => {
      if (this.#thread === thread) this.#thread = undefined;
      this.#loaded = [];
      this.#waiting?.failed(error ?? new Error("the thread for large requests ended"));
      this.#waiting = undefined;
    });
    return thread;
  }

  stop(): void {
    this.#waiting?.failed(busy("the server is stopping"));
    this.#waiting = undefined;
    this.#thread?.end();
  }
}
