// The plots of a training: the bound, the KL, and the precision on held-out points.

import type { StepProgress } from "../../src/parts/progress.ts";
import { readable } from "../../src/report/numbers.ts";
import { make } from "./dom.ts";
import { type LinePlot, type LineValues, linePlot } from "./lineplot.ts";

const PRECISIONS = ["P@1", "P@3", "P@5"];
const HEIGHT = 230;

interface CurveOptions {
  title: string;
  /** An explanation for newcomers. */
  meaning: string;
  unit: string;
  series: readonly string[];
  steps: number;
  dots?: boolean;
}

/** One plot with its caption. */
class Curve {
  readonly #holder: HTMLElement = make("div", "plot");
  readonly #title: string;
  readonly #steps: number[] = [];
  readonly #lines: (number | null)[][];
  readonly #drawing: ReturnType<typeof setTimeout>;
  #plot: LinePlot | undefined;

  constructor(place: HTMLElement, { title, meaning, unit, series, steps, dots = false }: CurveOptions) {
    this.#title = title;
    this.#lines = series.map(() => []);
    const caption = make("figcaption", "", make("strong", "", title), make("span", "", meaning));
    place.append(make("figure", "", caption, this.#holder));
    // Making a plot takes 40 ms and more beside a training: each has a task of its own, so that the page stays quick.
    this.#drawing = setTimeout(() => {
      this.#plot = linePlot(this.#holder, {
        x: { label: "step", from: 0, to: steps },
        y: { label: unit },
        series,
        description: title,
        height: HEIGHT,
        dots,
      });
      this.#draw();
    });
  }

  add(step: number, values: LineValues): void {
    // A training that goes on from a checkpoint says its last step again.
    if (step <= (this.#steps.at(-1) ?? -1)) return;
    this.#steps.push(step);
    values.forEach((value, i) => {
      this.#lines[i]?.push(value);
    });
    this.#draw();
  }

  #draw(): void {
    if (this.#plot === undefined || this.#steps.length === 0) return;
    this.#plot.set(this.#steps, this.#lines);
    const [first, last] = [this.#lines[0]?.[0], this.#lines[0]?.at(-1)];
    const from = `from ${readable(first)} at step ${this.#steps[0]}`;
    const to = `to ${readable(last)} at step ${this.#steps.at(-1)}`;
    this.#holder.setAttribute("aria-label", `${this.#title}: ${from} ${to}`);
  }

  destroy(): void {
    clearTimeout(this.#drawing);
    this.#plot?.destroy();
  }
}

export class Curves {
  readonly #place: HTMLElement;
  readonly #bound: Curve;
  readonly #divergence: Curve;
  #precision: Curve | undefined;
  /** Training points: the bound is shown for one of them. */
  readonly #points: number;
  readonly #steps: number;
  #measured = "";

  constructor(place: HTMLElement, points: number, steps: number) {
    this.#place = place;
    this.#points = points;
    this.#steps = steps;
    this.#bound = new Curve(place, {
      title: "Bound",
      meaning: "How well the model explains the labels, less what it pays for being complicated. Higher is better.",
      unit: "nats per point",
      series: ["bound"],
      steps,
    });
    this.#divergence = new Curve(place, {
      title: "KL",
      meaning: "How far the model has moved from knowing nothing: what it pays. It rises at first, then settles.",
      unit: "nats per point",
      series: ["KL"],
      steps,
    });
  }

  add({ step, bound, divergence, validation }: StepProgress): void {
    this.#bound.add(step, [bound / this.#points]);
    this.#divergence.add(step, [divergence / this.#points]);
    if (!validation) return;
    // The figures stand until they are measured again.
    const values = PRECISIONS.map((name) => validation[name] ?? null);
    if (String(values) === this.#measured) return;
    this.#measured = String(values);
    this.#precision ??= new Curve(this.#place, {
      title: "Right answers on held-out points",
      meaning:
        "Of the first 1, 3 and 5 labels that the model names, the part that is right. Where points have fewer " +
        "than 5 labels, P@5 stays below 100 % for the best of models.",
      unit: "%",
      series: PRECISIONS,
      steps: this.#steps,
      dots: true,
    });
    this.#precision.add(step, values);
  }

  destroy(): void {
    for (const curve of [this.#bound, this.#divergence, this.#precision]) curve?.destroy();
    this.#place.replaceChildren();
  }
}
