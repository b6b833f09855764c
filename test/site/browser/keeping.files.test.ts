// What a visitor keeps: a training that was stopped, the last model after a reload, compact models, files with labels.

import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { compactModel } from "../../../src/compact/index.ts";
import { readDataset } from "../../../src/data/index.ts";
import { load } from "../../../src/edge/index.ts";
import { modelFromBytes } from "../../../src/model/file.ts";
import { train } from "../../../src/train/train.ts";
import { ask, chooseFile, downloaded, inSteps, savedModel, siteOfFile, smallTexts, statusIs } from "./support.ts";

const site = siteOfFile();

const says = (page: Page, id: string, pattern: RegExp): Promise<unknown> =>
  page.waitForFunction(
    ([where, source]) => new RegExp(source as string).test(document.getElementById(where as string)?.textContent ?? ""),
    [id, pattern.source],
  );

/** A page with a model learned from a few lines, asked once. */
async function trained(): Promise<{ page: Page; errors: string[] }> {
  const opened = await site.open();
  await chooseFile(opened.page, "zoo.jsonl", smallTexts(60));
  await statusIs(opened.page, /^Trained/);
  await opened.page.waitForSelector("#answers li");
  return opened;
}

const chooseTexts = (page: Page, name: string, content: string): Promise<void> =>
  page.setInputFiles("#texts", { name, mimeType: "text/plain", buffer: Buffer.from(content) });

describe("Stop", () => {
  for (const paused of [false, true])
    test(`keeps what was learned${paused ? ", from a pause too" : ""}: it answers and can be saved`, async () => {
      const { page, errors } = await site.open();
      // Long, of small steps.
      await inSteps(page, 1000);
      await page.locator("summary").click();
      await page.fill("#factors", "4");
      await page.click("#train-sample");
      await statusIs(page, /^Training/);
      if (paused) {
        await page.click("#pause");
        await statusIs(page, /^Paused/);
      }
      await page.click("#stop");
      const said = await statusIs(page, /^Stopped/);
      const [, step] = /^Stopped at step ([\d,]+), and what was learned is kept\./.exec(said) ?? [];
      const { summary, schema } = modelFromBytes((await savedModel(page)).bytes);
      expect(schema.labels).toBe(69);
      expect(summary.steps).toBe(Number(step?.replaceAll(",", "")));
      expect(await ask(page, "a small bird")).not.toEqual([]);
      expect(await page.isEnabled("#train-sample")).toBe(true);
      expect(errors).toEqual([]);
    });

  test("before there is anything says so, and the model before stays", async () => {
    const { page } = await trained();
    await page.selectOption("#model-choice", "gpr", { force: true });
    await page.click("#train-sample");
    await statusIs(page, /^Getting ready|^Reading/);
    await page.click("#stop");
    expect(await statusIs(page, /^Stopped/)).toBe("Stopped. Nothing was learned yet.");
    expect(await page.textContent("#model")).toMatch(/^The model is zoo\.safetensors/);
    expect((await ask(page, "a wolf that runs"))[0]?.label).toBe("animal");
  });
});

describe("the last model", () => {
  test("is offered after a reload, answers as before, and can be thrown away", async () => {
    const { page, errors } = await trained();
    const before = await ask(page, "a wolf that runs in the garden");
    const { bytes } = await savedModel(page);
    await says(page, "kept", /^It is kept in this browser/);

    await page.reload();
    await page.waitForSelector("#open-kept:visible");
    expect(await page.textContent("#kept")).toMatch(
      /^The model zoo\.safetensors of \w+ \d+, \d{4} \([\d.]+ [kM]B\) is kept/,
    );
    expect(await page.isVisible("#save")).toBe(false);
    await page.focus("#open-kept");
    await page.keyboard.press("Enter");
    await page.waitForSelector("#answers li");
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("text");
    expect(await ask(page, "a wolf that runs in the garden")).toEqual(before);
    expect(Buffer.compare((await savedModel(page)).bytes, bytes)).toBe(0);

    await says(page, "kept", /^It is kept in this browser/);
    await page.focus("#forget");
    await page.keyboard.press("Enter");
    await says(page, "kept", /^Nothing is kept/);
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("text");
    await page.reload();
    // The page has looked once it can keep another.
    await chooseFile(page, "zoo.safetensors", bytes);
    await says(page, "kept", /^It is kept in this browser/);
    expect(await page.isVisible("#open-kept")).toBe(false);
    expect(errors).toEqual([]);
  });

  test("has learned what was corrected", async () => {
    const { page } = await trained();
    await ask(page, "a horse that sleeps in the garden");
    await page.fill("#right-labels", "sleeper");
    await page.click("#learn");
    await says(page, "learned", /^Learned/);
    await says(page, "kept", /^It is kept/);
    const { bytes } = await savedModel(page);
    await page.reload();
    await page.click("#open-kept");
    await page.waitForSelector("#answers li");
    expect(Buffer.compare((await savedModel(page)).bytes, bytes)).toBe(0);
    expect(modelFromBytes(bytes).schema.labelNames).toContain("sleeper");
  });
});

