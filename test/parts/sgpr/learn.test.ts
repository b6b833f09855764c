// Sparse GP regression goes on learning: the weights of its inducing points are those of a fit to all documents, with the same inducing
// points, and forgetting gives back what was there.

import { describe, expect, test } from "vitest";
import { createCore } from "../../../src/core/core.ts";
import { type Dataset, selectRows } from "../../../src/data/dataset.ts";
import { readDataset } from "../../../src/data/reader.ts";
import { transformedRows } from "../../../src/data/transform.ts";
import { forget, learn } from "../../../src/learn/learn.ts";
import { modelFromBytes, modelToBytes } from "../../../src/model/file.ts";
import { completeOptions } from "../../../src/parts/options.ts";
import { changeOf, documentsOf } from "../../../src/parts/regression/documents.ts";
import { placeDocuments } from "../../../src/parts/regression/points.ts";
import { stateFromBytes, stateToBytes } from "../../../src/parts/regression/state.ts";
import { schemaFor } from "../../../src/parts/schema.ts";
import { fitInducing, type SgprPart } from "../../../src/parts/sgpr/fit.ts";
import { fullRows, scoresOf, taught } from "../../learn/support.ts";
import { solve, times } from "../../support/closed.ts";
import { difference, transposed } from "../../support/lists.ts";
import { randomNumbers } from "../../support/numbers.ts";
import { topicData } from "../../support/problems.ts";

const [points, labels, inducing] = [420, 6, 40];
const all = topicData({ points, features: 30, labels }, 5);
const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);
const named = (from: number, to: number): Dataset => ({
  ...selectRows(all, range(from, to)),
  ids: range(from, to).map((i) => `d${i}`),
});
const choice = { noise: 0.2, kernel: { name: "se", lengthScale: 0.7 } } as const;
const start = named(0, 300);
const full = completeOptions({ model: "sgpr" }, { points: 300, features: 30, labels, defaultKernel: "se" });
const schema = schemaFor(start, full);
const documents = (data: Dataset) =>
  documentsOf(data, transformedRows(data.features, schema.transform, 0, data.features.rows));

/** a of a slow solver: (lam (Kzz + jitter) + Kzx Kxz) a = Kzx (Y - mu). */
function expected(part: SgprPart, data: Dataset): number[][] {
  const covariance = (a: number[], b: number[]): number =>
    Math.exp(-a.reduce((d, v, c) => d + (v - b[c]) ** 2, 0) / (2 * part.hyper[2] ** 2));
  const [z, x] = [
    fullRows(start.features, schema.transform).slice(0, inducing),
    fullRows(data.features, schema.transform),
  ];
  const kzx = z.map((one) => x.map((other) => covariance(one, other)));
  const square = times(kzx, transposed(kzx)).map((row, i) =>
    row.map((value, j) => value + part.noise * (covariance(z[i], z[j]) + (i === j ? 1e-4 : 0))),
  );
  const { rowStart, labelIndex, rows } = data.labels;
  const y = range(0, rows).map((i) => {
    const row = new Array<number>(labels).fill(0);
    for (const label of labelIndex.subarray(rowStart[i], rowStart[i + 1])) row[label] = 1;
    return row;
  });
  const mean = range(0, labels).map((k) => y.reduce((n, row) => n + row[k], 0) / rows);
  const weights = solve(
    square,
    times(
      kzx,
      y.map((row) => row.map((value, k) => value - mean[k])),
    ),
  );
  // Scores on other points: weights themselves are hardly determined.
  const probe = fullRows(selectRows(all, range(380, 420)).features, schema.transform);
  const kpz = probe.map((one) => z.map((other) => covariance(one, other)));
  return times(kpz, weights).map((row) => row.map((value, k) => value + mean[k]));
}

function scores(part: SgprPart): number[][] {
  const a = range(0, inducing).map((j) => [...part.dual.subarray(j * labels, (j + 1) * labels)]);
  const covariance = (one: number[], b: number[]): number =>
    Math.exp(-one.reduce((d, v, c) => d + (v - b[c]) ** 2, 0) / (2 * part.hyper[2] ** 2));
  const z = fullRows(start.features, schema.transform).slice(0, inducing);
  const probe = fullRows(selectRows(all, range(380, 420)).features, schema.transform);
  return times(
    probe.map((one) => z.map((other) => covariance(one, other))),
    a,
  ).map((row) => row.map((value, k) => value + part.mean[k]));
}

describe("sparse GP regression", () => {
  test("learns and forgets as if it had been fitted to what there is", async () => {
    const core = await createCore({ threads: 1 });
    const first = documents(start);
    const placed = placeDocuments(core, first, labels);
    const { part, learner, free } = await fitInducing(
      core,
      { documents: first, schema, choice, placed },
      inducing,
      {},
      true,
    );
    free?.();
    expect(difference(scores(part), expected(part, start))).toBeLessThan(2e-4);
    const change = changeOf(first, { learn: documents(named(300, 380)), forget: ["d3", "d250"] });
    const learned = await learner?.learn(change, schema, {});
    const left = selectRows(
      all,
      [...range(0, 380)].filter((i) => i !== 3 && i !== 250),
    );
    expect(difference(scores(learned?.part as SgprPart), scores(part))).toBeGreaterThan(1e-2);
    expect(difference(scores(learned?.part as SgprPart), expected(part, left))).toBeLessThan(2e-4);
    const back = changeOf(change.after, {
      learn: documents(selectRows(start, [3, 250])),
      forget: range(300, 380).map((i) => `d${i}`),
    });
    const again = await learner?.learn(back, schema, {});
    expect(difference(scores(again?.part as SgprPart), scores(part))).toBeLessThan(2e-4);
    core.dispose();
  });

  test("learns from the files of a training, and takes up labels that are new", async () => {
    const numbers = randomNumbers(400, 3);
    const rows = range(0, 200).map((i) => ({
      id: `${i}`,
      features: [numbers[2 * i], numbers[2 * i + 1]],
      labels: [numbers[2 * i] > 0 ? "right" : "left", numbers[2 * i + 1] > 0 ? "up" : "down"],
    }));
    const { dataset } = await readDataset(rows.slice(0, 160));
    const first = await taught(dataset, { model: "sgpr" });
    expect(first.model.parts.map(({ family }) => family)).toEqual(["sgpr", "coupling"]);
    const lesson = rows
      .slice(160)
      .map((row) => ({ ...row, labels: row.features[0] > 0.5 ? [...row.labels, "far"] : row.labels }));
    const model = modelFromBytes(modelToBytes(first.model));
    const now = await learn(model, stateFromBytes(stateToBytes(first.state)), lesson, { threads: 1 });
    expect(now).toMatchObject({ learned: 40, newLabels: 1 });
    const probe = (await readDataset(rows.slice(0, 20))).dataset.features;
    modelFromBytes(modelToBytes(now.model));
    const [before, after] = [await scoresOf(first.model, probe), await scoresOf(now.model, probe)];
    expect(
      difference(
        before,
        after.map((row) => row.slice(0, 4)),
      ),
    ).toBeGreaterThan(1e-3);
    expect(after.every((row) => row.length === 5 && row.every(Number.isFinite))).toBe(true);
    const left = await forget(
      now.model,
      stateFromBytes(stateToBytes(now.state)),
      lesson.map(({ id }) => id),
      { threads: 1 },
    );
    const back = await scoresOf(left.model, probe);
    expect(
      difference(
        back.map((row) => row.slice(0, 4)),
        before,
      ),
    ).toBeLessThan(1e-3);
  });
});
