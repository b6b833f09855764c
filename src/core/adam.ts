// Adam as ascent, on parameters that live in a core: on all of a parameter, or on the rows of a batch's features alone.

import { finiteNumber, wholeNumber } from "../base/check.ts";
import { ArgumentError } from "../base/errors.ts";
import { type Csr, valuesOf } from "./csr.ts";
import { addresses, type Integers, integers, type Matrix, matrix } from "./matrix.ts";
import { areContiguous, compatible, hasShape, inCore } from "./shapes.ts";

/** Running means of the gradient and of its square, in the shape of the parameter. */
export interface AdamState<T = Matrix> {
  first: T;
  second: T;
}

/** One step of Adam. */
export interface AdamOptions {
  /** Step length. */
  rate: number;
  /** Which step this is, from 1. */
  step: number;
}

/** beta^n by repeated squaring: the host's power function is not the same everywhere. */
function power(beta: number, n: number): number {
  let result = 1;
  for (let square = beta, rest = n; rest > 0; rest = Math.floor(rest / 2), square *= square) {
    if (rest % 2 === 1) result *= square;
  }
  return result;
}

/** Adam's constants. */
export const ADAM = { beta1: 0.9, beta2: 0.999, epsilon: 1e-8 } as const;

/** A step's constants: its length and epsilon with Adam's corrections for moments that began at zero. */
export function correctedStep({ rate, step }: AdamOptions): Record<"length" | "beta1" | "beta2" | "epsilon", number> {
  const { beta1, beta2, epsilon } = ADAM;
  finiteNumber("rate", rate);
  wholeNumber("step", step, 1);
  const correction = Math.sqrt(1 - power(beta2, step));
  const length = (rate * correction) / (1 - power(beta1, step));
  return { length, beta1, beta2, epsilon: epsilon * correction };
}

/** One step up the gradient. Where the gradient is not finite nothing moves. */
export function adam(parameter: Matrix, gradient: Matrix, state: AdamState, options: AdamOptions): void {
  const { first, second } = state;
  const { length, beta1, beta2, epsilon } = correctedStep(options);
  compatible({ parameter, gradient, first, second });
  const { rows, columns } = parameter;
  hasShape({ gradient, first, second }, rows, columns);
  areContiguous({ parameter, gradient, first, second });
  const held = addresses(parameter, gradient, first, second);
  parameter.kernels.adam(rows * columns, ...held, length, beta1, beta2, epsilon);
}

/** How a training's steps go, counted from 0. */
export interface RowSchedule {
  steps: number;
  /** Adam's rate, and how much the prior counts. */
  at(step: number): { rate: AdamOptions["rate"]; pull: number };
}

/** Columns that a row of weights may have: its gradient lies in a thread's scratch memory. */
const MOST_COLUMNS = 40_000;

/** A batch by features: which they are, and for each its entries: the point in the batch, the place in X. */
interface BatchLists {
  feature: Integers;
  start: Integers;
  point: Integers;
  entry: Integers;
}

/**
 * Adam on a weight for every feature and factor [D,P], where a step touches only the rows of features that its batch has. The
 * other rows miss steps, in which the prior would have pulled at them and their moments decayed; they take those when
 * they are next looked at. The numbers are those of the dense step, bit by bit (assembly/rowadam.ts).
 */
export class RowSteps {
  /** -pull, length and epsilon of each step [steps,3] */
  readonly #schedule: Matrix;
  readonly #taken: Integers;
  #lists: BatchLists | undefined;
  #features = 0;
  #points = 0;
  /** Where a feature stands in the list, valid if `#seen` is the batch's number. */
  readonly #place: Int32Array;
  readonly #seen: Int32Array;
  #batches = 0;
  /** Rows may have missed a step. */
  #behind = false;

  constructor(
    private readonly x: Csr,
    private readonly weights: Matrix,
    private readonly state: AdamState /** 1 / a [1,1], which stays as it is. */,
    private readonly inverse: Matrix,
    schedule: RowSchedule,
  ) {
    const { core } = x;
    wholeNumber("columns", weights.columns, 0, MOST_COLUMNS);
    const { first, second } = state;
    compatible({ x: valuesOf("x", x), weights, first, second, inverse });
    hasShape({ inverse }, 1, 1);
    hasShape({ weights, first, second }, x.columns, weights.columns);
    areContiguous({ weights, first, second });
    this.#schedule = matrix(core, schedule.steps, 3, "f64");
    const table = this.#schedule.view();
    for (let step = 0; step < schedule.steps; step++) {
      const { rate, pull } = schedule.at(step);
      const { length, epsilon } = correctedStep({ rate, step: step + 1 });
      table.set([-pull, length, epsilon], 3 * step);
    }
    this.#taken = integers(core, x.columns);
    this.#place = new Int32Array(x.columns);
    this.#seen = new Int32Array(x.columns);
  }

