// Long work as one line with one bar: reading, training in steps or in closed form; and the line that closes a training.

import type { ReadProgress } from "../data/options.ts";
import type { Model } from "../model/model.ts";
import type { TrainProgress } from "../parts/progress.ts";
import { counted, duration, grouped, sizeText } from "../report/numbers.ts";
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

const aboutLeft = (seconds: number): string => `about ${duration(Math.ceil(seconds))} left`;

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
const isClosedStage = (stage: string): boolean => (STAGES[stage]?.[0] ?? PREPARING) > PREPARING;

/** Two kernels are tried before one is fitted. */
const TRIED = 2;
/** Seconds before which nothing is said of the time left. */
const SOON = 2;

/** Where the work of a closed form is, from the stages that it reports. Steps are never gone back to. */
export class ClosedProgress {
  #step = -1;
  #stage = "";
  /** Part of the step that the stages before took, and the stage now. */
  #before = 0;
  #now = 0;
  /** Steps that were passed over take no time. */
  #skipped = 0;

  /** A note says what was chosen: the fit follows. */
  chosen(): void {
    if (this.#step === CHOOSING) this.#enter(FITTING);
  }

  #enter(step: number): void {
    for (let over = this.#step + 1; over < step; over++) this.#skipped += STEPS[over].share;
    this.#step = step;
    this.#before = 0;
    this.#now = 0;
  }

  at(stage: string, fraction: number): void {
    const [least, share] = STAGES[stage] ?? [FITTING, 0.1];
    if (least > this.#step) this.#enter(least);
    // A stage that begins again is another one.
    const part = (share * fraction) / (this.#step === CHOOSING ? TRIED : 1);
    if (stage !== this.#stage || part < this.#now) this.#before += this.#now;
    this.#stage = stage;
    this.#now = part;
  }

  /** Part of the whole time, 0 to 1. */
  get fraction(): number {
    if (this.#step < 0) return 0;
    let done = 0;
    for (let step = 0; step < this.#step; step++) done += STEPS[step].share;
    const own = Math.min(1, this.#before + this.#now) * STEPS[this.#step].share;
    return Math.min(1, (done - this.#skipped + own) / (1 - this.#skipped));
  }

  /** "step 3 of 6 (fitting)" */
  get words(): string {
    const step = Math.max(0, this.#step);
    return `step ${step + 1} of ${STEPS.length} (${STEPS[step].name})`;
  }
}

/** Progress of a training, or of other work in closed form, as a line with one bar for the whole time. */
export function showProgress(screen: Terminal, title = "Training"): (progress: TrainProgress) => void {
  const begin = performance.now();
  const closed = new ClosedProgress();
  return (progress) => {
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
      const { fraction } = closed;
      const seconds = (performance.now() - begin) / 1000;
      const left = seconds > SOON && fraction > 0 ? `, ${aboutLeft((seconds * (1 - fraction)) / fraction)}` : "";
      screen.show(`${title}: ${closed.words}${left}`, fraction);
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
