// Programs and pages that use the installed package.

import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import process from "node:process";
import { build } from "esbuild";
import { chromium } from "playwright-core";
import { execute } from "../../scripts/pack.ts";
import { serveSite } from "../../site/tools/serve.ts";

const CONSUMER = "test/package/consumer";

/** A program that the repository has installed. */
export const tool = (name: string): string => resolve("node_modules/.bin", name);

/** Puts the consumer's files beside node_modules. */
export const copyConsumer = (project: string): void => cpSync(CONSUMER, project, { recursive: true });

/** Another version of the consumer's program, with other names for the package. */
export function withSpecifiers(project: string, prefix: string): string {
  const read = (name: string): string => readFileSync(join(project, name), "utf8");
  writeFileSync(join(project, "named.js"), read("program.js").replaceAll('"mlgpf', `"${prefix}mlgpf`));
  writeFileSync(join(project, "host-named.js"), read("host.js").replace("./program.js", "./named.js"));
  return "host-named.js";
}

/** Vite's default build into a flat folder. Gives what it warned of. */
export async function buildWithVite(project: string, outDir: string): Promise<string> {
  const flat = ["--outDir", outDir, "--emptyOutDir", "--assetsDir", "."];
  return (await execute(tool("vite"), ["build", ...flat], project)).err;
}

/** esbuild's default build, for browsers, with the page's HTML beside it. */
export async function buildWithEsbuild(project: string, outdir: string): Promise<string[]> {
  const { warnings } = await build({
    absWorkingDir: project,
    // It knows no "?url": the loader says the same.
    stdin: {
      contents: readFileSync(join(project, "page.js"), "utf8").replace("?url", ""),
      resolveDir: project,
      sourcefile: "page.js",
    },
    outdir,
    entryNames: "page",
    bundle: true,
    splitting: true,
    minify: true,
    format: "esm",
    target: "es2022",
    loader: { ".wasm": "file" },
    logLevel: "silent",
  });
  cpSync(join(project, "index.html"), join(outdir, "index.html"));
  return warnings.map(({ text }) => text);
}

/** The answer of the page in a folder. */
export async function answerOfPage(folder: string): Promise<unknown> {
  const served = await serveSite(folder, { port: 0, isolated: false });
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM_PATH || "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-background-networking", "--disable-component-update"],
  });
  try {
    const page = await browser.newPage();
    const failed = new Promise<never>((_, fail) => page.on("pageerror", fail));
    await page.goto(served.url);
    const answered = page.waitForFunction(() => (globalThis as { answer?: unknown }).answer);
    return await (await Promise.race([answered, failed])).jsonValue();
  } finally {
    await browser.close();
    await served.close();
  }
}
