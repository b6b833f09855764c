// Thresholds that keep a promise for new documents, chosen from probabilities of documents the model has not seen.
//
//   recall, on average (conformal risk control): the largest t with  (sum_i l_i(t) + 1) / (n + 1) <= 1 - target,
//       l_i(t) = share of the true labels of document i with p < t; labels that no other document has are lost at every t
//   precision, with confidence 1 - delta (learn then test): thresholds from high to low; stop before the first at which
//       "precision < target" is not refuted at level delta (exact binomial test)
//
// Labels of one document are not independent: the test counts them by the design effect, the variance of the errors by documents over
// that of independent ones. The sequence of tests begins where the probabilities alone expect it to pass, which looks at no outcome.
// Leave-one-out documents have helped to fit the calibrator and one another's models: the test counts them as half as many. Over 200 splits
// of Bibtex precisions varied as those of half the documents would.

import { deterministicExp, deterministicLog } from "../base/math.ts";
import { EXPECTED_DEPTH, type Guarantee, type Guarantees } from "../base/prediction.ts";
import { ratio } from "../metrics/rows.ts";
import { logistic } from "./forward.ts";
import type { HeldOutPairs } from "./pairs.ts";

/** Pairs of unseen documents with their probabilities. */
export interface UnseenPairs extends Pick<HeldOutPairs, "row" | "signedWeight"> {
  readonly probabilities: ArrayLike<number>;
  /** 1 for each pair whose label the model cannot know, for no other document has it. */
  readonly unknown?: ArrayLike<number> | undefined;
}

/** Recalls and precisions that are promised. */
const TARGETS: readonly number[] = [0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99];
const CONFIDENCES: readonly number[] = [0.8, 0.9, 0.95, 0.99];
/** Thresholds of precision are tried evenly by their logits. */
const [LOWEST, HIGHEST, STEP] = [-5, 8, 1 / 16];
/** The sequence of tests begins where it is expected to pass with so much to spare. */
const SPARE = 10;

/** Guarantees from unseen documents, of which `distinct` are different; `pause` gives others a turn. */
export async function chooseGuarantees(
  pairs: UnseenPairs,
  evidence: Guarantees["evidence"],
  distinct?: number,
  pause: () => Promise<void> = async () => {},
): Promise<Guarantees> {
  const documents = documentsOf(pairs);
  const rows = Math.min(documents.length, distinct ?? documents.length);
  const share = rows / Math.max(1, documents.length);
  await pause();
  const recall = recallThresholds(documents, share);
  await pause();
  const precision = precisionThresholds(documents, share / (evidence === "held-out" ? 1 : 2));
  await pause();
  return { evidence, rows, recall, precision, expectedRecall: fitExpectedRecall(documents) };
}

/** The safer of two sets of guarantees, each measured on documents that the other's calibrator was fitted to. */
export function saferGuarantees(a: Guarantees, b: Guarantees): Guarantees {
  const safer = (name: "recall" | "precision", choose: (x: number, y: number) => number): Guarantee[] =>
    a[name].flatMap((one) => {
      const other = b[name].find(({ target, confidence }) => target === one.target && confidence === one.confidence);
      return other ? [{ ...one, threshold: choose(one.threshold, other.threshold) }] : [];
    });
  return { ...a, rows: a.rows + b.rows, recall: safer("recall", Math.min), precision: safer("precision", Math.max) };
}

/** A document: its pairs, most probable first, and how many true labels it has. */
interface Document {
  readonly pairs: { readonly p: number; readonly weight: number; readonly right: boolean; readonly lost: boolean }[];
  positives: number;
}

