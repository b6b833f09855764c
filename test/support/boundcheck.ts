// Problems with known answers as files of reference values have them: lists of rows, plain parameters. Turned into cases of
// `mlgpf selfcheck`, and its answers turned back.

import type { Backend } from "../../src/backend/backend.ts";
import type { KernelName } from "../../src/base/kernels.ts";
import { type BoundCase, boundAnswers, relativeError } from "../../src/cli/selfcheck.ts";
import { groupsOf, type ModelShape } from "../../src/parts/svgp/shape.ts";
import { flat, type Rows, rowsOf, sparseOf, transposed } from "./lists.ts";

/** One problem; the numbers given are the numbers used, no least sigma and no jitter. */
export interface SelfcheckCase {
  name: string;
  /** `sum` is linear+se. */
  kernel: KernelName | "sum";
  inducing: "subspace" | "free";
  posterior: ModelShape["posterior"];
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
  a.map((row) => transposed(b).map((column) => sum(row.map((v, i) => v * column[i]))));

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

function shapeOf(problem: SelfcheckCase): BoundCase["shape"] {
  const { X, basis, parameters, kernel, inducing, posterior } = problem;
  return {
    points: problem.N,
    features: X[0]?.length ?? 0,
    labels: parameters.b.length,
    factors: parameters.mu[0]?.length ?? 0,
    inducingPoints: parameters.mu.length,
    rank: basis?.length ?? 0,
    batch: X.length,
    kernel: kernel === "sum" ? "linear+se" : kernel,
    inducing,
    posterior,
    mean: "inducing",
    minSigma: 0,
  };
}

/** Cumulative ends of lists of these lengths, and the lists in one. */
function lists(rows: Rows): BoundCase["labels"] {
  const rowStart = [0];
  for (const row of rows) rowStart.push((rowStart.at(-1) as number) + row.length);
  return { rowStart, labelIndex: rows.flat() };
}

/** Entries that are looked at: all labels present, and the sampled absences with the weight of all of them. */
function sampled(labels: Rows, negatives: Rows, all: number): Pick<BoundCase, "labels" | "signedWeight"> {
  return {
    labels: lists(labels.map((row, i) => [...row, ...(negatives[i] as number[])])),
    signedWeight: labels.flatMap((row, i) => {
      const absent = negatives[i] as number[];
      return [...row.map(() => 1), ...absent.map(() => -(all - row.length) / absent.length)];
    }),
  };
}

/** Quantities that are computed as the reference has them. */
const COMPUTED = [
  ...["Kz", "Kx", "kxx", "latentMean", "dataTerm", "bound"],
  ...["utilityMean", "utilityVariance", "probability"],
];
const HYPER = ["linearVariance", "seVariance", "lengthscale"] as const;

/** What all factors share stands once; otherwise factor by factor. */
const byGroup = (rows: Rows, { posterior }: SelfcheckCase): number[] =>
  posterior === "shared" ? rows.map(([first]) => first as number) : transposed(rows).flat();

/** The problem as `mlgpf selfcheck` takes it; its answers too, where it has some. */
export function flatCase(problem: SelfcheckCase): BoundCase {
  const { name, X, basis, labels, sampledNegatives, parameters, expected } = problem;
  const { A, Z, mu, sigma, Phi, b } = parameters;
  const { gradient } = expected;
  const hyper = HYPER.map((each) => parameters[each] ?? 1);
  const found: Record<string, number[]> = {};
  if (gradient.mu !== undefined) {
    for (const quantity of COMPUTED) found[quantity] = flat(expected[quantity]);
    // The KL is given for each factor; what is computed is their sum.
    found.kl = [sum(flat(expected.kl))];
    found.latentVariance = byGroup(expected.latentVariance as Rows, problem);
    found.dinducingInputs = flat(A ? gradient.A : transposed(gradient.Z as Rows));
    found.dmu = flat(gradient.mu);
    found.dlogSigma = flat(
      transposed((gradient.sigma as Rows).map((row, j) => row.map((value, p) => value * (sigma[j]?.[p] as number)))),
    );
    found.dphi = flat(gradient.Phi);
    found.dbias = flat(gradient.b);
    found.dhyper = HYPER.map((each, i) => ((gradient[each] as number | undefined) ?? 0) * (hyper[i] as number));
  }
  return {
    name,
    shape: shapeOf(problem),
    x: sparseOf(X),
    squares: X.map((row) => sum(row.map((value) => value * value))),
    ...(basis && {
      projected: flat(product(X, transposed(basis))),
      basisGram: flat(product(basis, transposed(basis))),
    }),
    ...(sampledNegatives ? sampled(labels, sampledNegatives, b.length) : { labels: lists(labels) }),
    parameters: {
      inducingInputs: flat(A ?? transposed(Z as Rows)),
      mu: flat(mu),
      logSigma: flat(transposed(sigma)).map(Math.log),
      phi: flat(Phi),
      bias: b,
      hyper: hyper.map(Math.log),
    },
    expected: found,
  };
}

/** Everything a case can be asked for, computed here. */
type Answers = Record<string, number[]> & { gradient: Record<string, number[]> };

/** Computes the answers of a case: variances [B,P], gradients by the parameters themselves, not by their logarithms. */
export async function selfcheckAnswers(
  backend: Backend,
  problem: SelfcheckCase,
  quadrature: ModelShape["quadrature"],
): Promise<Answers> {
  const given = flatCase(problem);
  const { parameters } = problem;
  const { inducingPoints, factors, batch } = given.shape;
  const { dinducingInputs, dmu, dlogSigma, dphi, dbias, dhyper, ...values } = (await boundAnswers(
    backend,
    given,
    quadrature,
  )) as Record<string, number[]>;
  const groups = rowsOf(values.latentVariance as number[], batch);
  const perFactor = groupsOf(given.shape) === 1 ? Array.from({ length: factors }, () => groups[0] as number[]) : groups;
  const bySigma = transposed(rowsOf(dlogSigma as number[], inducingPoints));
  const inducing = dinducingInputs as number[];
  const gradient: Record<string, number[]> = {
    ...(parameters.A ? { A: inducing } : { Z: flat(transposed(rowsOf(inducing, inducingPoints))) }),
    mu: dmu as number[],
    sigma: flat(bySigma.map((row, j) => row.map((value, p) => value / (parameters.sigma[j]?.[p] as number)))),
    Phi: dphi as number[],
    b: dbias as number[],
  };
  HYPER.forEach((name, i) => {
    const value = parameters[name];
    if (value !== undefined) gradient[name] = [(dhyper?.[i] as number) / value];
  });
  return Object.assign(values, { latentVariance: flat(transposed(perFactor)) }, { gradient }) as Answers;
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
    const answer = name === "kl" ? [sum(flat(expected.kl))] : flat(expected[name]);
    errors[name] = relativeError(found, answer);
  }
  for (const [name, found] of Object.entries(gradient))
    errors[`d${name}`] = relativeError(found, flat(expected.gradient[name]));
  return errors;
}

/** Compares a case of `mlgpf selfcheck` with its answers. */
export async function flatErrors(
  backend: Backend,
  problem: BoundCase,
  quadrature: ModelShape["quadrature"],
): Promise<SelfcheckErrors> {
  const found = await boundAnswers(backend, problem, quadrature);
  const errors = Object.entries(problem.expected).map(([name, expected]) => [
    name,
    relativeError(found[name] ?? [], expected),
  ]);
  return Object.fromEntries(errors);
}
