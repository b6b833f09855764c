// A training that several processes compute: each has the rows of Phi and b, and their moments, of its own labels. Whatever is saved
// or measured has those of all labels, so that it does not depend on how many processes there were.
//
// The labels are cut into blocks that do not depend on the number of ranks; each block has its own G, H and loss, and blocks are
// added in a fixed tree: the same bytes for any number of ranks. A rank adds up what it can, sends the nodes it has, and adds all
// that come to the same sum.

import type { Backend, Tensor } from "../../backend/backend.ts";
import { ArgumentError } from "../../base/errors.ts";
import { type LabelSets, labelsWithin } from "../../base/sparse.ts";
import type { Matrix, RealArray } from "../../core/matrix.ts";
import { type Communicator, onAny } from "../../mpi/communicator.ts";
import { type LabelPartition, labelPartition, type Range } from "../../mpi/partition.ts";
import { nodesOf, TreeSum } from "../../mpi/tree.ts";
import type { SavedTensor, TrainingState } from "./checkpoint.ts";
import {
  type DataTerm,
  LabelLayer,
  type LabelParameters,
  type LabelPass,
  type MakeDataTerm,
  type PointGradients,
} from "./labels.ts";
import { groupsOf, type ModelShape } from "./shape.ts";

/** Tensors with a row (Phi) or a number (b) for each label, by the end of their names. */
const OF_LABELS = /\.(phi|bias)$/;
const isPhi = (name: string): boolean => name.endsWith(".phi");

const bytesOf = (values: RealArray): Uint8Array => new Uint8Array(values.buffer, values.byteOffset, values.byteLength);

/** This process among those that compute a training together. */
export class LabelRanks {
  readonly #partition: LabelPartition;

  constructor(ranks: Communicator, labels: number) {
    this.#partition = labelPartition(ranks, labels);
  }

  /** The labels of this process. */
  get own(): Range {
    return this.#partition.own;
  }

  /** The shape with this process's labels alone. */
  ownShape(shape: ModelShape): ModelShape {
    return { ...shape, labels: this.own.to - this.own.from };
  }

  /** The labels of this process, counted from its first. */
  ownLabels(sets: LabelSets): LabelSets {
    return labelsWithin(sets, this.own.from, this.own.to);
  }

