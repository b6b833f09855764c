// Learning is training on all documents at once, forgetting undoes it, corrections take the place of what was there, new
// labels come in, and what does not belong together is refused and changes nothing.

import { describe, expect, test } from "vitest";
import type { Dataset } from "../../src/data/dataset.ts";
import { readDataset } from "../../src/data/reader.ts";
import { forget, learn } from "../../src/learn/learn.ts";
import { Learner } from "../../src/learn/learner.ts";
import { modelFromBytes, modelToBytes } from "../../src/model/file.ts";
import type { Model } from "../../src/model/model.ts";
import { stateFromBytes, stateToBytes } from "../../src/parts/regression/state.ts";
import { loadModel } from "../../src/predict/load.ts";
import { train } from "../../src/train/train.ts";
import { difference } from "../support/lists.ts";
import { both, expectedScores, fullRows, namedData, rowsFrom, scoresOf, shuffled, taught } from "./support.ts";

/** Scores are of order 1; a label on every third document makes the rounding of single precision larger. */
const TOLERANCE = 1e-5;
const NEW_LABEL_TOLERANCE = 3e-5;

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);

const forms = [
  {
    form: "gpr",
    data: namedData({ points: 160, features: 40, labels: 8 }, 5),
    start: 100,
    options: { model: "gpr" },
  },
  {
    form: "linear",
    data: namedData({ points: 2300, features: 40, labels: 8 }, 7),
    start: 2100,
    options: both,
  },
] as const;

for (const { form, data, start, options } of forms) {
  const points = data.features.rows;
  const probe = namedData({ points: 30, features: 40, labels: 8 }, 11).features;

  describe(`a model of the family ${form}`, () => {
    test("learns as if all documents had been there at once, over random splits, and forgets what it learned", async () => {
      for (const seed of [1, 2]) {
        const order = shuffled(points, seed);
        const first = await taught(rowsFrom(data, order.slice(0, start)), options);
        expect(first.model.parts[0].family).toBe(form);
        const before = await scoresOf(first.model, probe);
        expect(
          difference(before, expectedScores(first.model, rowsFrom(data, order.slice(0, start)), probe)),
        ).toBeLessThan(TOLERANCE);
        const cut = start + 13 * seed;
        const some = await learn(first.model, first.state, rowsFrom(data, order.slice(start, cut)), {
          threads: 1,
        });
        const all = await learn(some.model, some.state, rowsFrom(data, order.slice(cut)), { threads: 1 });
        const after = await scoresOf(all.model, probe);
        expect(difference(after, before)).toBeGreaterThan(1e-3);
        expect(difference(after, expectedScores(all.model, rowsFrom(data, order), probe))).toBeLessThan(TOLERANCE);
        expect(all.model.schema.points).toBe(points);
        expectSquares(all.model, rowsFrom(data, order));
        expect([...all.model.schema.labelCounts]).toEqual(countsOf(data));
        expect(all).toMatchObject({ learned: points - cut, corrected: 0, forgotten: 0, newLabels: 0 });
        expect(all.model.summary.learning).toMatchObject({ learned: points - start, forgotten: 0 });
        const gone = shuffled(points - start, seed + 5).map((i) => `d${order[start + i]}`);
        const back = await forget(all.model, all.state, gone, { threads: 1 });
        expect(difference(await scoresOf(back.model, probe), before)).toBeLessThan(TOLERANCE);
        expect(back.forgotten).toBe(points - start);
      }
    });

    test("says after each lesson how much it has learned in all, and keeps the names of labels that came", async () => {
      const { model, state } = await taught(rowsFrom(data, range(0, start)), options);
      using learner = await Learner.open(model, state, { threads: 1 });
      const named = { ...data, labelNames: ["a new one", ...(data.labelNames as string[]).slice(1)] };
      for (const [from, to] of [
        [start, start + 20],
        [start + 20, start + 23],
      ] as const)
        await learner.learn({ documents: rowsFrom(named, range(from, to)) });
      expect(learner.model.summary.learning).toMatchObject({ learned: 23, forgotten: 0 });
      await learner.learn({ forget: ["d3"] });
      expect(learner.model.summary.learning).toMatchObject({ learned: 23, forgotten: 1 });
      expect(learner.model.schema.labelNames).toEqual([...(data.labelNames as string[]), "a new one"]);
    });

    test("takes the old version of a corrected document out, and forgets documents of the training", async () => {
      const first = await taught(rowsFrom(data, range(0, start)), options);
      // Documents 3 to 8 with the texts and labels of others.
      const others = rowsFrom(data, range(start, start + 6));
      const corrected = { ...others, ids: range(3, 9).map((i) => `d${i}`) };
      const learned = await learn(first.model, first.state, corrected, { threads: 1 });
      expect(learned).toMatchObject({ learned: 6, corrected: 6, forgotten: 0 });
      const left = await forget(learned.model, learned.state, ["d20", "d4"], { threads: 1 });
      const kept = range(0, start).filter((i) => (i < 3 || i > 8) && i !== 20);
      const now = rowsFrom(data, [...kept, ...[0, 2, 3, 4, 5].map((i) => start + i)]);
      expect(difference(await scoresOf(left.model, probe), expectedScores(left.model, now, probe))).toBeLessThan(
        TOLERANCE,
      );
    });

    test("takes up labels that are new, and suggests them afterwards", async () => {
      const first = await taught(rowsFrom(data, range(0, start)), options);
      const arriving = novelDocuments(40, 39, data);
      const { model, newLabels } = await learn(first.model, first.state, arriving, { threads: 1 });
      expect(newLabels).toBe(1);
      expect(model.schema.labels).toBe(9);
      expect(model.schema.labelNames?.at(-1)).toBe("novel");
      const grown = { ...data, labels: { ...data.labels, labels: 9 } };
      const all = joined(rowsFrom(grown, range(0, start)), arriving);
      expect(difference(await scoresOf(model, probe), expectedScores(model, all, probe))).toBeLessThan(
        NEW_LABEL_TOLERANCE,
      );
      using loaded = await loadModel(modelFromBytes(modelToBytes(model)), { threads: 1 });
      const found = await loaded.predict(arriving.features, { topK: 3 });
      const suggested = found.filter((labels) => labels.some(({ label }) => label === "novel"));
      expect(suggested.length).toBeGreaterThan(20);
    });
  });
}

