// Covariances, expected log-likelihoods and probabilities on the GPU.

import { covarianceSizes } from "../../core/covariance.ts";
import { checkLikelihood, hermiteRule, type Quadrature } from "../../core/quadrature.ts";
import { hasShape } from "../../core/shapes.ts";
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

export const probability: Operation<"probability"> = (gpu, mean, variance, out) => {
  hasShape({ variance, out }, mean.rows, mean.columns);
  gpu.each("probability", out.length, { mean, variance, out }, { count: out.length });
};