describe("a compact model", () => {
  test("is saved with the bytes that the library makes, and opened again by choosing and by dropping", async () => {
    const { page, errors } = await trained();
    const full = modelFromBytes((await savedModel(page)).bytes);
    const { name, bytes } = await downloaded(page, () => page.click("#save-compact"));
    expect(name).toBe("tagger.bin");
    expect(Buffer.compare(bytes, await compactModel(full))).toBe(0);
    expect(await page.textContent("#saved")).toMatch(/^The compact model tagger\.bin has [\d.]+ [kM]B/);

    await chooseFile(page, "small.bin", bytes);
    await says(page, "model", /^The model is small\.bin: 6 labels/);
    expect(await page.isVisible("#save-compact")).toBe(false);
    expect(await page.isVisible("#correct")).toBe(false);
    const text = "a wolf that lives in the forest";
    const tagger = await load(bytes);
    const shown = await ask(page, text);
    const expected = tagger.predict(text, { topK: 6 });
    expect(shown.map(({ label }) => label)).toEqual(expected.map(({ label }) => label));
    shown.forEach(({ chance }, i) => {
      expect(Math.abs(Number.parseFloat(chance) - 100 * (expected[i]?.probability ?? 0))).toBeLessThan(0.11);
    });
    expect(shown[0]?.words).toMatch(/^because of: /);

    const transfer = await page.evaluateHandle((content) => {
      const data = new DataTransfer();
      data.items.add(new File([Uint8Array.from(content)], "dropped.bin"));
      return data;
    }, Array.from(bytes));
    await page.dispatchEvent("#drop", "drop", { dataTransfer: transfer });
    await says(page, "model", /^The model is dropped\.bin/);
    expect(await ask(page, "a tree that grows in the garden")).not.toEqual([]);
    expect(errors).toEqual([]);
  });
});

describe("a file of texts", () => {
  test("is labelled to CSV: each row in its order, with id, line, text, labels and probabilities", async () => {
    const { page, errors } = await trained();
    const texts = Array.from({ length: 150 }, (_, i) => [
      `row ${i}`,
      i % 3 ? `a ${i % 2 ? "wolf" : "tree"}, "seen" in the garden` : "",
    ]);
    const file = texts.map(([id, text]) => JSON.stringify({ id, text })).join("\n");
    const { name, bytes } = await downloaded(page, () => chooseTexts(page, "new.jsonl", file));
    expect(name).toBe("new-labels.csv");
    await says(page, "labelled", /^150 rows of new\.jsonl labelled: new-labels\.csv\./);

    const csv = new TextDecoder().decode(bytes);
    expect(csv.split("\n")[0]).toBe("id,line,text,known,labels,probabilities,error");
    const { dataset } = await readDataset(csv, { file: "new-labels.csv", keep: ["line", "text", "known"] });
    expect(dataset.ids).toEqual(texts.map(([id]) => id));
    expect(dataset.kept?.map(([line, text]) => [Number(line), text])).toEqual(
      texts.map(([, text], i) => [i + 1, text]),
    );
    expect(dataset.kept?.[0]?.[2]).toBe("0");
    const shown = await ask(page, texts[1]?.[1]);
    const { labels, labelNames } = dataset;
    const own = Array.from(
      labels.labelIndex.subarray(labels.rowStart[1], labels.rowStart[2]),
      (label) => labelNames?.[label],
    );
    expect(new Set(own)).toEqual(new Set(shown.slice(0, 5).map(({ label }) => label)));
    expect(errors).toEqual([]);
  });

  test("with other columns offers them; broken rows have an error of their own where they are skipped", async () => {
    const { page } = await trained();
    await chooseTexts(page, "new.csv", "nr,words\n7,a wolf\n8,a tree\n");
    await page.waitForSelector("#label-columns select:focus");
    // Guessed by their names.
    expect(
      await page
        .locator("#label-columns select")
        .evaluateAll((all) => all.map((each) => (each as HTMLSelectElement).selectedOptions[0].text)),
    ).toEqual(["id", "text"]);
    const first = await downloaded(page, () => page.click("#label-columns button"));
    await page.locator("summary").click();
    await page.check("#lenient");
    expect(new TextDecoder().decode(first.bytes)).toMatch(/^id,line,words,.*\n7,2,a wolf,.*\n8,3,a tree,/);
    const second = await downloaded(page, () => chooseTexts(page, "new.csv", "nr,words\n7,a wolf\n8\n9,a tree\n"));
    const lines = new TextDecoder().decode(second.bytes).trimEnd().split("\n");
    expect(lines.map((line) => line.split(",").slice(0, 2).join(" "))).toEqual(["id line", "7 2", " 3", "9 4"]);
    expect(lines[2]).toMatch(/found .+ expected/);
  });

  test("can be cancelled, and what is typed meanwhile is answered", async () => {
    const { page, errors } = await trained();
    const rows = smallTexts(40_000);
    await chooseTexts(page, "many.jsonl", rows);
    await page.waitForSelector("#cancel:visible");
    expect(await ask(page, "a vine that flowers in the desert")).not.toEqual([]);
    expect(await page.isVisible("#cancel")).toBe(true);
    await page.focus("#cancel");
    await page.keyboard.press("Enter");
    await says(page, "labelled", /^Cancelled/);
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("texts");
    expect(await page.isVisible("#labelled-part")).toBe(false);
    const { bytes } = await downloaded(page, () => chooseTexts(page, "few.jsonl", smallTexts(3)));
    expect(new TextDecoder().decode(bytes).trimEnd().split("\n")).toHaveLength(4);
    expect(errors).toEqual([]);
  });
});

describe("the sample", () => {
  test("is trained as mlgpf train does without options", async () => {
    const { page } = await site.open();
    await page.click("#train-sample");
    await statusIs(page, /^Trained/);
    expect(await page.textContent("#notes")).toContain("Model: exact GP regression");
    await page.waitForSelector("#correct:visible");
  });
});

test("a model that was trained elsewhere is kept too", async () => {
  const { dataset } = await readDataset(smallTexts(60));
  const model = await train(dataset, { threads: 1 });
  const { page } = await site.open();
  await chooseFile(page, "small.bin", await compactModel(model));
  await says(page, "kept", /^It is kept/);
  await page.reload();
  await page.click("#open-kept");
  await says(page, "model", /^The model is small\.bin/);
});