test("forgetting what an exact model has learned gives back what was there, labels too", async () => {
  const { data, start, options } = forms[0];
  const first = await taught(rowsFrom(data, range(0, start)), options);
  const arrive = (from: number, name: string): Dataset => ({
    ...rowsFrom(data, range(from, from + 5)),
    labelNames: [...(data.labelNames as string[]).slice(0, -1), name],
    labels: { rows: 5, labels: 8, rowStart: Int32Array.of(0, 1, 2, 3, 4, 5), labelIndex: new Int32Array(5).fill(7) },
  });
  let now = await learn(first.model, first.state, arrive(start, "one"), { threads: 1 });
  now = await learn(now.model, now.state, arrive(start + 5, "other"), { threads: 1 });
  expect(now.model.schema.labelNames?.slice(8)).toEqual(["one", "other"]);
  const ids = (from: number): string[] => range(from, from + 5).map((i) => `d${i}`);
  // The label in the middle goes, and the last one keeps its documents.
  const between = await forget(now.model, now.state, ids(start), { threads: 1 });
  const without = await learn(first.model, first.state, arrive(start + 5, "other"), { threads: 1 });
  const plain = ({ model: { summary, ...model } }: { model: Model }) => ({ ...model, leftOut: summary.leftOut });
  expect(plain(between)).toEqual(plain(without));
  expect(stateFromBytes(stateToBytes(between.state))).toEqual(stateFromBytes(stateToBytes(without.state)));
  const back = await forget(between.model, between.state, ids(start + 5), { threads: 1 });
  expect(plain(back)).toEqual(plain(first));
  // A label of the training stays, though no document has it any more.
  const rare = first.model.schema.labelCounts.indexOf(Math.min(...first.model.schema.labelCounts));
  const { ids: known = [], labels } = first.state.documents ?? {};
  const having = known.filter((_, i) =>
    labels?.labelIndex.subarray(labels.rowStart[i], labels.rowStart[i + 1]).includes(rare),
  );
  const fewer = await forget(first.model, first.state, having, { threads: 1 });
  expect(fewer.model.schema.labels).toBe(8);
});