function documentsOf({ row, signedWeight, probabilities, unknown }: UnseenPairs): Document[] {
  const found = new Map<number, Document>();
  row.forEach((own, e) => {
    const document = found.get(own) ?? { pairs: [], positives: 0 };
    found.set(own, document);
    const right = signedWeight[e] > 0;
    const lost = right && unknown?.[e] === 1;
    document.pairs.push({ p: probabilities[e], weight: Math.abs(signedWeight[e]), right, lost });
    if (right) document.positives++;
  });
  for (const { pairs } of found.values()) pairs.sort((a, b) => b.p - a.p);
  return [...found.values()];
}

function recallThresholds(documents: readonly Document[], share: number): Guarantee[] {
  const labelled = documents.filter(({ positives }) => positives > 0);
  const truths = labelled.flatMap(({ pairs, positives }) =>
    pairs.filter(({ right }) => right).map(({ p, lost }) => ({ p: lost ? -1 : p, loss: 1 / positives })),
  );
  truths.sort((a, b) => a.p - b.p);
  const n = share * labelled.length; // copies of a document say nothing new
  return TARGETS.flatMap((target) => {
    let room = (((1 - target) * (n + 1) - 1) / n) * labelled.length + 1e-9;
    if (!(room >= 0)) return [];
    const at = truths.findIndex(({ loss }) => {
      room -= loss;
      return room < 0;
    });
    const threshold = at < 0 ? 0 : truths[at].p;
    return threshold < 0 ? [] : [{ target, threshold }];
  });
}

/** Weights kept and kept wrongly at one threshold, and the design effect. */
interface Kept {
  readonly threshold: number;
  readonly kept: number;
  readonly wrong: number;
  /** Errors that the probabilities expect. */
  readonly expected: number;
  readonly designEffect: number;
}

function precisionThresholds(documents: readonly Document[], share: number): Guarantee[] {
  const tried = keptByThreshold(documents);
  const refuted = ({ kept, designEffect }: Kept, wrong: number, target: number): number =>
    binomialBelow((share * wrong) / designEffect, (share * kept) / designEffect, 1 - target);
  const tails = TARGETS.map((target) =>
    tried.map((each) => ({
      expected: refuted({ ...each, designEffect: 1 }, each.expected, target),
      found: refuted(each, each.wrong, target),
    })),
  );
  return CONFIDENCES.flatMap((confidence) =>
    TARGETS.flatMap((target, i) => {
      const delta = 1 - confidence;
      let at = tails[i].findIndex(({ expected }) => expected <= delta / SPARE);
      if (at < 0 || tails[i][at].found > delta) return [];
      while (at + 1 < tried.length && tails[i][at + 1].found <= delta) at++;
      return [{ target, confidence, threshold: tried[at].threshold }];
    }),
  );
}

/** From the highest threshold to the lowest. */
function keptByThreshold(documents: readonly Document[]): Kept[] {
  const steps = Math.round((HIGHEST - LOWEST) / STEP) + 1;
  const at = (step: number): number => logistic(HIGHEST - step * STEP);
  const sums = { kept: new Float64Array(steps), wrong: new Float64Array(steps), expected: new Float64Array(steps) };
  // k and w are a document's weights kept and kept wrongly: sums of k^2, k w and w^2.
  const squares = [0, 1, 2].map(() => new Float64Array(steps));
  for (const { pairs } of documents) {
    let [k, w, expected, next] = [0, 0, 0, 0];
    for (let step = 0; step < steps; step++) {
      for (; next < pairs.length && pairs[next].p >= at(step); next++) {
        const { p, weight, right } = pairs[next];
        k += weight;
        if (!right) w += weight;
        expected += weight * (1 - p);
      }
      sums.kept[step] += k;
      sums.wrong[step] += w;
      sums.expected[step] += expected;
      [k * k, k * w, w * w].forEach((product, i) => {
        squares[i][step] += product;
      });
    }
  }
  return Array.from({ length: steps }, (_, step) => {
    const [kept, wrong, expected] = [sums.kept[step], sums.wrong[step], sums.expected[step]];
    const q = (wrong + 0.5) / (kept + 1);
    const byDocuments = squares[2][step] - 2 * q * squares[1][step] + q * q * squares[0][step];
    const designEffect = Math.max(1, ratio(byDocuments, kept * q * (1 - q)));
    return { threshold: at(step), kept, wrong, expected, designEffect };
  });
}

