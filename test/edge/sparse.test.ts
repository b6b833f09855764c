// Matrices of which only some elements are kept: written and read against a double loop, and bytes that are no matrix.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { edgeModule } from "../../src/compact/module.ts";
import { SparseWriter } from "../../src/compact/writer.ts";
import { sparseMatrix } from "../../src/edge/sparse.ts";
import { wasmSparse } from "../../src/edge/wasm.ts";
import { leastKept } from "../../src/parts/regression/compact.ts";
import { generator } from "../support/numbers.ts";

const refuse = (found: string, expected: string): never => {
  throw new Error(`found ${found}, expected ${expected}`);
};

/** Columns a long way apart as well as close together. */
const rowOf = fc
  .array(
    fc.tuple(
      fc.constantFrom(1, 2, 191, 192, 193, 447, 448, 1000, 16_573, 16_574, 16_575, 16_576, 33_149),
      fc.integer({ min: -127, max: 127 }),
    ),
    {
      maxLength: 6,
    },
  )
  .map((steps) => {
    let column = -1;
    return steps.map(([gap, value]) => {
      column += gap;
      return { column, value };
    });
  });

describe("a sparse matrix", () => {
  for (const whole of [true, false])
    test(`adds up as its elements do, ${whole ? "in whole numbers" : "in single precision"}`, () => {
      fc.assert(
        fc.property(fc.array(rowOf, { minLength: 1, maxLength: 8 }), (rows) => {
          const columns = 1 + Math.max(0, ...rows.flat().map(({ column }) => column));
          const writer = new SparseWriter(whole);
          for (const row of rows)
            writer.row(
              row.map(({ column }) => column),
              row.map(({ value }) => value / 8),
            );
          const { gaps, values, scale } = writer.finish();
          const matrix = sparseMatrix({ gaps, values, scale }, rows.length, columns, refuse);
          const wanted = new Float64Array(columns);
          let slack = 1e-6;
          rows.forEach((row, i) => {
            const greatest = Math.max(0, ...row.map(({ value }) => Math.abs(value / 8)));
            if (whole) slack += (0.51 * (i + 1) * greatest) / 127;
            for (const { column, value } of row) wanted[column] = wanted[column] + ((i + 1) * value) / 8;
          });
          const found = new Float64Array(columns);
          const which = rows.map((_, i) => i);
          matrix.add(
            which,
            which.map((i) => i + 1),
            rows.length,
            found,
          );
          // One expectation, not one for each of many columns.
          expect(found.every((value, j) => Math.abs(value - wanted[j]) < slack)).toBe(true);
        }),
      );
    });

  test.each([
    ["few of whose elements are there", 0.05, 300],
    ["most of whose elements are there", 0.8, 37],
    ["with a row of more than 16 bits", 0.0005, 70_000],
  ])("adds up to the same bits in the module, %s", async (_, part, columns) => {
    const next = generator(columns);
    const [rows, writer] = [50, new SparseWriter(true)];
    for (let row = 0; row < rows; row++) {
      const kept = Array.from({ length: columns }, (_, column) => column).filter(() => next() < part);
      writer.row(
        kept,
        kept.map(() => next() - 0.5),
      );
    }
    const { gaps, values, scale } = writer.finish();
    const matrix = sparseMatrix({ gaps, values, scale }, rows, columns, refuse);
    const inModule = wasmSparse({ gaps, values, scale }, rows, columns, await edgeModule());
    expect(inModule !== undefined).toBe(columns < 65_536);
    const module = inModule ?? matrix;
    for (let times = 0; times < 20; times++) {
      const which = Array.from({ length: rows }, (_, row) => row).filter(() => next() < 0.4);
      const factors = which.map(() => next() - 0.5);
      const wanted = Float64Array.from({ length: columns }, next);
      const found = wanted.slice();
      // One element after another, in the order of the rows: rows by the file's bytes, sums by a double loop.
      which.forEach((row, e) => {
        const one = new Float64Array(columns);
        matrix.add([row], [1], 1, one);
        const unit = scale?.[row] as number;
        one.forEach((value, column) => {
          const whole = Math.round(value / unit);
          wanted[column] = (wanted[column] as number) + (factors[e] as number) * unit * whole;
        });
      });
      const plain = found.slice();
      matrix.add(which, factors, which.length, plain);
      module.add(which, factors, which.length, found);
      // Not toEqual, which takes seconds for long rows.
      expect(found.every((value, column) => Object.is(value, plain[column]))).toBe(true);
      expect(plain.every((value, column) => Object.is(value, wanted[column]))).toBe(true);
    }
  });

  const read = (gaps: number[], values: number[], rows = 1, columns = 300): unknown =>
    sparseMatrix(
      { gaps: Uint8Array.from(gaps), values: Int8Array.from(values), scale: undefined },
      rows,
      columns,
      refuse,
    );
  test.each([
    ["a row that does not end", () => read([3], [1]), "a row that does not end"],
    ["a gap that does not end", () => read([200], [1]), "a row that does not end"],
    ["a row too many", () => read([3, 0, 0], [1]), "1 bytes behind the last row"],
    ["more rows than bytes", () => read([0], [], 2), "1 bytes for 2 rows"],
    ["a column beyond the last", () => read([192, 109, 0], [1]), "column 300, expected columns up to 299"],
    ["too few numbers", () => read([1, 1, 0], [1]), "1 numbers for 2 columns"],
    ["too many numbers", () => read([1, 0], [1, 2]), "2 numbers for 1 columns"],
  ])("refuses %s", (_, work, message) => {
    expect(work).toThrow(message);
  });
});

