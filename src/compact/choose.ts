// How large a compact model has to be: the smallest size at which it loses next to nothing beside the full model, by leave-one-out
// scores of points that the first part keeps. Since the full model is calibrated, it says itself what another answer costs, without
// labels:
//
//     log loss rises by  sum_k KL(p_k, q_k)  from  sum_k H(p_k),      P@1 falls by  p_best - p_k  for the k that q has first

import { wasmBackend } from "../backend/wasm.ts";
import { deterministicLog } from "../base/math.ts";
import { sliceRows } from "../base/sparse.ts";
import { createCore } from "../core/core.ts";
import { matrix } from "../core/matrix.ts";
import { type CompactModel, readCompact } from "../edge/read.ts";
import type { Model } from "../model/model.ts";
import { familyOf, type Part } from "../parts/index.ts";
import type { LeftOutPoints } from "../parts/part.ts";
import type { LabelScores } from "../parts/row.ts";
import { edgeModule } from "./module.ts";

/** The chosen size in megabytes, with the loss that was measured: percent of the log loss, and percentage points of P@1. */
export interface ChosenSize {
  readonly size: number;
  readonly logLoss: number;
  readonly precision: number;
}

/** Points that stand for new texts. */
const POINTS = 400;
/** Most that a compact model may lose on them. Log loss on data rose by half as much: no model is as right as it says. */
const [MOST_LOG_LOSS, MOST_PRECISION] = [1, 0.3];
/** Sizes that are tried: 2 MB, below which nothing is worth losing, and each some more than the one before. */
const [LEAST_SIZE, STEP, SIZES] = [2, 2 ** 0.25, 32];

/** Undefined where nothing is to be chosen: the model is small, or keeps no points with leave-one-out scores. */
export async function smallestSize(
  model: Model,
  make: (model: Model, size: number) => Promise<Uint8Array>,
  onTry: (size: number) => void,
): Promise<ChosenSize | undefined> {
  const [first, ...others] = model.parts;
  const taken = model.calibrator && familyOf(first).leaveOut?.(first, model.schema, POINTS);
  if (!taken || (await make(model, LEAST_SIZE)).length < 1e6 * LEAST_SIZE) return undefined;
  const trial: Model = { ...model, parts: [taken.part, ...others] };
  const full = await firstScores(taken, model);
  let wanted: Float64Array[] | undefined;
  let found: ChosenSize | undefined;
  for (let [low, high] = [0, SIZES]; low < high; ) {
    const middle = (low + high) >> 1;
    const size = LEAST_SIZE * STEP ** middle;
    onTry(size);
    const compact = await readCompact(await make(trial, size), "the compact model", await edgeModule());
    wanted ??= probabilitiesIn(compact, taken, full);
    const tried = { size, ...lossOf(wanted, probabilitiesIn(compact, taken)) };
    if (tried.logLoss <= MOST_LOG_LOSS && tried.precision <= MOST_PRECISION) [high, found] = [middle, tried];
    else low = middle + 1;
  }
  return found;
}

/** Scores of the points by the part [n,K]. */
async function firstScores({ part, rows }: LeftOutPoints<Part>, { schema }: Model): Promise<ArrayLike<number>> {
  const core = await createCore();
  try {
    const out = matrix(core, rows.rows, schema.labels, "f32");
    const scorer = familyOf(part).open?.(part, schema, { core, backend: wasmBackend(core, "f32") });
    await scorer?.score({ first: 0, given: rows, rows, before: [] }, out, false);
    return out.toArray();
  } finally {
    core.dispose();
  }
}

/** Probabilities below it count as it: what they would add to a loss is nothing. */
const LEAST = 1e-4;

/** Probabilities of the points by a compact model [n][K], with these first scores or its own. */
function probabilitiesIn(
  { parts: [first, ...others], probabilities, labels }: CompactModel,
  { rows, rest }: LeftOutPoints<Part>,
  given?: ArrayLike<number>,
): Float64Array[] {
  return Array.from({ length: rows.rows }, (_, i) => {
    const { columnIndex: columns, values } = sliceRows(rows, i, 1);
    const own = given ? undefined : first.scores([{ columns, values }], [])[0].values;
    const leftOut = (label: number): number =>
      (own?.[label] ?? given?.[i * labels + label] ?? 0) + rest[i * labels + label];
    const scores: LabelScores[] = [{ values: Float64Array.from({ length: labels }, (_, label) => leftOut(label)) }];
    for (const part of others) scores.push(...part.scores([], [scores]));
    const found = new Float64Array(labels).fill(LEAST);
    for (const { label, probability } of probabilities.of(scores).best(labels, LEAST)) found[label] = probability;
    return found;
  });
}

/** Percent of the log loss, and percentage points of P@1, that the second probabilities lose if the first are right. */
export function lossOf(full: readonly Float64Array[], compact: readonly Float64Array[]): Omit<ChosenSize, "size"> {
  const log = (p: number): number => deterministicLog(Math.max(Number.MIN_VALUE, p));
  let [entropy, excess, missed] = [0, 0, 0];
  full.forEach((p, i) => {
    const q = compact[i];
    let [best, bestOfCompact] = [0, 0];
    for (let k = 0; k < p.length; k++) {
      const own = -p[k] * log(p[k]) - (1 - p[k]) * log(1 - p[k]);
      entropy += own;
      excess += -p[k] * log(q[k]) - (1 - p[k]) * log(1 - q[k]) - own;
      if (p[k] > p[best]) best = k;
      if (q[k] > q[bestOfCompact]) bestOfCompact = k;
    }
    missed += p[best] - p[bestOfCompact];
  });
  return { logLoss: (100 * excess) / entropy, precision: (100 * missed) / full.length };
}
