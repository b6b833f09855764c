// `npm run docs`: the API reference in docs/api/, made from the source and its comments with `deno doc`, and the tables of
// options in the guide.
// `npm run docs -- --check` writes nothing and fails where the pages are not what the source says.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { GUIDE, guideWithTables } from "./docs/guide.ts";
import { byFile, type Entry, Page } from "./docs/page.ts";
import { Source } from "./docs/source.ts";

const FOLDER = "docs/api";

/** What the folders of src/ are called on the page of mlgpf, in its order. */
const TITLES: Record<string, string> = {
  train: "Training",
  backend: "Training",
  ranks: "Training",
  learn: "Learning",
  closed: "Learning",
  predict: "Prediction",
  report: "Reports",
  model: "The model",
  io: "Files",
  compact: "Compact models",
  data: "Data",
  metrics: "Metrics",
  core: "The core",
};

function byFolder(file: string): { title: string; text: string } {
  const title = file.endsWith("/errors.ts") ? "Errors" : TITLES[file.split("/")[1] ?? ""];
  if (title === undefined)
    throw new Error(`docs: found ${file}, expected a folder with a title in scripts/docs.ts`);
  return { title, text: "" };
}

const entries: (Entry & { about: string })[] = [
  {
    name: "mlgpf",
    file: "src/index.ts",
    page: "mlgpf.md",
    group: byFolder,
    order: [...new Set([...Object.values(TITLES), "Errors"])],
    about: "reading data, training, predicting, measuring",
  },
  {
    name: "mlgpf/edge",
    file: "src/edge/index.ts",
    page: "edge.md",
    group: (file) => ({ title: file.endsWith("/errors.ts") ? "Errors" : "Tagging", text: "" }),
    order: ["Tagging", "Errors"],
    about: "predicting with a compact model in a few kB",
  },
  {
    name: "mlgpf/serve",
    file: "src/serve/index.ts",
    page: "serve.md",
    group: byFile,
    about: "a tagger, or several, over HTTP: a function from Request to Response",
  },
  {
    name: "mlgpf/core",
    file: "src/core/index.ts",
    page: "core.md",
    group: byFile,
    about: "the numeric core: matrices, factorisations, sparse products, SVD",
  },
];

async function pages(): Promise<{ texts: Map<string, string>; bare: string[] }> {
  const source = await Source.read();
  const texts = new Map<string, string>();
  const bare = new Set<string>();
  const lines: string[] = [];
  for (const entry of entries) {
    const page = new Page(source, entry);
    texts.set(entry.page, page.markdown());
    for (const each of page.bare) bare.add(each);
    lines.push(`- [${entry.name}](${entry.page}): ${entry.about} (${page.names.length} exports)`);
  }
  const intro = "Every export with its comment and signature, made from the source by `npm run docs`.";
  texts.set("README.md", `# API reference\n\n${intro}\n\n${lines.join("\n")}\n`);
  return { texts, bare: [...bare].sort() };
}

const { texts, bare } = await pages();
const guide = readFileSync(GUIDE, "utf8");
const before = existsSync(FOLDER) ? readdirSync(FOLDER) : [];
if (bare.length > 0) console.log(`Exports without a comment:\n  ${bare.join("\n  ")}`);
if (process.argv.includes("--check")) {
  const stale = [...new Set([...texts.keys(), ...before])].filter(
    (name) => !before.includes(name) || readFileSync(`${FOLDER}/${name}`, "utf8") !== texts.get(name),
  );
  if (guideWithTables(guide) !== guide) stale.push(GUIDE);
  if (stale.length > 0) {
    console.error(`docs: found ${stale.join(", ")} out of date, expected what npm run docs writes`);
    process.exit(1);
  }
} else {
  mkdirSync(FOLDER, { recursive: true });
  for (const name of before) if (!texts.has(name)) rmSync(`${FOLDER}/${name}`);
  for (const [name, text] of texts) writeFileSync(`${FOLDER}/${name}`, text);
  writeFileSync(GUIDE, guideWithTables(guide));
}
