// Early stopping: the best parameters that were measured, and when there is no use in going on. While the KL's weight
// rises, a validation figure may get worse for long and then better than ever, so patience begins when that is over; and
// what it waits for is a figure that is better than the others since then, not than one of before.

import { FormatError } from "../io/errors.ts";
import type { BoundValue } from "../model/bound.ts";
import type { TrainingSummary } from "../model/model.ts";
import { CHECKPOINT, type TrainingState } from "./checkpoint.ts";
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
  /** What was last worth waiting for since the KL has its full weight (higher is better), and validations since then. */
  recent?: number;
  since: number;
}

export const BEST = "best";

/** Part by which a figure must get better to be worth waiting for: towards the end every step gains a little less. */
const LEAST_GAIN = 1e-3;

export class EarlyStopping {
  readonly metric: StoppingMetric;
  readonly #patience: number;
  readonly #warmSteps: number;
  #standing: Standing | undefined;

  /** `warmSteps`: how many steps the KL's weight takes to rise. */
  constructor({ patience, metric }: Exclude<FullTrainOptions["earlyStopping"], false>, warmSteps: number) {
    this.#patience = patience;
    this.#warmSteps = warmSteps;
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
    const score = this.#score(measured);
    const better = standing === undefined || score > this.#score(standing.best);
    this.#standing = {
      ...(better ? { best: measured, parameters: await parameters() } : standing),
      ...(measured.step < this.#warmSteps ? { since: 0 } : this.#waited(score)),
    };
  }

  #waited(score: number): Pick<Standing, "recent" | "since"> {
    const { recent, since } = this.#standing ?? { since: 0 };
    if (recent === undefined || score > recent + LEAST_GAIN * Math.abs(recent))
      return { recent: score, since: 0 };
    return { recent, since: since + 1 };
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

  /** Back to where a state was, in a training of so many steps. */
  restore({ tensors, extra, file = CHECKPOINT }: TrainingState, steps: number): void {
    const early = extra.early as Omit<Standing, "parameters"> | undefined;
    if (early !== undefined && !this.#isRight(early, steps))
      throw new FormatError(file, "no right record of early stopping", "the best step with its figures");
    const parameters = new Map([...tensors].filter(([name]) => name.startsWith(`${BEST}.`)));
    this.#standing = early && { ...early, parameters };
  }

  #isRight(early: Partial<Standing> | null, steps: number): boolean {
    const { best, recent, since } = early ?? {};
    const counts = [best?.step, best?.raised, since];
    const figures = [best?.value?.dataTerm, best?.value?.divergence, best?.figures?.[this.metric]];
    return (
      counts.every((count) => Number.isSafeInteger(count) && (count as number) >= 0) &&
      (best as Measured).step <= steps &&
      [...figures, ...(recent === undefined ? [] : [recent])].every(Number.isFinite)
    );
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
