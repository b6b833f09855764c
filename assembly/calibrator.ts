// From scores to honest probabilities, and the sums that fitting this takes. For a point i and a label k
//
//   z = point_i + label_k + sum_t weight_t term_t(score(i, k))        p = sigmoid(shift_k + slope_k z)
//
// where a term is a rising function of one score s, with x = s - centre and r = sqrt(x^2 + spread):
//
//   linear  x          hinge  (x + r) / 2, a soft positive part          log  its logarithm
//
// src/calibrate/forward.ts states the same for one label at a time.

import { at, cell, lanes, multiplyAdd, sumLanes } from "./simd";
import { loadPart, log, sigmoid, softplus, storePart } from "./math";
import { panelA, parallel, popFrame, pushFrame } from "./parallel";
import { HALF, number, ONE } from "./tables";

const LINEAR: i32 = 0;
const HINGE: i32 = 1;

/** Value of a term. For x < 0 the hinge is (spread / 4) / ((r - x) / 2): the same number without cancellation. */
// @ts-ignore: decorator
@inline
function termValue<T extends number>(shape: i32, s: v128, centre: v128, spread: v128): v128 {
  const x = v128.sub<T>(s, centre);
  if (shape == LINEAR) return x;
  const r = v128.sqrt<T>(v128.add<T>(v128.mul<T>(x, x), spread));
  const half = v128.mul<T>(v128.add<T>(v128.abs<T>(x), r), number<T>(HALF));
  const quarter = v128.mul<T>(v128.mul<T>(spread, number<T>(HALF)), number<T>(HALF));
  const hinge = v128.bitselect(half, v128.div<T>(quarter, half), v128.ge<T>(x, v128.splat<T>(0)));
  return shape == HINGE ? hinge : log<T>(hinge);
}

/** The terms: of each its score and shape (i32), and its centre and spread (T). */
// @ts-ignore: decorator
@unmanaged
class Terms {
  count: i32;
  kinds: usize;
  places: usize;
}

// @ts-ignore: decorator
@inline
function scoreOf(t: Terms, i: i32): i32 {
  return load<i32>(t.kinds + (<usize>i << 3));
}
// @ts-ignore: decorator
@inline
function valueOf<T extends number>(t: Terms, i: i32, s: v128): v128 {
  const place = at<T>(t.places, 2 * i);
  return termValue<T>(
    load<i32>(t.kinds + (<usize>i << 3), 4), s, v128.load_splat<T>(place), v128.load_splat<T>(place + sizeof<T>()),
  );
}

// @ts-ignore: decorator
@unmanaged
class ForwardFrame extends Terms {
  rows: i32;
  labels: i32;
  /** i32 [scores][2]: address and row step of each matrix of scores. */
  scores: usize;
  weights: usize;
  point: usize;
  label: usize;
  slope: usize;
  shift: usize;
  logit: bool;
  out: usize;
  outRow: i32;
}

/** out [rows,labels] = p, or shift + slope z where `logit`; out may be one of the scores. @kernel */
export function calibrate<T extends number>(
  rows: i32, labels: i32, scores: usize, terms: i32, kinds: usize, places: usize, weights: usize,
  point: usize, label: usize, slope: usize, shift: usize, logit: bool, out: usize, outRow: i32,
): void {
  const frame = pushFrame(offsetof<ForwardFrame>());
  const f = changetype<ForwardFrame>(frame);
  f.rows = rows; f.labels = labels; f.scores = scores;
  f.count = terms; f.kinds = kinds; f.places = places; f.weights = weights;
  f.point = point; f.label = label; f.slope = slope; f.shift = shift;
  f.logit = logit; f.out = out; f.outRow = outRow;
  const task: (frame: usize, task: i32) => void = sizeof<T>() == 4 ? calibrateRowF32 : calibrateRowF64;
  parallel(task.index, frame, rows);
  popFrame(frame);
}
function calibrateRowF32(frame: usize, task: i32): void { calibrateRow<f32>(frame, task); }
function calibrateRowF64(frame: usize, task: i32): void { calibrateRow<f64>(frame, task); }
function calibrateRow<T extends number>(frame: usize, row: i32): void {
  const f = changetype<ForwardFrame>(frame);
  for (let k = 0; k < f.labels; k += lanes<T>()) {
    const here = min(f.labels - k, lanes<T>());
    let z = v128.add<T>(v128.load_splat<T>(at<T>(f.point, row)), someOf<T>(at<T>(f.label, k), here));
    for (let t = 0; t < f.count; t++) {
      const source = f.scores + (<usize>scoreOf(f, t) << 3);
      const s = someOf<T>(cell<T>(load<i32>(source), load<i32>(source, 4), row, k), here);
      z = multiplyAdd<T>(v128.load_splat<T>(at<T>(f.weights, t)), valueOf<T>(f, t, s), z);
    }
    z = multiplyAdd<T>(someOf<T>(at<T>(f.slope, k), here), z, someOf<T>(at<T>(f.shift, k), here));
    const result = f.logit ? z : sigmoid<T>(z);
    const to = cell<T>(f.out, f.outRow, row, k);
    if (here == lanes<T>()) v128.store(to, result);
    else storePart<T>(to, result, here);
  }
}

