// One training step, split by part, beside the same step in numpy.

import type { Backend, LabelLists, Tensor } from "../src/backend/backend.ts";
import { wasmBackend } from "../src/backend/wasm.ts";
import { type Core, createCore } from "../src/core/index.ts";
import { Bound } from "../src/parts/svgp/bound.ts";
import { allocateParameters, type LabelledBatch, type ModelShape, parameterNames } from "../src/parts/svgp/shape.ts";
import { type BenchOptions, clocked, median, report } from "./harness.ts";
import { startPython } from "./peers.ts";
import { randomMatrix } from "./problems.ts";

const SIZE = 500;
const RANK = 1000;
const POSITIVES = 5;

interface Part {
  milliseconds: number;
  flops: number;
}

/** Floating point operations of an operation, by its operands. */
function flopsOf(name: string, args: unknown[]): number {
  const [a, second, third, options] = args as [Tensor, Tensor, Tensor, { transposeA?: boolean } | undefined];
  if (name === "gemm") return 2 * third.rows * third.columns * (options?.transposeA ? a.rows : a.columns);
  if (name === "syrk") return second.rows * a.rows * a.columns;
  const count = Number(name === "factorise" ? second : third);
  if (name === "factorise") return (count * a.columns ** 3) / 3;
  if (name === "inverseFromFactor") return (count * 2 * a.columns ** 3) / 3;
  return 0;
}

/** The backend with a stopwatch on every operation. */
function timed(backend: Backend, parts: Map<string, Part>): Backend {
  return new Proxy(backend, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (typeof value !== "function" || typeof name !== "string") return value;
      return (...args: unknown[]) => {
        const begin = performance.now();
        const result = value.apply(target, args);
        const part = parts.get(name) ?? { milliseconds: 0, flops: 0 };
        part.milliseconds += performance.now() - begin;
        part.flops += flopsOf(name, args);
        parts.set(name, part);
        return result;
      };
    },
  });
}

interface Step {
  run: () => void;
  parts: Map<string, Part>;
}

function makeStep(core: Core, shape: ModelShape): Step {
  const parts = new Map<string, Part>();
  const backend = timed(wasmBackend(core, "f32"), parts);
  const parameters = allocateParameters(backend, shape);
  const moments = [allocateParameters(backend, shape), allocateParameters(backend, shape)] as const;
  parameterNames.forEach((name, i) => {
    const { rows, columns } = parameters[name];
    if (name !== "logSigma" && name !== "hyper")
      backend.write(
        parameters[name],
        randomMatrix(rows, columns, i + 1).map((x) => x / 20),
      );
  });
  backend.fill(parameters.bias, -5);
  const projected = backend.tensor(
    shape.batch,
    shape.rank,
    randomMatrix(shape.batch, shape.rank, 9).map((x) => x / Math.sqrt(shape.rank)),
  );
  const squares = backend.tensor(1, shape.batch);
  backend.fill(squares, 1);
  const labels: LabelLists = {
    rowStart: Int32Array.from({ length: shape.batch + 1 }, (_, i) => i * POSITIVES),
    labelIndex: Int32Array.from({ length: shape.batch * POSITIVES }, (_, e) => (e * 7) % shape.labels),
  };
  const x = backend.sparse({
    rows: shape.batch,
    columns: shape.features,
    rowStart: new Int32Array(shape.batch + 1),
    columnIndex: new Int32Array(0),
    values: new Float32Array(0),
  });
  const batch: LabelledBatch = { x, rows: backend.indices(shape.batch), projected, squares, labels };
  const bound = new Bound(backend, shape);
  let step = 0;
  return {
    parts,
    run: () => {
      bound.evaluate(parameters, batch, { klWeight: 1, learnInducing: true, learnHyper: false });
      step++;
      for (const name of parameterNames) {
        const state = { first: moments[0][name], second: moments[1][name] };
        if (name !== "hyper") backend.adam(parameters[name], bound.gradient[name], state, { rate: 1e-3, step });
      }
    },
  };
}

export async function stepBench(options: BenchOptions): Promise<void> {
  const python = startPython(2);
  for (const { posterior, factors } of [
    { posterior: "perFactor", factors: 30 },
    { posterior: "shared", factors: 100 },
  ] as const) {
    for (const labels of [1000, 4000]) {
      const shape: ModelShape = {
        points: 10_000,
        features: 5000,
        labels,
        factors,
        inducingPoints: SIZE,
        rank: RANK,
        batch: SIZE,
        kernel: "linear",
        inducing: "subspace",
        posterior,
        mean: "inducing",
        minSigma: 1e-6,
        quadrature: "closed",
      };
      const core = await createCore({ threads: 2 });
      const wide = await createCore({ threads: 2, wide: true });
      const { run, parts } = makeStep(core, shape);
      const request = {
        work: "step",
        m: SIZE,
        b: SIZE,
        r: RANK,
        p: factors,
        k: labels,
        shared: posterior === "shared",
      };
      await report(
        {
          name: `step, ${posterior}, M = B = ${SIZE}, R = ${RANK}, P = ${factors}, K = ${labels}`,
          contenders: [
            { name: "ours, 2 threads", run: clocked(run) },
            ...(wide.wide ? [{ name: "ours wide, 2 threads", run: clocked(makeStep(wide, shape).run) }] : []),
            ...(python
              ? [20, 0].map((nodes) => ({
                  name: nodes > 0 ? `numpy, 2 threads, ${nodes} nodes` : "numpy without the quadrature",
                  run: async () => (await python.call({ ...request, nodes })).milliseconds as number,
                }))
              : []),
          ],
        },
        options,
      );
      printParts(run, parts, options);
      core.dispose();
      wide.dispose();
    }
  }
}

/** Milliseconds and GFLOP/s of each operation in one step. */
function printParts(run: () => void, parts: Map<string, Part>, options: BenchOptions): void {
  const rounds = Array.from({ length: 5 }, () => {
    parts.clear();
    run();
    return new Map(parts);
  });
  const names = [...(rounds[0] as Map<string, Part>).keys()];
  const rows = names
    .map((name) => {
      const milliseconds = median(rounds.map((round) => round.get(name)?.milliseconds ?? 0));
      const flops = (rounds[0] as Map<string, Part>).get(name)?.flops ?? 0;
      return { part: name, milliseconds, gflops: flops > 0 ? flops / milliseconds / 1e6 : undefined };
    })
    .sort((a, b) => b.milliseconds - a.milliseconds)
    .slice(0, 10);
  for (const row of rows) {
    if (options.json) console.log(JSON.stringify(row));
    else
      console.log(
        `    ${row.part.padEnd(24)} ${row.milliseconds.toFixed(2).padStart(8)} ms ${row.gflops === undefined ? "" : `${row.gflops.toFixed(1).padStart(6)} GFLOP/s`}`,
      );
  }
}
