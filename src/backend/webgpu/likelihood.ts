// Covariances, expected log-likelihoods, probabilities and rankings on the GPU.

import { wholeNumber } from "../../base/check.ts";
import { covarianceSizes } from "../../core/covariance.ts";
import { checkLikelihood, hermiteRule, type Quadrature } from "../../core/quadrature.ts";
import { hasShape, isVector } from "../../core/shapes.ts";
import type { Operation, Recorder } from "./recorder.ts";
import { GpuTensor, type Operand } from "./tensors.ts";

export const covariance: Operation<"covariance"> = (gpu, { terms, ...tensors }, out) => {
  const sizes = covarianceSizes({ terms, ...tensors });
  hasShape({ out }, sizes.rows, sizes.columns);
  gpu.each("covariance", out.length, { ...tensors, out }, sizes);
};

export const covarianceGradient: Operation<"covarianceGradient"> = (
  gpu,
  { terms, ...tensors },
  d,
  stationaryPart,
  sums,
) => {
  const sizes = covarianceSizes({ terms, ...tensors });
  hasShape({ d, stationaryPart }, sizes.rows, sizes.columns);
  hasShape({ sums }, sizes.rows, 3);
  const operands = { ...tensors, d, stationaryPart, sums };
  gpu.run("covarianceGradient", gpu.grid(sizes.rows), operands, sizes);
};

/** Quadrature rules on each device, made once. */
const placed = new WeakMap<Recorder, Map<number, Operand>>();

/** Nodes and weights, or nothing for the closed form. */
function placeRule(gpu: Recorder, quadrature: Quadrature = "closed") {
  const rule = hermiteRule(quadrature);
  const nodes = rule.length / 2;
  if (nodes === 0) return { nodes, rule: undefined };
  const known = placed.get(gpu) ?? new Map<number, Operand>();
  placed.set(gpu, known);
  const upload = () => gpu.upload(Float32Array.from(rule), `a rule of ${nodes} nodes`);
  const operand = known.get(nodes) ?? { block: upload(), offset: 0, length: rule.length };
  known.set(nodes, operand);
  return { nodes, rule: operand };
}

export const expectedLogLikelihood: Operation<"expectedLogLikelihood"> = (gpu, inputs, out) => {
  const { mean, variance: given, positives, scale = 1, quadrature } = inputs;
  const { rows, columns } = mean;
  const [variance, rowVariance] = given instanceof GpuTensor ? [given] : [given.ofLabel, given.ofRow];
  checkLikelihood(mean, variance, rowVariance, positives, out);
  const { nodes, rule } = placeRule(gpu, quadrature);
  const lists = gpu.uploadLists(positives.rowStart, positives.labelIndex, "labels of a batch");
  gpu.run(
    "likelihood",
    gpu.grid(rows),
    { mean, variance, rowVariance, ...out, lists, rule },
    { rows, columns, outer: rowVariance ? 1 : 0, nodes, scale },
  );
  gpu.release(lists.block);
};

export const listedLogLikelihood: Operation<"listedLogLikelihood"> = (
  gpu,
  { mean, variance, signedWeight, scale = 1, quadrature },
  { value, dMean, dVariance },
) => {
  const tensors = { mean, variance, signedWeight, value, dMean, dVariance };
  const count = mean.length;
  for (const [name, tensor] of Object.entries(tensors)) isVector(name, tensor, count);
  const { nodes, rule } = placeRule(gpu, quadrature);
  gpu.each("listedLikelihood", count, { ...tensors, rule }, { count, nodes, scale });
};

export const probability: Operation<"probability"> = (gpu, mean, variance, out) => {
  hasShape({ variance, out }, mean.rows, mean.columns);
  gpu.each("probability", out.length, { mean, variance, out }, { count: out.length });
};

/** The shader's NaN: the least number there is. */
const LEAST = -3.4028234663852886e38;

export const topScores: Operation<"topScores"> = async (gpu, scores, k) => {
  const { rows, columns } = scores;
  wholeNumber("k", k, 0, columns);
  const length = rows * k;
  if (length === 0) return { indices: new Int32Array(0), values: new Float32Array(0) };
  const blocks = [0, 1].map(() => gpu.allocate(length, `the ${k} greatest of ${rows} rows`));
  const [places, values] = blocks.map((block) => ({ block, offset: 0, length })) as [Operand, Operand];
  gpu.run("topScores", gpu.grid(rows), { scores, columns: places, values }, { rows, columns, k });
  // Waited for together: when a device is lost, neither failure is left to nobody.
  const reading = Promise.all([gpu.read(places), gpu.read(values)]);
  for (const block of blocks) gpu.release(block);
  const [foundPlaces, foundValues] = await reading;
  return {
    indices: new Int32Array(foundPlaces),
    values: new Float32Array(foundValues).map((value) => (value === LEAST ? Number.NEGATIVE_INFINITY : value)),
  };
};
