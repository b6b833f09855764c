// Labels spoiled on purpose, and the list that should find them.

import { describe, expect, test } from "vitest";
import type { LabelSets } from "../../src/base/sparse.ts";
import { type Dataset, selectRows } from "../../src/data/dataset.ts";
import { audit, loadModel, type Suspect, train } from "../../src/index.ts";
import { auditCsv, auditHtml } from "../../src/report/audit.ts";
import { namedData } from "../learn/support.ts";
import { generator } from "../support/numbers.ts";

const LABELS = 8;
const clean = namedData({ points: 420, features: 50, labels: LABELS }, 5);

/** Lists of labels as sets. */
function setsOf(lists: readonly (readonly number[])[]): LabelSets {
  const rowStart = [0];
  for (const own of lists) rowStart.push((rowStart.at(-1) as number) + own.length);
  return {
    rows: lists.length,
    labels: LABELS,
    rowStart: Int32Array.from(rowStart),
    labelIndex: Int32Array.from(lists.flat()),
  };
}

const listOf = ({ rowStart, labelIndex }: LabelSets, row: number): number[] => [
  ...labelIndex.subarray(rowStart[row], rowStart[row + 1]),
];

/** The data with one label of every tenth row turned round: given where it was absent, and the other way. */
function spoil(data: Dataset): { data: Dataset; wrong: Set<string> } {
  const next = generator(3);
  const wrong = new Set<string>();
  const lists = Array.from({ length: data.features.rows }, (_, row) => {
    const own = new Set(listOf(data.labels, row));
    if (row % 10 === 0) {
      const label = Math.floor(next() * LABELS);
      if (!own.delete(label)) own.add(label);
      wrong.add(`d${row} label ${label}`);
    }
    return [...own].sort((a, b) => a - b);
  });
  return { data: { ...data, labels: setsOf(lists) }, wrong };
}

const { data, wrong } = spoil(clean);
const hits = (list: readonly Suspect[]): number => list.filter(({ id, label }) => wrong.has(`${id} ${label}`)).length;

describe("an audit", () => {
  test.each([
    ["leave-one-out", { model: "gpr", threads: 1 }],
    ["folds", { model: "svgp", factors: 4, inducingPoints: 20, rank: 20, epochs: 8, threads: 1 }],
  ] as const)("finds labels that were spoiled, worst first, by %s", async (_, options) => {
    const model = await train(data, options);
    const list = await audit(model, data, { threads: 1, top: wrong.size });
    expect(list.length).toBeGreaterThan(wrong.size / 3);
    // One pair in eighty is spoiled.
    expect(hits(list) / list.length).toBeGreaterThan(10 / 80);
    expect(hits(list.slice(0, 10))).toBeGreaterThan(2);
    const { labelCounts, points } = model.schema;
    for (const [i, { row, label, given, probability, chance }] of list.entries()) {
      expect(chance).toBeLessThanOrEqual(list[i - 1]?.chance ?? 1);
      const id = Number(label.slice(6));
      expect(listOf(data.labels, row).includes(id)).toBe(given);
      if (options.model === "svgp") continue;
      const odds = given
        ? ((labelCounts[id] / points) * (1 - probability)) / (50 * probability)
        : probability / (50 * (1 - probability));
      expect(chance).toBeCloseTo(odds / (1 + odds), 9);
    }
  });

  test("goes by the probabilities of a model without the row", async () => {
    const found = new Map<number, ArrayLike<number>>();
    await train(data, {
      model: "gpr",
      threads: 1,
      onLeftOut: ({ rows, probabilities }) => {
        Array.from(rows).forEach((row, i) => {
          found.set(row, Array.from(probabilities).slice(i * LABELS, (i + 1) * LABELS));
        });
      },
    });
    expect([...found.keys()].sort((a, b) => a - b)).toEqual(Array.from({ length: 420 }, (_, i) => i));
    let [apart, pairs] = [0, 0];
    for (const row of [3, 77, 200, 411]) {
      const rest = [...found.keys()].filter((i) => i !== row).sort((a, b) => a - b);
      using without = await loadModel(await train(selectRows(data, rest), { model: "gpr", threads: 1 }), {
        threads: 1,
      });
      const [labels] = await without.predict(selectRows(data, [row]).features, { topK: LABELS });
      for (const { id = 0, probability } of labels) {
        apart += Math.abs(probability - (found.get(row)?.[id] ?? Number.NaN));
        pairs++;
      }
    }
    // The calibrators of both differ by one row.
    expect(apart / pairs).toBeLessThan(0.02);
  });

  test("takes rows that are unseen as they are predicted", async () => {
    const half = Array.from({ length: 210 }, (_, i) => i);
    const model = await train(selectRows(data, half), { model: "gpr", threads: 1 });
    const others = selectRows(
      data,
      half.map((i) => i + 210),
    );
    const list = await audit(model, others, { unseen: true, threads: 1 });
    using loaded = await loadModel(model, { threads: 1 });
    const rows = await loaded.predict(others.features, { topK: LABELS });
    expect(list.length).toBeGreaterThan(5);
    for (const { row, label, probability } of list)
      expect(rows[row].find((each) => each.label === label)?.probability).toBeCloseTo(probability, 6);
  });
});

describe("near-duplicates that disagree", () => {
  const rows = Array.from({ length: 60 }, (_, i) => ({
    id: `r${i}`,
    text: i % 2 === 0 ? `red wing feather nest ${"abcdef"[i % 6]}` : `blue fin scale reef ${"ghijkl"[i % 6]}`,
    labels: i === 8 ? [] : [i % 2 === 0 ? "birds" : "fish"],
  }));

  test("stand beside each other, in CSV and in HTML", async () => {
    const model = await train(rows, { model: "gpr", threads: 1, seed: 1 });
    const list = await audit(model, rows, { threads: 1 });
    const [first] = list;
    expect(first).toMatchObject({ id: "r8", label: "birds", given: false, labels: [] });
    expect(first.near?.labels).toEqual(["birds"]);
    expect(first.near?.similarity).toBeGreaterThan(0.8);
    const [head, line] = auditCsv(list).split("\n");
    expect(head).toMatch(/^id,line,label,given,probability,chance_of_mistake,labels,near_id,/);
    expect(line).toMatch(/^r8,9,birds,no,0\.9\d*,0\.\d+,,r\d+,\d+,birds,/);
    const { readDataset } = await import("../../src/index.ts");
    const { dataset } = await readDataset(rows);
    const page = auditHtml("<rows>", list, model.schema, dataset);
    expect(page).toContain("&lt;rows&gt;");
    expect(page).toContain("absent, may be missing");
    expect(page).toContain("feather");
  });
});
