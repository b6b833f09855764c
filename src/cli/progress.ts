// Long work as one line with one bar: reading, training in steps or in closed form; and the line that closes a training.

import type { ReadProgress } from "../data/options.ts";
import type { Model } from "../model/model.ts";
import type { TrainProgress } from "../parts/progress.ts";
import { counted, duration, grouped, sizeText } from "../report/numbers.ts";
import { aboutLeft, ClosedProgress, isClosedStage } from "../report/progress.ts";
import { hearSignals, type SignalName, Stopped } from "./command.ts";
import type { Terminal } from "./terminal.ts";

type Figures = Readonly<Record<string, number>>;

/**
 * "P@1 80.4 P@3 61.0 P@5 40.7", the accuracy where every row has one label, or precision, recall and F1 of a single label; and the
 * log loss where it was measured.
 */
export function figuresLine(figures: Figures): string {
  const { logLoss, accuracy } = figures;
  const names = figures.precision === undefined ? ["P@1", "P@3", "P@5"] : ["precision", "recall", "F1"];
  const precision =
    accuracy === undefined
      ? names.map((name) => `${name} ${figures[name]?.toFixed(1)}`)
      : [`accuracy ${accuracy.toFixed(1)} %,`];
  return [...precision, ...(logLoss === undefined ? [] : [`log loss ${logLoss.toPrecision(4)}`])].join(" ");
}

/** How far a file is read, as parts of a line: rows, bytes, and the time left where its size is known. */
export function readingParts(name: string, { bytes, total, rows }: ReadProgress, seconds: number): readonly string[] {
  const read = `Reading ${name}: ${grouped(rows)} rows`;
  if (total === undefined) return bytes > 0 ? [read, sizeText(bytes)] : [read];
  const left = aboutLeft((seconds * (total - bytes)) / bytes);
  return [read, `${sizeText(bytes)} of ${sizeText(total)}`, left];
}

export function showReading(screen: Terminal, name: string): (progress: ReadProgress) => void {
  const begin = performance.now();
  return (progress) => {
    const { bytes, total } = progress;
    screen.show(readingParts(name, progress, (performance.now() - begin) / 1000), total ? bytes / total : undefined);
  };
}

/** Progress of a training, or of other work in closed form, as a line with one bar for the whole time. */
export function showProgress(screen: Terminal, title = "Training"): (progress: TrainProgress) => void {
  const closed = new ClosedProgress();
  /** Of the closed form alone: minibatches say their own time. */
  let seconds = 0;
  let last = performance.now();
  return (progress) => {
    const spent = (performance.now() - last) / 1000;
    last += 1000 * spent;
    if (progress.stage !== "training") seconds += spent;
    if (progress.stage === "note") {
      closed.chosen();
      screen.say(progress.text);
    } else if (progress.stage === "training") {
      const { step, steps, epoch, bound, divergence, pointsPerSecond, secondsLeft, validation } = progress;
      const parts = [
        `${title}: step ${step} of ${steps}`,
        aboutLeft(secondsLeft),
        ...(validation ? [figuresLine(validation)] : []),
        `bound ${bound.toPrecision(6)}`,
        `KL ${divergence.toPrecision(4)}`,
        `${Math.round(pointsPerSecond)} rows/s`,
        `epoch ${epoch.toFixed(1)}`,
      ];
      screen.show(parts, step / steps);
    } else {
      closed.at(progress.stage, progress.fraction);
      screen.show(`${title}: ${closed.words(seconds)}`, closed.fraction);
    }
  };
}

/**
 * Work with its progress on the screen. A signal asks it to stop, so that it may keep what it has, and `standing` says how things stand
 * then; it is told whether the last stage was one of a closed form. `record` is told of everything too.
 */
export async function watched<T>(
  screen: Terminal,
  title: string,
  standing: (closed: boolean) => string,
  work: (options: { signal: AbortSignal; onProgress: (progress: object) => void }) => Promise<T>,
  record: (progress: TrainProgress) => void = () => {},
): Promise<T> {
  const show = showProgress(screen, title);
  let closed = false;
  const onProgress = (about: object): void => {
    const progress = about as TrainProgress;
    closed = isClosedStage(progress.stage);
    record(progress);
    show(progress);
  };
  const abort = new AbortController();
  let came: SignalName | undefined;
  const leave = hearSignals((name) => {
    came = name;
    abort.abort();
  });
  try {
    return await work({ signal: abort.signal, onProgress });
  } catch (error) {
    if (came === undefined) throw error;
    const cause = error === abort.signal.reason ? "" : ` ${(error as Error).message};`;
    throw new Stopped(`Stopped.${cause} ${standing(closed)}`, came);
  } finally {
    screen.done();
    leave();
  }
}

export const summaryJson = ({ schema: { points }, summary }: Model): string => JSON.stringify({ points, ...summary });

/** The figures that close a training; `held` rows were held out of the data, or are those of a file. */
export function closingLine(
  { summary: { validation, leftOut }, schema: { labels, points } }: Model,
  seconds: number,
  held?: { rows: number; file?: string },
): string {
  const done = `Trained in ${duration(seconds)} on ${counted(points, "row")} with ${counted(labels, "label")}.`;
  if (validation && held)
    return `${done} On the ${grouped(held.rows)} ${held.file === undefined ? "held-out rows" : `rows of ${held.file}`}: ${figuresLine(validation)}`;
  if (leftOut) return `${done} On rows it was not fitted on: ${figuresLine(leftOut)}`;
  return `${done} Nothing was held out to measure on; --valid 10% does that.`;
}