/** P(Binomial(n, q) <= x), for any real n and x: the regularised incomplete beta function I_{1-q}(n - x, x + 1). */
export function binomialBelow(x: number, n: number, q: number): number {
  return n - x <= 0 ? 1 : incompleteBeta(1 - q, n - x, x + 1);
}

function incompleteBeta(x: number, a: number, b: number): number {
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a);
  const front = logGamma(a + b) - logGamma(a) - logGamma(b) + a * deterministicLog(x) + b * deterministicLog(1 - x);
  // The continued fraction, by Lentz's method.
  let [c, d] = [1, 1 / (1 - ((a + b) * x) / (a + 1))];
  let value = d;
  for (let m = 1; m <= 500; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / (1 + even * d);
    c = 1 + even / c;
    value *= c * d;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / (1 + odd * d);
    c = 1 + odd / c;
    value *= c * d;
    if (Math.abs(c * d - 1) < 1e-14) break;
  }
  return (deterministicExp(front) * value) / a;
}

/** log Gamma(x), x > 0 (Lanczos, g = 7). */
function logGamma(x: number): number {
  const terms = [
    676.5203681218851, -1259.1392167224028, 771.3234287776531, -176.6150291621406, 12.507343278686905,
    -0.13857109526572012, 9.984369578019572e-6, 1.5056327351493116e-7,
  ];
  if (x < 0.5) return logGamma(x + 1) - deterministicLog(x);
  const t = x + 6.5;
  const sum = terms.reduce((total, term, i) => total + term / (x + i), 0.9999999999998099);
  return 0.9189385332046727 + (x - 0.5) * deterministicLog(t) - t + deterministicLog(sum);
}

/**
 * Expected recall of the labels kept of a document: logistic(intercept + slope logit(kept / (top + rest))), where `kept` adds up the
 * probabilities of those kept, `top` those of its 20 best and `rest` is the mean number of true labels beyond these. Fitted to the first
 * 1, 2, 3, 5 and 10 labels of every document by logistic regression (Newton's method).
 */
function fitExpectedRecall(documents: readonly Document[]): Guarantees["expectedRecall"] {
  const labelled = documents.filter(({ positives }) => positives > 0);
  const beyond = labelled.flatMap(({ pairs }) => pairs.slice(EXPECTED_DEPTH).filter(({ right }) => right));
  const rest = ratio(beyond.length, labelled.length) + 1e-3;
  const points = labelled.flatMap(({ pairs, positives }) => {
    const sum = (count: number): number => pairs.slice(0, count).reduce((total, { p }) => total + p, 0);
    const all = sum(EXPECTED_DEPTH) + rest;
    return [1, 2, 3, 5, 10].map((count) => ({
      x: deterministicLog(sum(count) / (all - sum(count))), // of the share, a logit that is to be calibrated
      y: pairs.slice(0, count).filter(({ right }) => right).length / positives,
    }));
  });
  let [intercept, slope] = [0, 1];
  for (let step = 0; step < 25; step++) {
    // A weak prior keeps the identity where there is little to learn from.
    let [g0, g1, h00, h01, h11] = [intercept, slope - 1, 1, 0, 1];
    for (const { x, y } of points) {
      const p = logistic(intercept + slope * x);
      const curvature = p * (1 - p);
      g0 += p - y;
      g1 += (p - y) * x;
      h00 += curvature;
      h01 += curvature * x;
      h11 += curvature * x * x;
    }
    const determinant = h00 * h11 - h01 * h01;
    intercept -= (h11 * g0 - h01 * g1) / determinant;
    slope -= (h00 * g1 - h01 * g0) / determinant;
  }
  return { rest, intercept, slope };
}
