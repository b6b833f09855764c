// The package as npm publishes it: packed once, installed into an empty project, then used from there.

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { publint } from "publint";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { execute, install, manifest, type Packed, pack, printed } from "../../scripts/pack.ts";
import { importsOf } from "../support/bundles.ts";
import { answerOfPage, buildWithEsbuild, buildWithVite, copyConsumer, tool, withSpecifiers } from "./support.ts";

const folder = mkdtempSync(join(tmpdir(), "mlgpf-package-"));
const project = join(folder, "project");
const installed = join(project, "node_modules/mlgpf");
let packed: Packed;
let installing: string;

beforeAll(async () => {
  packed = await pack(folder);
  installing = await install(packed, project);
  copyConsumer(project);
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const text = (path: string): string => readFileSync(join(installed, path), "utf8");
const kilobytes = (bytes: number): string => `${(bytes / 1000).toFixed(0)} kB`;

describe("the tarball", () => {
  test("has what is meant, and nothing else", () => {
    console.log(
      `the tarball: ${kilobytes(packed.bytes)}, unpacked ${kilobytes(packed.unpackedBytes)}, ${packed.files.length} files`,
    );
    const top = packed.files.map((path) =>
      path.replace(/^(dist\/(?:chunks|types)|[^/]+\/[^/]+)\/.*$/, "$1").replace(/^docs\/[^/]+\.md$/, "docs/*.md"),
    );
    expect([...new Set(top)].sort()).toEqual([
      "CHANGELOG.md",
      "LICENSE",
      "README.md",
      "dist/chunks",
      "dist/cli.js",
      "dist/core-relaxed.wasm",
      "dist/core.js",
      "dist/core.wasm",
      "dist/edge.js",
      "dist/edge.wasm",
      "dist/index.js",
      "dist/learn-thread.js",
      "dist/serve-thread.js",
      "dist/serve.js",
      "dist/types",
      "docs/*.md",
      "docs/api",
      "package.json",
    ]);
    expect(packed.bytes).toBeLessThan(1_000_000);
  });

  test("has no paths of a machine, no source maps and no tests in it", () => {
    const own = [process.cwd(), process.env.HOME || "/root", "node_modules/", "sourceMappingURL", "file:///"];
    const written = packed.files.filter((path) => /\.(js|d\.ts|json)$/.test(path) && path !== "package.json");
    expect(written.length).toBeGreaterThan(50);
    for (const path of written)
      for (const word of own) expect([path, text(path).includes(word)]).toEqual([path, false]);
    expect(packed.files.filter((path) => /\.map$|test|\.tsx?$/.test(path) && !path.endsWith(".d.ts"))).toEqual([]);
  });

  test("every script in it belongs to an entry; the library asks Node for nothing at its start", async () => {
    const scripts = packed.files.filter((path) => path.endsWith(".js"));
    const entries = scripts.filter((path) => !path.startsWith("dist/chunks/"));
    expect(Object.keys(await importsOf(installed, entries)).sort()).toEqual(scripts.sort());
    const programs = ["dist/cli.js", "dist/learn-thread.js", "dist/serve-thread.js"];
    for (const entry of entries.filter((path) => !programs.includes(path))) {
      const imports = Object.values(await importsOf(installed, [entry])).flatMap((file) => file.imports);
      const outside = imports.filter(({ external, kind }) => external && kind === "import-statement");
      expect([entry, outside.map(({ path }) => path)]).toEqual([entry, []]);
    }
  });

  test("is for Node 20 and later, types come first, and every export is there", () => {
    const { engines, exports } = manifest(installed);
    expect(engines).toEqual({ node: ">=20" });
    for (const [name, entry] of Object.entries(exports)) {
      const paths = typeof entry === "string" ? [entry] : Object.values(entry);
      if (typeof entry !== "string") expect([name, Object.keys(entry)[0]]).toEqual([name, "types"]);
      for (const path of paths) expect(packed.files).toContain(path.replace("./", ""));
    }
  });

  test("publint and are-the-types-wrong find nothing wrong", async () => {
    const { messages } = await publint({ pack: { tarball: readFileSync(packed.file).buffer }, strict: true });
    expect(messages.filter(({ type }) => type !== "suggestion")).toEqual([]);
    const modules = Object.keys(manifest(installed).exports).filter((name) => name.endsWith(".wasm"));
    const without = ["--exclude-entrypoints", ...modules.map((name) => name.replace("./", ""))];
    const report = await printed(tool("attw"), [packed.file, "--profile", "esm-only", ...without]);
    expect(report).toContain("mlgpf/edge");
  });
});

describe("an empty project that installs it", () => {
  test("has nothing but this package: no dependency, no optional GPU", () => {
    const found = readdirSync(join(project, "node_modules")).filter((name) => !name.startsWith("."));
    expect(found).toEqual(["mlgpf"]);
  });

  test("is told of no scripts that want to be run", () => {
    expect(installing).not.toMatch(/script/);
    const { scripts } = manifest(installed);
    for (const name of ["preinstall", "install", "postinstall", "prepare"]) expect(scripts).not.toHaveProperty(name);
  });

  test("trains on a file and predicts with the command", async () => {
    const command = join(project, "node_modules/.bin/mlgpf");
    const line = (label: string, words: string): string => `{"text": "${words}", "labels": ["${label}"]}\n`;
    const lines = line("animal", "cat fur") + line("vehicle", "car wheels");
    writeFileSync(join(project, "docs.jsonl"), lines.repeat(20));
    await printed(command, ["train", "docs.jsonl", "--out", "tagger.safetensors", "--threads", "1"], project);
    writeFileSync(join(project, "new.jsonl"), '{"text": "a cat"}\n{"text": "wheels of a car"}\n');
    const out = await printed(command, ["predict", "tagger.safetensors", "new.jsonl", "--top", "1"], project);
    const found = out
      .trimEnd()
      .split("\n")
      .map((each) => JSON.parse(each).labels[0].label);
    expect(found).toEqual(["animal", "vehicle"]);
  });

  for (const resolution of ["nodenext", "bundler"]) {
    test(`compiles strict TypeScript: ${resolution}`, async () => {
      const compilerOptions = {
        target: "es2022",
        module: resolution === "bundler" ? "esnext" : "nodenext",
        moduleResolution: resolution,
        lib: ["es2023", "dom", "esnext.disposable"],
        types: [],
        strict: true,
        exactOptionalPropertyTypes: true,
        skipLibCheck: false,
        noEmit: true,
      };
      writeFileSync(join(project, "use.ts"), readFileSync(join(project, "use.txt")));
      const config = join(project, `tsconfig.${resolution}.json`);
      writeFileSync(config, JSON.stringify({ compilerOptions, files: ["use.ts"] }));
      expect(await printed(tool("tsc"), ["-p", config])).toBe("");
    });
  }
});

describe("a program that uses it", () => {
  let inNode: { saved: string; tagged: { label: string }[] };
  beforeAll(async () => {
    inNode = JSON.parse(await printed(process.execPath, ["host.js"], project));
  });

  test("gives the right answers in Node", () => {
    const right = { predicted: ["animal", "vehicle"], path: "wasm", product: [39], served: "plant" };
    expect(inNode).toMatchObject(right);
    expect(inNode.tagged[0]?.label).toBe("plant");
  });

  test("gives the same in Deno, by name and as npm:, and in Bun", async () => {
    const deno = ["run", "--allow-read", "--allow-env"];
    expect(JSON.parse(await printed(tool("deno"), [...deno, "host.js"], project))).toEqual(inNode);
    const named = withSpecifiers(project, "npm:");
    expect(JSON.parse(await printed(tool("deno"), [...deno, named], project))).toEqual(inNode);
    expect(JSON.parse(await printed(tool("bun"), ["host.js"], project))).toEqual(inNode);
  });

  test("gives the same in a page that Vite built, without a warning", { tags: "long" }, async () => {
    const out = join(folder, "vite");
    expect(await buildWithVite(project, out)).toBe("");
    expect(await answerOfPage(out)).toEqual(inNode);
  });

  test("gives the same in a page that esbuild built, without a warning", { tags: "long" }, async () => {
    const out = join(folder, "esbuild");
    expect(await buildWithEsbuild(project, out)).toEqual([]);
    expect(await answerOfPage(out)).toEqual(inNode);
  });
});

describe("the package for JSR", () => {
  test("has the version and the entries of the npm package", () => {
    const jsr = JSON.parse(readFileSync("deno.json", "utf8"));
    const npm = manifest(resolve("."));
    expect(jsr.version).toBe(npm.version);
    const scripts = Object.keys(npm.exports).filter((name) => !/\.(wasm|json)$/.test(name));
    expect(Object.keys(jsr.exports).sort()).toEqual([...scripts, "./cli"].sort());
  });

  test("passes a dry run of its publication", { tags: "long" }, async () => {
    const { out, err } = await execute(tool("deno"), ["publish", "--dry-run", "--allow-dirty"]);
    const said = out + err;
    // The packages webgpu, hyparquet (with its compressors), @orama/stemmers, n3, rdfxml-streaming-parser, yaml and koffi are optional, and looked for by name when the
    // program runs; so is a module that embeds texts.
    const warnings = [...said.matchAll(/^warning\[(.+?)\].*\n\s*--> (.*?):\d+/gm)].map(([, kind, path]) => [
      kind,
      path?.replace(`${process.cwd()}/`, ""),
    ]);
    const imports = [
      "src/backend/adapter.ts",
      "src/data/formats/parquet.ts",
      "src/data/names.ts",
      "src/data/stemmers.ts",
      "src/io/dataset.ts",
      "src/io/markdown.ts",
      "src/mpi/library.ts",
    ].map((path) => ["unanalyzable-dynamic-import", path]);
    const resolved = ["unanalyzable-import-meta-resolve", "src/data/formats/parquet.ts"];
    expect(warnings.sort()).toEqual([...imports, resolved]);
    for (const path of ["src/index.ts", "src/generated/core.ts", "LICENSE"]) expect(said).toContain(`/${path} (`);
    expect(said).not.toMatch(/\/(test|node_modules|dist)\//);
  });
});
