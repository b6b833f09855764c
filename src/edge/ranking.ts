// The most probable labels of a text. Probabilities cost some exponentials each; few labels need theirs:
// E sigmoid(f) <= E e^f = e^(mean + variance / 2) says of most that they cannot be among the best.

import { logistic } from "../calibrate/forward.ts";
import { below, moveByRank, RANKS } from "../calibrate/ranks.ts";
import { deterministicLog } from "../data/elementary.ts";
import { topLabels } from "../metrics/top.ts";
import { labelProbability } from "./probability.ts";

/** E sigmoid(f) lies within this of sigmoid(mean / sqrt(1 + pi variance / 8)), by 0.018 at the most. */
const CLOSE = 0.025;
/** Room for rounding beside a bound. */
const SLACK = 1e-6;
/** Beside the bound of a logarithm there is also the error of a probability, 1e-10: so much of the least that count. */
const ROOM = 0.01;

export interface Utilities {
  /** Mean utilities [K] and the variance of each. */
  utilities: ArrayLike<number>;
  variance(label: number): number;
}

export interface RankedLabel {
  label: number;
  probability: number;
}

/** The best `most` labels of those allowed, of at least this probability, most probable first; equals by label. */
export function mostProbable(
  { utilities, variance }: Utilities,
  most: number,
  threshold: number,
  allowed: Uint8Array | undefined,
): RankedLabel[] {
  const probabilityOf = (label: number): number =>
    labelProbability(utilities[label] as number, variance(label));
  const means = allowed ? withoutDenied(utilities, allowed) : utilities;
  const candidates = allowed ? countOf(allowed) : means.length;
  const wanted = Math.min(most, candidates);
  if (wanted === 0) return [];
  let least = threshold;
  if (wanted < candidates) {
    // The labels of the greatest mean are good enough to rule others out.
    let lowest = 1;
    for (const label of topLabels(means, 1, means.length, wanted))
      lowest = Math.min(lowest, probabilityOf(label));
    least = Math.max(least, lowest);
  }
  const kept = contenders({ utilities: means, variance }, least, allowed);
  const probabilities = kept.map(probabilityOf);
  const ranked: RankedLabel[] = [];
  for (const place of topLabels(probabilities, 1, kept.length, Math.min(wanted, kept.length))) {
    const probability = probabilities[place] as number;
    if (probability >= threshold) ranked.push({ label: kept[place] as number, probability });
  }
  return ranked;
}

/** Labels of those allowed, rising, that may have at least this probability; no other has. */
export function contenders(
  { utilities, variance }: Utilities,
  least: number,
  allowed?: Uint8Array,
): number[] {
  const floor = least > 0 ? deterministicLog(least) - ROOM : Number.NEGATIVE_INFINITY;
  const bar =
    least > CLOSE ? deterministicLog((least - CLOSE) / (1 - least + CLOSE)) : Number.NEGATIVE_INFINITY;
  // Every label passes here: a plain loop, several times as fast as one with a function for each.
  const kept: number[] = [];
  for (let label = 0; label < utilities.length; label++) {
    const mean = utilities[label] as number;
    const spread = variance(label);
    if (mean + spread / 2 < floor || mean < bar * Math.sqrt(1 + (Math.PI / 8) * spread)) continue;
    if (allowed?.[label] !== 0) kept.push(label);
  }
  return kept;
}

/** The same from calibrated logits, which do not tie where probabilities are all but 1; ranks are those among all labels. */
export function mostCalibrated(
  calibrated: Candidates,
  most: number,
  threshold: number,
  allowed: Uint8Array | undefined,
): RankedLabel[] {
  const { rankOffsets } = calibrated;
  const bounded = threshold > 0 && threshold < 1;
  const least = bounded
    ? deterministicLog(threshold) - deterministicLog(1 - threshold) - SLACK
    : Number.NEGATIVE_INFINITY;
  const rise = Math.max(0, ...Array.from(rankOffsets ?? []));
  const listed = bestOf(calibrated.candidates(most, least - rise, allowed), most);
  const moved = byRank(rankOffsets, () => (allowed ? bestOfAll(calibrated) : listed.slice(0, RANKS)));
  const ranked: RankedLabel[] = [];
  for (const { label, logit } of listed) {
    const probability = logistic(moved(label, logit));
    if (probability >= threshold) ranked.push({ label, probability });
  }
  return ranked;
}

/** The logit of a label that its rank has moved, where ranks move any; `best` are the best of all labels, best first. */
export function byRank(
  offsets: ArrayLike<number> | undefined,
  best: () => readonly JudgedLabel[],
): (label: number, logit: number) => number {
  if (!offsets) return (_, logit) => logit;
  const leading = best();
  const moved = moveByRank(
    leading.map(({ logit }) => logit),
    offsets,
  );
  const beyond = below(moved);
  const ofLabel = new Map(leading.map(({ label }, rank) => [label, moved[rank] as number]));
  return (label, logit) => ofLabel.get(label) ?? Math.min(logit, beyond);
}

/** Labels, rising, that may be among the best, with their logits before their ranks are looked at. */
interface Candidates {
  readonly rankOffsets: ArrayLike<number> | undefined;
  candidates(most: number, least: number, allowed: Uint8Array | undefined): JudgedLabels;
}

interface JudgedLabels {
  labels: Int32Array;
  logits: Float64Array;
}

interface JudgedLabel {
  label: number;
  logit: number;
}

/** As many of the best labels as have ranks, best first. */
export function bestOfAll(calibrated: Candidates): JudgedLabel[] {
  return bestOf(calibrated.candidates(RANKS, Number.NEGATIVE_INFINITY, undefined), RANKS);
}

/** The best of them, best first. */
function bestOf({ labels, logits }: JudgedLabels, most: number): JudgedLabel[] {
  const places = topLabels(logits, 1, logits.length, Math.min(most, logits.length));
  return Array.from(places, (place) => ({ label: labels[place] as number, logit: logits[place] as number }));
}

/** Labels that are not allowed come after all others. */
function withoutDenied(utilities: ArrayLike<number>, allowed: Uint8Array): Float64Array {
  const means = new Float64Array(utilities.length);
  for (let label = 0; label < means.length; label++)
    means[label] = allowed[label] === 0 ? Number.NEGATIVE_INFINITY : (utilities[label] as number);
  return means;
}

function countOf(allowed: Uint8Array): number {
  let count = 0;
  for (const one of allowed) count += one === 0 ? 0 : 1;
  return count;
}
