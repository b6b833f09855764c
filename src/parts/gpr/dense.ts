// Dense features: which covariance fits them, and whether the length of a row says something, by leaving points out.
// bench/DEFAULTS.md has the measurements behind the rule.

import { isLinear, type KernelName } from "../../base/kernels.ts";
import type { WorkOptions } from "../../base/progress.ts";
import { STREAMS } from "../../base/streams.ts";
import { permutation } from "../../core/random.ts";
import { type Dataset, selectRows } from "../../data/dataset.ts";
import type { FitContext, ModelSchema } from "../part.ts";
import type { KernelNoise } from "../regression/kernel.ts";
import { climb } from "../regression/leaveoneout.ts";
import { schemaFor } from "../schema.ts";

/** Points that kernels and ways to scale are compared on: they differ by far more than their sample does. */
const LOOKED_AT = 1000;
/** Points, and at most so many pairs of a point and a label, that the winner's length scale and noise are found on: more points want shorter ones. */
const REFINED_ON = 4000;
const REFINED_PAIRS = 4e5;
/** Factors of both, in steps uphill from what won. */
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

/** The choice, and the options and schema that go with it. */
export interface DenseChoice {
  readonly choice: KernelNoise;
  readonly options: { readonly kernel: KernelName; readonly normalise: boolean };
  readonly schema: ModelSchema;
}

interface Tried {
  readonly kernel: KernelName;
  readonly normalise: boolean;
  readonly choice: KernelNoise;
  /** Leave-one-out log loss, calibrated. */
  readonly loss: number;
}

/** Choices to try with a kernel that was named; without a name, curved ones and a straight one. */
function choicesOf(named: KernelName | undefined): KernelNoise[] {
  const straight: KernelNoise = { noise: LINEAR_NOISE, kernel: { name: "linear", lengthScale: 1 } };
  if (named !== undefined && isLinear(named)) return [straight];
  const name = named ?? "se";
  const curved = SCALES.map(([lengthScale, noise]) => ({ noise, kernel: { name, lengthScale } }));
  return named === undefined ? [...curved, straight] : curved;
}

/** Calibrated leave-one-out log loss of some data for one choice. */
type LossOf = (some: Dataset, schema: ModelSchema, choice: KernelNoise, work: WorkOptions) => Promise<number>;

/**
 * The best of the kernels and of both ways to scale that nobody has set, then the best length scale and noise for it: those
 * with the least leave-one-out log loss.
 */
export async function chooseDense(
  { core, data, options, dense, work: { signal, onProgress }, note }: FitContext,
  lossOf: LossOf,
): Promise<DenseChoice> {
  const order = Array.from(permutation(core, data.features.rows, { seed: options.seed, stream: STREAMS.exactOrder }));
  const [named, asked] = [dense?.kernel === undefined ? undefined : options.kernel, dense?.normalise];
  const lossOn = async (some: Dataset, choice: KernelNoise, normalise: boolean): Promise<Tried> => {
    const kernel = choice.kernel.name;
    const loss = await lossOf(some, schemaFor(some, { ...options, kernel, normalise }), choice, { signal });
    return { kernel, normalise, choice, loss };
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
  note(inWords(found, more.features.rows, tried, some.features.rows));
  const { kernel, normalise, choice } = found;
  return {
    choice,
    options: { kernel, normalise },
    schema: schemaFor(data, { ...options, kernel, normalise }),
  };
}

/** Uphill in the length scale, then in the noise. */
async function refined(start: Tried, lossOf: (choice: KernelNoise) => Promise<Tried>): Promise<Tried> {
  const { noise, kernel } = start.choice;
  const lengthScale = kernel.lengthScale ?? 1;
  const upTo = (choices: readonly KernelNoise[], first: number, known?: Tried): Promise<Tried> =>
    climb(
      choices.length,
      first,
      async (place) => (place === first && known) || (await lossOf(choices[place])),
      ({ loss }) => -loss,
    );
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

/** `Dense features: kernel se (length scale 2, noise 0.02), ...` */
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
    `Dense features: kernel ${kernel} (${scale}noise ${short(choice.noise)}), ${rows}: log loss ${loss.toFixed(3)} ` +
    `on ${on} points (leave-one-out)${compared}`
  );
}

const least = (tried: readonly Tried[]): number => Math.min(...tried.map(({ loss }) => loss));
