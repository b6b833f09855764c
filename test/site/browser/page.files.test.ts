// The page as a visitor uses it, in headless Chromium: training, pausing, saving, asking, and files that are wrong.

import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { MOST_CODE } from "../../../site/tools/build.ts";
import { modelFromBytes } from "../../../src/model/file.ts";
import { loadModel } from "../../../src/predict/load.ts";
import {
  ask,
  chooseFile,
  downloaded,
  inSteps,
  savedModel,
  siteOfFile,
  smallTexts,
  statusIs,
  trainedInNode,
} from "./support.ts";

const site = siteOfFile();

/** What `inSteps` chooses, in code. */
const steps = { model: "svgp" } as const;

/** The bound at its first and last step, as the plot is read out. */
async function boundEnds(page: Page): Promise<[number, number]> {
  const words = await page.locator("#curves [role=img]").first().getAttribute("aria-label");
  const [, first, last] = /^Bound: from (\S+) at step \d+ to (\S+) at step \d+$/.exec(words ?? "") ?? [];
  return [Number(first), Number(last)];
}

describe("the built page", () => {
  test("is small, and asks for nothing from elsewhere", () => {
    expect(site.sizes.code).toBeLessThan(MOST_CODE);
    const sample = site.sizes.files.find(({ name }) => name === "sample.jsonl.gz");
    expect(sample?.bytes).toBeLessThan(300_000);
    const html = readFileSync(join(site.folder, "index.html"), "utf8");
    const addresses = [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address]) => address as string);
    expect(addresses.length).toBeGreaterThan(2);
    for (const address of addresses) expect(address).toMatch(/^(data:,|#own|docs\/index\.html|[\w.-]+)$/);
    expect(readFileSync(join(site.folder, "licences.txt"), "utf8")).toContain("Princeton University");
  });
});

describe("notes in Markdown", () => {
  /** Notes about boats and bread, and one that has no tags yet. */
  const vault = (): string => {
    const folder = join(mkdtempSync(join(tmpdir(), "mlgpf-notes-")), "vault");
    mkdirSync(join(folder, "old"), { recursive: true });
    mkdirSync(join(folder, ".trash"));
    for (let i = 0; i < 40; i++) {
      const [tag, text] = i % 2 === 0 ? ["boats", `anchor and sail ${i}`] : ["bread", `flour and oven ${i}`];
      writeFileSync(join(folder, i < 20 ? "old" : "", `${i}.md`), `---\ntags: [${tag}]\n---\nThe ${text}\n`);
    }
    writeFileSync(join(folder, "new.md"), "# Kneading\nflour, water, an oven\n");
    writeFileSync(join(folder, "picture.png"), "no note");
    writeFileSync(join(folder, ".trash", "gone.md"), "---\ntags: [gone]\n---\n");
    return folder;
  };

  test("a folder of them trains; those without tags are left out, and labelled", async () => {
    const { page, errors, requests } = await site.open();
    const parser = (): boolean => requests.some((url) => /\/browser-\w+\.js$/.test(url));
    expect(parser()).toBe(false);
    const folder = vault();
    // Columns that were chosen for another file mean nothing to notes.
    await page.evaluate(() => {
      (document.getElementById("text-name") as HTMLInputElement).value = "abstract";
    });
    await page.setInputFiles("#folder", folder);
    await statusIs(page, /^Trained/);
    expect(await page.textContent("#data")).toMatch(/^vault\.jsonl .*: 40 rows to learn from, .* 2 labels/);
    expect(await page.textContent("#notes")).toContain("1 of 41 notes have no tags and are left out");
    expect(parser()).toBe(true);
    expect((await ask(page, "an oven"))[0]?.label).toBe("bread");
    const note = { name: "new.md", mimeType: "text/markdown", buffer: readFileSync(join(folder, "new.md")) };
    const { name, bytes } = await downloaded(page, () => page.setInputFiles("#texts", [note, note]));
    expect(name).toBe("notes-labels.csv");
    expect(Buffer.from(bytes).toString()).toMatch(/^new\.md,1,"new\n[^"]*",[\d.]+,bread/m);
    expect(errors).toEqual([]);
  });

  test("dropped files are read in the same way, and what is wrong is said", async () => {
    const { page } = await site.open();
    const drop = (files: Record<string, string>): Promise<void> =>
      page.evaluate((given) => {
        const dataTransfer = new DataTransfer();
        for (const [name, text] of Object.entries(given)) dataTransfer.items.add(new File([text], name));
        document.getElementById("drop")?.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true }));
      }, files);
    const problem = (pattern: RegExp): Promise<unknown> =>
      page.waitForFunction(
        (is) => new RegExp(is).test(document.getElementById("problem")?.textContent ?? ""),
        pattern.source,
      );
    await drop({ "a.md": "one", "b.md": "two" });
    await problem(/^notes: found 2 notes without labels, expected tags in their front matter$/);
    await drop({ "a.md": "---\ntags: [a\n---\none" });
    await problem(/^a\.md.*expected front matter in YAML/);
    await drop({ "a.csv": "text,labels", "b.csv": "text,labels" });
    await problem(/^found 2 files, expected one, or notes in Markdown$/);
    const notes = Array.from({ length: 8 }, (_, i) => [`${i}.md`, `---\ntags: t${i % 2}\n---\nword${i % 2} and more`]);
    await drop(Object.fromEntries(notes));
    await problem(/^$/);
    await statusIs(page, /^Trained/);
  });
});

