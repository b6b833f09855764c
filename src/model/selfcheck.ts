// Problems with known answers: the bound, everything on the way to it, and every gradient, on any backend.

import type { Backend, Tensor } from "../backend/backend.ts";
import { sumOf } from "../core/matrix.ts";
import type { LabelledBatch } from "./batch.ts";
import { Bound } from "./bound.ts";
import { LabelLayer } from "./labels.ts";
import type { KernelName, PosteriorName } from "./names.ts";
import { allocateParameters, freeParameters, type Parameters } from "./parameters.ts";
import { groupsOf } from "./posteriors/index.ts";
import { flat, type Rows, rowsOf, sparseOf, transposed } from "./rows.ts";
import type { ModelShape } from "./shape.ts";

/** One problem; the numbers given are the numbers used, no floor and no jitter. */
export interface SelfcheckCase {
  name: string;
  /** `sum` is linear+se. */
  kernel: KernelName | "sum";
  inducing: "subspace" | "free";
  posterior: PosteriorName;
  N: number;
  X: Rows;
  basis: Rows | null;
  /** Labels present in each row. */
  labels: Rows;
  /** Absent labels looked at in each row, or null for all of them. */
  sampledNegatives: Rows | null;
  parameters: {
    A?: Rows;
    Z?: Rows;
    mu: Rows;
    sigma: Rows;
    Phi: Rows;
    b: number[];
    linearVariance?: number;
    seVariance?: number;
    lengthscale?: number;
  };
  expected: Record<string, unknown> & { gradient: Record<string, unknown> };
}

/** Worst error of each quantity of a case, relative to its largest element. */
export type SelfcheckErrors = Record<string, number>;

const product = (a: Rows, b: Rows): Rows =>
  a.map((row) => transposed(b).map((column) => sumOf(row.map((v, i) => v * (column[i] as number)))));

function relativeError(found: ArrayLike<number>, expected: number[]): number {
  const scale = Math.max(...expected.map(Math.abs), Number.MIN_VALUE);
  let worst = found.length === expected.length ? 0 : Number.POSITIVE_INFINITY;
  expected.forEach((value, i) => {
    const error = Math.abs((found[i] as number) - value) / scale;
    worst = Math.max(worst, Number.isNaN(error) ? Number.POSITIVE_INFINITY : error);
  });
  return worst;
}

function shapeOf(problem: SelfcheckCase, quadrature: ModelShape["quadrature"]): ModelShape {
  const { X, basis, parameters, kernel, inducing, posterior } = problem;
  return {
    points: problem.N,
    features: X[0]?.length ?? 0,
    labels: parameters.b.length,
    factors: parameters.mu[0]?.length ?? 0,
    inducingPoints: parameters.mu.length,
    rank: basis?.length ?? 0,
    batch: X.length,
    likelihood: "bernoulli",
    kernel: kernel === "sum" ? "linear+se" : kernel,
    inducing,
    posterior,
    mean: "inducing",
    floor: 0,
    quadrature,
  };
}

function writeParameters(backend: Backend, problem: SelfcheckCase, to: Parameters): void {
  const { A, Z, mu, sigma, Phi, b, linearVariance = 1, seVariance = 1, lengthscale = 1 } = problem.parameters;
  backend.write(to.inducingInputs, flat(A ?? transposed(Z as Rows)));
  backend.write(to.mu, flat(mu));
  backend.write(to.logSigma, flat(transposed(sigma)).map(Math.log));
  backend.write(to.phi, flat(Phi));
  backend.write(to.bias, b);
  backend.write(to.hyper, [linearVariance, seVariance, lengthscale].map(Math.log));
}

/** Cumulative ends of lists of these lengths, and the lists in one. */
function lists(rows: Rows): { rowStart: Int32Array; labelIndex: Int32Array } {
  const rowStart = new Int32Array(rows.length + 1);
  rows.forEach((row, i) => {
    rowStart[i + 1] = (rowStart[i] as number) + row.length;
  });
  return { rowStart, labelIndex: Int32Array.from(rows.flat()) };
}

