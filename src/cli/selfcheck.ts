// mlgpf selfcheck [FILE]: problems with known answers, computed here. Numbers of a case stand as the product takes them: flat,
// row by row, positive parameters as logarithms (scripts/cases.ts writes them from reference values of other programs).

import type { Backend, Tensor } from "../backend/backend.ts";
import { type OpenDevice, openDevice } from "../backend/devices.ts";
import { ArgumentError, FormatError } from "../base/errors.ts";
import { type Core, createCore, csr, matrix, Pattern, type Precision, scoped } from "../core/index.ts";
import { readWhole } from "../io/files.ts";
import { fitExact } from "../parts/gpr/exact.ts";
import { Kernel, kernelMatrix } from "../parts/regression/kernel.ts";
import { Points, toUnitRows } from "../parts/regression/points.ts";
import { Bound } from "../parts/svgp/bound.ts";
import { LabelLayer } from "../parts/svgp/labels.ts";
import {
  forEachName,
  type ModelShape,
  type ParameterName,
  parameterNames,
  parameterSizes,
} from "../parts/svgp/shape.ts";
import { type Command, command } from "./command.ts";
import { type DeviceName, device, on } from "./flags.ts";

type Answers = Record<string, number[]>;

interface Problem {
  name: string;
  x: { rows: number; columns: number; rowStart: number[]; columnIndex: number[]; values: number[] };
  labels: { rowStart: number[]; labelIndex: number[] };
  expected: Answers;
}

/** The ELBO of a minibatch, everything on the way to it, and its gradients. */
export interface BoundCase extends Problem {
  shape: Omit<ModelShape, "quadrature">;
  squares: number[];
  /** In the subspace of a basis V: X V' and V V'. */
  projected?: number[];
  basisGram?: number[];
  /** Where absent labels are sampled: `labels` are then those looked at, each with its weight, negative if absent. */
  signedWeight?: number[];
  parameters: Record<ParameterName, number[]>;
}

/** Exact GP regression with the SE kernel; of K the lower triangle is given. */
export interface ExactCase extends Problem {
  noise: number;
}

type Case = BoundCase | ExactCase;
const isBound = (problem: Case): problem is BoundCase => "parameters" in problem;

export async function boundAnswers(
  backend: Backend,
  problem: BoundCase,
  quadrature: ModelShape["quadrature"],
): Promise<Answers> {
  const shape = { ...problem.shape, quadrature };
  const { batch: b, labels: k, rank } = shape;
  const made: Tensor[] = [];
  const keep = <T>(tensor: T): T => {
    made.push(tensor as Tensor);
    return tensor;
  };
  const tensor = (rows: number, columns: number, values?: number[]): Tensor =>
    keep(backend.tensor(rows, columns, values));
  const read = async (from: Tensor): Promise<number[]> => Array.from(await backend.read(from));
  const { rowStart, columnIndex, values } = problem.x;
  const [starts, indices] = [Int32Array.from(rowStart), Int32Array.from(columnIndex)];
  const sparse = { rowStart: starts, columnIndex: indices, values: Float64Array.from(values) };
  const x = keep(backend.sparse({ rows: b, columns: shape.features, ...sparse }));
  const rows = keep(backend.indices(b));
  backend.writeIndices(rows, Int32Array.from(Array(b).keys()));
  const sizes = parameterSizes(shape);
  const parameters = forEachName(parameterNames, (name) => tensor(...sizes[name], problem.parameters[name]));
  const lists = labelLists(problem);
  const { signedWeight, projected, basisGram } = problem;
  const batch = {
    x,
    rows,
    squares: tensor(1, b, problem.squares),
    projected: projected && tensor(b, rank, projected),
    labels: signedWeight ? { pattern: keep(backend.pattern(k, lists)), signedWeight } : lists,
  };
  const bound = new Bound(backend, shape, { basisGram: basisGram && tensor(rank, rank, basisGram) });
  const layer = new LabelLayer(backend, shape);
  try {
    bound.evaluate(parameters, batch, { klWeight: 1, learnInducing: true, learnHyper: true });
    const { dataTerm, divergence } = await bound.value();
    const { mean: latentMean, variance: latentVariance, covariances } = bound.latent;
    const [mean, variance] = [tensor(b, k), tensor(b, k)];
    layer.prepare(parameters.phi);
    layer.utilities(parameters, latentMean, mean);
    layer.variance(latentVariance, variance);
    const answers: Answers = { dataTerm: [dataTerm], kl: [divergence], bound: [dataTerm - divergence] };
    const { kz: Kz, kx: Kx, kxx } = covariances;
    const tensors = { Kz, Kx, kxx, latentMean, latentVariance, utilityMean: mean, utilityVariance: variance };
    for (const [name, from] of Object.entries(tensors)) answers[name] = await read(from);
    backend.probability(mean, variance, mean);
    answers.probability = await read(mean);
    for (const name of parameterNames) answers[`d${name}`] = await read(bound.gradient[name]);
    return answers;
  } finally {
    layer.free();
    bound.free();
    backend.free(...made);
  }
}