test("the module takes the bytes that plain TypeScript takes, and no others", async () => {
  const module = await edgeModule();
  const gap = fc.oneof(
    fc.integer({ min: 1, max: 191 }).map((byte) => [byte]),
    fc.tuple(fc.integer({ min: 192, max: 255 }), fc.integer({ min: 0, max: 255 })),
    fc.constant([255, 255]),
  );
  const change = fc.option(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { freq: 2 });
  let taken = 0;
  fc.assert(
    fc.property(
      fc.array(fc.array(gap, { maxLength: 4 }), { minLength: 1, maxLength: 3 }),
      fc.integer({ min: -1, max: 1 }),
      fc.constantFrom(300, 16_574, 65_000),
      change,
      (rows, more, columns, changed) => {
        const gaps = Uint8Array.from(rows.flatMap((row) => [...row.flat(), 0]));
        if (changed) gaps[changed[0] % gaps.length] = changed[1];
        const numbers = rows.flat().filter(([first, second]) => !(first === 255 && second === 255)).length;
        const values = new Int8Array(Math.max(0, numbers + (changed ? more : 0))).fill(3);
        const bytes = { gaps, values, scale: new Float32Array(rows.length).fill(1) };
        let plain = true;
        try {
          sparseMatrix(bytes, rows.length, columns, refuse);
        } catch {
          plain = false;
        }
        taken += plain ? 1 : 0;
        expect(wasmSparse(bytes, rows.length, columns, module) !== undefined).toBe(plain);
      },
    ),
    { numRuns: 400 },
  );
  expect(taken).toBeGreaterThan(20);
  expect(taken).toBeLessThan(380);
});

test("so many of the largest magnitudes are kept, or a few less", () => {
  const number = fc.float({ noNaN: true, noDefaultInfinity: true, min: -4, max: 4 });
  fc.assert(
    fc.property(fc.array(number, { maxLength: 200 }), fc.integer({ min: 0, max: 200 }), (list, most) => {
      const values = Float32Array.from(list);
      const least = leastKept([{ values, labels: 1 }], most);
      const kept = list.filter((value) => Math.abs(value) >= least).length;
      if (list.length <= most) expect(least).toBe(0);
      else expect(kept).toBeLessThanOrEqual(most);
      // One part in 256 below, there are more than may stay.
      if (list.length > most && least > 1e-30)
        expect(list.filter((value) => Math.abs(value) >= least * (1 - 1 / 128)).length).toBeGreaterThan(most);
    }),
  );
});
