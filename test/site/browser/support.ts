// The built page in headless Chromium: one build, one server and one browser for a test file.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import { chromiumPath } from "../../../scripts/browsers.ts";
import { buildSite, type SiteSizes } from "../../../site/tools/build.ts";
import { type Served, serveSite } from "../../../site/tools/serve.ts";
import { compactModel } from "../../../src/compact/index.ts";
import { readDataset } from "../../../src/data/index.ts";
import { modelFromBytes, modelToBytes } from "../../../src/model/file.ts";
import type { TrainOptions } from "../../../src/parts/options.ts";
import { holdOut, type Read } from "../../../src/train/holdout.ts";
import { train } from "../../../src/train/train.ts";

export interface Site {
  sizes: SiteSizes;
  folder: string;
  /** A fresh page; `isolated` says whether the server sends the headers that threads need. */
  open(options?: BrowserContextOptions & { isolated?: boolean }, hash?: string): Promise<OpenPage>;
  /** The same folder from another host, as one that lets any page fetch from it. */
  otherUrl: string;
  close(): Promise<void>;
}

export interface OpenPage {
  page: Page;
  /** What went wrong in the page without being said on it. */
  errors: string[];
  /** Addresses that were asked for. */
  requests: string[];
}

const FLAGS = ["--no-sandbox", "--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"];

/** The page for the tests of a file: there before the first of them, closed after the last. */
export function siteOfFile(): Site {
  const site = {} as Site;
  beforeAll(async () => {
    Object.assign(site, await openSite());
  });
  afterAll(() => site.close());
  return site;
}

async function openSite(): Promise<Site> {
  const folder = mkdtempSync(join(tmpdir(), "mlgpf-site-"));
  const sizes = await buildSite(folder);
  const zoo = modelFromBytes(await trainedInNode("zoo.jsonl", smallTexts(60)));
  writeFileSync(join(folder, "zoo.bin"), await compactModel(zoo));
  const servers = new Map<boolean, Served>();
  for (const isolated of [true, false]) servers.set(isolated, await serveSite(folder, { port: 0, isolated }));
  const browser = await chromium.launch({ executablePath: chromiumPath(), args: FLAGS });
  return {
    sizes,
    folder,
    open: ({ isolated = true, ...options } = {}, hash = "") =>
      openPage(browser, `${(servers.get(isolated) as Served).url}${hash}`, options),
    otherUrl: (servers.get(false) as Served).url,
    async close() {
      await browser.close();
      for (const server of servers.values()) await server.close();
      rmSync(folder, { recursive: true });
    },
  };
}

async function openPage(browser: Browser, url: string, options: BrowserContextOptions): Promise<OpenPage> {
  const context = await browser.newContext({ viewport: { width: 900, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const errors: string[] = [];
  const requests: string[] = [];
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("request", (request) => requests.push(request.url()));
  await page.goto(url);
  return { page, errors, requests };
}

/** Waits until the status line says it, and fails at once with what went wrong instead. */
export async function statusIs(page: Page, pattern: RegExp): Promise<string> {
  const found = await page.waitForFunction(
    (source) => {
      const text = (id: string): string => document.getElementById(id)?.textContent ?? "";
      if (text("problem") !== "") return { problem: text("problem") };
      return new RegExp(source).test(text("status")) ? { status: text("status") } : undefined;
    },
    pattern.source,
    { polling: 100 },
  );
  const { problem, status } = (await found.jsonValue()) as { problem?: string; status?: string };
  if (problem !== undefined) throw new Error(`the page says: ${problem}`);
  return status as string;
}

/** The paper's model, which is learned in steps: so many passes, or as many as are chosen by the size of the data. */
export async function inSteps(page: Page, epochs?: number): Promise<void> {
  await page.evaluate(
    (passes) => {
      (document.getElementById("model-choice") as HTMLSelectElement).value = "svgp";
      (document.getElementById("epochs") as HTMLInputElement).value = passes;
    },
    String(epochs ?? ""),
  );
}

/** Chooses a file as a visitor does. */
export async function chooseFile(page: Page, name: string, content: string | Uint8Array): Promise<void> {
  await page.setInputFiles("#file", {
    name,
    mimeType: "application/octet-stream",
    buffer: Buffer.from(content),
  });
}

/** Presses "Save the model" and gives the file that comes. */
export const savedModel = (page: Page): Promise<SavedFile> => downloaded(page, () => page.click("#save"));

export interface SavedFile {
  name: string;
  bytes: Uint8Array;
}

/** Does something that hands out a file, and gives that file. */
export async function downloaded(page: Page, act: () => Promise<void>): Promise<SavedFile> {
  const [download] = await Promise.all([page.waitForEvent("download"), act()]);
  const parts: Buffer[] = [];
  for await (const part of await download.createReadStream()) parts.push(part as Buffer);
  return { name: download.suggestedFilename(), bytes: new Uint8Array(Buffer.concat(parts)) };
}

/** Types a text and gives the labels that the page shows for it. */
export async function ask(
  page: Page,
  text: string,
  prefix: "" | "demo-" = "",
): Promise<{ label: string; chance: string; words: string }[]> {
  const before = await page.locator(`#${prefix}answers`).innerHTML();
  await page.fill(`#${prefix}text`, text);
  await page.waitForFunction(
    ([id, old]) => document.getElementById(id as string)?.innerHTML !== old,
    [`${prefix}answers`, before],
    { polling: 20 },
  );
  return await page.locator(`#${prefix}answers li`).evaluateAll((items) =>
    items.map((item) => {
      const part = (name: string): string => item.querySelector(name)?.textContent?.trim() ?? "";
      return { label: part(".name"), chance: part(".chance"), words: part(".words") };
    }),
  );
}

/** A small data file of texts: animals live, plants grow. */
export function smallTexts(count: number): string {
  const beasts = ["cat", "dog", "bird", "horse", "wolf"];
  const greens = ["tree", "herb", "shrub", "vine", "moss"];
  const places = ["mountains", "desert", "garden", "forest"];
  const rows = Array.from({ length: count }, (_, i) => {
    const beast = i % 2 === 0;
    const name = (beast ? beasts : greens)[i % 5];
    const place = places[(i * 7) % 4];
    return {
      text: `a ${name} that ${beast ? "lives and runs" : "grows and flowers"} in the ${place}`,
      labels: [beast ? "animal" : "plant", place],
    };
  });
  return rows.map((row) => JSON.stringify(row)).join("\n");
}

/** The page's training once more, in Node. */
export async function trainedInNode(
  file: string,
  data: string | Uint8Array,
  options: TrainOptions = {},
): Promise<Uint8Array> {
  const read: Read = async (options) => (await readDataset(data, { file, ...options })).dataset;
  const { kept, held } = await holdOut(read, 0.1, 0);
  const model = await train(kept, {
    seed: 0,
    model: "auto",
    validation: held,
    ...(options.model === "svgp" ? {} : { onState: () => {} }),
    ...options,
  });
  return modelToBytes(model);
}
