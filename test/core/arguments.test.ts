// Every export of mlgpf/core with wrong arguments: of another kind, core, precision or shape, freed, out of range. Each is
// refused in a sentence or is right after all; nobody else's memory is ever written.

import { describe, expect, test } from "vitest";
import * as api from "../../src/core/index.ts";
import { cases, withoutMemory } from "./argumentcases.ts";
import { type Bench, benches, type Named } from "./guards.ts";

/** A number that is no argument of its kind, or an unusual one. */
const numbers = [Number.NaN, Number.POSITIVE_INFINITY, -1, 0.5, 2 ** 40, "3", null];
const things: unknown[] = [null, 3, "x", {}, [], new Float32Array(4)];

/** What stands in the place of an argument, and whether it can never be right. */
interface Wrong {
  what: string;
  value: unknown;
  never?: boolean;
}

/** Wrong values for a matrix, a sparse matrix, a pattern or whole numbers: the same made another way. */
function wrongThings(name: string, args: () => Named, others: Record<string, () => Named>): Wrong[] {
  const found: Wrong[] = things.map((value) => ({ what: `is ${String(value)}`, value, never: true }));
  for (const [what, make] of Object.entries(others))
    found.push({ what, value: make()[name], never: what.startsWith("of another core") });
  const freed = args()[name] as { free(): void };
  freed.free();
  return [...found, { what: "freed", value: freed, never: true }];
}

function wrongLists(list: Int32Array): Wrong[] {
  const changed = (change: (copy: Int32Array) => void): Int32Array => {
    const copy = list.slice();
    change(copy);
    return copy;
  };
  return [
    { what: "falls", value: changed((copy) => copy.fill(2 ** 30, 1, 2)) },
    { what: "has -1", value: changed((copy) => copy.fill(-1, 0, 1)) },
    { what: "has 2^31 - 1", value: changed((copy) => copy.fill(2 ** 31 - 1, -1)) },
    { what: "is short", value: list.slice(1) },
    { what: "is long", value: Int32Array.from([...list, 0]) },
    { what: "is empty", value: new Int32Array(0) },
  ];
}

const isThing = (value: unknown): boolean =>
  value instanceof api.Matrix ||
  value instanceof api.Csr ||
  value instanceof api.Pattern ||
  value instanceof api.Integers ||
  value instanceof api.Postings;

function wrongsFor(name: string, args: () => Named, others: Record<string, () => Named>): Wrong[] {
  const value = args()[name];
  if (isThing(value)) return wrongThings(name, args, others);
  if (value instanceof api.Core) return things.map((wrong) => ({ what: String(wrong), value: wrong, never: true }));
  if (value instanceof Int32Array) return wrongLists(value);
  if (typeof value === "number") return numbers.map((wrong) => ({ what: String(wrong), value: wrong }));
  if (typeof value === "string") return [{ what: "nonsense", value: "nonsense", never: true }];
  return [];
}

async function outcomeOf(work: () => unknown): Promise<unknown> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return error;
  }
}

/** Does some work with a core, and another one. */
async function withBenches(work: (own: Bench, other: Bench) => Promise<void> | void): Promise<void> {
  const [own, other] = await benches();
  try {
    await work(own, other);
  } finally {
    own.core.dispose();
    other.core.dispose();
  }
}

describe("wrong arguments", () => {
  test("every export is tried, or has nothing to do with memory", () => {
    const functions = Object.entries(api).filter(([, value]) => typeof value === "function");
    const tried = new Set([...Object.keys(cases), ...withoutMemory]);
    expect(functions.map(([name]) => name).filter((name) => !tried.has(name))).toEqual([]);
  });

  for (const [name, { args, call, onePrecision = true, free = [] }] of Object.entries(cases)) {
    test(name, () =>
      withBenches(async (own, other) => {
        const right = (): Named => args(own.of("f64"));
        const run = (given: Named): unknown => call(given as never);
        expect(await outcomeOf(() => run(right())), "as it should be").toBe(undefined);
        const others = {
          "of another core": () => args(other.of("f64")),
          "of another precision": () => args(own.of("f32")),
          "one row more": () => args(own.of("f64", { more: "rows" })),
          "one column more": () => args(own.of("f64", { more: "columns" })),
          "without elements": () => args(own.of("f64", { more: "none" })),
          "with gaps": () => args(own.of("f64", { gaps: true })),
        };
        const memory = Object.values(right()).filter(isThing).length;
        for (const argument of Object.keys(right())) {
          for (const bench of [own, other]) bench.reset();
          for (const { what, value, never } of wrongsFor(argument, right, others)) {
            const problem = await outcomeOf(() => run({ ...right(), [argument]: value }));
            const where = `${argument} ${what}`;
            own.checkGuards(where);
            other.checkGuards(where);
            const alone = what === "of another core" && memory < 2;
            const listed = value instanceof api.Integers || value instanceof api.Pattern;
            const precise = what === "of another precision" && onePrecision && memory > 1 && !listed;
            const must = ((never && !alone) || precise) && !free.includes(argument);
            if (must || problem !== undefined) expect(problem, where).toBeInstanceOf(Error);
            if (problem instanceof Error && value !== null)
              expect(problem, `${where}: ${problem.stack}`).toBeInstanceOf(api.ArgumentError);
          }
        }
      }),
    );
  }

  test("what belongs to a core that was disposed of", async () => {
    const core = await api.createCore({ threads: 1 });
    const a = api.matrix(core, 2, 2);
    core.dispose();
    for (const work of [
      () => a.toArray(),
      () => api.fill(a, 1),
      () => api.matrix(core, 1, 1),
      () => api.csr(core, { rows: 0, columns: 0, rowStart: [0], columnIndex: [], values: [] }),
    ])
      expect(work).toThrow("disposed of, expected a live one");
  });

  test("shapes of a view", () =>
    withBenches((own) => {
      const { matrix } = own.of("f32");
      const a = matrix(2, 3);
      for (const [rows, columns] of [
        [-2, -3],
        [1.5, 4],
        [6, 1.5],
        [Number.NaN, 6],
        [-6, -1],
      ] as const)
        expect(() => a.reshape(rows, columns)).toThrow(api.ArgumentError);
      expect(() => a.block(1, 1, 2, 2)).toThrow(api.ArgumentError);
      expect(() => a.rowRange(1, 0)).toThrow(api.ArgumentError);
      expect(() => api.matrix(own.core, 1, 1, "f16" as never)).toThrow("precision: found f16");
    }));
});
