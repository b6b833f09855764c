// The family of the paper's model: a sparse variational GP (SVGP) whose latent functions the labels share, learned in minibatches.
// Its score is the logit of its probability, which integrates the variance.

import { isLinear, kernelNames, plainHyper } from "../../base/kernels.ts";
import { deterministicLog } from "../../base/math.ts";
import type { SparseRows } from "../../base/sparse.ts";
import { type Fields, realTensor, type TensorReader } from "../../base/tensors.ts";
import { combine, map } from "../../core/dense.ts";
import { type Matrix, matrix, type RealArray, scoped } from "../../core/matrix.ts";
import { transformedRows } from "../../data/transform.ts";
import { meanNames, posteriorNames } from "../options.ts";
import type { BlockScorer, Family, ModelSchema, PartFile, Shares } from "../part.ts";
import { compactSvgp, svgpChoices } from "./compact.ts";
import { svgpBounds, svgpFault } from "./faults.ts";
import { fitSvgp, svgpCost } from "./fit.ts";
import { SvgpPredictor, uploadModel } from "./predictor.ts";
import { forEachName, type PartArray, partArrays, partSizes, type SvgpPart } from "./shape.ts";

export const svgp: Family<SvgpPart> = {
  name: "svgp",
  title: "sparse variational GP (SVGP)",
  onDevice: true,
  score: "utility",
  cost: ({ features: { rows: points, columns: features, values }, labels: { labels } }, _, options) =>
    svgpCost({ points, features, labels, entries: values.length }, options),
  fit: fitSvgp,
  open: (part, schema, { backend }) => openScorer(new SvgpPredictor(backend, uploadModel(backend, part, schema))),
  predictor: (part, schema, backend) => new SvgpPredictor(backend, uploadModel(backend, part, schema)),
  precision: ({ phi }) => (phi instanceof Float64Array ? "f64" : "f32"),
  toFile,
  fromFile,
  compact: compactSvgp,
  compactChoices: svgpChoices,
  bounds: svgpBounds,
  shares: (part, schema, row) => (part.kernel === "linear" ? linearShares(part, schema, row) : undefined),
  grow: withLabels,
};

function openScorer(predictor: SvgpPredictor): BlockScorer {
  return {
    async score({ given }, out, deviations) {
      const k = predictor.schema.labels;
      const variances: RealArray[] = [];
      const want = { probability: true, variance: deviations };
      for await (const { firstRow, rows, probability, variance } of predictor.score(given, want)) {
        logits(probability as RealArray, out.rowRange(firstRow, firstRow + rows));
        for (let i = 0; variance && i < rows; i++) variances.push(variance.subarray(i * k, (i + 1) * k));
      }
      if (!deviations) return undefined;
      // The logit is about f / sqrt(1 + pi v / 8), f and v the utility's mean and variance: when f moves by sqrt v it moves by this.
      return (row, label) => {
        const variance = Math.max(0, variances[row][label]);
        return Math.sqrt(variance / (1 + (Math.PI / 8) * variance));
      };
    },
    free: () => predictor.free(),
  };
}

/** The least and the greatest probability in single precision that have a logit. */
const [LEAST, MOST] = [1e-30, 1 - 2 ** -24];

/** out = log p - log (1 - p) */
function logits(probability: ArrayLike<number>, out: Matrix): void {
  const { core, rows, columns } = out;
  scoped((scope) => {
    const [present, absent] = [0, 1].map(() => scope.keep(matrix(core, rows, columns, "f32")));
    const [p, q] = [present.view(), absent.view()];
    for (let i = 0; i < p.length; i++) {
      p[i] = Math.min(MOST, Math.max(LEAST, probability[i]));
      q[i] = 1 - p[i];
    }
    combine("subtract", map("log", present, present), map("log", absent, absent), out);
  });
}

