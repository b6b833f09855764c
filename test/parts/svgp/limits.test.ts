// Limits in which two forms of the model are one, and gradients against differences of the value.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { WasmBackend } from "../../../src/backend/wasm.ts";
import { sampledLabels } from "../../../src/parts/svgp/trainer.ts";
import { type SelfcheckCase, selfcheckAnswers } from "../../support/boundcheck.ts";
import { expectClose, withBackend } from "../../support/bounds.ts";
import { fullBound, optimalSigma } from "../../support/fullgp.ts";
import { type ProblemForm, randomProblem, smallSizes } from "../../support/problems.ts";

type Rows = number[][];
type Answers = Awaited<ReturnType<typeof selfcheckAnswers>>;

const NODES = 128;
const kernels = ["linear", "se", "sum"] as const;
const forms: ProblemForm[] = kernels.flatMap((kernel) =>
  (["subspace", "free"] as const).flatMap((inducing) =>
    (["shared", "perFactor"] as const).map((posterior) => ({ kernel, inducing, posterior })),
  ),
);

function expectSameAnswers(found: Answers, wanted: Answers, except: string[] = []): void {
  const { gradient, ...values } = wanted;
  for (const [name, value] of Object.entries(values)) expectClose(found[name], value, name);
  for (const [name, value] of Object.entries(gradient))
    if (!except.includes(name)) expectClose(found.gradient[name], value, `gradient by ${name}`);
}

const product = (a: Rows, b: Rows): Rows =>
  a.map((row) => b[0].map((_, j) => row.reduce((sum, v, i) => sum + v * b[i]?.[j], 0)));
const transposed = (a: Rows): Rows => a[0].map((_, j) => a.map((row) => row[j]));
const rowsOf = (values: number[], columns: number): Rows =>
  Array.from({ length: values.length / columns }, (_, i) => values.slice(i * columns, (i + 1) * columns));
const absent = ({ labels, parameters }: SelfcheckCase): Rows =>
  labels.map((row) => Array.from(parameters.b.keys()).filter((k) => !row.includes(k)));
const average = (lists: number[][]): number[] =>
  lists[0].map((_, i) => lists.reduce((sum, list) => sum + list[i], 0) / lists.length);