const labelLists = ({ labels }: Problem): { rowStart: Int32Array; labelIndex: Int32Array } => ({
  rowStart: Int32Array.from(labels.rowStart),
  labelIndex: Int32Array.from(labels.labelIndex),
});

const WAYS = ["inverse", "factor"] as const;

export async function exactAnswers(
  by: (typeof WAYS)[number],
  core: Core,
  precision: Precision,
  problem: ExactCase,
): Promise<Answers> {
  return await scoped(async (scope) => {
    const { x, noise, expected } = problem;
    const n = x.rows;
    const training = scope.keep(new Points(toUnitRows(scope.keep(csr(core, x, precision)))));
    const labels = scope.keep(new Pattern(core, expected.mean.length, labelLists(problem)));
    const kernel = scope.keep(new Kernel(core, precision, { name: "se" }));
    const square = scope.keep(matrix(core, n, n, precision));
    const K = await kernelMatrix(training, kernel, square);
    const form = scope.keep(await fitExact(training, labels, { noise, kernel: { name: "se" }, by }));
    const answers: Answers = {
      K: Array.from(K.toArray()).filter((_, at) => at % n <= Math.floor(at / n)),
      mean: Array.from(form.mean.toArray()),
      dual: Array.from(form.dual.toArray()),
      loo: [],
      looVariance: [],
    };
    await form.forBlocks("", ({ scores, variances }) => {
      answers.loo.push(...scores.toArray());
      answers.looVariance.push(...variances);
    });
    return answers;
  });
}

/** The worst error of a quantity, relative to its largest element. */
export function relativeError(found: ArrayLike<number>, expected: readonly number[]): number {
  if (found.length !== expected.length) return Infinity;
  const scale = Math.max(...expected.map(Math.abs), Number.MIN_VALUE);
  const errors = expected.map((value, i) => Math.abs(found[i] - value) / scale);
  return errors.some(Number.isNaN) ? Infinity : Math.max(0, ...errors);
}

/** Single precision is held to less; double precision is checked with enough Gauss-Hermite nodes. */
const SETTINGS = { f64: { quadrature: 128, tolerance: 1e-9 }, f32: { quadrature: "closed", tolerance: 1e-4 } } as const;

interface CheckResult {
  device: string;
  about: string;
  precision: Precision;
  cases: number;
  tolerance: number;
  passed: boolean;
  /** The worst error of each quantity over the cases. */
  worst: Record<string, number>;
}

type Errors = CheckResult["worst"];

async function worstErrors<C extends Problem>(
  cases: readonly C[],
  answers: (problem: C) => Promise<Answers>,
  prefix = "",
): Promise<Errors> {
  const worst: Errors = {};
  for (const problem of cases) {
    const found = await answers(problem);
    for (const [name, expected] of Object.entries(problem.expected))
      worst[prefix + name] = Math.max(worst[prefix + name] ?? 0, relativeError(found[name] ?? [], expected));
  }
  return worst;
}

