// Models that look for names of labels: a library of made-up words, whose labels are numbers with names.

import { beforeAll, describe, expect, test } from "vitest";
import { compactModel } from "../../../src/compact/index.ts";
import { evaluateCompact } from "../../../src/compact/report.ts";
import { load } from "../../../src/edge/index.ts";
import { readDataset } from "../../../src/io/dataset.ts";
import { learn } from "../../../src/learn/learn.ts";
import { modelFromBytes, modelToBytes } from "../../../src/model/file.ts";
import type { Model } from "../../../src/model/model.ts";
import type { NamesPart } from "../../../src/parts/names/part.ts";
import { type LearningState, stateFromBytes, stateToBytes } from "../../../src/parts/regression/state.ts";
import { evaluate, loadModel } from "../../../src/predict/load.ts";
import { dataFor } from "../../../src/predict/reading.ts";
import { makePlan, mergeParts, planFromText, trainPart } from "../../../src/train/plan.ts";
import { recalibrate } from "../../../src/train/recalibrate.ts";
import { train } from "../../../src/train/train.ts";
import { tinyOptions } from "../../support/training.ts";

/** Words of three syllables, different for each number. */
const SYLLABLES = ["ba", "de", "fi", "go", "ku", "la", "me", "ni", "po", "ru"];
const wordOf = (i: number): string =>
  [i % 10, Math.floor(i / 10) % 10, Math.floor(i / 100)].map((s) => SYLLABLES[s]).join("");
/** So many that most of them are in few training documents, and many in none. */
const LABELS = 300;
const names = Object.fromEntries(
  Array.from({ length: LABELS }, (_, i) => [`id:${i}`, [wordOf(i), `alt ${wordOf(i)}`]]),
);

let state = 1;
const random = (): number => {
  state = (state * 48271) % 2147483647;
  return state / 2147483647;
};
const pick = (count: number): number => Math.floor(random() * count);

/** A text names its labels three times in four, and others in passing. */
function row(id: number): { id: string; text: string; labels: string[] } {
  const own = [pick(LABELS), pick(LABELS)];
  const words = own.flatMap((label) => (random() < 0.75 ? [wordOf(label), wordOf(label)] : [`topic${label % 9}`]));
  words.push(...Array.from({ length: 6 }, () => `word${pick(40)}`), wordOf(pick(LABELS)));
  return { id: `d${id}`, text: words.join(" "), labels: [...new Set(own)].map((label) => `id:${label}`) };
}

const rows = Array.from({ length: 240 }, (_, i) => row(i));
const test1 = Array.from({ length: 80 }, (_, i) => row(1000 + i));

let named: Model;
let plain: Model;
let learning: LearningState;
beforeAll(async () => {
  state = 5;
  named = await train(rows, {
    names,
    onState: (made) => {
      learning = made;
    },
  });
  plain = await train(rows, { names: "off" });
}, 60_000);

const seen = new Set(rows.flatMap(({ labels }) => labels));
/** A label that no training document has. */
const NEW = Array.from({ length: LABELS }, (_, i) => i).find((i) => !seen.has(`id:${i}`)) as number;
const texts = test1.map(({ text }) => text);

