// The start from a sample: a subspace as good as that of all points, and what is measured of it.

import { expect, test } from "vitest";
import { createCore } from "../../../src/core/core.ts";
import { type Csr, csr } from "../../../src/core/csr.ts";
import { truncatedSvd } from "../../../src/core/spectral.ts";
import { sampledSvd, shareOfSquares, withSample } from "../../../src/parts/svgp/start.ts";
import { topicData } from "../../support/problems.ts";
import { dense } from "../../support/reference.ts";

async function withRows(points: number, use: (x: Csr) => Promise<void>): Promise<void> {
  const core = await createCore({ threads: 1 });
  const before = core.arena.used;
  const x = csr(core, topicData({ points, features: 40, labels: 6 }, 3).features, "f32");
  await use(x);
  x.free();
  expect(core.arena.used).toBe(before);
  core.dispose();
}

test("a sample has rows of the data, each once, in their order, and is all of them where there are few", async () => {
  await withRows(50, async (x) => {
    await withSample(x, 26, 0, async (rows) => expect(rows).toBe(x));
    const rowsOf = (each: Csr): string[] => {
      const values = dense({
        rows: each.rows,
        columns: each.columns,
        rowStart: each.start.toArray(),
        columnIndex: each.column.toArray(),
        values: each.value.toArray(),
      });
      return Array.from({ length: each.rows }, (_, i) => values.slice(40 * i, 40 * (i + 1)).join());
    };
    const all = rowsOf(x);
    await withSample(x, 20, 0, async (sample) => {
      expect(sample.rows).toBe(20);
      let after = -1;
      for (const row of rowsOf(sample)) {
        after = all.indexOf(row, after + 1);
        expect(after).toBeGreaterThanOrEqual(0);
      }
    });
  });
});

test("the share of squares is what the decomposition does not leave out of its own rows", async () => {
  await withRows(30, async (x) => {
    const { right, residual } = await truncatedSvd(x, { rank: 5, seed: 0 });
    expect(await shareOfSquares(x, right, {})).toBeCloseTo(1 - residual * residual, 5);
    right.free();
  });
});

test("the sample's subspace holds of all points nearly what the best one does, and says what was measured", async () => {
  await withRows(4000, async (x) => {
    const notes: string[] = [];
    const found = await sampledSvd(x, { rank: 5, seed: 0, note: (text) => notes.push(text) }, 1000);
    const { right: best } = await truncatedSvd(x, { rank: 5, seed: 0 });
    const [share, most] = [await shareOfSquares(x, found, {}), await shareOfSquares(x, best, {})];
    expect(share).toBeLessThanOrEqual(most + 1e-6);
    expect(share).toBeGreaterThan(most - 0.01);
    expect(notes.at(-1)).toMatch(
      /^singular vectors from a sample of \d+ points: they hold [\d.]+ % of its squares and [\d.]+ % of those of all 4000 points/,
    );
    found.free();
    best.free();
  });
});

test("a sample that is too small is doubled until it is as good, in the end to all points", async () => {
  await withRows(200, async (x) => {
    const notes: string[] = [];
    const found = await sampledSvd(x, { rank: 12, seed: 0, note: (text) => notes.push(text) }, 12);
    const { right: best } = await truncatedSvd(x, { rank: 12, seed: 0 });
    expect(notes[0]).toMatch(/a larger sample is needed$/);
    expect(found.toArray()).toEqual(best.toArray());
    found.free();
    best.free();
  });
});
