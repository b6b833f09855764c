// What a training says: a line while it runs, and a line of figures at its end.

import type { ReadProgress } from "../data/options.ts";
import type { TrainedModel } from "../model/model.ts";
import type { TrainProgress } from "../train/progress.ts";
import { duration, sizeText, type Terminal } from "./terminal.ts";

type Figures = Readonly<Record<string, number>>;

/** "P@1 80.4 P@3 61.0 P@5 40.7", and the log loss where it was measured. */
export function figuresLine(figures: Figures): string {
  const precision = ["P@1", "P@3", "P@5"].map((name) => `${name} ${figures[name]?.toFixed(1)}`);
  const { logLoss } = figures;
  return [...precision, ...(logLoss === undefined ? [] : [`log loss ${logLoss.toPrecision(4)}`])].join(" ");
}

/** Mean and spread of figures over trainings, a line each. */
export function spreadLines(spread: Readonly<Record<string, { mean: number; spread: number }>>): string[] {
  const row = (name: string, mean: string, deviation: string): string =>
    `${name.padEnd(10)} ${mean.padStart(9)} ${deviation.padStart(9)}`;
  const figures = Object.entries(spread).map(([name, { mean, spread: deviation }]) =>
    row(name, mean.toPrecision(4), deviation.toPrecision(2)),
  );
  return [row("", "mean", "spread"), ...figures];
}

/** How far a file is read, as parts of a line: rows, bytes, and the time left where its size is known. */
export function readingParts(
  name: string,
  { bytes, total, rows }: ReadProgress,
  seconds: number,
): readonly string[] {
  const read = `reading ${name}: ${rows} rows`;
  if (total === undefined) return bytes > 0 ? [read, sizeText(bytes)] : [read];
  const left = duration((seconds * (total - bytes)) / bytes);
  return [read, `${sizeText(bytes)} of ${sizeText(total)}`, `${left} left`];
}

/** Reading as a line. */
export function showReading(terminal: Terminal, name: string): (progress: ReadProgress) => void {
  const begin = performance.now();
  return (progress) => {
    const { bytes, total } = progress;
    const parts = readingParts(name, progress, (performance.now() - begin) / 1000);
    terminal.show(parts, total ? bytes / total : undefined);
  };
}

/** Progress of a training as a line, most useful first. */
export function showProgress(terminal: Terminal): (progress: TrainProgress) => void {
  return (progress) => {
    if (progress.stage === "note") terminal.say(progress.text);
    else if (progress.stage !== "training") terminal.show([progress.stage], progress.fraction);
    else {
      const { step, steps, epoch, bound, divergence, pointsPerSecond, secondsLeft, validation } = progress;
      const parts = [
        `step ${step}/${steps}`,
        `${duration(secondsLeft)} left`,
        ...(validation ? [figuresLine(validation)] : []),
        `bound ${bound.toPrecision(6)}`,
        `KL ${divergence.toPrecision(4)}`,
        `${Math.round(pointsPerSecond)} points/s`,
        `epoch ${epoch.toFixed(1)}`,
      ];
      terminal.show(parts, step / steps);
    }
  };
}

/** The figures that close a training. */
export function closingLine({ summary, labels }: TrainedModel, seconds: number, measuredOn: string): string {
  const { points, validation, leftOut } = summary;
  const size = `${duration(seconds)}, ${points} points, ${labels} labels`;
  if (validation) return `${size}; on ${measuredOn}: ${figuresLine(validation)}`;
  if (leftOut) return `${size}; on points left out: ${figuresLine(leftOut)}`;
  return `${size}; nothing was held out to measure on: --valid 10% does that`;
}
