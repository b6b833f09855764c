// Inputs wait here for the tagger. A turn takes a few from each request in order of arrival, so a text by itself
// does not wait behind a batch of a thousand, and what arrived together is predicted together. Between two turns
// the runtime gets to its sockets. The queue is bounded: what does not fit is refused at once.

import { busy, Refusal } from "./refusal.ts";
import type { FoundLabel, Tagger, TaggerInput, TaggerOptions } from "./tagger.ts";

type Found = readonly FoundLabel[];

interface Job {
  readonly inputs: readonly TaggerInput[];
  readonly options: TaggerOptions;
  readonly found: Found[];
  /** The first input that has not been taken. */
  next: number;
  done(found: Found[]): void;
  failed(error: unknown): void;
}

/** Some inputs of a job. */
interface Piece {
  job: Job;
  inputs: readonly TaggerInput[];
}

/** Inputs of one request, and of all, in one turn. */
const PIECE = 8;
const TURN = 32;

/** Where there is no setImmediate a timer does. */
const later: (work: () => void) => void =
  (globalThis as { setImmediate?: (work: () => void) => void }).setImmediate ??
  ((work) => setTimeout(work, 0));

export class PredictionQueue {
  readonly #tagger: Tagger;
  readonly #most: number;
  readonly #jobs: Job[] = [];
  #waiting = 0;
  #running = false;

  /** At most `most` inputs wait; one request that is longer still gets through when nothing else waits. */
  constructor(tagger: Tagger, most: number) {
    this.#tagger = tagger;
    this.#most = most;
  }

  /** Inputs that wait. */
  get waiting(): number {
    return this.#waiting;
  }

  predict(inputs: readonly TaggerInput[], options: TaggerOptions): Promise<Found[]> {
    if (inputs.length === 0) return Promise.resolve([]);
    if (this.#waiting > 0 && this.#waiting + inputs.length > this.#most)
      return Promise.reject(busy(`${this.#waiting} inputs are waiting`));
    return new Promise((done, failed) => {
      this.#jobs.push({ inputs, options, found: [], next: 0, done, failed });
      this.#waiting += inputs.length;
      if (!this.#running) {
        this.#running = true;
        later(this.#turn);
      }
    });
  }

  readonly #turn = async (): Promise<void> => {
    const pieces = this.#take();
    await this.#predict(pieces);
    if (this.#jobs.length > 0) later(this.#turn);
    else this.#running = false;
  };

  /** The inputs of a turn, all with the same options. */
  #take(): Piece[] {
    const pieces: Piece[] = [];
    const options = this.#jobs[0]?.options as TaggerOptions;
    const unfinished: Job[] = [];
    for (let taken = 0; taken < TURN; ) {
      const job = this.#jobs[0];
      if (job?.options.topK !== options.topK || job.options.threshold !== options.threshold) break;
      this.#jobs.shift();
      const inputs = job.inputs.slice(job.next, job.next + Math.min(PIECE, TURN - taken));
      pieces.push({ job, inputs });
      job.next += inputs.length;
      taken += inputs.length;
      this.#waiting -= inputs.length;
      if (job.next < job.inputs.length) unfinished.push(job);
    }
    this.#jobs.push(...unfinished);
    return pieces;
  }

  async #predict(pieces: readonly Piece[]): Promise<void> {
    const [first] = pieces as [Piece];
    const inputs = pieces.length === 1 ? first.inputs : pieces.flatMap((piece) => piece.inputs);
    try {
      const found = await this.#tagger.predictMany(inputs, first.job.options);
      let at = 0;
      for (const piece of pieces) {
        for (let i = 0; i < piece.inputs.length; i++) piece.job.found.push(found[at++] as Found);
      }
    } catch {
      for (const piece of pieces) await this.#oneByOne(piece);
    }
    for (const { job } of pieces) if (job.found.length === job.inputs.length) job.done(job.found);
  }

  /** An input that the tagger refuses fails its own request and no other. */
  async #oneByOne({ job, inputs }: Piece): Promise<void> {
    const begin = job.found.length;
    for (const [i, input] of inputs.entries()) {
      try {
        const [found] = await this.#tagger.predictMany([input], job.options);
        job.found.push(found as Found);
      } catch (error) {
        this.#drop(job);
        job.failed(refusalOf(error, job.inputs.length > 1 ? `input ${begin + i}: ` : ""));
        return;
      }
    }
  }

  /** Forgets what is left of a job. */
  #drop(job: Job): void {
    const place = this.#jobs.indexOf(job);
    if (place < 0) return;
    this.#jobs.splice(place, 1);
    this.#waiting -= job.inputs.length - job.next;
  }
}

/** What is wrong with an input is the client's to mend; anything else is ours, and stays what it is. */
function refusalOf(error: unknown, place: string): unknown {
  const { name, message } = error as Error;
  return name === "ArgumentError" ? new Refusal(400, `${place}${message}`) : error;
}