describe("training on the sample", () => {
  test("shows a rising bound, answers, and saves a model with Node's bytes", async () => {
    const { page, errors, requests } = await site.open();
    await inSteps(page, 20);
    await page.click("#train-sample");
    expect(await statusIs(page, /^Trained/)).toMatch(/right for \d\d\.\d % of held-out rows/);
    const [first, last] = await boundEnds(page);
    expect(last).toBeGreaterThan(first);
    expect(await page.locator("#curves figure canvas").count()).toBe(3);
    expect(await page.textContent("#figures")).toMatch(/Rows a second[\d,]+.*P@1 held out[6-9]\d\.\d %/);
    expect(await page.textContent("#notes")).toMatch(/threads?/);

    const { name, bytes } = await savedModel(page);
    expect(name).toBe("sample.safetensors");
    const sample = readFileSync(join(site.folder, "sample.jsonl.gz"));
    expect(Buffer.compare(bytes, await trainedInNode("sample.jsonl.gz", sample, { ...steps, epochs: 20 }))).toBe(0);

    using model = await loadModel(modelFromBytes(bytes), { threads: 1 });
    for (const text of ["a small yellow bird that sings", "German physicist who won a prize", "an old bridge"]) {
      const shown = await ask(page, text);
      const [expected = []] = await model.predict([text], { topK: 5 });
      expect(shown.slice(0, 5).map(({ label }) => label)).toEqual(expected.map(({ label }) => label));
      shown.slice(0, 5).forEach(({ chance }, i) => {
        const probability = 100 * (expected[i]?.probability as number);
        expect(Math.abs(Number.parseFloat(chance) - probability)).toBeLessThan(0.11);
      });
    }
    const bird = await ask(page, "a small bird");
    expect(bird.find(({ label }) => label === "bird")?.words).toMatch(/^because of: bird/);
    expect(errors).toEqual([]);
    expect(requests.every((url) => url.startsWith(page.url()) || url.startsWith("blob:"))).toBe(true);
  });

  test("goes on after a pause to the same model", async () => {
    const { page, errors } = await site.open();
    await inSteps(page, 8);
    await page.click("#train-sample");
    await statusIs(page, /^Training/);
    await page.click("#pause");
    await statusIs(page, /^Paused/);
    expect(await page.textContent("#pause")).toBe("Resume");
    const stepAtPause = await page.textContent("#figures dd");
    await page.waitForTimeout(600);
    expect(await page.textContent("#figures dd")).toBe(stepAtPause);
    await chooseFile(page, "other.jsonl", smallTexts(20));
    await page.waitForSelector("#problem:not([hidden])");
    expect(await page.textContent("#problem")).toMatch(/^A training is under way/);
    await page.evaluate(() => {
      const shown: number[] = [];
      Object.assign(globalThis, { shown });
      const figures = document.getElementById("figures") as HTMLElement;
      const look = (): number => shown.push(Number.parseInt(figures.querySelector("dd")?.textContent ?? "", 10));
      new MutationObserver(look).observe(figures, { childList: true });
    });
    await page.click("#pause");
    await statusIs(page, /^Trained/);
    const shown = await page.evaluate(() => (globalThis as unknown as { shown: number[] }).shown);
    expect(Math.min(...shown)).toBeGreaterThan(Number.parseInt(stepAtPause ?? "", 10));
    const { bytes } = await savedModel(page);
    const sample = readFileSync(join(site.folder, "sample.jsonl.gz"));
    expect(Buffer.compare(bytes, await trainedInNode("sample.jsonl.gz", sample, { ...steps, epochs: 8 }))).toBe(0);
    expect(errors).toEqual([]);
  });
});