  /** Takes the batch of a step: its features' weights become what they are before that step. */
  enter(rows: Integers, step: number): void {
    wholeNumber("step", step, 0, this.#schedule.rows - 1);
    inCore(this.x.core, { rows });
    this.#list(rows);
    this.#points = rows.length;
    const { feature } = this.#lists as BatchLists;
    this.#catchUp(this.#features, feature.address, step);
  }

  /** The step of the batch that was entered, with G [B,P]. */
  step(g: Matrix, step: number): void {
    wholeNumber("step", step, 0, this.#schedule.rows - 1);
    compatible({ weights: this.weights, g });
    hasShape({ g }, this.#points, this.weights.columns);
    if (this.#lists === undefined) throw new ArgumentError("step", "found no batch, expected enter() before");
    const { feature, start, point, entry } = this.#lists;
    const common = this.#common(this.#features, feature.address, step + 1);
    const entries = addresses(start, point, entry, this.x.value);
    this.weights.kernels.adamListed(...common, ...entries, ...g.strided);
    this.#behind = true;
  }

  /** All weights and moments become what they are after so many steps. */
  settle(steps: number): void {
    wholeNumber("steps", steps, 0, this.#schedule.rows);
    if (this.#behind) this.#catchUp(this.weights.rows, 0, steps);
    this.#behind = false;
  }

  /** The weights and moments were set to what they are after so many steps. */
  restart(steps: number): void {
    this.#taken.view().fill(wholeNumber("steps", steps, 0, this.#schedule.rows));
    this.#behind = false;
  }

  #catchUp(count: number, rows: number, steps: number): void {
    this.weights.kernels.adamCatchUp(...this.#common(count, rows, steps));
  }

  /** First arguments of both kernels. */
  #common(count: number, rows: number, steps: number) {
    const { first, second } = this.state;
    const moving = addresses(this.weights, first, second, this.#taken);
    const fixed = addresses(this.#schedule, this.inverse);
    const { columns } = this.weights;
    return [count, rows, columns, ...moving, steps, ...fixed, ADAM.beta1, ADAM.beta2] as const;
  }

  /** Lists the batch by features, in the order in which they first appear; a feature's entries in the order of the points. */
  #list(rows: Integers): void {
    const lists = this.#room(rows);
    const [begins, columns, points] = [this.x.start.view(), this.x.column.view(), rows.view()];
    const [feature, start] = [lists.feature.view(), lists.start.view()];
    const [place, seen] = [this.#place, this.#seen];
    const batch = ++this.#batches;
    let features = 0;
    start.fill(0);
    // How many entries each feature has, one place on; then where each begins, one place on; then they move into place.
    for (const row of points) {
      for (let e = begins[row]; e < begins[row + 1]; e++) {
        const column = columns[e];
        if (seen[column] !== batch) {
          seen[column] = batch;
          feature[features] = column;
          place[column] = features++;
        }
        const to = place[column] + 2;
        start[to] = start[to] + 1;
      }
    }
    for (let f = 2; f < features + 2; f++) start[f] = start[f] + start[f - 1];
    const [point, entry] = [lists.point.view(), lists.entry.view()];
    for (let i = 0; i < points.length; i++) {
      const row = points[i];
      for (let e = begins[row]; e < begins[row + 1]; e++) {
        const at = place[columns[e]] + 1;
        const to = start[at];
        start[at] = to + 1;
        point[to] = i;
        entry[to] = e;
      }
    }
    this.#features = features;
  }

  /** Lists that hold the entries of these rows. */
  #room(rows: Integers): BatchLists {
    const begins = this.x.start.view();
    let entries = 0;
    for (const row of rows.view()) {
      wholeNumber("rows", row, 0, this.x.rows - 1);
      entries += begins[row + 1] - begins[row];
    }
    if (this.#lists && this.#lists.point.length >= entries) return this.#lists;
    this.#freeLists();
    const most = Math.ceil(1.25 * entries);
    const { core } = this.x;
    this.#lists = {
      feature: integers(core, most),
      start: integers(core, most + 2),
      point: integers(core, most),
      entry: integers(core, most),
    };
    return this.#lists;
  }

  #freeLists(): void {
    for (const list of Object.values(this.#lists ?? {})) list.free();
    this.#lists = undefined;
  }

  free(): void {
    this.#freeLists();
    this.#schedule.free();
    this.#taken.free();
  }
}
