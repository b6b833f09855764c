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

async function measure([what, contents]: [string, string]): Promise<Row> {
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: ".", loader: "ts" },
    outdir: "out",
    entryNames: "entry",
    bundle: true,
    splitting: true,
    minify: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "neutral",
    target: "es2022",
    external: ["node:*"],
    logLevel: "error",
  });
  const start = atStart(metafile, "out/entry.js");
  const isWasm = (name: string): boolean =>
    metafile.outputs[name]?.entryPoint?.startsWith("src/generated/core") ?? false;
  const named = outputFiles.map((file) => ({ file, name: file.path.slice(file.path.lastIndexOf("out/")) }));
  const files = (wanted: (name: string) => boolean): OutputFile[] =>
    named.filter(({ name }) => wanted(name)).map(({ file }) => file);
  return {
    what,
    start: weigh(files((name) => start.has(name))),
    later: weigh(files((name) => !start.has(name) && !isWasm(name))),
  };
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

## WASM

A training or prediction loads one of the five core modules: inlined as base64, a third larger than here before
compression. \`mlgpf/edge\` works without a module and is faster with its own.

${wasm}
`;
console.log(text.slice(text.indexOf("## Code")));
if (process.argv.includes("--write")) writeFileSync(OUT, text);