describe("training on WebGPU", () => {
  test("is done on the GPU asked for, and its model answers like WASM's", async () => {
    const { page, errors } = await site.open();
    const data = smallTexts(60);
    await page.locator("summary").click();
    await inSteps(page);
    await page.selectOption("#device", "webgpu");
    await page.fill("#epochs", "30");
    await page.fill("#factors", "4");
    await chooseFile(page, "zoo.jsonl", data);
    await statusIs(page, /^Trained/);
    expect(await page.textContent("#notes")).toContain("Training on GPU");
    const [first, last] = await boundEnds(page);
    expect(last).toBeGreaterThan(first);
    const text = "a wolf that lives in the forest";
    const shown = await ask(page, text);
    const bytes = await trainedInNode("zoo.jsonl", data, { ...steps, epochs: 30, factors: 4 });
    using model = await loadModel(modelFromBytes(bytes), { threads: 1 });
    const [expected = []] = await model.predict([text], { topK: 6 });
    for (const { label, probability } of expected) {
      const chance = Number.parseFloat(shown.find((answer) => answer.label === label)?.chance ?? "");
      expect(Math.abs(chance - 100 * probability)).toBeLessThan(1);
    }
    expect(errors).toEqual([]);
  });
});

describe("a text that is corrected", () => {
  test("is learned, changes the answer and the saved model", async () => {
    const { page, errors } = await site.open();
    await chooseFile(page, "zoo.jsonl", smallTexts(200));
    expect(await statusIs(page, /^Trained/)).toMatch(/right for \d+\.\d % of held-out rows/);
    const text = "a horse that sleeps in the garden";
    const before = await ask(page, text);
    expect(before.some(({ label }) => label === "sleeper")).toBe(false);
    const { bytes } = await savedModel(page);
    await page.fill("#right-labels", "animal, sleeper");
    await page.click("#learn");
    await page.waitForFunction(() => /^Learned/.test(document.getElementById("learned")?.textContent ?? ""));
    expect(await page.textContent("#learned")).toMatch(
      /^Learned\. animal: .+ before, .+ now, sleeper: 0\.00 % before, [\d.]+ % now\.$/,
    );
    await page.waitForFunction(() => document.getElementById("answers")?.textContent?.includes("sleeper"));
    const next = modelFromBytes((await savedModel(page)).bytes);
    expect(next.schema.labelNames).toContain("sleeper");
    expect(next.schema.points).toBe(modelFromBytes(bytes).schema.points + 1);
    expect(errors).toEqual([]);
  });
});

