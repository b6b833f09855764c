// Builds the page into one flat folder of static files that any host can serve: relative addresses only.

import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";
import { build, type Plugin } from "esbuild";
import { execute } from "../../scripts/pack.ts";
import { makeSample, wordNetLicence } from "./sample.ts";
import { wordNetTagger } from "./tagger.ts";

/** Tagger and state of the first screen, gzipped. */
export const MOST_TAGGER = 3_000_000;
/** The page's own code may not grow beyond it (gzip). */
export const MOST_CODE = 245_000;

export interface SiteSizes {
  /** Bytes of each file, as they are and packed. */
  files: { name: string; bytes: number; packed: number }[];
  /** Packed bytes of the page's own code: everything but the WASM, the sample and the parser of notes. */
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
    const contents = 'throw new Error("found a path, expected a file that was opened: a page has no file system")';
    onLoad({ filter: /[\\/]src[\\/]io[\\/](files|folder)\.ts$/ }, () => ({ loader: "js", contents }));
  },
};

/** Packages whose code is in the page (uPlot, and yaml, which is fetched with the first note) and in the documents. */
const BUNDLED = [
  "uplot",
  "yaml",
  "vitepress",
  "vue",
  "@vueuse/core",
  "minisearch",
  "mark.js",
  "focus-trap",
  "tabbable",
];

function licenceOf(name: string): string {
  const folder = `node_modules/${name}`;
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  if (file !== undefined) return readFileSync(join(folder, file), "utf8");
  const { license, author } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return `${license}, ${typeof author === "string" ? author : author?.name}`;
}

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
  const html = readFileSync("site/index.html", "utf8");
  writeFileSync(join(folder, "index.html"), html);
  // The same page for links that name a model elsewhere.
  writeFileSync(
    join(folder, "shared.html"),
    html.replace("connect-src 'self'", "connect-src 'self' https: http://127.0.0.1:*"),
  );
  const { model, state, held } = await wordNetTagger();
  writeFileSync(join(folder, "tagger.safetensors.gz"), gzipSync(model, { level: 9 }));
  writeFileSync(join(folder, "tagger.state.gz"), gzipSync(state, { level: 9 }));
  writeFileSync(join(folder, "tagger.json"), JSON.stringify(held));
  writeFileSync(join(folder, "sample.jsonl.gz"), makeSample().bytes);
  const licences = [
    ["mlgpf", readFileSync("LICENSE", "utf8")],
    ...BUNDLED.map((name) => [name, licenceOf(name)]),
    ["WordNet (sample and tagger)", wordNetLicence()],
  ];
  writeFileSync(
    join(folder, "licences.txt"),
    licences.map(([name, text]) => `${name}\n\n${text}`).join(`\n\n${"-".repeat(80)}\n\n`),
  );
  const own = Object.entries(metafile.outputs).filter(
    ([, { entryPoint }]) => !entryPoint?.startsWith("node_modules/yaml/"),
  );
  const code = [...own.map(([path]) => basename(path)), "index.html"];
  return measure(folder, code);
}

function measure(folder: string, code: string[]): SiteSizes {
  const wasm = ["core.wasm", "core-threads.wasm", "edge.wasm"];
  const data = ["sample.jsonl.gz", "tagger.safetensors.gz", "tagger.state.gz"];
  const files = [...code.sort(), ...wasm, ...data].map((name) => {
    const bytes = readFileSync(join(folder, name));
    const packed = name.endsWith(".gz") ? bytes.length : gzipSync(bytes, { level: 9 }).length;
    return { name, bytes: bytes.length, packed };
  });
  const own = files.filter(({ name }) => code.includes(name));
  return { files, code: own.reduce((sum, { packed }) => sum + packed, 0) };
}

/** Builds the documents into `folder`/docs, for a site that is served under the path `base`. */
export async function buildDocs(folder: string, base = "/"): Promise<void> {
  const args = ["node_modules/vitepress/bin/vitepress.js", "build", "site/docs"];
  await execute(process.execPath, args, process.cwd(), { SITE_OUT: folder, SITE_BASE: base });
}
