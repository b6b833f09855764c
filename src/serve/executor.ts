// From a body to the reply: read, predict, write. The same in the thread of the sockets and in that of large requests.

import type { LabelLists } from "../base/prediction.ts";
import { parseSuggest, parseSuggestBatch } from "./annif.ts";
import type { Body } from "./body.ts";
import { BodyWriter, HttpError, type Reply, refuse, wentAway } from "./http.ts";
import { type Limits, SMALL } from "./limits.ts";
import type { Found, Project } from "./project.ts";
import { parseQuestion, type Question } from "./question.ts";
import { PredictionQueue } from "./queue.ts";

export type JobKind = "predict" | "suggest" | "suggest-batch";

const readers: Readonly<Record<JobKind, (body: Body, project: Project, limits: Limits) => Question>> = {
  predict: (body, _, { batch }) => parseQuestion(body, batch),
  suggest: parseSuggest,
  "suggest-batch": parseSuggestBatch,
};

/** A request that has arrived whole: plain data, so that it can go to another thread. */
export interface Job extends Body {
  readonly kind: JobKind;
  readonly project: number;
}

/** Below this a threshold without topK may let every label through. */
const LOW_THRESHOLD = 0.01;

export class Executor {
  readonly #lists: LabelLists;
  readonly #queue = new PredictionQueue();

  constructor(
    private readonly projects: readonly Project[],
    private readonly limits: Limits,
    { allow, deny }: LabelLists = {},
  ) {
    this.#lists = { allow, deny };
  }

  get waiting(): number {
    return this.#queue.waiting;
  }

  read(job: Job): Question {
    return readers[job.kind](job, this.projects[job.project], this.limits);
  }

  /** True for a question of so little work that nobody notices it. */
  isSmall({ inputs, options: { topK, threshold = 0, recall, explain } }: Question, project: number): boolean {
    if (explain !== undefined) return false;
    const { labels } = this.projects[project].model;
    const low = recall !== undefined || (typeof threshold === "number" && threshold < LOW_THRESHOLD);
    const depth = Math.min(labels, topK ?? (low ? labels : 1));
    return inputs.length <= SMALL.inputs && inputs.length * depth <= SMALL.labels;
  }

  async answer(
    { inputs, options, form }: Question,
    project: number,
    gone: () => boolean = () => false,
  ): Promise<Reply> {
    const { model } = this.projects[project];
    const { topK } = options;
    if (topK !== undefined) this.#checkLabels(inputs.length * Math.min(topK, model.labels));
    const writer = new BodyWriter();
    let labels = 0;
    writer.add(form.open);
    await this.#queue.predict({
      model,
      inputs,
      options: { ...options, ...this.#lists },
      gone,
      each: (found, i) => {
        labels += found.length;
        this.#checkLabels(labels);
        checkNumbers(found, inputs.length > 1 ? `input ${i}` : "the input");
        writer.add(`${i > 0 ? form.separator : ""}${form.one(found, i)}`);
      },
    });
    writer.add(form.close);
    return { status: 200, headers: { "content-type": form.type }, body: writer.body(), inputs: inputs.length };
  }

  #checkLabels(labels: number): void {
    const { answerLabels } = this.limits;
    const most = `at most ${answerLabels}: fewer inputs, a smaller topK or a higher threshold`;
    if (labels > answerLabels) refuse("the answer", `${labels} labels`, most);
  }
}

/** Feature values can be so large that no probability comes of them. */
function checkNumbers(found: Found, where: string): void {
  for (const { probability, sd = 0, reasons = [] } of found)
    if (!(probability >= 0 && probability <= 1) || ![sd, ...reasons.map(({ share }) => share)].every(Number.isFinite))
      throw new HttpError(400, `${where}: found values too large to compute with, expected smaller ones`);
}

export type DoBulk = (job: Job) => Promise<Reply>;

interface Waiting {
  readonly job: Job;
  gone(): boolean;
  done(reply: Reply): void;
  failed(error: unknown): void;
}

/** Large requests, one at a time, so that their memory is there once: every other one the smallest, else in order of arrival. */
export class BulkQueue {
  readonly #line: Waiting[] = [];
  #turns = 0;
  #running = false;

  constructor(private readonly work: DoBulk) {}

  get waiting(): number {
    return this.#line.length;
  }

  answer(job: Job, gone: () => boolean): Promise<Reply> {
    return new Promise((done, failed) => {
      this.#line.push({ job, gone, done, failed });
      if (!this.#running) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#running = true;
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      if (next.gone()) next.failed(wentAway());
      else await this.work(next.job).then(next.done, next.failed);
    }
    this.#running = false;
  }

  #next(): Waiting | undefined {
    const line = this.#line;
    let at = 0;
    if (this.#turns++ % 2 === 0)
      for (let i = 1; i < line.length; i++) if (line[i].job.bytes.length < line[at].job.bytes.length) at = i;
    return line.splice(at, 1)[0];
  }
}
