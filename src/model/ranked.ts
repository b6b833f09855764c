// The data term over the labels of one rank, added up over all of them. The labels are cut into blocks that do not depend on the
// number of ranks; each block has its own G, H and loss, and blocks are added in a fixed tree: the same bytes for any
// number of ranks. A rank adds up what it can, sends the nodes it has, and adds all that come to the same sum.

import type { Backend, LabelLists, Tensor } from "../backend/backend.ts";
import { ArgumentError } from "../core/errors.ts";
import type { Matrix, RealArray } from "../core/matrix.ts";
import type { LabelShare, Range } from "../ranks/share.ts";
import { nodesOf, TreeSum } from "../ranks/tree.ts";
import {
  allocatePointGradients,
  DataTerm,
  type LabelParameters,
  type LatentPoints,
  type PointGradients,
} from "./labels.ts";
import type { ModelShape } from "./shape.ts";

/** Elements of a tensor where they are: ranks are for backends whose tensors are matrices of the core. */
const elements = (tensor: Tensor): RealArray => (tensor as Matrix).view();

export const bytesOf = (values: RealArray): Uint8Array =>
  new Uint8Array(values.buffer, values.byteOffset, values.byteLength);

const partsOf = ({ dMean, dVariance, pointLoss }: PointGradients): Tensor[] => [dMean, dVariance, pointLoss];

/** What some labels say of the points, in one list [1,n], one part after another. */
type Sums = Tensor;

export class RankedTerm {
  readonly #out: PointGradients;
  /** The same of one block. */
  readonly #ofBlock: PointGradients;
  readonly #share: LabelShare;
  readonly #backend: Backend;
  readonly #shape: ModelShape;
  /** One for blocks of each width: all have the same but the last. */
  readonly #terms = new Map<number, DataTerm>();
  readonly #length: number;
  /** Lists that nobody uses at the moment. */
  readonly #spare: Sums[] = [];

  /** `shape` is of this rank's own labels; what all say of the points goes to `out`. */
  constructor(backend: Backend, shape: ModelShape, share: LabelShare, out: PointGradients) {
    if (!backend.onCore) throw new ArgumentError("device", `found ${backend.name} with ranks, expected wasm`);
    this.#backend = backend;
    this.#shape = shape;
    this.#share = share;
    this.#out = out;
    this.#ofBlock = allocatePointGradients(backend, shape);
    this.#length = partsOf(out).reduce((sum, { rows, columns }) => sum + rows * columns, 0);
  }

  #term(width: number): DataTerm {
    let term = this.#terms.get(width);
    if (term === undefined) {
      term = new DataTerm(this.#backend, { ...this.#shape, labels: width }, this.#ofBlock);
      this.#terms.set(width, term);
    }
    return term;
  }

  /** Loss and gradients over all labels of all ranks; those by Phi and b are of this rank's own labels. */
  overAllLabels(
    positives: LabelLists,
    latent: LatentPoints,
    parameters: LabelParameters,
    gradient: LabelParameters,
    scale: number,
  ): void {
    const { width, blocks, ranks, labels, own } = this.#share;
    const { from, to } = blocks[ranks.rank] as Range;
    const sum = this.#sum();
    for (let index = from; index < to; index++) {
      const range = { from: index * width - own.from, to: Math.min(labels, (index + 1) * width) - own.from };
      this.#term(range.to - range.from).overAllLabels(
        labelsWithin(positives, range),
        latent,
        this.#block(parameters, range),
        this.#block(gradient, range),
        scale,
      );
      sum.push({ level: 0, index, value: this.#packed() });
    }
    this.#unpack(this.#total(sum));
  }

  /** Labels of one block. */
  #block({ phi, bias }: LabelParameters, { from, to }: Range): LabelParameters {
    const backend = this.#backend;
    const list = backend.reshape(bias, bias.columns, 1);
    return {
      phi: backend.rowRange(phi, from, to),
      bias: backend.reshape(backend.rowRange(list, from, to), 1, to - from),
    };
  }

  #sum(): TreeSum<Sums> {
    return new TreeSum((left, right) => {
      this.#backend.combine("add", left, right, left);
      this.#spare.push(right);
      return left;
    });
  }

  #room(): Sums {
    return this.#spare.pop() ?? this.#backend.tensor(1, this.#length);
  }

  /** What was computed of a block. */
  #packed(): Sums {
    const sums = this.#room();
    this.#eachPart(sums, this.#ofBlock, (part, view) => this.#backend.blend(1, part, 0, part, view));
    return sums;
  }

  #unpack(sums: Sums): void {
    this.#eachPart(sums, this.#out, (part, view) => this.#backend.blend(1, view, 0, view, part));
    this.#spare.push(sums);
  }

  /** Each part with its place in the list. */
  #eachPart(sums: Sums, of: PointGradients, visit: (part: Tensor, view: Tensor) => void): void {
    const backend = this.#backend;
    const list = backend.reshape(sums, this.#length, 1);
    let at = 0;
    for (const part of partsOf(of)) {
      const { rows, columns } = part;
      visit(part, backend.reshape(backend.rowRange(list, at, at + rows * columns), rows, columns));
      at += rows * columns;
    }
  }

  /** The sum over all ranks. */
  #total(own: TreeSum<Sums>): Sums {
    const { ranks, blocks } = this.#share;
    const nodes = blocks.map(({ from, to }) => nodesOf(from, to));
    const bytes = this.#length * (this.#backend.precision === "f32" ? 4 : 8);
    const sent = new Uint8Array(own.nodes().length * bytes);
    for (const [i, { value }] of own.nodes().entries()) {
      sent.set(bytesOf(elements(value)), i * bytes);
      this.#spare.push(value);
    }
    const received = ranks.allgather(
      sent,
      nodes.map(({ length }) => length * bytes),
    );
    const all = this.#sum();
    for (const [i, { level, index }] of nodes.flat().entries()) {
      const value = this.#room();
      bytesOf(elements(value)).set(received.subarray(i * bytes, (i + 1) * bytes));
      all.push({ level, index, value });
    }
    return all.total() as Sums;
  }

  free(): void {
    for (const term of this.#terms.values()) term.free();
    this.#backend.free(...partsOf(this.#ofBlock), ...this.#spare);
  }
}

/** The labels of a range that the points have, counted from its first. */
export function labelsWithin({ rowStart, labelIndex }: LabelLists, { from, to }: Range): LabelLists {
  const starts = new Int32Array(rowStart.length);
  const labels: number[] = [];
  for (let i = 0; i + 1 < rowStart.length; i++) {
    for (let e = rowStart[i] as number; e < (rowStart[i + 1] as number); e++) {
      const label = labelIndex[e] as number;
      if (label >= from && label < to) labels.push(label - from);
    }
    starts[i + 1] = labels.length;
  }
  return { rowStart: starts, labelIndex: Int32Array.from(labels) };
}