  /** The data term over the labels of all processes; the shape is of this one's. */
  readonly dataTerm: MakeDataTerm = (backend, shape) => new RankedTerm(backend, shape, this.#partition);

  /** Which of these are so on any of the processes. */
  anywhere(flags: readonly boolean[]): boolean[] {
    return onAny(this.#partition.ranks, flags);
  }

  /** Numbers of all labels, from those of the labels of each process, `each` for a label. */
  #gathered(own: RealArray, each: number): RealArray {
    const { ranks, ranges } = this.#partition;
    const bytes = own.BYTES_PER_ELEMENT * each;
    const all = ranks.allgather(
      bytesOf(own),
      ranges.map(({ from, to }) => (to - from) * bytes),
    );
    // A copy begins at a multiple of eight.
    const { buffer } = all.slice();
    return own instanceof Float32Array ? new Float32Array(buffer) : new Float64Array(buffer);
  }

  /** Phi and b of all labels, on the device. */
  async gatheredTensors(backend: Backend, { phi, bias }: LabelParameters): Promise<LabelParameters> {
    const { labels } = this.#partition;
    const rows = this.#gathered(await backend.read(phi), phi.columns);
    const numbers = this.#gathered(await backend.read(bias), 1);
    return { phi: backend.tensor(labels, phi.columns, rows), bias: backend.tensor(1, labels, numbers) };
  }

  /** The state of all processes together; all of them must ask for it at the same step. */
  gatheredState(state: TrainingState): TrainingState {
    const { labels } = this.#partition;
    return changed(state, (name, { rows, columns, values }) =>
      isPhi(name)
        ? { rows: labels, columns, values: this.#gathered(values, columns) }
        : { rows, columns: labels, values: this.#gathered(values, 1) },
    );
  }

  /** The part of a state that belongs to this process's labels. */
  ownState(state: TrainingState): TrainingState {
    const { from, to } = this.own;
    return changed(state, (name, { rows, columns, values }) =>
      isPhi(name)
        ? { rows: Math.min(rows, to) - from, columns, values: values.slice(from * columns, to * columns) }
        : { rows, columns: Math.min(columns, to) - from, values: values.slice(from, to) },
    );
  }
}

function changed(state: TrainingState, change: (name: string, saved: SavedTensor) => SavedTensor): TrainingState {
  const tensors = new Map(state.tensors);
  for (const [name, saved] of tensors) if (OF_LABELS.test(name)) tensors.set(name, change(name, saved));
  return { ...state, tensors };
}

/** G, H and loss of some labels, one after another in one list [1,n]. */
type Sums = Tensor;

/** Elements of a tensor where they are: ranks are for backends whose tensors are matrices of the core. */
const bytesIn = (sums: Sums): Uint8Array => bytesOf((sums as Matrix).view());

class RankedTerm implements DataTerm {
  /** One for blocks of each width: all have the same but the last. */
  readonly #terms = new Map<number, LabelLayer>();
  readonly #length: number;
  /** Lists that nobody uses at the moment. */
  readonly #spare: Sums[] = [];

  /** `shape` is of this rank's own labels. */
  constructor(
    private readonly backend: Backend,
    private readonly shape: ModelShape,
    private readonly partition: LabelPartition,
  ) {
    if (!backend.onCore) throw new ArgumentError("device", `found ${backend.name} with ranks, expected wasm`);
    this.#length = shape.batch * (shape.factors + groupsOf(shape) + 1);
  }

  #term(width: number): LabelLayer {
    const term = this.#terms.get(width) ?? new LabelLayer(this.backend, { ...this.shape, labels: width });
    this.#terms.set(width, term);
    return term;
  }

  /** Loss and gradients over all labels of all ranks; those by Phi and b are of this rank's own labels. */
  evaluate(pass: LabelPass): void {
    const { labels: positives, parameters, gradient, out } = pass;
    const { width, blocks, ranks, labels, own } = this.partition;
    if ("pattern" in positives) throw new ArgumentError("labels", "found a sample of them with ranks, expected all");
    const { from, to } = blocks[ranks.rank];
    const sum = this.#sum();
    for (let index = from; index < to; index++) {
      const range = { from: index * width - own.from, to: Math.min(labels, (index + 1) * width) - own.from };
      const value = this.#room();
      this.#term(range.to - range.from).evaluate({
        ...pass,
        labels: labelsWithin(positives, range.from, range.to),
        gradientDraw: undefined,
        parameters: this.#block(parameters, range),
        gradient: this.#block(gradient, range),
        out: this.#views(value),
      });
      sum.push({ level: 0, index, value });
    }
    const total = this.#total(sum);
    const views = this.#views(total);
    for (const name of ["dMean", "dVariance", "pointLoss"] as const)
      this.backend.blend(1, views[name], 0, views[name], out[name]);
    this.#spare.push(total);
  }

  #block({ phi, bias }: LabelParameters, { from, to }: Range): LabelParameters {
    const { backend } = this;
    const list = backend.reshape(bias, bias.columns, 1);
    return {
      phi: backend.rowRange(phi, from, to),
      bias: backend.reshape(backend.rowRange(list, from, to), 1, to - from),
    };
  }

  #sum(): TreeSum<Sums> {
    return new TreeSum((left, right) => {
      this.backend.combine("add", left, right, left);
      this.#spare.push(right);
      return left;
    });
  }

  #room(): Sums {
    return this.#spare.pop() ?? this.backend.tensor(1, this.#length);
  }

  #views(sums: Sums): PointGradients {
    const { backend } = this;
    const { batch, factors } = this.shape;
    const list = backend.reshape(sums, this.#length, 1);
    let at = 0;
    const next = (rows: number, columns: number): Tensor => {
      const part = backend.rowRange(list, at, at + rows * columns);
      at += rows * columns;
      return backend.reshape(part, rows, columns);
    };
    return { dMean: next(batch, factors), dVariance: next(groupsOf(this.shape), batch), pointLoss: next(1, batch) };
  }

  #total(own: TreeSum<Sums>): Sums {
    const { ranks, blocks } = this.partition;
    const nodes = blocks.map(({ from, to }) => nodesOf(from, to));
    const bytes = this.#length * (this.backend.precision === "f32" ? 4 : 8);
    const sent = new Uint8Array(own.nodes().length * bytes);
    for (const [i, { value }] of own.nodes().entries()) {
      sent.set(bytesIn(value), i * bytes);
      this.#spare.push(value);
    }
    const received = ranks.allgather(
      sent,
      nodes.map(({ length }) => length * bytes),
    );
    const all = this.#sum();
    for (const [i, { level, index }] of nodes.flat().entries()) {
      const value = this.#room();
      bytesIn(value).set(received.subarray(i * bytes, (i + 1) * bytes));
      all.push({ level, index, value });
    }
    return all.total() as Sums;
  }

  free(): void {
    for (const term of this.#terms.values()) term.free();
    this.backend.free(...this.#spare);
  }
}