/** A word's share of a utility is x_d w_d: w_d = mu[d,:] Phi' through the features, a Z'[d,:] mu Phi' through the inducing inputs. */
function linearShares(part: SvgpPart, { transform }: ModelSchema, row: SparseRows): Shares {
  const { columnIndex, values } = transformedRows(row, transform, 0, 1);
  const { factors, phi } = part;
  const weights = Array.from(columnIndex, (column) => factorWeights(part, column));
  return (label) =>
    Float64Array.from(values, (value, entry) => {
      const own = weights[entry];
      let product = 0;
      for (let p = 0; p < factors; p++) product += own[p] * phi[label * factors + p];
      return value * product;
    });
}

/** The weight of a feature in each latent function [P]. */
function factorWeights(part: SvgpPart, column: number): RealArray {
  const { factors, inducingPoints, inducingInputs, mu, hyper } = part;
  if (part.mean === "features") return mu.subarray(column * factors, (column + 1) * factors);
  const [slope] = plainHyper(hyper);
  const out = new Float64Array(factors);
  for (let m = 0; m < inducingPoints; m++) {
    const z = slope * inducingInputs[column * inducingPoints + m];
    for (let p = 0; p < factors; p++) out[p] += z * mu[m * factors + p];
  }
  return out;
}

/** Labels that are new have no factors, only the log odds of their frequency. */
function withLabels(part: SvgpPart, { labels, labelCounts, points }: ModelSchema): SvgpPart {
  const known = part.bias.length;
  if (labels === known) return part;
  const grown = (of: RealArray, length: number): RealArray => {
    const all = of instanceof Float32Array ? new Float32Array(length) : new Float64Array(length);
    all.set(of);
    return all;
  };
  const bias = grown(part.bias, labels);
  for (let k = known; k < labels; k++) {
    const count = labelCounts[k] + 0.5;
    bias[k] = deterministicLog(count / (points + 1 - count));
  }
  return { ...part, phi: grown(part.phi, labels * part.factors), bias };
}

/** Sizes of an array in a file: bias and hyper are lists. */
const fileShape = (name: PartArray, sizes: ReturnType<typeof partSizes>): number[] =>
  name === "bias" || name === "hyper" ? [sizes[name][1]] : sizes[name];

function toFile(part: SvgpPart, { features, labels }: ModelSchema): PartFile {
  const { kernel, posterior, mean } = part;
  const sizes = partSizes({ ...part, features, labels });
  return {
    about: { likelihood: "bernoulli", kernel, posterior, mean },
    tensors: forEachName(partArrays, (name) => realTensor(part[name], fileShape(name, sizes))),
  };
}

function fromFile(reader: TensorReader, about: Fields, { features, labels }: ModelSchema): SvgpPart {
  reader.word(about, "likelihood", ["bernoulli"]);
  const kernel = reader.word(about, "kernel", kernelNames);
  const mean = reader.word(about, "mean", meanNames);
  const posterior = reader.word(about, "posterior", posteriorNames);
  const [, inducingPoints] = reader.shape("inducingInputs", 2);
  const [, factors] = reader.shape("phi", 2);
  if (mean === "features" && !isLinear(kernel))
    reader.refuse(`mean features with kernel ${kernel}`, "mean inducing, or kernel linear");
  if (factors < 1 || inducingPoints < 1)
    reader.refuse(`${factors} factors and ${inducingPoints} inducing inputs`, "at least one of each");
  const sizes = partSizes({ posterior, mean, factors, inducingPoints, features, labels });
  const isSingle = reader.reals("phi", sizes.phi) instanceof Float32Array;
  const arrays = forEachName(partArrays, (name) =>
    reader[isSingle ? "singles" : "doubles"](name, fileShape(name, sizes)),
  );
  const part: SvgpPart = { family: "svgp", kernel, posterior, mean, factors, inducingPoints, ...arrays };
  const fault = svgpFault(part);
  return fault ? reader.refuse(fault.found, fault.expected) : part;
}