describe("limits that coincide", () => {
  for (const kernel of kernels) {
    test(`${kernel}: one Sigma for all factors is equal Sigmas for each`, async () => {
      await withBackend(async (backend) => {
        const shared = randomProblem({ kernel, inducing: "free", posterior: "shared" }, 11);
        const sigma = shared.parameters.sigma.map((row) => Array<number>(2).fill(row[0]));
        const each: SelfcheckCase = {
          ...shared,
          posterior: "perFactor",
          parameters: { ...shared.parameters, sigma },
        };
        const one = await selfcheckAnswers(backend, shared, NODES);
        const many = await selfcheckAnswers(backend, each, NODES);
        expectSameAnswers(one, many, ["sigma"]);
        const sums = rowsOf(many.gradient.sigma as number[], 2).map(([a = 0, b = 0]) => a + b);
        expectClose(one.gradient.sigma as number[], sums, "gradient by sigma");
      });
    });

    for (const posterior of ["shared", "perFactor"] as const) {
      test(`${kernel}, ${posterior}: a subspace of full rank is free`, async () => {
        await withBackend(async (backend) => {
          const sizes = { ...smallSizes, rank: smallSizes.features };
          const subspace = randomProblem({ kernel, inducing: "subspace", posterior }, 21, sizes);
          const { A, ...others } = subspace.parameters;
          const basis = subspace.basis as Rows;
          const free: SelfcheckCase = {
            ...subspace,
            inducing: "free",
            basis: null,
            parameters: { ...others, Z: product(A as Rows, basis) },
          };
          const byA = await selfcheckAnswers(backend, subspace, NODES);
          const byZ = await selfcheckAnswers(backend, free, NODES);
          expectSameAnswers(byA, byZ, ["Z"]);
          const dZ = rowsOf(byZ.gradient.Z as number[], sizes.features);
          expectClose(byA.gradient.A as number[], product(dZ, transposed(basis)).flat(), "dA = dZ Xtilde'");
        });
      });
    }
  }

  for (const posterior of ["shared", "perFactor"] as const) {
    test(`${posterior}: all absent labels sampled is none sampled`, async () => {
      await withBackend(async (backend) => {
        const all = randomProblem({ kernel: "sum", inducing: "free", posterior }, 31);
        const sampled = { ...all, sampledNegatives: absent(all) };
        expectSameAnswers(await selfcheckAnswers(backend, sampled, NODES), await selfcheckAnswers(backend, all, NODES));
      });
    });

    test(`${posterior}: over all samples of one size, value and gradients average to the full ones`, async () => {
      await withBackend(async (backend) => {
        const all = randomProblem({ kernel: "sum", inducing: "subspace", posterior }, 41);
        // Every point lacks three labels: three samples of two.
        const samples = [0, 1, 2].map((left) => absent(all).map((row) => row.filter((_, i) => i !== left)));
        const found: Answers[] = [];
        for (const sampledNegatives of samples)
          found.push(await selfcheckAnswers(backend, { ...all, sampledNegatives }, NODES));
        const full = await selfcheckAnswers(backend, all, NODES);
        expectClose(average(found.map((each) => each.bound as number[])), full.bound as number[], "bound");
        for (const [name, value] of Object.entries(full.gradient))
          expectClose(average(found.map((each) => each.gradient[name])), value, `gradient by ${name}`);
      });
    });
  }

  test("the bound of drawn samples averages to the full one", async () => {
    await withBackend(async (backend) => {
      const all = randomProblem({ kernel: "linear", inducing: "free", posterior: "shared" }, 51);
      const { points, labels } = smallSizes;
      const rowStart = Int32Array.from({ length: points + 1 }, (_, i) => 3 * i);
      const sets = { rows: points, labels, rowStart, labelIndex: Int32Array.from(all.labels.flat()) };
      const draws: number[] = [];
      for (let step = 0; step < 300; step++) {
        const { lists, signedWeight } = sampledLabels(
          backend.core,
          sets,
          Int32Array.from({ length: points }, (_, i) => i),
          1,
          7,
          step,
        );
        expect([...signedWeight]).toEqual(Array.from({ length: points }, () => [1, 1, 1, -3]).flat());
        const sampledNegatives = rowsOf([...lists.labelIndex], 4).map((row) => row.slice(3));
        const { bound } = await selfcheckAnswers(backend, { ...all, sampledNegatives }, 32);
        draws.push((bound as number[])[0]);
      }
      const full = ((await selfcheckAnswers(backend, all, 32)).bound as number[])[0];
      const [mean] = average(draws.map((draw) => [draw])) as [number];
      const variance = average(draws.map((draw) => [(draw - mean) ** 2]))[0];
      expect(variance).toBeGreaterThan(0);
      expect(Math.abs(mean - full)).toBeLessThan(4 * Math.sqrt(variance / draws.length));
    });
  });

  for (const kernel of kernels) {
    test(`${kernel}: with Z = X it is the full Gaussian process, and its best Sigma is stationary`, async () => {
      await withBackend(async (backend) => {
        // Fewer points than features: the linear kernel's matrix has an inverse too.
        const sizes = { ...smallSizes, inducing: smallSizes.points };
        const problem = randomProblem({ kernel, inducing: "free", posterior: "perFactor" }, 61, sizes);
        problem.N = sizes.points;
        problem.parameters.Z = problem.X;
        const { mu, sigma, Phi, b } = problem.parameters;
        const start = await selfcheckAnswers(backend, problem, NODES);
        const K = rowsOf(start.Kz as number[], sizes.points);
        const full = { K, labels: problem.labels, mu, sigma, Phi, b };
        expectClose(start.bound as number[], [fullBound(full)], "bound");

        const best = optimalSigma(full);
        problem.parameters.sigma = best;
        const end = await selfcheckAnswers(backend, problem, NODES);
        expectClose(end.bound as number[], [fullBound({ ...full, sigma: best })], "bound at the best Sigma");
        expect((end.bound as number[])[0]).toBeGreaterThan((start.bound as number[])[0]);
        expect(Math.max(...(end.gradient.sigma as number[]).map(Math.abs))).toBeLessThan(1e-9);
        expect(Math.max(...(start.gradient.sigma as number[]).map(Math.abs))).toBeGreaterThan(1e-4);
      });
    });
  }
});

/** Central differences of the bound by every number of a parameter. */
async function differences(backend: WasmBackend, problem: SelfcheckCase, name: string): Promise<number[]> {
  const step = 1e-5;
  const original = problem.parameters[name as "mu"] as unknown;
  const moved = (value: unknown, place: { left: number }, by: number): unknown =>
    Array.isArray(value)
      ? value.map((item) => moved(item, place, by))
      : (value as number) + (place.left-- === 0 ? by : 0);
  const boundAt = async (index: number, by: number): Promise<number> => {
    const parameters = { ...problem.parameters, [name]: moved(original, { left: index }, by) };
    return ((await selfcheckAnswers(backend, { ...problem, parameters }, NODES)).bound as number[])[0] as number;
  };
  const count = [original].flat(3).length;
  const found: number[] = [];
  for (let i = 0; i < count; i++) found.push(((await boundAt(i, step)) - (await boundAt(i, -step))) / (2 * step));
  return found;
}

describe("gradients are the slopes of the value", () => {
  for (const form of forms) {
    test(`${form.kernel}, ${form.inducing}, ${form.posterior}`, async () => {
      await withBackend(async (backend) => {
        const sizes = fc.record({
          points: fc.integer({ min: 1, max: 4 }),
          features: fc.integer({ min: 2, max: 4 }),
          labels: fc.integer({ min: 1, max: 4 }),
          factors: fc.integer({ min: 1, max: 3 }),
          inducing: fc.integer({ min: 1, max: 3 }),
          rank: fc.integer({ min: 1, max: 3 }),
        });
        const property = fc.asyncProperty(sizes, fc.integer({ min: 0, max: 1e6 }), async (size, seed) => {
          const problem = randomProblem(form, seed, size);
          const { gradient } = await selfcheckAnswers(backend, problem, NODES);
          for (const [name, value] of Object.entries(gradient))
            expectClose(value, await differences(backend, problem, name), `gradient by ${name}`, 1e-6);
        });
        await fc.assert(property, { numRuns: 4, seed: 5 });
      });
    });
  }
});
