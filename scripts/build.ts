// Compiles assembly/ to WASM and src/ to dist/. `npm run build` does both, `npm run build -- --wasm` only the first.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { build } from "esbuild";
import { entryPoints } from "./entries.ts";
import { kernelSources } from "./kernels.ts";
import { buildReport } from "./report.ts";
import { bin, type Job, runAll } from "./run.ts";
import { writeShaders } from "./shaders.ts";
import { buildTypes } from "./types.ts";

/**
 * The same source, five ways. Threads share an imported memory; relaxed SIMD gives up equal bytes between CPUs; wide has tiles of
 * neighbouring vectors that an engine can fuse to 256 bits, with the same bytes, and runs on one thread too.
 */
const threads = ["--enable", "threads", "--importMemory", "--sharedMemory", "--maximumMemory", "65536"];
const relaxed = ["--enable", "relaxed-simd"];
const narrow = ["--use", "WIDE=0"];
const variants: Record<string, string[]> = {
  core: narrow,
  "core-threads": [...threads, ...narrow],
  "core-relaxed": [...relaxed, ...narrow],
  "core-threads-relaxed": [...threads, ...relaxed, ...narrow],
  "core-wide": [...threads, "--use", "WIDE=1"],
};
/** All modules: those of assembly/, and that of mlgpf/edge, which has a source and a memory of its own. */
const modules = [...Object.keys(variants), "edge"];
const common = ["-O3", "--converge", "--noAssert", "--runtime", "stub", "--enable", "simd"];

async function buildWasm(): Promise<void> {
  const sources = readdirSync("assembly").filter((name) => name.endsWith(".ts"));
  const { entry, types } = kernelSources(
    sources.map((name) => ({ name, text: readFileSync(`assembly/${name}`, "utf8") })),
  );
  const state = createHash("sha256");
  for (const name of [...sources, "edge/index.ts", "edge/sparse.ts"]) state.update(readFileSync(`assembly/${name}`));
  for (const name of ["scripts/build.ts", "scripts/kernels.ts", "package-lock.json"]) state.update(readFileSync(name));
  const digest = state.digest("hex");
  const wanted = modules.flatMap((name) => [`build/${name}.wasm`, `src/generated/${name}.ts`]);
  const stamp = "build/.sources";
  if (wanted.every(existsSync) && existsSync(stamp) && readFileSync(stamp, "utf8") === digest) return;

  mkdirSync("build", { recursive: true });
  mkdirSync("src/generated", { recursive: true });
  writeFileSync("build/entry.ts", entry);
  writeFileSync("src/generated/kernels.ts", types);
  const compile = (name: string, source: string, pages: number, flags: string[]): Job => ({
    name: `asc ${name}`,
    command: bin("asc"),
    args: [source, ...common, "--initialMemory", String(pages), ...flags, "-o", `build/${name}.wasm`],
  });
  await runAll(
    [
      ...Object.entries(variants).map(([name, flags]) => compile(name, "build/entry.ts", 16, flags)),
      compile("edge", "assembly/edge/index.ts", 1, []),
    ],
    availableParallelism(),
  );
  for (const name of modules) {
    const base64 = readFileSync(`build/${name}.wasm`).toString("base64");
    writeFileSync(
      `src/generated/${name}.ts`,
      `// The ${name} build of assembly/, made by scripts/build.ts.\nexport const base64: string =\n  "${base64}";\n`,
    );
  }
  writeFileSync(stamp, digest);
}

async function buildDist(): Promise<void> {
  rmSync("dist", { recursive: true, force: true });
  await build({
    entryPoints,
    outdir: "dist",
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "neutral",
    target: "es2022",
    external: ["node:*"],
    // Not minified: an error that nobody catches shows the line it was thrown in. Bundlers minify what they take.
    chunkNames: "chunks/[name]-[hash]",
    loader: { ".wgsl": "text" },
    logLevel: "warning",
  });
  await buildTypes();
  for (const name of modules) {
    writeFileSync(`dist/${name}.wasm`, readFileSync(`build/${name}.wasm`));
  }
}

writeShaders();
await buildWasm();
await buildReport();
if (!process.argv.includes("--wasm")) await buildDist();