test("a linear model learns a few documents without changing all of C, and goes on from the file of its state", async () => {
  const { data, start, options } = forms[1];
  const probe = namedData({ points: 30, features: 40, labels: 8 }, 11).features;
  let now = await taught(rowsFrom(data, range(0, start)), options);
  const inverse = now.state.solution?.inverse;
  for (const [from, to] of [
    [start, start + 2],
    [start + 2, start + 4],
    [start + 4, start + 9],
  ] as const) {
    const state = stateFromBytes(stateToBytes(now.state));
    expect({ ...state, file: undefined }).toEqual({ ...now.state, file: undefined });
    now = await learn(modelFromBytes(modelToBytes(now.model)), state, rowsFrom(data, range(from, to)), {
      threads: 1,
    });
    const behind = (now.state.solution?.pending ?? []).reduce(
      (sum, { factors }) => sum + factors.length / now.state.plan.features,
      0,
    );
    expect(behind).toBe(to - start <= 5 ? to - start : 0);
    const same = difference([[...(now.state.solution?.inverse ?? [])]], [[...(inverse ?? [])]]) === 0;
    expect(same).toBe(behind > 0);
    const expected = expectedScores(now.model, rowsFrom(data, range(0, to)), probe);
    expect(difference(await scoresOf(now.model, probe), expected)).toBeLessThan(TOLERANCE);
  }
});

/** The precision of a linear part is the sum of the squares of all documents. */
function expectSquares({ parts: [part], schema }: Model, { features }: Dataset): void {
  if (part.family !== "linear") return;
  const rows = fullRows(features, schema.transform);
  const squares = [...part.columns].map((column) => rows.reduce((sum, row) => sum + row[column] ** 2, 0));
  expect(difference([[...part.precision.squares]], [squares])).toBeLessThan(0.01);
}

function countsOf({ labels: { labels, labelIndex } }: Dataset): number[] {
  const counts = new Array<number>(labels).fill(0);
  for (const label of labelIndex) counts[label] = counts[label] + 1;
  return counts;
}

/** Documents of one word, its label "novel" and the last label that there was. */
function novelDocuments(count: number, word: number, data: Dataset): Dataset {
  const { labels } = data.labels;
  const starts = (each: number): Int32Array => Int32Array.from(range(0, count + 1), (i) => each * i);
  return {
    ids: range(0, count).map((i) => `novel ${i}`),
    features: {
      rows: count,
      columns: data.features.columns,
      rowStart: starts(2),
      columnIndex: Int32Array.from(range(0, 2 * count), (i) => (i % 2 === 0 ? (i / 2) % word : word)),
      values: Float32Array.from(range(0, 2 * count), (i) => (i % 2 === 0 ? 1 : 4)),
    },
    labels: {
      rows: count,
      labels: labels + 1,
      rowStart: starts(2),
      labelIndex: Int32Array.from(range(0, 2 * count), (i) => labels - 1 + (i % 2)),
    },
    labelNames: [...(data.labelNames ?? []), "novel"],
  };
}

function joined(a: Dataset, b: Dataset): Dataset {
  const starts = (first: Int32Array, second: Int32Array): Int32Array =>
    Int32Array.from([...first, ...second.subarray(1).map((start) => start + (first.at(-1) as number))]);
  return {
    features: {
      rows: a.features.rows + b.features.rows,
      columns: a.features.columns,
      rowStart: starts(a.features.rowStart, b.features.rowStart),
      columnIndex: Int32Array.from([...a.features.columnIndex, ...b.features.columnIndex]),
      values: Float32Array.from([...a.features.values, ...b.features.values]),
    },
    labels: {
      rows: a.labels.rows + b.labels.rows,
      labels: b.labels.labels,
      rowStart: starts(a.labels.rowStart, b.labels.rowStart),
      labelIndex: Int32Array.from([...a.labels.labelIndex, ...b.labels.labelIndex]),
    },
  };
}

test("rows and files are read as the model reads them", async () => {
  const text = (i: number): string => (i % 2 === 0 ? `purr ${i % 5} whiskers` : `sail ${i % 5} harbour`);
  const rows = range(0, 40).map((i) => ({
    id: `r${i}`,
    text: text(i),
    labels: [i % 2 === 0 ? "cats" : "ships"],
  }));
  const { dataset } = await readDataset(rows);
  const first = await taught(dataset, { model: "gpr" });
  const { model, newLabels } = await learn(
    first.model,
    first.state,
    [{ id: "new", text: "purr whiskers", labels: ["lions", "cats"] }],
    { threads: 1 },
  );
  expect([newLabels, model.schema.labelNames, model.schema.points]).toEqual([1, ["cats", "ships", "lions"], 41]);
});