describe("a model with names of labels", () => {
  test("finds labels by name, also those that no training document has, and says how well", async () => {
    const [with1, without] = [await evaluate(named, test1), await evaluate(plain, test1)];
    expect(with1.ranking.metrics["P@1"]).toBeGreaterThan(without.ranking.metrics["P@1"] + 10);
    expect(without.unseen).toBeUndefined();
    const { unseen } = with1;
    const unknown = test1.flatMap(({ labels }) => labels).filter((label) => !seen.has(label));
    expect(unseen?.positives).toBe(unknown.length);
    expect(unseen?.recall).toBeGreaterThan(0.3);
    expect(unseen?.recallAlone).toBeGreaterThanOrEqual(unseen?.recall as number);
  });

  test("counts in its figures what it predicts", async () => {
    using model = await loadModel(named);
    const found = await model.predict(texts, { topK: 5 });
    let hits = 0;
    let unseen = 0;
    found.forEach((labels, i) => {
      const right = labels.filter(({ label }) => test1[i].labels.includes(label));
      hits += right.length;
      unseen += right.filter(({ label }) => !seen.has(label)).length;
    });
    const { ranking, unseen: report } = await model.evaluate(test1, { calibration: true });
    expect(ranking.metrics["P@5"]).toBeCloseTo((100 * hits) / (5 * texts.length), 6);
    expect((report?.recall as number) * (report?.positives as number)).toBeCloseTo(unseen, 6);
  });

  test("lists unseen labels by themselves, and heeds thresholds and lists", async () => {
    using model = await loadModel(named);
    const [first] = await model.predict([`${wordOf(NEW)} word1 ${wordOf(NEW)}`], { unseen: 2, topK: 3 });
    expect(first.unseen?.[0].label).toBe(`id:${NEW}`);
    const merged = first.find(({ label }) => label === `id:${NEW}`);
    expect(merged?.probability).toBe(first.unseen?.[0].probability);
    const denied = await model.predict(`${wordOf(NEW)} word1`, { deny: [`id:${NEW}`], topK: 300 });
    expect(denied.some(({ label }) => label === `id:${NEW}`)).toBe(false);
    const allowed = await model.predict(`${wordOf(NEW)} word1`, { allow: [`id:${NEW}`] });
    expect(allowed.map(({ label }) => label)).toEqual([`id:${NEW}`]);
    const sure = await model.predict(`${wordOf(NEW)} word1`, { threshold: 0.999 });
    expect(sure).toEqual([]);
  });

  test("explains a label by its name", async () => {
    using model = await loadModel(named);
    const [first] = await model.predict(`${wordOf(NEW)} word1 ${wordOf(NEW)}`, { explain: 1, allow: [`id:${NEW}`] });
    expect(first.reasons?.[0]).toMatchObject({ word: wordOf(NEW), stands: true });
  });

  test("comes back from its file, and is refused with names that are none", async () => {
    const bytes = modelToBytes(named);
    const again = modelFromBytes(bytes);
    expect(again.schema.unseenLabels).toEqual(named.schema.unseenLabels);
    using a = await loadModel(named);
    using b = await loadModel(again);
    expect(await b.predict(texts)).toEqual(await a.predict(texts));
    const text = new TextDecoder("latin1").decode(bytes);
    const at = text.indexOf('[["id:0"');
    bytes[at] = "{".charCodeAt(0);
    expect(() => modelFromBytes(bytes)).toThrow(/names of labels/);
  });

  test("gives the same at the edge", async () => {
    const tagger = await load(await compactModel(named, { type: "f32" }));
    using model = await loadModel(named);
    const full = await model.predict(texts, { unseen: 3, explain: 2, sd: false });
    tagger.predict(texts, { unseen: 3, explain: 2 }).forEach((labels, i) => {
      expect(labels.map(({ label }) => label)).toEqual(full[i].map(({ label }) => label));
      labels.forEach(({ probability, reasons }, j) => {
        expect(probability).toBeCloseTo(full[i][j].probability, 4);
        expect(reasons?.[0]?.stands).toBe(full[i][j].reasons?.[0]?.stands);
      });
      expect(labels.unseen?.map(({ label }) => label)).toEqual(full[i].unseen?.map(({ label }) => label));
    });
    tagger.dispose();
  });

  test("takes rows without texts as if it had no names", async () => {
    using a = await loadModel(named);
    using b = await loadModel(plain);
    const features = { [wordOf(3)]: 1, word7: 1 };
    const [with1, without] = [await a.predict(features), await b.predict(features)];
    expect(with1.map(({ label }) => seen.has(label))).not.toContain(false);
    expect(without).toHaveLength(with1.length);
  });

  test("learns an unseen label like any other", async () => {
    const documents = Array.from({ length: 4 }, (_, i) => ({
      id: `new${i}`,
      text: `${wordOf(NEW)} word${i} newword`,
      labels: [`id:${NEW}`],
    }));
    const { model, newLabels } = await learn(named, learning, documents);
    expect(newLabels).toBe(1);
    expect(model.schema.labelNames).toContain(`id:${NEW}`);
    expect(model.schema.unseenLabels).not.toContain(`id:${NEW}`);
    expect(model.schema.unseenLabels).toHaveLength((named.schema.unseenLabels?.length as number) - 1);
    using opened = await loadModel(model);
    const [best] = await opened.predict(`${wordOf(NEW)} word1`);
    expect(best.label).toBe(`id:${NEW}`);
    using before = await loadModel(named);
    const [earlier] = await before.predict(`${wordOf(NEW)} word1`, { allow: [`id:${NEW}`] });
    expect(best.probability).toBeGreaterThan(earlier.probability);
  });

  test("may get its names after its training, from other documents", async () => {
    const more = Array.from({ length: 200 }, (_, i) => row(2000 + i));
    const data = await dataFor(plain.schema, more);
    const notes: string[] = [];
    const later = await recalibrate(plain, data, { names, onNote: (text) => notes.push(text) });
    expect(notes[0]).toContain("300 labels");
    const { unseen, ranking } = await evaluate(later, test1);
    expect(unseen?.recall).toBeGreaterThan(0.3);
    expect(ranking.metrics["P@1"]).toBeGreaterThan((await evaluate(plain, test1)).ranking.metrics["P@1"]);
    expect(later.parts.map(({ family }) => family)).toContain("names");
  });

  test("comes from parts: the same bytes for any number of them, with the names and counts of a training in one piece", async () => {
    state = 11;
    const many = Array.from({ length: 2300 }, (_, i) => row(5000 + i));
    const { dataset } = await readDataset(many);
    const plan = planFromText(JSON.stringify(await makePlan(dataset, { names })));
    const notes: string[] = [];
    const merged = async (count: number): Promise<Model> => {
      const parts = await Promise.all(
        Array.from({ length: count }, (_, i) => trainPart(dataset, plan, { index: i + 1, count }, { threads: 1 })),
      );
      const read = parts.reverse().map((part) => stateFromBytes(stateToBytes(part)));
      return await mergeParts(read, { threads: 1, onNote: (text) => notes.push(text) });
    };
    const [one, three] = [await merged(1), await merged(3)];
    expect(modelToBytes(three)).toEqual(modelToBytes(one));
    expect(notes[0]).toContain("300 labels");
    const whole = await train(dataset, { names, ...tinyOptions, model: "linear+svgp", epochs: 1, threads: 1 });
    const [own, expected] = [one, whole].map(({ parts }) => parts.at(-1) as NamesPart);
    expect(own.family).toBe("names");
    for (const known of ["labels", "documents", "frequency"] as const) expect(own[known]).toEqual(expected[known]);
    expect(modelFromBytes(modelToBytes(one)).schema).toEqual(modelFromBytes(modelToBytes(whole)).schema);
    const [before, after] = (notes[0].match(/[\d.]+(?= ->|\))/g) ?? []).map(Number);
    expect(after).toBeLessThan(before);
  });

  test("in parts is refused where rows are no texts", async () => {
    const { dataset } = await readDataset(rows);
    const { texts: _, ...features } = dataset.features;
    await expect(makePlan({ ...dataset, features }, { names })).rejects.toThrow(
      /names: found some with rows that are no/,
    );
  });
});

