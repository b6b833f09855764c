// Early stopping: the best parameters that were measured, and when there is no use in going on. While the KL's weight
// rises, a validation figure may get worse for long and then better than ever, so patience begins when that is over; and
// what it waits for is a figure that is better than the others since then, not than one of before.

import { FormatError } from "../../base/errors.ts";
import type { FullTrainOptions, StoppingMetric } from "../options.ts";
import type { TrainingSummary } from "../run.ts";
import type { BoundValue } from "./bound.ts";
import { CHECKPOINT, type TrainingState } from "./checkpoint.ts";

/** A validation's outcome. */
export interface Measured {
  step: number;
  raised: number;
  value: BoundValue;
  figures: Record<string, number>;
}

/** The best validation so far and the patience that is left; nothing in it is ever changed. */
interface Standing {
  best: Measured;
  /** Its parameters, saved as `best`. */
  parameters: TrainingState["tensors"];
  /** The last score worth waiting for since the KL has its full weight (higher is better), and validations since then. */
  recent?: number;
  since: number;
}

/** The parameters that are kept, by the beginning of their names. */
export const BEST = "best";

/** Part by which a figure must get better to be worth waiting for: towards the end every step gains a little less. */
const LEAST_GAIN = 1e-3;

export class EarlyStopping {
  readonly metric: StoppingMetric;
  readonly #patience: number;
  readonly #warmSteps: number;
  #standing: Standing | undefined;

  /** `warmSteps`: steps until the KL has its full weight. */
  constructor({ patience, metric }: Exclude<FullTrainOptions["earlyStopping"], false>, warmSteps: number) {
    this.#patience = patience;
    this.#warmSteps = warmSteps;
    this.metric = metric;
  }

  /** It has not got better for too long. */
  get done(): boolean {
    return (this.#standing?.since ?? 0) >= this.#patience;
  }

  get best(): Measured | undefined {
    return this.#standing?.best;
  }

  get parameters(): Standing["parameters"] | undefined {
    return this.#standing?.parameters;
  }

  /** Takes a validation into account; the parameters are asked for only if it is the best. */
  async consider(measured: Measured, parameters: () => Promise<Standing["parameters"]>): Promise<void> {
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
    if (recent === undefined || score > recent + LEAST_GAIN * Math.abs(recent)) return { recent: score, since: 0 };
    return { recent, since: since + 1 };
  }

  /** Higher is better. */
  #score({ figures }: Measured): number {
    const value = figures[this.metric];
    return this.metric === "logLoss" ? -value : value;
  }

  /** Adds the best parameters and the record of this, as they are now, to a state. */
  adding(): ((state: TrainingState) => TrainingState) | undefined {
    if (this.#standing === undefined) return undefined;
    const { parameters, ...early } = this.#standing;
    return (state) => ({
      ...state,
      tensors: new Map([...state.tensors, ...parameters]),
      extra: { ...state.extra, early },
    });
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

  /** Its part of the summary. */
  summary(lastStep: number, plannedSteps: number): Partial<TrainingSummary> {
    const { best, metric } = this;
    if (best === undefined) return {};
    const { figures } = best;
    return { validation: figures, earlyStopping: { metric, best: figures[metric], lastStep, plannedSteps } };
  }
}

/** Early stopping of a training of so many steps, where it is asked for. */
export function earlyStopping(options: FullTrainOptions, steps: number): EarlyStopping | undefined {
  const { klStart, klWeight, klWarmup } = options;
  const warmSteps = klStart === klWeight ? 0 : klWarmup * steps;
  return options.earlyStopping ? new EarlyStopping(options.earlyStopping, warmSteps) : undefined;
}
