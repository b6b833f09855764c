// Reports of a training while it runs.

/** The longer pieces of work: the basis and the inducing inputs before the first step, and all of a closed form. */
export const workStages = [
  "singular vectors",
  "Rayleigh-Ritz",
  "k-means++",
  "k-means",
  "kernel",
  "factor",
  "inverse",
  "sums",
  "weights",
  "dual weights",
  "leave-one-out",
  "left-out scores",
  "directions",
  "stack",
  "scores",
  "calibration",
] as const;

/** How far a longer piece of work is. */
export interface PreparationProgress {
  stage: (typeof workStages)[number];
  /** How much of this stage is done, 0 to 1. */
  fraction: number;
}

/** Where the steps are, and the bound at the last batch. */
export interface StepProgress extends StepValue {
  stage: "training";
  steps: number;
  pointsPerSecond: number;
  secondsLeft: number;
  /** Figures on the validation part, when it was last looked at. */
  validation?: Record<string, number>;
}

/** The bound of a step, estimated at its batch. */
export interface StepValue {
  step: number;
  epoch: number;
  /** The data term, the KL, and data term - KL. */
  dataTerm: number;
  divergence: number;
  bound: number;
}

/** Something to know, in words. */
export interface NoteProgress {
  stage: "note";
  text: string;
}

/** A report of a training while it runs. */
export type TrainProgress = PreparationProgress | StepProgress | NoteProgress;