describe("labels that are words", () => {
  const worded = rows.map(({ id, text, labels }) => ({
    id,
    text,
    labels: labels.map((label) => `topic::${wordOf(Number(label.slice(3)))}`),
  }));

  test("are names by themselves, where that helps, and that is said", async () => {
    const notes: string[] = [];
    const model = await train(worded, {
      onProgress: (progress) => {
        if (progress.stage === "note") notes.push(progress.text);
      },
    });
    expect(model.parts.at(-1)?.family).toBe("names");
    expect(notes.join("\n")).toMatch(/Names of \d+ labels are looked for/);
    // Texts of other words gain nothing: the bytes are those without names.
    const other = worded.map((each) => ({ ...each, text: each.text.replaceAll(/\b(?!word|topic)\w+/g, "x") }));
    const [auto, off] = [await train(other, { names: "labels" }), await train(other, { names: "off" })];
    expect(auto.parts.map(({ family }) => family)).toEqual(off.parts.map(({ family }) => family));
  });
});

test("a compact model is measured with the names that its texts have", async () => {
  const data = await dataFor(named.schema, test1);
  const { calibration } = await evaluate(named, data, { calibration: true });
  const compact = await evaluateCompact(named, { type: "f32" }, data);
  expect(compact.logLoss).toBeCloseTo(calibration?.logLoss ?? Number.NaN, 3);
});
