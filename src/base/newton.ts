// Least value of a small smooth convex function whose variables have lower bounds. A step goes to the exact minimum of the
// quadratic model within the bounds and is halved until the value falls by a fair part of what the model promised, so
// that the value never rises; it ends when the model promises next to nothing.

/** A quadratic model: gradient and curvature (positive definite, lower triangle row by row). */
export interface LocalModel {
  gradient: Float64Array;
  curvature: Float64Array;
}

export interface BoundedProblem {
  /** Lower bound of each variable, -Infinity where there is none. */
  lower: Float64Array;
  evaluate(x: Float64Array): { value: number; gradient: Float64Array };
  /** Among the chosen variables alone. */
  curvature(x: Float64Array, chosen: readonly number[]): Float64Array;
  /** Between two pieces of work: gives others a turn, and throws if the work was cancelled. */
  pause?(): Promise<void>;
}

export interface Minimum {
  x: Float64Array;
  value: number;
  steps: number;
  /** The promised fall went below the tolerance. */
  converged: boolean;
}

const MOST_STEPS = 100;
const MOST_HALVINGS = 40;
/** Part of the promised fall that a step must bring. */
const FAIR_PART = 1e-4;

/** Place of (i, j), j <= i, in a lower triangle. */
export const triangular = (i: number, j: number): number => (i * (i + 1)) / 2 + j;

/** Searches from `start`, which must be within the bounds; `tolerance` is relative to the value. */
export async function minimise(problem: BoundedProblem, start: Float64Array, tolerance = 1e-9): Promise<Minimum> {
  let x = start;
  let here = problem.evaluate(x);
  for (let steps = 0; steps < MOST_STEPS; steps++) {
    await problem.pause?.();
    const step = newtonStep(problem, x, here.gradient);
    await problem.pause?.();
    let fall = 0;
    for (let j = 0; j < x.length; j++) fall -= here.gradient[j] * step[j];
    if (!(fall > tolerance * Math.max(1, Math.abs(here.value))))
      return { x, value: here.value, steps, converged: !Number.isNaN(fall) };
    let next: { x: Float64Array; at: typeof here } | undefined;
    for (let halvings = 0, share = 1; halvings < MOST_HALVINGS && !next; halvings++, share /= 2) {
      const tried = x.map((value, j) => Math.max(problem.lower[j], value + share * step[j]));
      const at = problem.evaluate(tried);
      if (at.value <= here.value - FAIR_PART * share * fall) next = { x: tried, at };
    }
    if (!next) return { x, value: here.value, steps, converged: false };
    x = next.x;
    here = next.at;
  }
  return { x, value: here.value, steps: MOST_STEPS, converged: false };
}

/** The step among the variables that can fall: those off their bounds, or pulled away from them. */
function newtonStep(problem: BoundedProblem, x: Float64Array, gradient: Float64Array): Float64Array {
  const chosen: number[] = [];
  for (let j = 0; j < x.length; j++) if (x[j] > problem.lower[j] || gradient[j] < 0) chosen.push(j);
  const only = (values: Float64Array) => Float64Array.from(chosen, (j) => values[j]);
  const model = { gradient: only(gradient), curvature: problem.curvature(x, chosen) };
  const found = boundedStep(model, only(x), only(problem.lower));
  const step = new Float64Array(x.length);
  chosen.forEach((j, i) => {
    step[j] = found[i];
  });
  return step;
}

/**
 * The d with the least gradient'd + d'curvature d / 2 and x + d >= lower: an active-set search. It begins with every
 * variable that stands on its bound held there, walks to the minimum of the others until a bound stops it, and lets go of
 * the bound that pulls most. Each walk lowers the model, so that what is returned always goes down.
 */
export function boundedStep(model: LocalModel, x: Float64Array, lower: Float64Array): Float64Array {
  const size = x.length;
  const least = lower.map((bound, j) => bound - x[j]); // of d
  const step = new Float64Array(size);
  const held = Array.from(least, (bound) => bound >= 0);
  const tiny = 1e-12 * Math.max(...model.gradient.map(Math.abs), 0);
  for (let walk = 0; walk < 20 * size; walk++) {
    const slope = modelSlope(model, step);
    const free = held.flatMap((isHeld, j) => (isHeld ? [] : [j]));
    const move = solveFree(model.curvature, slope, free);
    let share = 1;
    let stopped = -1;
    for (const [i, j] of free.entries()) {
      const room = least[j] - step[j];
      const wanted = move[i];
      if (wanted < room && room / wanted < share) {
        share = room / wanted;
        stopped = j;
      }
    }
    for (const [i, j] of free.entries()) step[j] = step[j] + share * move[i];
    if (stopped >= 0) {
      step[stopped] = least[stopped];
      held[stopped] = true;
      continue;
    }
    const after = modelSlope(model, step);
    let pulled = -1;
    for (let j = 0; j < size; j++) if (held[j] && after[j] < (pulled < 0 ? -tiny : after[pulled])) pulled = j;
    if (pulled < 0) break;
    held[pulled] = false;
  }
  return step;
}

/** gradient + curvature d. */
function modelSlope({ gradient, curvature }: LocalModel, step: Float64Array): Float64Array {
  return gradient.map((value, i) => {
    let sum = value;
    for (let j = 0; j < step.length; j++) sum += curvature[triangular(Math.max(i, j), Math.min(i, j))] * step[j];
    return sum;
  });
}

/** -curvature^-1 slope among the free variables, by Cholesky; a pivot that rounding made useless moves nothing. */
function solveFree(curvature: Float64Array, slope: Float64Array, free: readonly number[]): Float64Array {
  const n = free.length;
  const factor = new Float64Array(triangular(n, 0));
  const out = Float64Array.from(free, (j) => -slope[j]);
  const entry = (i: number, j: number): number => factor[triangular(i, j)];
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = curvature[triangular(free[i], free[j])];
      const whole = sum;
      for (let k = 0; k < j; k++) sum -= entry(i, k) * entry(j, k);
      if (i > j) factor[triangular(i, j)] = sum / entry(j, j);
      else factor[triangular(i, i)] = sum > 1e-14 * whole ? Math.sqrt(sum) : Infinity;
    }
  }
  for (let i = 0; i < n; i++) {
    let sum = out[i];
    for (let k = 0; k < i; k++) sum -= entry(i, k) * out[k];
    out[i] = sum / entry(i, i);
  }
  for (let i = n - 1; i >= 0; i--) {
    let sum = out[i];
    for (let k = i + 1; k < n; k++) sum -= entry(k, i) * out[k];
    out[i] = sum / entry(i, i);
  }
  return out;
}
