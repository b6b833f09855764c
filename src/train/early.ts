// Early stopping: the best parameters that were measured, and when there is no use in going on.

import type { BoundValue } from "../model/bound.ts";
import type { TrainingSummary } from "../predict/model.ts";
import type { TrainingState } from "./checkpoint.ts";
import type { FullTrainOptions, StoppingMetric } from "./options.ts";

type Tensors = TrainingState["tensors"];

/** A validation's outcome. */
export interface Measured {
  step: number;
  raised: number;
  value: BoundValue;
  figures: Record<string, number>;
}

/** Where the search stands; nothing in it is ever changed. */
interface Standing {
  best: Measured;
  /** Its parameters, saved as `best`. */
  parameters: Tensors;
  /** Validations since then. */
  since: number;
}

export const BEST = "best";

export class EarlyStopping {
  readonly metric: StoppingMetric;
  readonly #patience: number;
  #standing: Standing | undefined;

  constructor({ patience, metric }: Exclude<FullTrainOptions["earlyStopping"], false>) {
    this.#patience = patience;
    this.metric = metric;
  }

  /** Whether it has not got better for too long. */
  get done(): boolean {
    return (this.#standing?.since ?? 0) >= this.#patience;
  }

  get best(): Measured | undefined {
    return this.#standing?.best;
  }

  get parameters(): Tensors | undefined {
    return this.#standing?.parameters;
  }

  /** Takes a validation into account; the parameters are asked for only if it is the best. */
  async consider(measured: Measured, parameters: () => Promise<Tensors>): Promise<void> {
    const standing = this.#standing;
    const better = standing === undefined || this.#score(measured) > this.#score(standing.best);
    this.#standing = better
      ? { best: measured, parameters: await parameters(), since: 0 }
      : { ...standing, since: standing.since + 1 };
  }

  /** Higher is better. */
  #score({ figures }: Measured): number {
    const value = figures[this.metric] as number;
    return this.metric === "logLoss" ? -value : value;
  }

  /** The state with what is to be kept of this. */
  addTo(state: TrainingState): TrainingState {
    if (this.#standing === undefined) return state;
    const { parameters, ...early } = this.#standing;
    return {
      ...state,
      tensors: new Map([...state.tensors, ...parameters]),
      extra: { ...state.extra, early },
    };
  }

  /** Back to where a state was. */
  restore({ tensors, extra }: TrainingState): void {
    const early = extra.early as Omit<Standing, "parameters"> | undefined;
    const parameters = new Map([...tensors].filter(([name]) => name.startsWith(`${BEST}.`)));
    this.#standing = early && { ...early, parameters };
  }

  /** What the summary says of it. */
  summary(lastStep: number, plannedSteps: number): Partial<TrainingSummary> {
    const { best, metric } = this;
    if (best === undefined) return {};
    const value = best.figures[metric] as number;
    return {
      validation: best.figures,
      earlyStopping: { metric, best: value, lastStep, plannedSteps },
    };
  }
}
