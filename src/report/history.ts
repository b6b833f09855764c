// Watches a training: keeps what a report draws of it, never more than a few hundred values however long it runs.

import type { TrainProgress } from "../parts/progress.ts";

type Step = Readonly<Record<"step" | "bound" | "dataTerm" | "divergence", number>>;

const MOST_STEPS = 400;

export class TrainingHistory {
  readonly notes: string[] = [];
  readonly validations: { step: number; metrics: Readonly<Record<string, number>> }[] = [];
  /** At the last step, where the training had steps. */
  pointsPerSecond: number | undefined;
  #steps: Step[] = [];
  #last: Step | undefined;
  #every = 1;
  #seen = 0;

  get steps(): readonly Step[] {
    return this.#last === undefined || this.#steps.at(-1) === this.#last ? this.#steps : [...this.#steps, this.#last];
  }

  record(progress: TrainProgress): void {
    if (progress.stage === "note") this.notes.push(progress.text);
    if (progress.stage !== "training") return;
    const { step, bound, dataTerm, divergence, validation } = progress;
    this.pointsPerSecond = progress.pointsPerSecond;
    this.#last = { step, bound, dataTerm, divergence };
    if (this.#seen++ % this.#every === 0) this.#steps.push(this.#last);
    if (this.#steps.length > MOST_STEPS) {
      this.#steps = this.#steps.filter((_, i) => i % 2 === 0);
      this.#every *= 2;
    }
    // The figures of one validation come with every event until the next.
    if (validation && JSON.stringify(validation) !== JSON.stringify(this.validations.at(-1)?.metrics))
      this.validations.push({ step, metrics: validation });
  }
}
