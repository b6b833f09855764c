// Builds the page into one flat folder of static files that any host can serve: relative addresses only.

import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";
import { build, type Plugin } from "esbuild";
import { makeSample, wordNetLicence } from "./sample.ts";

/** The page's own code may not grow beyond it (gzip). */
export const MOST_CODE = 220_000;

export interface SiteSizes {
  /** Bytes of each file, as they are and packed. */
  files: { name: string; bytes: number; packed: number }[];
  /** Packed bytes of the page's own code: everything but the WASM and the sample. */
  code: number;
}

/**
 * The library has its WASM inside as base64; a page fetches it better as a file, a third smaller when packed. Each
 * `src/generated/core*.ts`, and `edge.ts`, becomes a few lines that fetch the file beside it.
 */
const wasmFiles = (folder: string): Plugin => ({
  name: "wasm-files",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]src[\\/]generated[\\/](core[a-z-]*|edge)\.ts$/ }, ({ path }) => {
      const name = basename(path).replace(/ts$/, "wasm");
      copyFileSync(`build/${name}`, join(folder, name));
      return { loader: "js", contents: fetchingModule(name) };
    });
  },
});

const fetchingModule = (name: string): string => `
const response = await fetch(new URL(${JSON.stringify(name)}, import.meta.url));
if (!response.ok) throw new Error("${name}: found status " + response.status + ", expected the file beside the page");
let binary = "";
for (const byte of new Uint8Array(await response.arrayBuffer())) binary += String.fromCharCode(byte);
export const base64 = btoa(binary);
`;

/** A page has no file system: what only reads and writes paths is not shipped with it. */
const noFiles: Plugin = {
  name: "no-files",
  setup({ onLoad }) {
    const contents =
      'throw new Error("found a path, expected a file that was opened: a page has no file system")';
    onLoad({ filter: /[\\/]src[\\/]io[\\/](files|folder)\.ts$/ }, () => ({ loader: "js", contents }));
  },
};

/** Builds everything into `folder`, which is emptied first. */
export async function buildSite(folder: string): Promise<SiteSizes> {
  if (!existsSync("build/core.wasm"))
    throw new Error("build/core.wasm: found no such file, expected the WASM: run npm run build first");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const { metafile } = await build({
    entryPoints: {
      page: "site/page/main.ts",
      train: "site/worker/train.ts",
      predict: "site/worker/predict.ts",
      style: "site/style.css",
    },
    outdir: folder,
    bundle: true,
    splitting: true,
    minify: true,
    format: "esm",
    target: "es2022",
    external: ["node:*", "webgpu"],
    loader: { ".wgsl": "text" },
    chunkNames: "[name]-[hash]",
    plugins: [wasmFiles(folder), noFiles],
    metafile: true,
    logLevel: "warning",
  });
  copyFileSync("site/index.html", join(folder, "index.html"));
  writeFileSync(join(folder, "sample.jsonl.gz"), makeSample().bytes);
  const licences = [
    ["mlgpf", readFileSync("LICENSE", "utf8")],
    ["uPlot", readFileSync("node_modules/uplot/LICENSE", "utf8")],
    ["WordNet (the sample)", wordNetLicence()],
  ];
  writeFileSync(
    join(folder, "licences.txt"),
    licences.map(([name, text]) => `${name}\n\n${text}`).join(`\n\n${"-".repeat(80)}\n\n`),
  );
  const code = [...Object.keys(metafile.outputs).map((path) => basename(path)), "index.html"];
  return measure(folder, code);
}

function measure(folder: string, code: string[]): SiteSizes {
  const wasm = ["core.wasm", "core-threads.wasm", "edge.wasm"];
  const files = [...code.sort(), ...wasm, "sample.jsonl.gz"].map((name) => {
    const bytes = readFileSync(join(folder, name));
    const packed = name.endsWith(".gz") ? bytes.length : gzipSync(bytes, { level: 9 }).length;
    return { name, bytes: bytes.length, packed };
  });
  const own = files.filter(({ name }) => code.includes(name));
  return { files, code: own.reduce((sum, { packed }) => sum + packed, 0) };
}