/** All problems on one device; the closed form is computed by the core alone. */
async function checkOn(core: Core, device: OpenDevice, cases: readonly Case[]): Promise<CheckResult[]> {
  const { backend, about } = device;
  const { name, precision, onCore } = backend;
  const { quadrature, tolerance } = SETTINGS[precision];
  const bound = cases.filter(isBound);
  const exact = cases.filter((problem): problem is ExactCase => !isBound(problem));
  const result = (about: string, { length }: readonly Case[], worst: Errors): CheckResult => {
    const passed = Object.values(worst).every((error) => error < tolerance);
    return { device: name, about, precision, cases: length, tolerance, passed, worst };
  };
  try {
    const errors = await worstErrors(bound, (problem) => boundAnswers(backend, problem, quadrature));
    device.check();
    const closed: Errors = {};
    for (const by of onCore ? WAYS : []) {
      const answers = (problem: ExactCase): Promise<Answers> => exactAnswers(by, core, precision, problem);
      Object.assign(closed, await worstErrors(exact, answers, `exact (${by}): `));
    }
    const results = [result(about, bound, errors), result(`closed form, ${about}`, onCore ? exact : [], closed)];
    return results.filter((each) => each.cases > 0);
  } finally {
    device.dispose();
  }
}

async function checkAll(core: Core, cases: readonly Case[], choice: DeviceName): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  if (choice !== "webgpu") {
    for (const precision of ["f64", "f32"] as const)
      results.push(...(await checkOn(core, await openDevice(core, "wasm", precision), cases)));
  }
  if (choice !== "wasm") {
    const device = await openDevice(core, choice, "f32");
    if (device.backend.name === "webgpu") results.push(...(await checkOn(core, device, cases)));
    else console.error(`WebGPU is not checked: ${device.about}`);
  }
  if (results.length === 0)
    throw new ArgumentError(
      "device",
      "found webgpu with cases of closed forms alone, expected wasm, which computes them",
    );
  return results;
}

function printResult({ about, precision, cases, tolerance, passed, worst }: CheckResult): void {
  console.log(`${about}, ${precision}, ${cases} cases, worst error of each quantity:`);
  const width = Math.max(18, ...Object.keys(worst).map((name) => name.length));
  for (const [name, error] of Object.entries(worst)) {
    const above = error < tolerance ? "" : `  above ${tolerance}`;
    console.log(`  ${name.padEnd(width)} ${error.toExponential(1)}${above}`);
  }
  console.log(passed ? `passed: all below ${tolerance}\n` : `FAILED: not all below ${tolerance}\n`);
}

const shippedCases = async (): Promise<Case[]> =>
  (await import("../../golden/selfcheck.json", { with: { type: "json" } })).default as unknown as Case[];

async function readCases(path: string): Promise<Case[]> {
  try {
    const cases: unknown = JSON.parse(new TextDecoder().decode(await readWhole(path)));
    const areCases = Array.isArray(cases) && cases.length > 0 && cases.every((item) => item?.x && item.expected);
    if (areCases) return cases;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new FormatError(path, "something else", "a JSON list of cases with expected values");
}

export const selfcheckCommand: Command = command({
  name: "selfcheck",
  positionals: "[FILE]",
  summary: "check this machine: compute problems with known answers and compare",
  examples: ["mlgpf selfcheck", "mlgpf selfcheck --device webgpu", "mlgpf selfcheck cases.json --json"],
  options: { device: device("auto"), json: on("print a JSON object for each device and precision") },
  async run({ args: [path], given: { device: choice = "auto", json } }) {
    const cases = path === undefined ? await shippedCases() : await readCases(path);
    const core = await createCore();
    try {
      const results = await checkAll(core, cases, choice);
      for (const result of results) {
        if (json) console.log(JSON.stringify(result));
        else printResult(result);
      }
      return results.some(({ passed }) => !passed) ? 1 : 0;
    } finally {
      core.dispose();
    }
  },
});
