// Large requests, one at a time: what they need in memory while they are read and predicted is there once, however many
// wait. Every other one is the smallest that waits, the others come in order of arrival.

import type { Answer } from "./answer.ts";
import { Refusal } from "./refusal.ts";
import type { Job } from "./work.ts";

/** Does a large request, here or in another thread. */
export type DoLarge = (job: Job) => Promise<Answer>;

interface Waiting {
  readonly job: Job;
  gone(): boolean;
  done(answer: Answer): void;
  failed(error: unknown): void;
}

export class LargeLane {
  readonly #work: DoLarge;
  readonly #line: Waiting[] = [];
  #turns = 0;
  #running = false;

  constructor(work: DoLarge) {
    this.#work = work;
  }

  /** Requests that wait. */
  get waiting(): number {
    return this.#line.length;
  }

  answer(job: Job, gone: () => boolean): Promise<Answer> {
    return new Promise((done, failed) => {
      this.#line.push({ job, gone, done, failed });
      if (!this.#running) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#running = true;
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      if (next.gone()) {
        next.failed(new Refusal(499, "the client went away"));
        continue;
      }
      try {
        next.done(await this.#work(next.job));
      } catch (error) {
        next.failed(error);
      }
    }
    this.#running = false;
  }

  #next(): Waiting | undefined {
    const line = this.#line;
    let at = 0;
    if (this.#turns++ % 2 === 0)
      for (let i = 1; i < line.length; i++) {
        if (bytesOf(line[i] as Waiting) < bytesOf(line[at] as Waiting)) at = i;
      }
    return line.splice(at, 1)[0];
  }
}

const bytesOf = ({ job }: Waiting): number => job.bytes.length;