describe("files of one's own", () => {
  test("JSON lines, without the headers: one thread, said so, and the same bytes", async () => {
    const { page, errors } = await site.open({ isolated: false });
    expect(await page.textContent("#machine")).toContain("one thread");
    const data = smallTexts(200);
    await chooseFile(page, "zoo.jsonl", data);
    await statusIs(page, /^Trained/);
    expect(await page.textContent("#notes")).toContain("one thread: SharedArrayBuffer is missing");
    const { name, bytes } = await savedModel(page);
    expect(name).toBe("zoo.safetensors");
    expect(Buffer.compare(bytes, await trainedInNode("zoo.jsonl", data))).toBe(0);
    const [first] = await ask(page, "a wolf that runs in the woods");
    expect(first?.label).toBe("animal");
    expect(await page.textContent("#unknown")).toBe("Not known to the model: woods.");
    expect(errors).toEqual([]);
  });

  test("a file with columns of other names offers them to choose from, and is read again", async () => {
    const { page } = await site.open();
    const rows = Array.from({ length: 60 }, (_, i) => (i % 2 ? "red rose,plant" : "brown dog,animal"));
    await chooseFile(page, "kinds.csv", `words,kind\n${rows.join("\n")}\n`);
    await page.waitForSelector("#train-columns select:focus");
    expect(await page.locator("#train-columns label").allInnerTexts()).toEqual(["words", "kind"]);
    await page.click("#train-columns button");
    await statusIs(page, /^Trained/);
  });

  test("several text columns and one-hot labels are chosen, and the surest mistakes are shown", async () => {
    const { page, errors } = await site.open();
    const places = ["wood", "park", "hill", "lake", "road", "farm", "barn", "yard", "shop", "hall"];
    const looks = ["red", "blue", "green", "old", "new", "big", "odd", "tall"];
    const rows = Array.from({ length: 80 }, (_, i) => {
      const animal = i % 2 === 0;
      // Some rows are labelled wrong: the model is sure of what it cannot know.
      const wrong = i % 16 < 4;
      const more = `${looks[Math.floor(i / 10)]} in the ${places[i % 10]}`;
      return `a ${animal ? "dog" : "rose"},${more},${Number(animal !== wrong)},${Number(animal === wrong)}`;
    });
    await chooseFile(page, "hot.csv", `heading,more,is_animal,is_plant\n${rows.join("\n")}\n`);
    await page.waitForSelector("#train-columns select:focus");
    for (const [column, role] of Object.entries({
      heading: "text",
      more: "text",
      is_animal: "a label, 1 or 0",
      is_plant: "a label, 1 or 0",
    }))
      await page.getByLabel(column, { exact: true }).selectOption({ label: role });
    await page.click("#train-columns button");
    await statusIs(page, /^Trained/);
    expect(await page.textContent("#data")).toMatch(/hot\.csv \(csv\): 7\d rows to learn from, .* 2 labels/);
    const [first] = await ask(page, "a dog in the park");
    expect(first?.label).toBe("is_animal");
    expect(await page.locator("#wrong-texts li").first().innerText()).toMatch(
      /predicted is_\w+ \([\d.]+ %\), labelled is_\w+/,
    );
    expect(await page.textContent("#sure-words")).toMatch(/held-out texts/);
    expect(errors).toEqual([]);
  });

  test("CSV with columns of other names, dropped on the page", async () => {
    const { page } = await site.open();
    const rows = Array.from({ length: 60 }, (_, i) => (i % 2 ? "red rose,plant" : "brown dog,animal"));
    await page.locator("summary").click();
    await page.fill("#text-name", "words");
    await page.fill("#labels-name", "kind");
    await page.fill("#epochs", "30");
    const transfer = await page.evaluateHandle(
      (content) => {
        const data = new DataTransfer();
        data.items.add(new File([content], "kinds.csv"));
        return data;
      },
      `words,kind\n${rows.join("\n")}\n`,
    );
    await page.dispatchEvent("#drop", "drop", { dataTransfer: transfer });
    await statusIs(page, /^Trained/);
    expect(await page.textContent("#data")).toContain("kinds.csv (csv): 60 rows to learn from");
    // Copies of a row are not held out from one another.
    expect(await page.textContent("#notes")).toContain("No rows are held out to measure on");
    const [first] = await ask(page, "a dog");
    expect(first?.label).toBe("animal");
  });

  test("numbered features: what is asked for are features then", async () => {
    const { page } = await site.open();
    const rows = Array.from({ length: 60 }, (_, i) => (i % 2 ? "1 2:1 3:1" : "0 0:1 1:1"));
    await chooseFile(page, "xc.txt", `60 4 2\n${rows.join("\n")}\n`);
    await statusIs(page, /^Trained/);
    await page.waitForSelector("#answers li");
    expect(await page.textContent("#text-label")).toContain("number:value");
    expect(await page.inputValue("#text")).toBe("0:1 1:1 2:1");
    const [first] = await ask(page, "2:1 3:1");
    expect(first?.label).toBe("label 1");
    expect(first?.words).toMatch(/^because of: [23], [23]$/);
  });

  test("a saved model is opened, a damaged one is refused and the old one stays", async () => {
    const { page } = await site.open();
    const bytes = await trainedInNode("zoo.jsonl", smallTexts(60));
    await chooseFile(page, "zoo.safetensors", bytes);
    await page.waitForSelector("#answers li");
    expect(await page.textContent("#model")).toMatch(/^The model is zoo.safetensors: 6 labels from \d+ features/);
    await chooseFile(page, "cut.safetensors", bytes.subarray(0, bytes.length - 100));
    await page.waitForSelector("#problem:not([hidden])");
    expect(await page.textContent("#problem")).toMatch(/^cut\.safetensors: found .+, expected .+/);
    expect(await page.textContent("#model")).toMatch(/^The model is zoo.safetensors/);
    expect((await ask(page, "a bird that lives in the forest"))[0]?.label).toBe("animal");
  });
});

