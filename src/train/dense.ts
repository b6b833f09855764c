// Dense features: which covariance fits them, and whether the length of a row says something, by leaving points out.
// bench/DEFAULTS.md has the measurements behind the rule.

import type { ExactChoice } from "../closed/choose.ts";
import type { Core } from "../core/core.ts";
import { permutation } from "../core/random.ts";
import { type Dataset, selectRows } from "../data/dataset.ts";
import { transformedRows } from "../data/transform.ts";
import { isLinear } from "../model/kernels/index.ts";
import type { ModelFrame } from "../model/model.ts";
import type { KernelName } from "../model/names.ts";
import { type ExactWork, fitChosen, ORDER_STREAM } from "./exact.ts";

/** Points that are looked at: choices differ by far more than their sample does. */
const LOOKED_AT = 1000;
/** Length scale and noise, narrow to wide, in units of a row's usual length. */
const SCALES = [
  [0.5, 0.1],
  [0.7, 0.1],
  [1, 0.2],
  [2, 0.1],
  [2, 0.02],
  [4, 0.02],
] as const;
const LINEAR_NOISE = 0.2;

/** What was chosen, and why in a sentence. */
export interface DenseChoice {
  readonly kernel: KernelName;
  readonly normalise: boolean;
  readonly choice: ExactChoice;
  readonly reason: string;
}

/** What the caller has named; the rest is open. */
interface Named {
  readonly kernel?: KernelName;
  readonly normalise?: boolean | undefined;
  readonly seed: number;
}

interface Tried extends Omit<DenseChoice, "reason"> {
  /** Of a point left out, calibrated. */
  readonly loss: number;
}

/** What is tried of a kernel that was named; of one that was not, curved ones and a straight one. */
function choicesOf(named: KernelName | undefined): ExactChoice[] {
  const straight: ExactChoice = { noise: LINEAR_NOISE, kernel: { name: "linear", lengthScale: 1 } };
  if (named !== undefined && isLinear(named)) return [straight];
  const name = named ?? "se";
  const curved = SCALES.map(([lengthScale, noise]) => ({ noise, kernel: { name, lengthScale } }));
  return named === undefined ? [...curved, straight] : curved;
}

/**
 * The best of the kernels and of both ways to scale that nobody has named: the one with the least log loss of points left
 * out. `frameOf` gives what a model of some data would know, for a kernel and a way to scale.
 */
export async function chooseDense(
  core: Core,
  data: Dataset,
  frameOf: (data: Dataset, kernel: KernelName, normalise: boolean) => ModelFrame,
  { kernel: named, normalise: asked, seed }: Named,
  { signal, onProgress }: ExactWork,
): Promise<DenseChoice> {
  const order = permutation(core, data.features.rows, { seed, stream: ORDER_STREAM });
  const some = selectRows(data, Array.from(order).slice(0, LOOKED_AT));
  const ways = asked === undefined ? [false, true] : [asked];
  const all = ways.flatMap((normalise) => choicesOf(named).map((choice) => ({ normalise, choice })));
  const tried: Tried[] = [];
  for (const { normalise, choice } of all) {
    onProgress?.({ stage: "kernel", fraction: tried.length / all.length });
    const kernel = choice.kernel?.name ?? "se";
    const frame = frameOf(some, kernel, normalise);
    const features = transformedRows(some.features, frame.transform, 0, some.features.rows);
    const documents = { features, labels: some.labels };
    const { figures } = await fitChosen(core, documents, frame, choice, { ...(signal && { signal }) });
    tried.push({ kernel, normalise, choice, loss: figures.logLoss ?? Number.POSITIVE_INFINITY });
  }
  const best = tried.reduce((first, other) => (other.loss < first.loss ? other : first));
  return { ...best, reason: inWords(best, tried, some.features.rows) };
}

/** `the features are dense: kernel se (length scale 2, noise 0.02), ...` */
function inWords(
  { kernel, normalise, choice, loss }: Tried,
  tried: readonly Tried[],
  points: number,
): string {
  const scale = isLinear(kernel) ? "" : `length scale ${choice.kernel?.lengthScale}, `;
  const columns = isLinear(kernel) ? "root mean square" : "standard deviation";
  const rows = normalise ? "rows of unit length" : `each divided by its ${columns}, rows with their lengths`;
  const others = tried.filter((other) => other.kernel !== kernel || other.normalise !== normalise);
  const next =
    others.length > 0 ? `, with another kernel or scaling at least ${least(others).toFixed(3)}` : "";
  return (
    `the features are dense: kernel ${kernel} (${scale}noise ${choice.noise}), ${rows}: log loss ${loss.toFixed(3)} ` +
    `on ${points} points left out one at a time${next}`
  );
}

const least = (tried: readonly Tried[]): number => Math.min(...tried.map(({ loss }) => loss));
