// The closed form beside numpy and scipy with OpenBLAS doing the same: the exact form, and sums over points with a solve.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Core, createCore, csr, Pattern, scoped } from "../src/core/index.ts";
import { fitExact } from "../src/parts/gpr/exact.ts";
import { inducingFeatures } from "../src/parts/regression/inducing.ts";
import { Points } from "../src/parts/regression/points.ts";
import { solveRidge } from "../src/parts/regression/ridge.ts";
import { featuresOf, learnPoints } from "../src/parts/regression/sparse.ts";
import { Statistics } from "../src/parts/regression/totals.ts";
import { type BenchOptions, type Case, clockedAsync, report } from "./harness.ts";
import { python, startPython, writeCsr } from "./peers.ts";
import { type CsrProblem, textLikeCsr } from "./problems.ts";

const THREADS = 2;
const NOISE = 0.3;
const JITTER = 1e-6;
const PER_ROW = 60;
const LABELS_OF_A_POINT = 5;

/** Five labels a row, as bench/peers.py has them. */
function someLabels(rows: number, labels: number): { rowStart: Int32Array; labelIndex: Int32Array } {
  const rowStart = Int32Array.from({ length: rows + 1 }, (_, i) => i * LABELS_OF_A_POINT);
  const labelIndex = Int32Array.from({ length: rows * LABELS_OF_A_POINT }, (_, at) => {
    const [i, t] = [Math.floor(at / LABELS_OF_A_POINT), at % LABELS_OF_A_POINT];
    return (31 * i + 97 * t * t + Math.floor(i / 8)) % labels;
  });
  for (let i = 0; i < rows; i++) labelIndex.subarray(i * LABELS_OF_A_POINT, (i + 1) * LABELS_OF_A_POINT).sort();
  return { rowStart, labelIndex };
}

/** Dual weights and leave-one-out scores of every point. */
async function exact(core: Core, problem: CsrProblem, labels: number): Promise<void> {
  await scoped(async (scope) => {
    const points = scope.keep(new Points(scope.keep(csr(core, problem))));
    const pattern = scope.keep(new Pattern(core, labels, someLabels(problem.rows, labels)));
    const form = scope.keep(await fitExact(points, pattern, { noise: NOISE, kernel: { name: "se" }, by: "inverse" }));
    await form.forBlocks("", () => {});
  });
}

/** Sums over points of inducing features, and the weights from them. */
async function inducingPoints(core: Core, problem: CsrProblem, labels: number, inducing: number): Promise<void> {
  await scoped(async (scope) => {
    const points = scope.keep(new Points(scope.keep(csr(core, problem))));
    const first = problem.rowStart[inducing];
    const z = scope.keep(
      new Points(
        scope.keep(
          csr(core, {
            ...problem,
            rows: inducing,
            rowStart: problem.rowStart.slice(0, inducing + 1),
            columnIndex: problem.columnIndex.slice(0, first),
            values: problem.values.slice(0, first),
          }),
        ),
      ),
    );
    const pattern = scope.keep(new Pattern(core, labels, someLabels(problem.rows, labels)));
    const phi = scope.keep(await inducingFeatures(z, { name: "se" }, { jitter: JITTER }));
    const sums = scope.keep(new Statistics(core, { features: inducing, labels }));
    await learnPoints(sums, featuresOf(phi, points), pattern);
    scope.keep(await solveRidge(sums, { noise: NOISE }, "f32"));
  });
}

export async function closedBench(options: BenchOptions): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "mlgpf-bench-"));
  const cores = [await createCore({ threads: THREADS }), await createCore({ threads: THREADS, wide: true })];
  const peer = startPython(THREADS);
  const ours = (work: (core: Core) => Promise<void>) =>
    cores
      .filter((core, i) => i === 0 || core.wide)
      .map((core) => ({
        name: `ours${core.wide ? " wide" : ""}, ${THREADS} threads`,
        run: clockedAsync(() => work(core)),
      }));
  const name = `numpy, scipy, ${THREADS} threads`;
  const cases: Case[] = [];
  for (const [rows, columns, labels] of [
    [4000, 2000, 160],
    [8000, 5000, 2000],
  ] as const) {
    const problem = textLikeCsr(rows, columns, PER_ROW);
    const path = join(folder, `exact-${rows}`);
    writeCsr(path, problem);
    cases.push({
      name: `exact form, ${rows} points, ${columns} features, ${labels} labels`,
      rounds: 3,
      contenders: [
        ...ours((core) => exact(core, problem, labels)),
        ...python(peer, name, { work: "exact", path, rows, columns, labels, noise: NOISE }),
      ],
    });
  }
  const [rows, columns, labels, inducing] = [20_000, 2000, 1000, 1000] as const;
  const problem = textLikeCsr(rows, columns, PER_ROW);
  const path = join(folder, "inducing");
  writeCsr(path, problem);
  cases.push({
    name: `sparse form, ${rows} points, ${columns} features, ${inducing} inducing inputs, ${labels} labels`,
    rounds: 3,
    contenders: [
      ...ours((core) => inducingPoints(core, problem, labels, inducing)),
      ...python(peer, name, { work: "inducing_points", path, rows, columns, labels, inducing, noise: NOISE }),
    ],
  });
  try {
    if (!options.json && peer) console.log(peer.versions);
    for (const each of cases) await report(each, options);
  } finally {
    for (const core of cores) core.dispose();
    rmSync(folder, { recursive: true });
  }
}
