// Watches a training: keeps what a report draws of it, never more than a few hundred values however long it runs.

import type { TrainProgress } from "../parts/progress.ts";

export interface TrainingHistory {
  steps: readonly Record<"step" | "bound" | "dataTerm" | "divergence", number>[];
  validations: readonly { step: number; metrics: Readonly<Record<string, number>> }[];
  seconds: number;
  /** At the last step, where the training had steps. */
  pointsPerSecond?: number;
}

export interface HistoryRecorder {
  record(progress: TrainProgress): void;
  readonly notes: readonly string[];
  history(): TrainingHistory;
}

const MOST_STEPS = 400;

/** `seconds` is a clock that starts with the training. */
export function recordHistory(seconds: () => number, most: number = MOST_STEPS): HistoryRecorder {
  const notes: string[] = [];
  const validations: TrainingHistory["validations"][number][] = [];
  let steps: TrainingHistory["steps"][number][] = [];
  let last: TrainingHistory["steps"][number] | undefined;
  let every = 1;
  let seen = 0;
  let pointsPerSecond: number | undefined;
  return {
    notes,
    record(progress) {
      if (progress.stage === "note") notes.push(progress.text);
      if (progress.stage !== "training") return;
      const { step, bound, dataTerm, divergence, validation } = progress;
      pointsPerSecond = progress.pointsPerSecond;
      last = { step, bound, dataTerm, divergence };
      if (seen++ % every === 0) steps.push(last);
      if (steps.length > most) {
        steps = steps.filter((_, i) => i % 2 === 0);
        every *= 2;
      }
      // The figures of one validation come with every event until the next.
      if (validation && JSON.stringify(validation) !== JSON.stringify(validations.at(-1)?.metrics))
        validations.push({ step, metrics: validation });
    },
    history: () => ({
      steps: last === undefined || steps.at(-1) === last ? steps : [...steps, last],
      validations,
      seconds: seconds(),
      pointsPerSecond,
    }),
  };
}
