// Inputs wait here for their tagger. A turn is limited by work, not by inputs: a long text is a turn of its own, many
// short ones that arrived together are predicted together. Every other turn is led by the request that has waited
// longest, the others by the one with the least left to do, so a text by itself does not wait behind batches and no
// batch waits for ever. Between two turns the runtime gets to its sockets.

import type { Input } from "../base/input.ts";
import { type PredictOptions, predictOptions } from "../base/prediction.ts";
import { later } from "../base/progress.ts";
import { MOST_LEFT_OUT } from "../base/reasons.ts";
import { HttpError, wentAway } from "./http.ts";
import type { Found, ServedModel, TextInput } from "./project.ts";

export interface Inputs {
  readonly model: ServedModel;
  readonly inputs: readonly Input[];
  readonly options: PredictOptions;
  /** Takes the labels of one input after another, in order; may refuse, which ends the request. */
  each(found: Found, index: number): void;
  gone?(): boolean;
}

interface Job extends Inputs {
  readonly works: readonly number[];
  next: number;
  /** Work of the inputs from `next` on. */
  left: number;
  done(): void;
  failed(error: unknown): void;
}

type Piece = { job: Job; from: number; to: number };

/** Work counts bytes of text: about 0.2 us each. A turn takes so much of all requests, and of one where others wait. */
const TURN = 32 << 10;
const PIECE = 8 << 10;
/** Cost of an input however short it is, and of each label of the model. */
const INPUT_WORK = 256;
const LABEL_WORK = 1 / 8;
/** A feature beside a byte of text. */
const FEATURE_WORK = 16;

/** An input that is explained is predicted again without each of its weightiest words. */
const EXPLAINED_TIMES = 1 + MOST_LEFT_OUT;

function workOf(input: Input, { labels }: ServedModel): number {
  const own = INPUT_WORK + labels * LABEL_WORK;
  if (typeof input === "string") return own + input.length;
  const { indices, text = "", vector = [], vectors = {} } = input as Partial<TextInput> & { indices?: unknown };
  const beside = [vector, ...Object.values(vectors)].reduce((sum, { length }) => sum + length, 0);
  const features = Array.isArray(indices) ? indices.length : Object.keys(input).length;
  return own + String(text).length + (features + beside) * FEATURE_WORK;
}

export class PredictionQueue {
  readonly #jobs = new Set<Job>();
  #turns = 0;
  #running = false;

  get waiting(): number {
    let inputs = 0;
    for (const job of this.#jobs) inputs += job.inputs.length - job.next;
    return inputs;
  }

  /** Predicts all inputs; what the tagger or `each` refuses ends the request, and no other. */
  predict(asked: Inputs): Promise<void> {
    if (asked.inputs.length === 0) return Promise.resolve();
    const times = asked.options.explain === undefined ? 1 : EXPLAINED_TIMES;
    const works = asked.inputs.map((input) => times * workOf(input, asked.model));
    const left = works.reduce((sum, work) => sum + work, 0);
    return new Promise((done, failed) => {
      this.#jobs.add({ ...asked, works, next: 0, left, done, failed });
      if (!this.#running) {
        this.#running = true;
        later(this.#turn);
      }
    });
  }

  readonly #turn = async (): Promise<void> => {
    for (const job of this.#jobs) if (job.gone?.()) this.#end(job, wentAway());
    const pieces = this.#take();
    if (pieces.length > 0) await this.#predict(pieces);
    if (this.#jobs.size > 0) later(this.#turn);
    else this.#running = false;
  };

  /** The inputs of a turn: all for the same model, with the same options. */
  #take(): Piece[] {
    const [oldest, ...others] = this.#jobs;
    if (oldest === undefined) return [];
    others.sort((a, b) => a.left - b.left);
    const shortest = others[0];
    const lead = this.#turns++ % 2 === 0 && shortest && shortest.left < oldest.left ? shortest : oldest;
    const pieces: Piece[] = [];
    let room = TURN;
    for (const job of new Set([lead, ...others, oldest])) {
      const first = job.works[job.next];
      if ((job !== lead && first > room) || !together(job, lead)) continue;
      const piece = this.#cut(job, Math.min(room, this.#jobs.size === 1 ? TURN : PIECE));
      room -= piece.work;
      pieces.push(piece);
    }
    return pieces;
  }

  /** The next inputs of a job: one at least, as many as there is room for. */
  #cut(job: Job, room: number): Piece & { work: number } {
    const from = job.next;
    let work = 0;
    do work += job.works[job.next++];
    while (job.next < job.inputs.length && work + job.works[job.next] <= room);
    job.left -= work;
    return { job, from, to: job.next, work };
  }

  async #predict(pieces: readonly Piece[]): Promise<void> {
    const [{ job: first, from: at }] = pieces;
    const inputs = pieces.flatMap(({ job, from, to }) => job.inputs.slice(from, to));
    let found: readonly Found[];
    try {
      found = await first.model.tagger.predictMany(inputs, first.options);
    } catch (error) {
      if (inputs.length === 1) return this.#end(first, errorOf(error, first, at));
      // One by one: an input that the tagger refuses fails its own request and no other.
      for (const { job, from, to } of pieces)
        for (let i = from; i < to && this.#jobs.has(job); i++) await this.#predict([{ job, from: i, to: i + 1 }]);
      return;
    }
    let given = 0;
    for (const { job, from, to } of pieces) {
      this.#give(job, found.slice(given, given + to - from), from);
      given += to - from;
    }
  }

  #give(job: Job, found: readonly Found[], from: number): void {
    try {
      found.forEach((labels, i) => {
        job.each(labels, from + i);
      });
    } catch (error) {
      this.#end(job, error);
      return;
    }
    if (from + found.length === job.inputs.length) this.#end(job);
  }

  #end(job: Job, error?: unknown): void {
    if (!this.#jobs.delete(job)) return;
    if (error === undefined) job.done();
    else job.failed(error);
  }
}

const together = ({ model, options }: Job, other: Job): boolean =>
  model === other.model && predictOptions.every((name) => options[name] === other.options[name]);

/** A wrong input is the client's to mend; any other error is ours, and stays what it is. */
function errorOf(error: unknown, { inputs }: Job, index: number): unknown {
  const { name, message } = error as Error;
  const place = inputs.length > 1 ? `input ${index}: ` : "";
  return name === "ArgumentError" ? new HttpError(400, `${place}${message}`) : error;
}