describe("what is wrong is said in words", () => {
  test("a broken line: file, line, found, expected; skipped when asked", async () => {
    const { page, errors } = await site.open();
    const lines = smallTexts(60).split("\n");
    lines[6] = '{"text": "half a li';
    await chooseFile(page, "broken.jsonl", lines.join("\n"));
    await page.waitForSelector("#problem:not([hidden])");
    expect(await page.textContent("#problem")).toMatch(/^broken\.jsonl, line 7: found .+, expected .+/);
    expect(await page.isEnabled("#train-sample")).toBe(true);
    expect(await page.isVisible("#run")).toBe(false);
    await page.locator("summary").click();
    await page.check("#lenient");
    await page.fill("#epochs", "5");
    await chooseFile(page, "broken.jsonl", lines.join("\n"));
    await page.waitForSelector("#problem", { state: "hidden" });
    await statusIs(page, /^Trained/);
    expect(await page.textContent("#notes")).toContain("1 broken line skipped");
    expect(errors).toEqual([]);
  });

  test("an option that cannot be", async () => {
    const { page } = await site.open();
    await page.locator("summary").click();
    await page.fill("#factors", "0");
    await page.click("#train-sample");
    expect(await page.textContent("#problem")).toBe(
      "Latent functions: found 0, expected a whole number from 1 to 2000",
    );
  });

  test("names in a file are text, never HTML", async () => {
    const { page, errors } = await site.open();
    const label = "<img src=x onerror=alert(1)>";
    const rows = Array.from({ length: 40 }, (_, i) => ({
      text: i % 2 ? "<b>bold</b> words" : "plain words",
      labels: [i % 2 ? label : "other"],
    }));
    await chooseFile(page, "names.jsonl", rows.map((row) => JSON.stringify(row)).join("\n"));
    await statusIs(page, /^Trained/);
    const shown = await ask(page, "bold words");
    expect(shown[0]?.label).toBe(label);
    expect(await page.locator("#answers img").count()).toBe(0);
    expect(errors).toEqual([]);
  });
});
