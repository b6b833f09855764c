// `npm run docs`: the API reference in docs/api/, made from the source and its comments by TypeDoc (scripts/docs/), and the tables of
// options in docs/options.md.
// `npm run docs -- --check` writes nothing and fails where the pages are not what the source says.

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { OPTIONS, withTables } from "./docs/tables.ts";
import { run } from "./run.ts";

const FOLDER = "docs/api";

/** The pages of a folder by their names. */
const pagesOf = (folder: string): Map<string, string> =>
  new Map(
    existsSync(folder) ? readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")]) : [],
  );

async function writePages(out: string): Promise<void> {
  const args = ["--options", "scripts/docs/typedoc.config.mjs", "--logLevel", "Warn", "--out", out];
  const { status, output } = await run({
    name: "typedoc",
    command: process.execPath,
    args: ["scripts/docs/node_modules/typedoc/bin/typedoc", ...args],
  });
  process.stdout.write(output);
  if (status !== 0) process.exit(1);
}

const page = readFileSync(OPTIONS, "utf8");
if (process.argv.includes("--check")) {
  const out = mkdtempSync(join(tmpdir(), "mlgpf-docs-"));
  process.on("exit", () => rmSync(out, { recursive: true }));
  await writePages(out);
  const [wanted, found] = [pagesOf(out), pagesOf(FOLDER)];
  const stale = [...new Set([...wanted.keys(), ...found.keys()])].filter(
    (name) => wanted.get(name) !== found.get(name),
  );
  if (withTables(page) !== page) stale.push(OPTIONS);
  if (stale.length > 0) {
    console.error(`docs: found ${stale.join(", ")} out of date, expected what npm run docs writes`);
    process.exit(1);
  }
} else {
  await writePages(FOLDER);
  writeFileSync(OPTIONS, withTables(page));
}
