// Bayesian linear regression on the features, s(x) = x W + mu: ridge in closed form for wide data.

import { onColumns, placeOf } from "../../base/sparse.ts";
import { integerTensor, realTensor } from "../../base/tensors.ts";
import { csr, sparseTimes } from "../../core/csr.ts";
import { combine } from "../../core/dense.ts";
import { matrixFrom, Scope, scoped } from "../../core/matrix.ts";
import { transformedRows } from "../../data/transform.ts";
import { largest, largestColumn } from "../overflow.ts";
import type { Family } from "../part.ts";
import { meanFromFile } from "../regression/kernelpart.ts";
import { unexplainedDeviation } from "../regression/variance.ts";
import { compactLinear } from "./compact.ts";
import { costFor, fitLinear, linearObstacle, restoredLearner } from "./fit.ts";
import { type LinearPart, unexplainedByFeatures } from "./posterior.ts";
import { linearShards } from "./shards.ts";

const MOST = 1e36;

export const linear: Family<LinearPart> = {
  name: "linear",
  title: "Bayesian linear regression",
  obstacle: ({ features, labels }) => linearObstacle(features, labels.labels),
  score: "gaussian",
  cost: ({ features, labels }) => costFor(features, labels.labels),
  fit: fitLinear,
  open(part, { labels, transform }, { core }) {
    const scope = new Scope();
    const kept = onColumns(part.columns);
    const mean = scope.keep(matrixFrom(core, 1, labels, part.mean, "f32"));
    const weights = scope.keep(matrixFrom(core, part.columns.length, labels, part.weights, "f32"));
    const unexplained = unexplainedByFeatures(part, transform);
    return {
      async score({ rows }, out, deviations) {
        scoped((inner) => sparseTimes(inner.keep(csr(core, kept(rows), "f32")), weights, out));
        combine("add", out, mean, out);
        return deviations ? unexplainedDeviation(part.mean, unexplained(rows)) : undefined;
      },
      free: () => scope.free(),
    };
  },
  toFile: ({ noise, columns, weights, mean, precision }, { labels }) => ({
    about: { noise, share: precision.share },
    tensors: {
      columns: integerTensor(columns),
      weights: realTensor(weights, [columns.length, labels]),
      mean: realTensor(mean),
      squares: realTensor(precision.squares),
    },
  }),
  fromFile(reader, about, { features, labels }) {
    const [kept] = reader.shape("weights", 2);
    const squares = reader.within("squares", reader.singles("squares", [kept]), 0, MOST);
    return {
      family: "linear",
      noise: reader.number(about, "noise", 1 / MOST, MOST),
      columns: reader.rising("columns", kept, features),
      weights: reader.singles("weights", [kept, labels]),
      mean: meanFromFile(reader, labels),
      precision: { squares, share: reader.number(about, "share", 0, MOST) },
    };
  },
  compact: compactLinear,
  compactChoices: () => ({ allLabels: true }),
  columns: ({ columns }) => columns,
  bounds({ weights, mean }, { labels }) {
    const [norm, offset] = [Math.sqrt(largestColumn(weights, labels, 2)), largest(mean)];
    return (x) => [x, x * norm + offset];
  },
  shares({ columns, weights }, { labels, transform }, row) {
    const { columnIndex, values } = transformedRows(row, transform, 0, 1);
    const places = columnIndex.map((column) => placeOf(column, columns));
    return (label) =>
      Float64Array.from(places, (at, entry) => (at < 0 ? 0 : values[entry] * weights[at * labels + label]));
  },
  shards: linearShards,
  learning: {
    plan: ({ noise, columns }) => ({
      about: { family: "linear", noise },
      features: columns.length,
      columns: columns.length,
      arrays: [columns],
    }),
    open: restoredLearner,
  },
};
