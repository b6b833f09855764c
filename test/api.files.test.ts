// The library as a person would first type it, with files.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { evaluate, loadModel, type Model, readDataset, report, saveModel, train } from "../src/index.ts";

const rows = Array.from({ length: 40 }, (_, i) => ({
  text: i % 2 ? `a wild cat purring ${i % 5}` : `the tame dog barking ${i % 5}`,
  labels: [i % 2 ? "cat" : "dog", "animal"],
}));
const options = {
  model: "svgp",
  factors: 3,
  inducingPoints: 4,
  rank: 4,
  epochs: 10,
  threads: 1,
} as const;

let trained: Promise<Model> | undefined;

/** Runs the body with a model of the rows, in a folder with their file. */
async function withModel(body: (model: Model, path: (name: string) => string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "mlgpf-api-"));
  try {
    writeFileSync(join(folder, "docs.jsonl"), rows.map((row) => JSON.stringify(row)).join("\n"));
    trained ??= train(rows, options);
    await body(await trained, (name) => join(folder, name));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe("train", () => {
  test("takes rows, a path, a data set and what readDataset gave: the same model", () =>
    withModel(async (model, path) => {
      const read = await readDataset(rows);
      for (const data of [path("docs.jsonl"), pathToFileURL(path("docs.jsonl")), read, read.dataset])
        expect(await train(data, options)).toEqual(model);
    }));

  test("reads validation data with the vocabulary of the training data", () =>
    withModel(async (_, path) => {
      const { summary } = await train(rows, { ...options, validation: path("docs.jsonl") });
      const again = await train(rows, { ...options, validation: (await readDataset(rows)).dataset });
      expect(summary.validation?.["P@1"]).toBeGreaterThan(0);
      expect(again.summary.validation).toEqual(summary.validation);
    }));
});

test("what is no data is refused in a sentence", async () => {
  const rest = 'expected a path, bytes, or a list of { text: "...", labels: ["..."] }';
  await expect(train(undefined as never)).rejects.toThrow(`data: found nothing, ${rest}`);
  await expect(readDataset({ text: "a cat" } as never)).rejects.toThrow(`data: found an object, ${rest}`);
});

describe("saveModel and loadModel", () => {
  test("by path, by URL, and from bytes, a Blob and a Response", () =>
    withModel(async (model, path) => {
      await saveModel(model, path("tagger.safetensors"));
      const bytes = readFileSync(path("tagger.safetensors"));
      for (const source of [
        path("tagger.safetensors"),
        pathToFileURL(path("tagger.safetensors")),
        new Uint8Array(bytes),
        new Uint8Array(bytes).buffer,
        new Blob([bytes]),
        new Response(bytes),
      ]) {
        const tagger = await loadModel(source, { threads: 1 });
        expect(tagger.model).toEqual(model);
        expect((await tagger.predict("a wild cat"))[0]?.label).toMatch(/cat|animal/);
        await saveModel(tagger, pathToFileURL(path("again.safetensors")));
        expect(readFileSync(path("again.safetensors")).equals(bytes)).toBe(true);
        tagger.dispose();
      }
    }));

  test("say what is wrong in a sentence", () =>
    withModel(async (model, path) => {
      await expect(loadModel(path("none"))).rejects.toThrow("none: ");
      await expect(loadModel(path("docs.jsonl"))).rejects.toThrow(
        `${path("docs.jsonl")}: found text, expected a model`,
      );
      await expect(loadModel(new Response("", { status: 404 }))).rejects.toThrow("status 404");
      await expect(loadModel(7 as never)).rejects.toThrow("the model: found number, expected a path");
      await expect(saveModel(model, path("none/tagger"))).rejects.toThrow("there is no such folder");
      await expect(saveModel("tagger" as never, model as never)).rejects.toThrow(
        'model: found "tagger", expected a model, then its place',
      );
      const tagger = await loadModel(model, { threads: 1 });
      await expect(tagger.predict({ text: 7, more: "a cat" } as never)).rejects.toThrow(
        'input: found value "a cat" of feature "more", expected a finite number',
      );
      tagger.dispose();
    }));
});

describe("evaluate and report", () => {
  test("take a model or its file, and a path, rows or a data set read for the model", () =>
    withModel(async (model, path) => {
      await saveModel(model, path("tagger.safetensors"));
      const expected = await evaluate(model, rows);
      expect(expected.ranking.metrics["P@1"]).toBeGreaterThan(50);
      const loaded = await loadModel(model, { threads: 1 });
      for (const each of [loaded, path("tagger.safetensors")])
        for (const data of [rows, path("docs.jsonl"), await readDataset(rows)])
          expect(await evaluate(each, data)).toEqual(expected);
      loaded.dispose();
      const html = await report(model, path("docs.jsonl"), { title: "Cats and dogs" });
      expect(html).toContain("Cats and dogs");
      expect(html).toMatch(/^<!doctype html>/i);
    }));

  test("labels go by their names, whatever their order", () =>
    withModel(async (model) => {
      const turned = [...rows].reverse().map(({ text, labels }) => ({ text, labels: [...labels, "new"].reverse() }));
      const { vectoriser } = (await readDataset(rows)).dataset;
      const { dataset } = await readDataset(turned, { ...(vectoriser && { vectoriser }) });
      expect(dataset.labelNames?.[0]).toBe("new");
      expect(await evaluate(model, dataset)).toEqual(await evaluate(model, turned));
    }));

  test("data with a vocabulary of their own are refused in a sentence", () =>
    withModel(async (model) => {
      const { dataset } = await readDataset(rows.map((row) => ({ ...row, text: `${row.text} and more` })));
      await expect(evaluate(model, dataset)).rejects.toThrow(
        "data: found data with a vocabulary of their own, expected those of the model",
      );
    }));
});

test("score gives all scores, probabilities and variances as arrays", () =>
  withModel(async (model) => {
    const tagger = await loadModel(model, { threads: 1 });
    const texts = Array.from({ length: 300 }, (_, i) => rows[i % rows.length]?.text as string);
    const {
      rows: count,
      probability = [],
      variance = [],
      utility,
    } = await tagger.score(texts, {
      probability: true,
      variance: true,
    });
    expect([count, utility.length, probability.length, variance.length]).toEqual([300, 900, 900, 900]);
    const labels = await tagger.predict(texts, { topK: 3 });
    for (const [row, found] of labels.entries())
      for (const { id = 0, score = 0, probability: said, sd = 0 } of found) {
        expect(probability[row * 3 + id]).toBeCloseTo(said, 5);
        expect(utility[row * 3 + id]).toBeCloseTo(score, 4);
        expect(variance[row * 3 + id]).toBeCloseTo(sd * sd, 4);
      }
    tagger.dispose();
  }));