// @ts-ignore: decorator
@inline
function someOf<T extends number>(x: usize, count: i32): v128 {
  return count == lanes<T>() ? v128.load(x) : loadPart<T>(x, count);
}

// Fitting, in double precision. Pairs of a point and a label come as arrays of an even length `count`, two pairs a
// vector; a pad has the weight 0. Columns of the design: 1, the terms, log frequency of the label, log variance of the point.

/** Pairs of one task: the sums of a task are written apart and added in the order of the tasks. */
const PAIRS_A_TASK: i32 = 8192;

// @ts-ignore: decorator
@unmanaged
class PairFrame extends Terms {
  pairs: i32;
  /** f64 [scores][pairs] */
  scores: usize;
  label: usize;
  pointLog: usize;
  labelLog: usize;
  slope: usize;
  shift: usize;
  /** Weight of a pair: above 0 where the label is present, below where it is absent. */
  signedWeight: usize;
  parameters: usize;
  curvature: bool;
  out: usize;
}

// @ts-ignore: decorator
@inline
function columnsOf(f: PairFrame): i32 {
  return f.count + 3;
}

/** Numbers a task of pairStatistics writes for that many terms: loss, gradient, and the lower triangle of the curvature. @kernel */
export function pairStatisticsSize(terms: i32): i32 {
  const columns = terms + 3;
  return 1 + columns + columns * (columns + 1) / 2;
}
/** How many tasks there are for so many pairs. @kernel */
export function pairTasks(pairs: i32): i32 {
  return (pairs + PAIRS_A_TASK - 1) / PAIRS_A_TASK;
}

// @ts-ignore: decorator
@inline
function gather(values: usize, label: usize): v128 {
  const first = v128.load64_zero(at<f64>(values, load<i32>(label)));
  return v128.load_lane<f64>(at<f64>(values, load<i32>(label, 4)), first, 1);
}

/** Writes the design's columns of two pairs at `x`, returns z. */
// @ts-ignore: decorator
@inline
function designOf(f: PairFrame, pair: i32, x: usize): v128 {
  let column = x;
  v128.store(column, number<f64>(ONE));
  let z = v128.load_splat<f64>(f.parameters);
  let parameter = f.parameters;
  for (let t = 0; t < f.count; t++) {
    const s = v128.load(at<f64>(f.scores, scoreOf(f, t) * f.pairs + pair));
    const value = valueOf<f64>(f, t, s);
    column += 16; parameter += 8;
    v128.store(column, value);
    z = multiplyAdd<f64>(v128.load_splat<f64>(parameter), value, z);
  }
  const frequency = gather(f.labelLog, f.label + (<usize>pair << 2));
  column += 16; parameter += 8;
  v128.store(column, frequency);
  z = multiplyAdd<f64>(v128.load_splat<f64>(parameter), frequency, z);
  const variance = v128.load(at<f64>(f.pointLog, pair));
  column += 16; parameter += 8;
  v128.store(column, variance);
  return multiplyAdd<f64>(v128.load_splat<f64>(parameter), variance, z);
}

function fillPairFrame(
  f: PairFrame, pairs: i32, scores: usize, terms: i32, kinds: usize, places: usize, label: usize, pointLog: usize,
  labelLog: usize, parameters: usize, out: usize,
): void {
  f.pairs = pairs; f.scores = scores; f.count = terms; f.kinds = kinds; f.places = places; f.label = label;
  f.pointLog = pointLog; f.labelLog = labelLog; f.parameters = parameters; f.out = out;
}

/**
 * Weighted sum of log(1 + e^-(y t)), t = shift_k + slope_k z, its gradient and curvature by the parameters. Each task
 * writes pairStatisticsSize(terms) numbers; without `curvature` its triangle stays as it was. @kernel
 */
