// What a training says while it runs.

/** Before the first step: how far the basis and the inducing inputs are. */
export interface PreparationProgress {
  stage: "singular vectors" | "Rayleigh-Ritz" | "k-means++" | "k-means";
  /** How much of this stage is done, 0 to 1. */
  fraction: number;
}

/** Where the steps are, and the bound at the last batch. */
export interface StepProgress {
  stage: "training";
  step: number;
  steps: number;
  epoch: number;
  /** Estimates at the last batch: the data term, the KL, and data term - KL. */
  dataTerm: number;
  divergence: number;
  bound: number;
  pointsPerSecond: number;
  secondsLeft: number;
  /** Figures on the validation part, when it was last looked at. */
  validation?: Record<string, number>;
}

/** The bound of a step, estimated at its batch. */
export interface StepValue {
  step: number;
  epoch: number;
  bound: number;
  dataTerm: number;
  divergence: number;
}

/** Something to know, in words. */
export interface NoteProgress {
  stage: "note";
  text: string;
}

/** What a training says while it runs. */
export type TrainProgress = PreparationProgress | StepProgress | NoteProgress;
