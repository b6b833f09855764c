// From scores to honest probabilities, and the sums that fitting this takes. A pair of a point and a label has
//
//   z = sum_ab G_a(label) H_b(point) (c_ab0 + sum_t c_abt term_t(score))        p = sigmoid(shift + slope z)
//
// Labels and points have a place each, a number from 0 up; the gates G_a = max(0, 1 - |place - a|) blend neighbouring curves.
// A term is a rising function of one score s; with x = s - centre and r = sqrt(x^2 + spread) these are
//
//   linear  x       hinge  (x + r) / 2, a soft positive part       log  its logarithm
//   cap  -hinge(-x), which levels off at the centre                limit  -log(hinge(-x)), which climbs towards it
//
// src/calibrate/forward.ts states the same for one label at a time.

import { at, cell, lanes, multiplyAdd, sumLanes } from "./simd";
import { exp, loadPart, log, log1pInside, sigmoid, storePart } from "./math";
import { panelA, panelB, parallel, popFrame, pushFrame } from "./parallel";
import { HALF, number, ONE } from "./tables";

const LINEAR: i32 = 0;
const HINGE: i32 = 1;
const LOG: i32 = 2;
const CAP: i32 = 3;

/** Beyond it x counts as it: its square is still a number of single precision. */
const FAR: f64 = 1e15;

/** Value of a term. For x < 0 the hinge is (spread / 4) / ((r - x) / 2): the same number without cancellation. */
// @ts-ignore: decorator
@inline
function termValue<T extends number>(shape: i32, s: v128, centre: v128, spread: v128): v128 {
  const far = v128.splat<T>(<T>FAR);
  let x = v128.pmin<T>(v128.pmax<T>(v128.sub<T>(s, centre), v128.neg<T>(far)), far);
  if (shape == LINEAR) return x;
  if (shape >= CAP) x = v128.neg<T>(x);
  const r = v128.sqrt<T>(v128.add<T>(v128.mul<T>(x, x), spread));
  const half = v128.mul<T>(v128.add<T>(v128.abs<T>(x), r), number<T>(HALF));
  const quarter = v128.mul<T>(v128.mul<T>(spread, number<T>(HALF)), number<T>(HALF));
  const hinge = v128.bitselect(half, v128.div<T>(quarter, half), v128.ge<T>(x, v128.splat<T>(0)));
  if (shape == HINGE) return hinge;
  if (shape == LOG) return log<T>(hinge);
  return v128.neg<T>(shape == CAP ? hinge : log<T>(hinge));
}