export function pairStatistics(
  pairs: i32, scores: usize, terms: i32, kinds: usize, places: usize, label: usize, pointLog: usize, labelLog: usize,
  slope: usize, shift: usize, signedWeight: usize, parameters: usize, curvature: bool, out: usize,
): void {
  const frame = pushFrame(offsetof<PairFrame>());
  const f = changetype<PairFrame>(frame);
  fillPairFrame(f, pairs, scores, terms, kinds, places, label, pointLog, labelLog, parameters, out);
  f.slope = slope; f.shift = shift; f.signedWeight = signedWeight; f.curvature = curvature;
  const task: (frame: usize, task: i32) => void = statisticsTask;
  parallel(task.index, frame, pairTasks(pairs));
  popFrame(frame);
}

function statisticsTask(frame: usize, task: i32): void {
  const f = changetype<PairFrame>(frame);
  const columns = columnsOf(f);
  const size = pairStatisticsSize(f.count);
  // Scratch: the columns of two pairs, then lane sums of everything that is written.
  const x = panelA();
  const sums = x + (<usize>columns << 4);
  memory.fill(sums, 0, <usize>size << 4);
  const triangle = sums + (<usize>(1 + columns) << 4);
  const zero = v128.splat<f64>(0);
  const one = number<f64>(ONE);
  const end = min(f.pairs, (task + 1) * PAIRS_A_TASK);
  for (let pair = task * PAIRS_A_TASK; pair < end; pair += 2) {
    const z = designOf(f, pair, x);
    const label = f.label + (<usize>pair << 2);
    const slope = gather(f.slope, label);
    const t = multiplyAdd<f64>(slope, z, gather(f.shift, label));
    const signed = v128.load(at<f64>(f.signedWeight, pair));
    const weight = v128.abs<f64>(signed);
    const present = v128.gt<f64>(signed, zero);
    const p = sigmoid<f64>(t);
    const away = v128.bitselect(v128.neg<f64>(t), t, present);
    v128.store(sums, multiplyAdd<f64>(weight, softplus<f64>(away), v128.load(sums)));
    // e = p - y, as -sigmoid(-t) for a label that is present: nothing cancels.
    const miss = v128.bitselect(v128.neg<f64>(sigmoid<f64>(v128.neg<f64>(t))), p, present);
    const pull = v128.mul<f64>(v128.mul<f64>(weight, slope), miss);
    for (let j = 0; j < columns; j++) {
      const sum = sums + (<usize>(1 + j) << 4);
      v128.store(sum, multiplyAdd<f64>(pull, v128.load(x + (<usize>j << 4)), v128.load(sum)));
    }
    if (!f.curvature) continue;
    const bend = v128.mul<f64>(
      v128.mul<f64>(v128.mul<f64>(weight, slope), slope), v128.mul<f64>(p, v128.sub<f64>(one, p)));
    let entry = triangle;
    for (let j = 0; j < columns; j++) {
      const bent = v128.mul<f64>(bend, v128.load(x + (<usize>j << 4)));
      for (let l = 0; l <= j; l++) {
        v128.store(entry, multiplyAdd<f64>(bent, v128.load(x + (<usize>l << 4)), v128.load(entry)));
        entry += 16;
      }
    }
  }
  const out = f.out + <usize>task * (<usize>size << 3);
  for (let i = 0; i < (f.curvature ? size : 1 + columns); i++) {
    store<f64>(at<f64>(out, i), sumLanes<f64>(v128.load(sums + (<usize>i << 4))));
  }
}

/** out[pair] = z. @kernel */
export function pairLogits(
  pairs: i32, scores: usize, terms: i32, kinds: usize, places: usize, label: usize, pointLog: usize, labelLog: usize,
  parameters: usize, out: usize,
): void {
  const frame = pushFrame(offsetof<PairFrame>());
  const f = changetype<PairFrame>(frame);
  fillPairFrame(f, pairs, scores, terms, kinds, places, label, pointLog, labelLog, parameters, out);
  const task: (frame: usize, task: i32) => void = logitsTask;
  parallel(task.index, frame, pairTasks(pairs));
  popFrame(frame);
}
function logitsTask(frame: usize, task: i32): void {
  const f = changetype<PairFrame>(frame);
  const end = min(f.pairs, (task + 1) * PAIRS_A_TASK);
  for (let pair = task * PAIRS_A_TASK; pair < end; pair += 2) {
    v128.store(at<f64>(f.out, pair), designOf(f, pair, panelA()));
  }
}
