// Where a training in closed form is, as one bar for the whole time: for the terminal and the page.

import { duration } from "./numbers.ts";

/** Seconds before which nothing is said of the time left. */
const SOON = 2;

export const aboutLeft = (seconds: number): string => `about ${duration(Math.ceil(seconds))} left`;

/** The steps of a closed form in plain words, and about which part of the time each takes. */
const STEPS = [
  { name: "preparing", share: 0.1 },
  { name: "choosing the kernel", share: 0.3 },
  { name: "fitting", share: 0.3 },
  { name: "coupling labels", share: 0.03 },
  { name: "scoring", share: 0.07 },
  { name: "calibrating", share: 0.2 },
] as const;
const [PREPARING, CHOOSING, FITTING, COUPLING, SCORING, CALIBRATING] = STEPS.keys();

/** The step that a stage of the work belongs to, at the least; and about which part of that step it takes. */
const STAGES: Readonly<Record<string, readonly [step: number, share: number]>> = {
  "singular vectors": [PREPARING, 0.6],
  "Rayleigh-Ritz": [PREPARING, 0.2],
  "k-means++": [PREPARING, 0.1],
  "k-means": [PREPARING, 0.1],
  kernel: [CHOOSING, 0.1],
  factor: [CHOOSING, 0.35],
  triangle: [CHOOSING, 0.4],
  inverse: [CHOOSING, 0.7],
  "dual weights": [CHOOSING, 0.1],
  "leave-one-out": [CHOOSING, 0.05],
  sums: [FITTING, 0.1],
  weights: [FITTING, 0.2],
  "left-out scores": [FITTING, 0.02],
  directions: [COUPLING, 0.4],
  stack: [COUPLING, 0.4],
  scores: [SCORING, 1],
  calibration: [CALIBRATING, 0.9],
};

/** Stages of a closed form, which keeps no checkpoints. */
export const isClosedStage = (stage: string): boolean => (STAGES[stage]?.[0] ?? PREPARING) > PREPARING;

/** Two kernels are tried before one is fitted. */
const TRIED = 2;
/** Where the work of a closed form is, from the stages that it reports. Steps are never gone back to. */
export class ClosedProgress {
  #step = -1;
  /** Part of the step that each of its stages took: earlier rounds of it, and the one now. Stages may take turns. */
  #parts = new Map<string, { before: number; now: number }>();
  /** Steps that were passed over take no time. */
  #skipped = 0;

  /** A note says what was chosen: the fit follows. */
  chosen(): void {
    if (this.#step === CHOOSING) this.#enter(FITTING);
  }

  #enter(step: number): void {
    for (let over = this.#step + 1; over < step; over++) this.#skipped += STEPS[over].share;
    this.#step = step;
    this.#parts.clear();
  }

  at(stage: string, fraction: number): void {
    const [least, share] = STAGES[stage] ?? [FITTING, 0.1];
    if (least > this.#step) this.#enter(least);
    const part = (share * fraction) / (this.#step === CHOOSING ? TRIED : 1);
    const { before, now } = this.#parts.get(stage) ?? { before: 0, now: 0 };
    // A stage that begins again is another round.
    this.#parts.set(stage, { before: part < now ? before + now : before, now: part });
  }

  /** Part of the whole time, 0 to 1. */
  get fraction(): number {
    if (this.#step < 0) return 0;
    let done = 0;
    for (let step = 0; step < this.#step; step++) done += STEPS[step].share;
    let part = 0;
    for (const { before, now } of this.#parts.values()) part += before + now;
    const own = Math.min(1, part) * STEPS[this.#step].share;
    return Math.min(1, (done - this.#skipped + own) / (1 - this.#skipped));
  }

  /** Nothing is fitted yet; minibatches may follow. */
  get preparing(): boolean {
    return this.#step <= PREPARING;
  }

  /** "step 3 of 6 (fitting), about 8 s left", after so many seconds of work. */
  words(seconds: number): string {
    const [step, { fraction }] = [Math.max(0, this.#step), this];
    const left = seconds > SOON && fraction > 0 ? `, ${aboutLeft((seconds * (1 - fraction)) / fraction)}` : "";
    return `step ${step + 1} of ${STEPS.length} (${STEPS[step].name})${left}`;
  }
}
