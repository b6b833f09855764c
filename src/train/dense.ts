// Dense features: which covariance fits them, and whether the length of a row says something, by leaving points out.
// bench/DEFAULTS.md has the measurements behind the rule.

import type { ExactChoice } from "../closed/choose.ts";
import { climb } from "../closed/criterion.ts";
import type { Core } from "../core/core.ts";
import { permutation } from "../core/random.ts";
import { type Dataset, selectRows } from "../data/dataset.ts";
import { transformedRows } from "../data/transform.ts";
import { isLinear } from "../model/kernels/index.ts";
import type { ModelFrame } from "../model/model.ts";
import type { KernelName } from "../model/names.ts";
import { type ExactWork, fitChosen, ORDER_STREAM } from "./exact.ts";

/** Points that kernels and ways to scale are compared on: they differ by far more than their sample does. */
const LOOKED_AT = 1000;
/** Points, and at most so many pairs of a point and a label, that the winner's length scale and noise are found on: more points want shorter ones. */
const REFINED_ON = 4000;
const REFINED_PAIRS = 4e5;
/** What these are multiplied by in steps, uphill from what won. */
const LENGTHS = [1 / 4, Math.SQRT1_2 / 2, 1 / 2, Math.SQRT1_2, 1, Math.SQRT2, 2];
const NOISES = [1 / 27, 1 / 9, 1 / 3, 1, 3];
/** Length scale and noise, narrow to wide, in units of a row's usual length. */
const SCALES = [
  [0.25, 0.03],
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

/** What a model of some data would know, for a kernel and a way to scale. */
type FrameOf = (data: Dataset, kernel: KernelName, normalise: boolean) => ModelFrame;

/**
 * The best of the kernels and of both ways to scale that nobody has named, then the best length scale and noise for it: those
 * with the least log loss of points left out.
 */
export async function chooseDense(
  core: Core,
  data: Dataset,
  frameOf: FrameOf,
  { kernel: named, normalise: asked, seed }: Named,
  { signal, onProgress }: ExactWork,
): Promise<DenseChoice> {
  const order = Array.from(permutation(core, data.features.rows, { seed, stream: ORDER_STREAM }));
  const work = { ...(signal && { signal }) };
  const lossOn = async (some: Dataset, choice: ExactChoice, normalise: boolean): Promise<Tried> => {
    const kernel = choice.kernel.name;
    const frame = frameOf(some, kernel, normalise);
    const features = transformedRows(some.features, frame.transform, 0, some.features.rows);
    const { figures } = await fitChosen(core, { features, labels: some.labels }, frame, choice, work);
    return { kernel, normalise, choice, loss: figures.logLoss ?? Number.POSITIVE_INFINITY };
  };
  const some = selectRows(data, order.slice(0, LOOKED_AT));
  const ways = asked === undefined ? [false, true] : [asked];
  const all = ways.flatMap((normalise) => choicesOf(named).map((choice) => ({ normalise, choice })));
  const tried: Tried[] = [];
  for (const { normalise, choice } of all) {
    onProgress?.({ stage: "kernel", fraction: tried.length / all.length });
    tried.push(await lossOn(some, choice, normalise));
  }
  const best = tried.reduce((first, other) => (other.loss < first.loss ? other : first));
  const affordable = Math.max(LOOKED_AT, Math.floor(REFINED_PAIRS / data.labels.labels));
  const more = selectRows(data, order.slice(0, Math.min(REFINED_ON, affordable)));
  const found = await refined(best, (choice) => {
    onProgress?.({ stage: "kernel", fraction: 1 });
    return lossOn(more, choice, best.normalise);
  });
  return { ...found, reason: inWords(found, more.features.rows, tried, some.features.rows) };
}

/** Uphill in the length scale, then in the noise. */
async function refined(start: Tried, lossOf: (choice: ExactChoice) => Promise<Tried>): Promise<Tried> {
  const { noise, kernel } = start.choice;
  const lengthScale = kernel.lengthScale ?? 1;
  const upTo = async (choices: readonly ExactChoice[], first: number, known?: Tried): Promise<Tried> => {
    const seen: Tried[] = [];
    if (known) seen[first] = known;
    const { best } = await climb(choices.length, first, async (place) => {
      seen[place] ??= await lossOf(choices[place] as ExactChoice);
      return -(seen[place] as Tried).loss;
    });
    return seen[best] as Tried;
  };
  const lengths = isLinear(kernel.name) ? [1] : LENGTHS;
  const byLength = await upTo(
    lengths.map((factor) => ({ noise, kernel: { ...kernel, lengthScale: factor * lengthScale } })),
    lengths.indexOf(1),
  );
  return await upTo(
    NOISES.map((factor) => ({ noise: factor * noise, kernel: byLength.choice.kernel })),
    NOISES.indexOf(1),
    byLength,
  );
}

/** Two digits are enough to be told. */
const short = (value: number): string => String(Number(value.toPrecision(2)));

/** `the features are dense: kernel se (length scale 2, noise 0.02), ...` */
function inWords(
  { kernel, normalise, choice, loss }: Tried,
  on: number,
  tried: readonly Tried[],
  first: number,
): string {
  const scale = isLinear(kernel) ? "" : `length scale ${short(choice.kernel.lengthScale ?? 1)}, `;
  const columns = isLinear(kernel) ? "root mean square" : "standard deviation";
  const rows = normalise ? "rows of unit length" : `each divided by its ${columns}, rows with their lengths`;
  const isSame = (other: Tried): boolean => other.kernel === kernel && other.normalise === normalise;
  const others = tried.filter((other) => !isSame(other));
  const compared =
    others.length > 0
      ? ` (on ${first} points ${least(tried.filter(isSame)).toFixed(3)}, with another kernel or scaling at least ${least(others).toFixed(3)})`
      : "";
  return (
    `the features are dense: kernel ${kernel} (${scale}noise ${short(choice.noise)}), ${rows}: log loss ${loss.toFixed(3)} ` +
    `on ${on} points left out one at a time${compared}`
  );
}

const least = (tried: readonly Tried[]): number => Math.min(...tried.map(({ loss }) => loss));
