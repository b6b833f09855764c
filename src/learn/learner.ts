// A model that learns: documents come in, are corrected (same id) and are forgotten, one request after the other.

import { changeOf, countOf, type Documents, LearningError, MOST_WEIGHT } from "../closed/documents.ts";
import type { LearningState } from "../closed/state.ts";
import { type Core, type CoreOptions, createCore } from "../core/core.ts";
import type { WorkOptions } from "../core/progress.ts";
import { type Dataset, selectRows } from "../data/dataset.ts";
import type { ClosedModel, ExactPart, TrainedModel } from "../model/model.ts";
import { documentsOf, type LinearModel, noted, withIds } from "../train/state.ts";
import { arrivalsFor, checkState } from "./check.ts";
import { exactForm } from "./exact.ts";
import type { LearningForm } from "./form.ts";
import { linearForm } from "./linear.ts";

/** What is to be learned, and the ids of documents to forget. */
export interface LearnRequest {
  readonly documents?: Dataset | undefined;
  readonly forget?: readonly string[] | undefined;
  /** As how many documents each of them counts, or every one: a whole number. Default 1. Forgetting undoes as much. */
  readonly weight?: number | readonly number[] | undefined;
}

/** What a request did. */
export interface Lessons {
  /** Documents that came in; how many of them took the place of an earlier version. */
  readonly learned: number;
  readonly corrected: number;
  readonly forgotten: number;
  /** Labels that the model did not have. */
  readonly newLabels: number;
}

/** Options of learning. */
export interface LearnOptions
  extends WorkOptions,
    Pick<CoreOptions, "threads">,
    Pick<LearnRequest, "weight"> {}

export class Learner {
  readonly #core: Core;
  readonly #form: LearningForm;
  #model: ClosedModel;
  #documents: Documents;
  #journal: number | undefined;

  private constructor(core: Core, form: LearningForm, model: ClosedModel, state: LearningState) {
    this.#core = core;
    this.#form = form;
    this.#model = model;
    this.#journal = state.journal;
    this.#documents =
      state.documents ?? fail("a state without its documents", "one that was written with a model");
  }

  /** Refuses a state that is not that of the model. Dispose of it when done. */
  static async open(model: TrainedModel, state: LearningState, options: LearnOptions = {}): Promise<Learner> {
    const checked = checkState(model, state);
    const core = await createCore(options.threads === undefined ? {} : { threads: options.threads });
    try {
      const { closed } = checked;
      const form =
        closed.form === "exact"
          ? exactForm(core, checked as ClosedModel & { closed: ExactPart })
          : linearForm(core, checked as LinearModel, state);
      return new Learner(core, form, checked, state);
    } catch (error) {
      core.dispose();
      throw error;
    }
  }

  /** The model as it is now. */
  get model(): ClosedModel {
    return this.#model;
  }

  /** The state of that model. */
  state(): LearningState {
    const journal = this.#journal;
    return {
      ...this.#form.state(this.#model, this.#documents),
      ...(journal !== undefined && { journal }),
    };
  }

  /** Number of the last batch of a server's journal that was learned. */
  get journal(): number {
    return this.#journal ?? 0;
  }

  set journal(batch: number) {
    this.#journal = batch;
  }

  /** Learns and forgets. What is refused changes nothing. */
  async learn({ documents, forget = [], weight }: LearnRequest, work: WorkOptions = {}): Promise<Lessons> {
    const { labels: known } = this.#model;
    const arrivals = documents && arrivalsFor(this.#model, documents);
    const coming = arrivals && {
      ...documentsOf(arrivals, this.#form.rows(arrivals.features)),
      weights: weightsOf(arrivals.ids.length, weight),
    };
    const change = changeOf(withRoom(this.#documents, arrivals?.labels.labels ?? known), {
      ...(coming ? { learn: coming } : {}),
      forget,
    });
    if (change.in.ids.length + change.out.ids.length === 0)
      fail("no document", "documents to learn or to forget");
    const before = this.#model.summary.points;
    if (before + countOf(change.in) - countOf(change.out) <= 0)
      fail("all documents among those to forget", "one that stays");
    const seen = new Set(change.out.ids);
    const unseen = [...change.in.ids.keys()].filter((i) => !seen.has(change.in.ids[i] as string));
    const lesson = {
      change,
      unseen: arrivals
        ? selectRows(arrivals, unseen)
        : { features: change.in.features, labels: change.in.labels },
      labelNames: arrivals?.labelNames ?? this.#model.labelNames,
    };
    const model = await this.#form.learn(lesson, work);
    const lessons = {
      learned: change.in.ids.length,
      corrected: change.corrected,
      forgotten: change.out.ids.length - change.corrected,
      newLabels: model.labels - known,
    };
    this.#documents = model.closed.form === "exact" ? change.after : withIds(change.after);
    this.#note(model, lessons);
    return lessons;
  }

  /** The model notes what it has learned and with which state it goes on. */
  #note(model: ClosedModel, { learned, forgotten }: Lessons): void {
    const { learning } = this.#model.summary; // a form may fit the model anew, from how it was at the start
    const counts = {
      learned: (learning?.learned ?? 0) + learned,
      forgotten: (learning?.forgotten ?? 0) + forgotten,
    };
    this.#model = noted(model, this.#form.identity(model, this.#documents), counts);
  }

  dispose(): void {
    this.#form.free();
    this.#core.dispose();
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}

/** The documents where there are so many labels. */
const withRoom = (documents: Documents, labels: number): Documents => ({
  ...documents,
  labels: { ...documents.labels, labels },
});

/** As how many documents each of so many counts; undefined where each counts as one. */
function weightsOf(documents: number, weight: LearnRequest["weight"] = 1): Int32Array | undefined {
  const all = typeof weight === "number" ? new Array<number>(documents).fill(weight) : weight;
  if (all.length !== documents) fail(`${all.length} weights`, `${documents}, one for each document`);
  const wrong = all.find((each) => !(Number.isInteger(each) && each >= 1 && each <= MOST_WEIGHT));
  if (wrong !== undefined) fail(`weight ${wrong}`, `a whole number from 1 to ${MOST_WEIGHT}`);
  return all.some((each) => each !== 1) ? Int32Array.from(all) : undefined;
}

function fail(found: string, expected: string): never {
  throw new LearningError(`found ${found}, expected ${expected}`);
}
