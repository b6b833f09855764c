// `npm run size`: what each entry of the package weighs in somebody's bundle, minified and gzipped, and the WASM
// modules apart. `npm run size -- --write` keeps the tables in bench/SIZES.md. Needs a build (src/generated, build/).

import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { build, type Metafile, type OutputFile } from "esbuild";
import { entryPoints } from "./entries.ts";

const OUT = "bench/SIZES.md";

interface Weight {
  minified: number;
  gzip: number;
}

interface Row {
  what: string;
  /** Comes with the first import. */
  start: Weight;
  /** Loaded when it is asked for, without WASM: the GPU's shaders, the report. */
  later: Weight;
}

const source = (entry: string): string => JSON.stringify(`./${entryPoints[entry]}`);
/** A name for people, and the module that is bundled. */
const uses: [string, string][] = [
  ["all of `mlgpf`", `export * from ${source("index")};`],
  ["`train` and `modelToBytes` of `mlgpf`", `export { train, modelToBytes } from ${source("index")};`],
  ["`loadModel` of `mlgpf`", `export { loadModel } from ${source("index")};`],
  ["all of `mlgpf/core`", `export * from ${source("core")};`],
  ["all of `mlgpf/edge`", `export * from ${source("edge")};`],
  ["all of `mlgpf/serve`", `export * from ${source("serve")};`],
  ["the command", `import ${source("cli")};`],
];
const modules = ["core", "core-threads", "core-relaxed", "core-threads-relaxed", "core-wide", "edge"];

/** Outputs that come with the first one. */
function atStart({ outputs }: Metafile, name: string, found = new Set<string>()): Set<string> {
  if (found.has(name)) return found;
  found.add(name);
  for (const { path, kind } of outputs[name]?.imports ?? [])
    if (kind === "import-statement" && outputs[path]) atStart({ inputs: {}, outputs }, path, found);
  return found;
}

const gzipped = (bytes: Uint8Array): number => gzipSync(bytes, { level: 9 }).length;
const weigh = (files: OutputFile[]): Weight => ({
  minified: files.reduce((sum, { contents }) => sum + contents.length, 0),
  gzip: files.reduce((sum, { contents }) => sum + gzipped(contents), 0),
});

const bundle = (contents: string, splitting: boolean) =>
  build({
    stdin: { contents, resolveDir: ".", loader: "ts" },
    outdir: "out",
    entryNames: "entry",
    bundle: true,
    splitting,
    minify: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "neutral",
    target: "es2022",
    external: ["node:*"],
    logLevel: "error",
  });

/** The place of an output, as the metafile has it. */
const nameOf = ({ path }: OutputFile): string => path.slice(path.lastIndexOf("out/"));

async function measure([what, contents]: [string, string]): Promise<Row> {
  const { outputFiles, metafile } = await bundle(contents, true);
  const start = atStart(metafile, "out/entry.js");
  const isWasm = (name: string): boolean =>
    metafile.outputs[name]?.entryPoint?.startsWith("src/generated/core") ?? false;
  const files = (wanted: (name: string) => boolean): OutputFile[] => outputFiles.filter((file) => wanted(nameOf(file)));
  return {
    what,
    start: weigh(files((name) => start.has(name))),
    later: weigh(files((name) => !start.has(name) && !isWasm(name))),
  };
}

/** The modules that load() of `mlgpf/edge` imports for a model. */
const edgeModels: [string, string[]][] = [
  ["nothing yet", []],
  ["`gpr` or `sgpr`, calibrated", ["parts/regression/row", "edge/scores"]],
  ["`linear`, calibrated", ["parts/linear/row", "edge/scores"]],
  ["`svgp`, calibrated", ["edge/svgp", "edge/scores"]],
  ["`gpr` with names of labels", ["parts/regression/row", "edge/scores", "edge/named"]],
  [
    "the same with label coupling and `edge.wasm`",
    ["parts/regression/row", "edge/scores", "edge/named", "parts/coupling/row", "edge/wasm"],
  ],
];

async function measureEdge(): Promise<string[][]> {
  const contents = `export * from ${source("edge")};`;
  const { outputFiles, metafile } = await bundle(contents, true);
  const rows = edgeModels.map(([what, asked]): [string, Weight] => {
    const loaded = atStart(metafile, "out/entry.js");
    for (const [name, { entryPoint }] of Object.entries(metafile.outputs))
      if (asked.some((module) => entryPoint === `src/${module}.ts`)) atStart(metafile, name, loaded);
    return [what, weigh(outputFiles.filter((file) => loaded.has(nameOf(file))))];
  });
  const { outputFiles: whole } = await bundle(contents, false);
  rows.push(["all, each file by itself", weigh(outputFiles)], ["all in one file, as a Worker has it", weigh(whole)]);
  return rows.map(([what, { minified, gzip }]) => [what, kilobytes(minified), kilobytes(gzip)]);
}

const kilobytes = (bytes: number): string => (bytes / 1000).toFixed(1);

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]): string => `| ${cells.join(" | ")} |`;
  const rule = `|${head.map((_, i) => (i === 0 ? "---" : "---:")).join("|")}|`;
  return [line(head), rule, ...rows.map(line)].join("\n");
}

const rows = await Promise.all(uses.map(measure));
const entries = table(
  ["import", "at the start", "gzip", "when asked for", "gzip"],
  rows.map(({ what, start, later }) => [
    what,
    ...[start, later].flatMap(({ minified, gzip }) => [kilobytes(minified), kilobytes(gzip)]),
  ]),
);
const wasm = table(
  ["module", "bytes", "gzip"],
  modules.map((name) => {
    const bytes = readFileSync(`build/${name}.wasm`);
    return [`${name}.wasm`, kilobytes(bytes.length), kilobytes(gzipped(bytes))];
  }),
);
const text = `# Sizes

Made by \`npm run size -- --write\`. All in kB (1000 bytes): bundled with esbuild, minified, then gzipped.

## Code

What comes with the first import, and what is loaded only when it is asked for (the GPU's code and shaders, the report),
without the WASM modules.

${entries}

## What a compact model loads

\`load()\` of \`mlgpf/edge\` imports what a model has need of: bundlers that split code keep it in files of their own.

${table(["a model with", "code", "gzip"], await measureEdge())}

## WASM

A training or prediction loads one of the five core modules: inlined as base64, a third larger than here before
compression. \`mlgpf/edge\` works without a module and is faster with its own.

${wasm}
`;
console.log(text.slice(text.indexOf("## Code")));
if (process.argv.includes("--write")) writeFileSync(OUT, text);