/** Gate `a` of places. */
// @ts-ignore: decorator
@inline
function gate<T extends number>(place: v128, a: i32): v128 {
  const away = v128.abs<T>(v128.sub<T>(place, v128.splat<T>(<T>a)));
  return v128.pmax<T>(v128.sub<T>(number<T>(ONE), away), v128.splat<T>(0));
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
function valueOfTerm<T extends number>(t: Terms, i: i32, s: v128): v128 {
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
  gates: i32;
  /** T [rows][gates][1 + terms]: c of each label gate, blended for the row. */
  weights: usize;
  place: usize;
  slope: usize;
  shift: usize;
  logit: bool;
  out: usize;
  outRow: i32;
}

/** out [rows,labels] = p, or shift + slope z where `logit`; out may be one of the scores. @kernel */
export function calibrate<T extends number>(
  rows: i32, labels: i32, scores: usize, terms: i32, kinds: usize, places: usize, gates: i32, weights: usize,
  place: usize, slope: usize, shift: usize, logit: bool, out: usize, outRow: i32,
): void {
  const frame = pushFrame(offsetof<ForwardFrame>());
  const f = changetype<ForwardFrame>(frame);
  f.rows = rows; f.labels = labels; f.scores = scores;
  f.count = terms; f.kinds = kinds; f.places = places; f.gates = gates; f.weights = weights;
  f.place = place; f.slope = slope; f.shift = shift;
  f.logit = logit; f.out = out; f.outRow = outRow;
  const task: (frame: usize, task: i32) => void = sizeof<T>() == 4 ? calibrateRowF32 : calibrateRowF64;
  parallel(task.index, frame, rows);
  popFrame(frame);
}
function calibrateRowF32(frame: usize, task: i32): void { calibrateRow<f32>(frame, task); }
function calibrateRowF64(frame: usize, task: i32): void { calibrateRow<f64>(frame, task); }
function calibrateRow<T extends number>(frame: usize, row: i32): void {
  const f = changetype<ForwardFrame>(frame);
  const columns = f.count + 1;
  const weights = at<T>(f.weights, row * f.gates * columns);
  for (let k = 0; k < f.labels; k += lanes<T>()) {
    const here = min(f.labels - k, lanes<T>());
    const place = someOf<T>(at<T>(f.place, k), here);
    let z = blended<T>(f.gates, place, weights, columns);
    for (let t = 0; t < f.count; t++) {
      const source = f.scores + (<usize>scoreOf(f, t) << 3);
      const s = someOf<T>(cell<T>(load<i32>(source), load<i32>(source, 4), row, k), here);
      z = multiplyAdd<T>(blended<T>(f.gates, place, at<T>(weights, 1 + t), columns), valueOfTerm<T>(f, t, s), z);
    }
    z = multiplyAdd<T>(someOf<T>(at<T>(f.slope, k), here), z, someOf<T>(at<T>(f.shift, k), here));
    const result = f.logit ? z : sigmoid<T>(z);
    const to = cell<T>(f.out, f.outRow, row, k);
    if (here == lanes<T>()) v128.store(to, result);
    else storePart<T>(to, result, here);
  }
}

/** A weight as the gates of the labels blend it; those of one gate lie `step` apart. */
// @ts-ignore: decorator
@inline
function blended<T extends number>(gates: i32, place: v128, weight: usize, step: i32): v128 {
  let sum = v128.mul<T>(gate<T>(place, 0), v128.load_splat<T>(weight));
  for (let a = 1; a < gates; a++) {
    sum = multiplyAdd<T>(gate<T>(place, a), v128.load_splat<T>(at<T>(weight, a * step)), sum);
  }
  return sum;
}

// @ts-ignore: decorator
@inline
function someOf<T extends number>(x: usize, count: i32): v128 {
  return count == lanes<T>() ? v128.load(x) : loadPart<T>(x, count);
}

// Fitting, in double precision. Pairs come as arrays of an even length, two pairs a vector; a pad has the weight 0. Columns of
// the design: for each gate of the labels, for each of the points, 1 and the terms, all times both gates. A place lies between two
// knots: most gates of a pair are 0 and are passed over, which changes no sum.

/** Pairs of one task: the sums of a task are written apart and added in the order of the tasks. */
const PAIRS_A_TASK: i32 = 8192;

/** How many tasks there are for so many pairs. @kernel */
export function pairTasks(pairs: i32): i32 {
  return (pairs + PAIRS_A_TASK - 1) / PAIRS_A_TASK;
}

// @ts-ignore: decorator
@unmanaged
class TermFrame extends Terms {
  pairs: i32;
  scores: usize;
  out: usize;
}

/** out [terms,pairs] = the terms of scores [scores,pairs]. @kernel */
export function pairTerms(pairs: i32, scores: usize, terms: i32, kinds: usize, places: usize, out: usize): void {
  const frame = pushFrame(offsetof<TermFrame>());
  const f = changetype<TermFrame>(frame);
  f.pairs = pairs; f.scores = scores; f.count = terms; f.kinds = kinds; f.places = places; f.out = out;
  const task: (frame: usize, task: i32) => void = termsTask;
  parallel(task.index, frame, pairTasks(pairs));
  popFrame(frame);
}
function termsTask(frame: usize, task: i32): void {
  const f = changetype<TermFrame>(frame);
  const end = min(f.pairs, (task + 1) * PAIRS_A_TASK);
  for (let t = 0; t < f.count; t++) {
    const from = scoreOf(f, t) * f.pairs, to = t * f.pairs;
    for (let pair = task * PAIRS_A_TASK; pair < end; pair += 2) {
      v128.store(at<f64>(f.out, to + pair), valueOfTerm<f64>(f, t, v128.load(at<f64>(f.scores, from + pair))));
    }
  }
}

// @ts-ignore: decorator
@unmanaged
class PairFrame {
  pairs: i32;
  count: i32;
  /** f64 [terms][pairs] */
  terms: usize;
  labelGates: i32;
  pointGates: i32;
  labelPlace: usize;
  pointPlace: usize;
  parameters: usize;
  out: usize;
  /** Added to each logit. */
  offset: usize;
  /** Weight of a pair: above 0 where the label is present, below where it is absent. */
  signedWeight: usize;
  /** i32 [chosen]: columns whose curvature is wanted, rising. */
  columns: usize;
  chosen: i32;
  /** One of so many vectors of pairs goes into the curvature. */
  stride: i32;
}

/** Writes 1 and the terms of two pairs at `x`, then their gates, and returns z. */
function designOf(f: PairFrame, pair: i32, x: usize): v128 {
  v128.store(x, number<f64>(ONE));
  for (let t = 0; t < f.count; t++) v128.store(x + (<usize>(1 + t) << 4), v128.load(at<f64>(f.terms, t * f.pairs + pair)));
  const labelPlace = v128.load(at<f64>(f.labelPlace, pair)), pointPlace = v128.load(at<f64>(f.pointPlace, pair));
  let gates = gatesAt(f, x);
  let parameter = f.parameters;
  let z = v128.splat<f64>(0);
  for (let a = 0; a < f.labelGates; a++) {
    const ofLabel = gate<f64>(labelPlace, a);
    for (let b = 0; b < f.pointGates; b++) {
      const both = v128.mul<f64>(ofLabel, gate<f64>(pointPlace, b));
      v128.store(gates, both);
      gates += 16;
      if (v128.any_true(both)) {
        let curve = v128.load_splat<f64>(parameter);
        for (let t = 1; t <= f.count; t++) {
          curve = multiplyAdd<f64>(v128.load_splat<f64>(at<f64>(parameter, t)), v128.load(x + (<usize>t << 4)), curve);
        }
        z = multiplyAdd<f64>(both, curve, z);
      }
      parameter = at<f64>(parameter, 1 + f.count);
    }
  }
  return z;
}
// @ts-ignore: decorator
@inline
function gatesAt(f: PairFrame, x: usize): usize {
  return x + (<usize>(1 + f.count) << 4);
}

function fillPairFrame(
  f: PairFrame, pairs: i32, count: i32, terms: usize, labelGates: i32, pointGates: i32, labelPlace: usize, pointPlace: usize,
  parameters: usize, out: usize,
): void {
  f.pairs = pairs; f.count = count; f.terms = terms;
  f.labelGates = labelGates; f.pointGates = pointGates; f.labelPlace = labelPlace; f.pointPlace = pointPlace;
  f.parameters = parameters; f.out = out;
}

/** out[pair] = z. @kernel */
export function pairLogits(
  pairs: i32, count: i32, terms: usize, labelGates: i32, pointGates: i32, labelPlace: usize, pointPlace: usize,
  parameters: usize, out: usize,
): void {
  const frame = pushFrame(offsetof<PairFrame>());
  const f = changetype<PairFrame>(frame);
  fillPairFrame(f, pairs, count, terms, labelGates, pointGates, labelPlace, pointPlace, parameters, out);
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

// A label that is present with the logit t costs log(1 + e^-t), one that is absent log(1 + e^t): with `away`, the logit of being
// wrong, and e = e^-|away| both are log(1 + e^away), its slope sigmoid(away) and its curvature e / (1 + e)^2.

// @ts-ignore: decorator
@inline
export function awayOf(t: v128, signedWeight: v128): v128 {
  return v128.bitselect(v128.neg<f64>(t), t, v128.gt<f64>(signedWeight, v128.splat<f64>(0)));
}
// @ts-ignore: decorator
@inline
export function expOf(away: v128): v128 {
  return exp<f64>(v128.neg<f64>(v128.abs<f64>(away)));
}
// @ts-ignore: decorator
@inline
export function lossOf(away: v128, e: v128): v128 {
  return v128.add<f64>(v128.pmax<f64>(away, v128.splat<f64>(0)), log1pInside<f64>(e));
}
// @ts-ignore: decorator
@inline
export function slopeOf(away: v128, e: v128): v128 {
  const one = number<f64>(ONE);
  return v128.div<f64>(v128.bitselect(e, one, v128.lt<f64>(away, v128.splat<f64>(0))), v128.add<f64>(one, e));
}
// @ts-ignore: decorator
@inline
export function curvatureOf(e: v128): v128 {
  const more = v128.add<f64>(number<f64>(ONE), e);
  return v128.div<f64>(e, v128.mul<f64>(more, more));
}

/**
 * Weighted loss of the logits offset + z, and its gradient: a task writes 1 + columns numbers. With `chosen` columns each task writes
 * the lower triangle of their curvature instead, from one of `stride` pairs. @kernel
 */
export function pairStatistics(
  pairs: i32, count: i32, terms: usize, labelGates: i32, pointGates: i32, labelPlace: usize, pointPlace: usize,
  parameters: usize, out: usize, offset: usize, signedWeight: usize, columns: usize, chosen: i32, stride: i32,
): void {
  const frame = pushFrame(offsetof<PairFrame>());
  const f = changetype<PairFrame>(frame);
  fillPairFrame(f, pairs, count, terms, labelGates, pointGates, labelPlace, pointPlace, parameters, out);
  f.offset = offset; f.signedWeight = signedWeight; f.columns = columns; f.chosen = chosen; f.stride = stride;
  const task: (frame: usize, task: i32) => void = chosen > 0 ? curvatureTask : gradientTask;
  parallel(task.index, frame, pairTasks(pairs));
  popFrame(frame);
}

function gradientTask(frame: usize, task: i32): void {
  const f = changetype<PairFrame>(frame);
  const x = panelA(), sums = panelB();
  const gates = gatesAt(f, x);
  const corners = f.labelGates * f.pointGates, width = 1 + f.count;
  const size = 1 + corners * width;
  memory.fill(sums, 0, <usize>size << 4);
  const end = min(f.pairs, (task + 1) * PAIRS_A_TASK);
  for (let pair = task * PAIRS_A_TASK; pair < end; pair += 2) {
    const t = v128.add<f64>(designOf(f, pair, x), v128.load(at<f64>(f.offset, pair)));
    const signed = v128.load(at<f64>(f.signedWeight, pair));
    const away = awayOf(t, signed), e = expOf(away);
    v128.store(sums, multiplyAdd<f64>(v128.abs<f64>(signed), lossOf(away, e), v128.load(sums)));
    const pull = v128.neg<f64>(v128.mul<f64>(signed, slopeOf(away, e)));
    for (let c = 0; c < corners; c++) {
      const own = v128.load(gates + (<usize>c << 4));
      if (!v128.any_true(own)) continue;
      const gated = v128.mul<f64>(pull, own);
      let sum = sums + (<usize>(1 + c * width) << 4);
      for (let j = 0; j < width; j++, sum += 16) {
        v128.store(sum, multiplyAdd<f64>(gated, v128.load(x + (<usize>j << 4)), v128.load(sum)));
      }
    }
  }
  writeSums(f.out, task, sums, size);
}

/** Vectors of pairs whose products are summed in registers, and columns that are summed together. */
const TOGETHER: i32 = 16;
const COLUMNS: i32 = 4;

function curvatureTask(frame: usize, task: i32): void {
  const f = changetype<PairFrame>(frame);
  const width = 1 + f.count, corners = f.labelGates * f.pointGates, chosen = f.chosen;
  const size = chosen * (chosen + 1) / 2;
  const sums = panelB();
  memory.fill(sums, 0, <usize>size << 4);
  // 1, the terms and the gates of each vector; then the bends, those times a column, and the columns.
  const designs = panelA(), designBytes = <usize>(width + corners) << 4;
  const bends = designs + <usize>TOGETHER * designBytes, bent = bends + (TOGETHER << 4);
  const own = bent + (TOGETHER << 4), listed = own + (<usize>((chosen + COLUMNS) * TOGETHER) << 4);
  const end = min(f.pairs, (task + 1) * PAIRS_A_TASK);
  for (let pair = task * PAIRS_A_TASK; pair < end; ) {
    let count = 0;
    for (; count < TOGETHER && pair < end; count++, pair += 2 * f.stride) {
      const t = v128.add<f64>(designOf(f, pair, designs + <usize>count * designBytes), v128.load(at<f64>(f.offset, pair)));
      const weight = v128.abs<f64>(v128.load(at<f64>(f.signedWeight, pair)));
      v128.store(bends + (<usize>count << 4), v128.mul<f64>(weight, curvatureOf(expOf(t))));
    }
    const columns = listColumns(f, designs, count, own, listed);
    for (let j = 0; j < columns; j++) {
      const mine = own + (<usize>(j * TOGETHER) << 4);
      for (let v: usize = 0, last = <usize>count << 4; v < last; v += 16) {
        v128.store(bent + v, v128.mul<f64>(v128.load(bends + v), v128.load(mine + v)));
      }
      const place = load<i32>(at<i32>(listed, j));
      const row = sums + (<usize>(place * (place + 1) / 2) << 4);
      for (let l = 0; l <= j; l += COLUMNS) addColumns(bent, own + (<usize>(l * TOGETHER) << 4), count, row, at<i32>(listed, l), j - l);
    }
  }
  writeSums(f.out, task, sums, size);
}

/** The chosen columns with a gate of any of these vectors above 0, each with its place among the chosen; how many there are. */
function listColumns(f: PairFrame, designs: usize, count: i32, own: usize, listed: usize): i32 {
  const width = 1 + f.count, corners = f.labelGates * f.pointGates;
  const designBytes = <usize>(width + corners) << 4;
  let columns = 0, corner = -1, isOpen = false;
  for (let l = 0; l < f.chosen; l++) {
    const column = load<i32>(at<i32>(f.columns, l));
    const first = designs + (<usize>(width + column / width) << 4);
    if (column / width != corner) {
      corner = column / width;
      let any = v128.splat<f64>(0);
      for (let v = 0; v < count; v++) any = v128.or(any, v128.load(first + <usize>v * designBytes));
      isOpen = v128.any_true(any);
    }
    if (!isOpen) continue;
    const term = <usize>(column % width) << 4;
    let to = own + (<usize>(columns * TOGETHER) << 4);
    for (let v = 0; v < count; v++, to += 16) {
      const design = <usize>v * designBytes;
      v128.store(to, v128.mul<f64>(v128.load(first + design), v128.load(designs + design + term)));
    }
    store<i32>(at<i32>(listed, columns++), l);
  }
  return columns;
}

/** Adds the products of one column, bent, with COLUMNS others to their sums in a row, pair after pair; those after `last` are not wanted. */
function addColumns(bent: usize, own: usize, count: i32, row: usize, listed: usize, last: i32): void {
  const to0 = row + (<usize>load<i32>(listed) << 4), to1 = row + (<usize>load<i32>(listed, 4) << 4);
  const to2 = row + (<usize>load<i32>(listed, 8) << 4), to3 = row + (<usize>load<i32>(listed, 12) << 4);
  let sum0 = v128.load(to0), sum1 = sum0, sum2 = sum0, sum3 = sum0;
  if (last > 0) sum1 = v128.load(to1);
  if (last > 1) sum2 = v128.load(to2);
  if (last > 2) sum3 = v128.load(to3);
  for (let v: usize = 0, end = <usize>count << 4; v < end; v += 16, own += 16) {
    const x = v128.load(bent + v);
    sum0 = multiplyAdd<f64>(x, v128.load(own), sum0);
    sum1 = multiplyAdd<f64>(x, v128.load(own, TOGETHER << 4), sum1);
    sum2 = multiplyAdd<f64>(x, v128.load(own, TOGETHER << 5), sum2);
    sum3 = multiplyAdd<f64>(x, v128.load(own, 3 * TOGETHER << 4), sum3);
  }
  v128.store(to0, sum0);
  if (last > 0) v128.store(to1, sum1);
  if (last > 1) v128.store(to2, sum2);
  if (last > 2) v128.store(to3, sum3);
}

/** Puts the sums of a task's lanes into its place. */
function writeSums(out: usize, task: i32, sums: usize, size: i32): void {
  const to = at<f64>(out, task * size);
  for (let i = 0; i < size; i++) store<f64>(at<f64>(to, i), sumLanes<f64>(v128.load(sums + (<usize>i << 4))));
}