describe("what does not belong together", () => {
  const data = namedData({ points: 90, features: 40, labels: 8 }, 5);
  const first = taught(rowsFrom(data, range(0, 60)), { model: "gpr" });
  const more = rowsFrom(data, range(60, 70));

  test("a state of another model, or of other documents", async () => {
    const { model, state } = await first;
    const other = await taught(rowsFrom(data, range(5, 65)), { model: "gpr", idf: true });
    await expect(learn(model, other.state, more)).rejects.toThrow(/found the state of another model/);
    const next = await learn(model, state, more, { threads: 1 });
    await expect(learn(model, next.state, more)).rejects.toThrow(/found a state of other documents/);
    const renamed = { ...state, labelNames: state.labelNames?.map((name) => `${name}!`) };
    await expect(learn(model, renamed, more)).rejects.toThrow(/"label 0!" in the state and "label 0" in the model/);
    const plain = await train(rowsFrom(data, range(0, 60)), { model: "gpr", threads: 1 });
    await expect(learn(plain, state, more)).rejects.toThrow(/trained without a state/);
  });

  test("documents that cannot be learned or forgotten", async () => {
    const { model, state } = await first;
    const said = async (ids: string[]): Promise<string> =>
      await forget(model, state, ids).then(
        () => "",
        (error: Error) => `${error.name}: ${error.message}`,
      );
    expect(await said(["d3", "d77"])).toBe(
      'LearningError: found document "d77" among those to forget, expected one that was learned',
    );
    expect(await said([""])).toMatch(/without an id/);
    expect(await said(["d3", "d3"])).toMatch(/twice/);
    expect(await said(range(0, 60).map((i) => `d${i}`))).toMatch(/all documents/);
    expect(await said([])).toMatch(/no document/);
    const twice = { ...more, ids: more.ids?.map(() => "d80") as string[] };
    await expect(learn(model, state, twice)).rejects.toThrow(/"d80" twice/);
    const silent = {
      ...more,
      labels: { ...more.labels, rowStart: new Int32Array(11), labelIndex: new Int32Array(0) },
      unlabelled: new Uint8Array(10).fill(1),
    };
    await expect(learn(model, state, silent)).rejects.toThrow(/"d60" without labels/);
    const wide = { ...more, features: { ...more.features, columns: 41 } };
    await expect(learn(model, state, wide)).rejects.toThrow(/41 features, expected 40/);
  });

  test("a part that is learned in minibatches, and ids that come twice", async () => {
    const onState = (): void => {};
    await expect(train(data, { model: "svgp", onState })).rejects.toThrow(
      /^model: found svgp, which cannot go on learning, expected gpr or sgpr or linear$/,
    );
    const ids = data.ids?.map((id, i) => (i === 7 ? "d3" : id)) as string[];
    await expect(train({ ...data, ids }, { model: "gpr", onState })).rejects.toThrow(/"d3" twice/);
  });
});

test("labels that are numbers are labels like others: known ones stay numbers, a new one gives all of them names", async () => {
  const rows = range(0, 48).map((i) => ({
    id: `t${i}`,
    text: `word${i % 3} word${i % 7} number`,
    labels: [[3, 7, 1][i % 3]],
  }));
  const { dataset } = await readDataset(rows);
  let { model, state } = await taught(dataset, { model: "gpr" });
  const numbers = range(0, 8).map(String);
  const lessons: [labels: (string | number)[], names: string[] | undefined, last: number[]][] = [
    [["2"], undefined, [2]],
    [[5, 7], undefined, [5, 7]],
    [
      ["40", "0"],
      [...numbers, "40"],
      [0, 8],
    ],
    [["cats"], [...numbers, "40", "cats"], [9]],
    [
      [3, 40, 20],
      [...numbers, "40", "cats", "20"],
      [3, 8, 10],
    ],
  ];
  for (const [labels, names, last] of lessons) {
    const lesson = [{ id: labels.join(), text: "word1 word2", labels }];
    ({ model, state } = await learn(model, state, lesson, { threads: 1 }));
    expect(model.schema.labelNames).toEqual(names);
    expect(model.schema.labels).toBe(names?.length ?? 8);
    expect([...(state.documents?.labels.labelIndex ?? [])].slice(-last.length)).toEqual(last);
    modelFromBytes(modelToBytes(model));
    state = stateFromBytes(stateToBytes(state));
  }
});