function makeBatch(
  backend: Backend,
  problem: SelfcheckCase,
  shape: ModelShape,
): { batch: LabelledBatch; tensors: Tensor[] } {
  const { X, basis, labels, sampledNegatives } = problem;
  const { rowStart, columnIndex, values } = sparseOf(X);
  const x = backend.sparse(
    shape.batch,
    shape.features,
    Int32Array.from(rowStart),
    Int32Array.from(columnIndex),
    Float64Array.from(values),
  );
  const rows = backend.indices(shape.batch);
  backend.writeIndices(rows, Int32Array.from(X.keys()));
  const squares = backend.tensor(
    1,
    shape.batch,
    X.map((row) => sumOf(row.map((value) => value * value))),
  );
  const batch: LabelledBatch = { x, rows, squares, labels: lists(labels) };
  const tensors: unknown[] = [x, rows, squares];
  if (basis) {
    batch.projected = backend.tensor(shape.batch, shape.rank, flat(product(X, transposed(basis))));
    tensors.push(batch.projected);
  }
  if (sampledNegatives) {
    const pattern = backend.pattern(
      shape.labels,
      lists(labels.map((row, i) => [...row, ...(sampledNegatives[i] as number[])])),
    );
    const weights = labels.flatMap((row, i) => {
      const sampled = sampledNegatives[i] as number[];
      return [...row.map(() => 1), ...sampled.map(() => -(shape.labels - row.length) / sampled.length)];
    });
    const signedWeight = backend.tensor(1, pattern.entries, weights);
    batch.labels = { pattern, signedWeight };
    tensors.push(pattern, signedWeight);
  }
  return { batch, tensors: tensors as Tensor[] };
}

/** Repeats what all factors share, so that it reads [B,P] as the answers do. */
function byPointAndFactor(values: ArrayLike<number>, shape: ModelShape): number[] {
  const groups = groupsOf(shape);
  const out: number[] = [];
  for (let i = 0; i < shape.batch; i++) {
    for (let p = 0; p < shape.factors; p++)
      out.push(values[(groups === 1 ? 0 : p) * shape.batch + i] as number);
  }
  return out;
}

/** Everything a case can be asked for, computed here. */
type Answers = Record<string, number[]> & { gradient: Record<string, number[]> };

/** Computes the answers of a case. */
export async function selfcheckAnswers(
  backend: Backend,
  problem: SelfcheckCase,
  quadrature: ModelShape["quadrature"],
): Promise<Answers> {
  const shape = shapeOf(problem, quadrature);
  const gram = problem.basis
    ? backend.tensor(shape.rank, shape.rank, flat(product(problem.basis, transposed(problem.basis))))
    : undefined;
  const parameters = allocateParameters(backend, shape);
  writeParameters(backend, problem, parameters);
  const { batch, tensors } = makeBatch(backend, problem, shape);
  const bound = new Bound(backend, shape, gram);
  try {
    bound.evaluate(parameters, batch, { klWeight: 1, learnInducing: true, learnHyper: true });
    return await answersOf(backend, problem, shape, bound, parameters);
  } finally {
    bound.free();
    freeParameters(backend, parameters);
    backend.free(...tensors, ...(gram ? [gram] : []));
  }
}

/** Runs one case and compares it with its answers. */
export async function selfcheckCase(
  backend: Backend,
  problem: SelfcheckCase,
  quadrature: ModelShape["quadrature"],
): Promise<SelfcheckErrors> {
  const { gradient, ...values } = await selfcheckAnswers(backend, problem, quadrature);
  const { expected } = problem;
  const errors: SelfcheckErrors = {};
  for (const [name, found] of Object.entries(values)) {
    // The KL is given for each factor; what is computed is their sum.
    const answer = name === "kl" ? [sumOf(flat(expected.kl))] : flat(expected[name]);
    errors[name] = relativeError(found, answer);
  }
  for (const [name, found] of Object.entries(gradient))
    errors[`d${name}`] = relativeError(found, flat(expected.gradient[name]));
  return errors;
}

