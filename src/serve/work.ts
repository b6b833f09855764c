// From a body that has arrived to the answer: read, predict, write. The same in the thread that has the sockets and in
// the one that takes large requests.

import type { LabelLists } from "../metrics/allowed.ts";
import { type Answer, BodyWriter } from "./answer.ts";
import { type Limits, SMALL } from "./limits.ts";
import type { Project } from "./project.ts";
import { type Body, parseQuestion, type Question } from "./question.ts";
import { PredictionQueue } from "./queue.ts";
import { Refusal, refuse } from "./refusal.ts";
import { parseSuggest, parseSuggestBatch } from "./suggest.ts";
import type { FoundLabel } from "./tagger.ts";

export type WorkKind = "predict" | "suggest" | "suggest-batch";

/** A request that has arrived whole: plain data, so that it can go to another thread. */
export interface Job extends Body {
  readonly kind: WorkKind;
  /** Which of the projects is asked. */
  readonly project: number;
}

/** Below this a threshold without topK may let every label through. */
const LOW_THRESHOLD = 0.01;

export class Workbench {
  readonly #projects: readonly Project[];
  readonly #limits: Limits;
  readonly #lists: LabelLists;
  readonly #queue = new PredictionQueue();

  constructor(projects: readonly Project[], limits: Limits, { allow, deny }: LabelLists = {}) {
    this.#projects = projects;
    this.#limits = limits;
    this.#lists = { allow, deny };
  }

  /** Inputs that wait. */
  get waiting(): number {
    return this.#queue.waiting;
  }

  #project(index: number): Project {
    return this.#projects[index] as Project;
  }

  /** What a body asks for; what cannot be read is a Refusal. */
  read(job: Job): Question {
    const project = this.#project(job.project);
    if (job.kind === "suggest") return parseSuggest(job, project);
    if (job.kind === "suggest-batch") return parseSuggestBatch(job, project);
    return parseQuestion(job, this.#limits.batch);
  }

  /** Whether a question is so little work that nobody notices it. */
  isSmall({ inputs, options: { topK, threshold = 0, explain } }: Question, project: number): boolean {
    if (explain !== undefined) return false;
    const { labels } = this.#project(project).model;
    const low = typeof threshold === "number" && threshold < LOW_THRESHOLD;
    const depth = Math.min(labels, topK ?? (low ? labels : 1));
    return inputs.length <= SMALL.inputs && inputs.length * depth <= SMALL.labels;
  }

  async answer(
    { inputs, options, form }: Question,
    project: number,
    gone: () => boolean = () => false,
  ): Promise<Answer> {
    const { model } = this.#project(project);
    const { labels: most } = this.#limits;
    const { topK = 0, threshold } = options;
    if (threshold === undefined) checkLabels(inputs.length * Math.min(topK, model.labels), most);
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
        checkLabels(labels, most);
        checkNumbers(found, inputs.length > 1 ? `input ${i}` : "the input");
        writer.add(`${i > 0 ? form.separator : ""}${form.one(found, i)}`);
      },
    });
    writer.add(form.close);
    return {
      status: 200,
      headers: { "content-type": form.type },
      body: writer.body(),
      inputs: inputs.length,
    };
  }
}

function checkLabels(labels: number, most: number): void {
  if (labels > most)
    refuse(
      "the answer",
      `${labels} labels`,
      `at most ${most}: fewer inputs, a smaller topK or a higher threshold`,
    );
}

/** Feature values can be so large that no probability comes of them. */
function checkNumbers(found: readonly FoundLabel[], where: string): void {
  for (const { probability, sd = 0, reasons = [] } of found)
    if (
      !(probability >= 0 && probability <= 1) ||
      ![sd, ...reasons.map(({ share }) => share)].every(Number.isFinite)
    )
      throw new Refusal(400, `${where}: found values too large to compute with, expected smaller ones`);
}
