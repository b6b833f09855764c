// Coupling of labels: a second ridge regression over the leading directions of the first scores, s2 = ((s - mu) E) Bs + mu.

import { realTensor } from "../../base/tensors.ts";
import { combine, gemm } from "../../core/dense.ts";
import { matrix, matrixFrom, Scope, scoped } from "../../core/matrix.ts";
import type { CompactWriter } from "../compact.ts";
import { largest, largestColumn } from "../overflow.ts";
import type { Family, ModelSchema } from "../part.ts";
import { meanFromFile } from "../regression/kernelpart.ts";
import { type CouplingPart, fitCoupling } from "./fit.ts";

/** Labels help each other where there are not too many of them; beyond, coupling was worth nothing (EUR-Lex). */
const [FEWEST_LABELS, MOST_LABELS] = [3, 2000];
/** g; between 10 and 100 figures are flat. */
const NOISE = 30;

/** A label that is new has a direction of its own: its score stays what it is. */
function withLabels(part: CouplingPart, { labels }: ModelSchema): CouplingPart {
  const known = part.mean.length;
  if (labels === known) return part;
  const rank = part.rank + labels - known;
  const vectors = new Float32Array(labels * rank);
  const weights = new Float32Array(rank * labels);
  for (let k = 0; k < known; k++) vectors.set(part.vectors.subarray(k * part.rank, (k + 1) * part.rank), k * rank);
  for (let p = 0; p < part.rank; p++) weights.set(part.weights.subarray(p * known, (p + 1) * known), p * labels);
  for (let k = known; k < labels; k++) {
    const p = part.rank + k - known;
    vectors[k * rank + p] = weights[p * labels + k] = 1;
  }
  const mean = new Float32Array(labels);
  mean.set(part.mean);
  return { ...part, rank, vectors, weights, mean };
}

export const coupling: Family<CouplingPart> = {
  name: "coupling",
  title: "label coupling",
  score: "stack",
  async follow({ schema, work }, { source, ranges, labels, sets }) {
    if (schema.labels < FEWEST_LABELS || schema.labels > MOST_LABELS) return undefined;
    const fitted = await fitCoupling(source, labels, { ...work, ranges, noise: NOISE });
    return {
      part: {
        family: "coupling",
        rank: fitted.vectors.columns,
        vectors: fitted.vectors.toArray() as Float32Array,
        weights: fitted.solution.weights.toArray() as Float32Array,
        mean: source.mean.toArray() as Float32Array,
      },
      loo: { source: fitted.loo, ranges: fitted.loo.ranges, labels, sets },
      free: () => fitted.free(),
    };
  },
  open(part, { labels }, { core }) {
    const scope = new Scope();
    const mean = scope.keep(matrixFrom(core, 1, labels, part.mean, "f32"));
    const vectors = scope.keep(matrixFrom(core, labels, part.rank, part.vectors, "f32"));
    const weights = scope.keep(matrixFrom(core, part.rank, labels, part.weights, "f32"));
    return {
      async score({ before: [scores] }, out) {
        scoped((inner) => {
          const projected = inner.keep(matrix(core, scores.rows, part.rank, "f32"));
          gemm(combine("subtract", scores, mean, out), vectors, projected);
          combine("add", gemm(projected, weights, out), mean, out);
        });
        return undefined;
      },
      free: () => scope.free(),
    };
  },
  toFile: ({ vectors, weights, mean, rank }, { labels }) => ({
    about: {},
    tensors: {
      vectors: realTensor(vectors, [labels, rank]),
      weights: realTensor(weights, [rank, labels]),
      mean: realTensor(mean),
    },
  }),
  fromFile(reader, _, { labels }) {
    const [, rank] = reader.shape("vectors", 2);
    return {
      family: "coupling",
      rank,
      vectors: reader.singles("vectors", [labels, rank]),
      weights: reader.singles("weights", [rank, labels]),
      mean: meanFromFile(reader, labels),
    };
  },
  grow: withLabels,
  compact: compactCoupling,
  bounds({ vectors, weights, mean, rank }, { labels }) {
    const [project, back] = [largestColumn(vectors, rank, 1), largestColumn(weights, labels, 1)];
    const offset = largest(mean);
    return (_, before) => {
      const projected = (before[0] + offset) * project;
      return [projected, projected * back + offset];
    };
  },
};

/** E, Bs and mu of the labels that are kept. */
function compactCoupling(
  { rank, vectors, weights, mean }: CouplingPart,
  { labels: k }: ModelSchema,
  writer: CompactWriter,
): Record<string, unknown> {
  const { labels, whole } = writer;
  const type = whole ? "f16" : "f32";
  const n = labels.length;
  const ofLabels = new Float32Array(n * rank);
  const toLabels = new Float32Array(rank * n);
  labels.forEach((label, i) => {
    for (let p = 0; p < rank; p++) {
      ofLabels[i * rank + p] = vectors[label * rank + p];
      toLabels[p * n + i] = weights[p * k + label];
    }
  });
  writer.matrix("vectors", ofLabels, n, rank, type);
  writer.matrix("weights", toLabels, rank, n, type);
  writer.vector(
    "mean",
    Float32Array.from(labels, (label) => mean[label]),
  );
  return { rank };
}
