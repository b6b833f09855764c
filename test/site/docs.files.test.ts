// The documents as a site, and the program that the page shows with a saved model.
// @module-tag long

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { afterAll, describe, expect, test } from "vitest";
import { printed } from "../../scripts/pack.ts";
import { programFor } from "../../site/page/current.ts";
import { buildDocs } from "../../site/tools/build.ts";
import { compactModel, modelToBytes, train } from "../../src/index.ts";

const HOST = "https://host.example";
const folder = mkdtempSync(join(tmpdir(), "mlgpf-docs-site-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the site of the documents", () => {
  test("has every document, and links that lead somewhere under its base", { timeout: 300_000 }, async () => {
    await buildDocs(folder, "/mlgpf/");
    const built = new Set(readdirSync(join(folder, "docs"), { recursive: true, encoding: "utf8" }));
    const written = readdirSync("docs", { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".md"));
    const page = (path: string): string => path.replace(/README\.md$/, "index.md").replace(/md$/, "html");
    const wanted = written.filter((path) => path !== "release.md");
    expect(wanted.length).toBeGreaterThan(20);
    for (const path of wanted) expect([path, built.has(page(path))]).toEqual([path, true]);
    const links = wanted.flatMap((path) => {
      const html = readFileSync(join(folder, "docs", page(path)), "utf8");
      return [...html.matchAll(/<a [^>]*href="([^"#]+)/g)].map(
        ([, href]) => new URL(href, `${HOST}/mlgpf/docs/${page(path)}`),
      );
    });
    const own = links.filter(({ origin }) => origin === HOST).map(({ pathname }) => pathname);
    expect(own).toContain("/mlgpf/index.html");
    for (const href of new Set(own)) {
      if (href === "/mlgpf/index.html") continue;
      const path = href.replace(/^\/mlgpf\/docs\//, "").replace(/(^|\/)$/, "$1index.html");
      expect([href, built.has(path)]).toEqual([href, true]);
    }
  });
});

describe("the program beside a saved model", () => {
  test("prints labels with probabilities, from the whole model and from tagger.bin", async () => {
    const rows = ["cat", "dog", "oak", "elm"].map((name, i) => ({
      text: `a ${name}`,
      labels: [i < 2 ? "animal" : "plant"],
    }));
    const model = await train([...rows, ...rows.map(({ text, labels }) => ({ text: `${text} of yours`, labels }))]);
    mkdirSync(join(folder, "node_modules"));
    symlinkSync(resolve("."), join(folder, "node_modules/mlgpf"));
    writeFileSync(join(folder, "zoo.safetensors"), modelToBytes(model));
    writeFileSync(join(folder, "tagger.bin"), await compactModel(model));
    for (const [name, compact] of [
      ["zoo.safetensors", false],
      ["tagger.bin", true],
    ] as const) {
      writeFileSync(join(folder, "tag.mjs"), programFor(name, compact));
      const lines = (await printed(process.execPath, ["tag.mjs"], folder)).trim().split("\n");
      expect(lines.map((line) => line.split(" ")[0]).sort()).toEqual(["animal", "plant"]);
      for (const line of lines) expect(line).toMatch(/^\w+ [01]\.\d\d$/);
    }
  });
});