/** The worst error of each quantity over several cases. */
export async function worstErrors(
  backend: Backend,
  cases: readonly SelfcheckCase[],
  quadrature: ModelShape["quadrature"],
): Promise<SelfcheckErrors> {
  const worst: SelfcheckErrors = {};
  for (const problem of cases) {
    const errors = await selfcheckCase(backend, problem, quadrature);
    for (const [name, error] of Object.entries(errors)) worst[name] = Math.max(worst[name] ?? 0, error);
  }
  return worst;
}

async function answersOf(
  backend: Backend,
  problem: SelfcheckCase,
  shape: ModelShape,
  bound: Bound,
  parameters: Parameters,
): Promise<Answers> {
  const read = async (tensor: Tensor): Promise<number[]> => [...(await backend.read(tensor))];
  const { dataTerm, divergence } = await bound.value();
  const variance = byPointAndFactor(await read(bound.latent.variance), shape);
  const values: Record<string, number[]> = {
    Kz: await read(bound.latent.covariances.kz),
    Kx: await read(bound.latent.covariances.kx),
    kxx: await read(bound.latent.covariances.kxx),
    latentMean: await read(bound.latent.mean),
    latentVariance: variance,
    dataTerm: [dataTerm],
    kl: [divergence],
    bound: [dataTerm - divergence],
    ...(await predictions(backend, shape, bound, parameters)),
  };
  return Object.assign(values, { gradient: await plainGradients(backend, problem, shape, bound) });
}

/** Utilities and probabilities of all labels. */
async function predictions(
  backend: Backend,
  shape: ModelShape,
  bound: Bound,
  parameters: Parameters,
): Promise<Record<string, number[]>> {
  const { batch: b, labels: k } = shape;
  const [mean, spread] = [backend.tensor(b, k), backend.tensor(b, k)] as const;
  const layer = new LabelLayer(backend, shape);
  layer.prepare(parameters.phi);
  layer.utilities(parameters, bound.latent.mean, mean);
  layer.variance(bound.latent.variance, spread);
  const utilityMean = [...(await backend.read(mean))];
  const utilityVariance = [...(await backend.read(spread))];
  layer.likelihood.probability(backend, mean, spread, mean);
  const probability = [...(await backend.read(mean))];
  layer.free();
  backend.free(mean, spread);
  return { utilityMean, utilityVariance, probability };
}

/** Gradients by the parameters as they stand in the case, not by their logarithms. */
async function plainGradients(
  backend: Backend,
  problem: SelfcheckCase,
  shape: ModelShape,
  bound: Bound,
): Promise<Record<string, number[]>> {
  const { parameters } = problem;
  const read = async (tensor: Tensor): Promise<number[]> => [...(await backend.read(tensor))];
  const inducing = await read(bound.gradient.inducingInputs);
  const bySigma = transposed(rowsOf(await read(bound.gradient.logSigma), shape.inducingPoints));
  const hyper = await read(bound.gradient.hyper);
  const found: Record<string, number[]> = {
    ...(parameters.A ? { A: inducing } : { Z: flat(transposed(rowsOf(inducing, shape.inducingPoints))) }),
    mu: await read(bound.gradient.mu),
    sigma: flat(bySigma.map((row, j) => row.map((value, p) => value / (parameters.sigma[j]?.[p] as number)))),
    Phi: await read(bound.gradient.phi),
    b: await read(bound.gradient.bias),
  };
  (["linearVariance", "seVariance", "lengthscale"] as const).forEach((name, i) => {
    const value = parameters[name];
    if (value !== undefined) found[name] = [(hyper[i] as number) / value];
  });
  return found;
}
