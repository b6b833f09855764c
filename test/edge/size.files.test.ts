// The size and the contents of a bundle with mlgpf/edge.

import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { describe, expect, test } from "vitest";

/** Bytes of gzip that come with the import, and with every chunk that some models need. */
const [AT_START, IN_ALL] = [17_500, 31_700];

/** The bytes that an import of `load` brings at the start, and the chunks that load() asks for, each file by itself. */
async function bundled(from: string): Promise<{ text: string; files: string[]; start: number; all: number }> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: `export { load } from "${from}";`, resolveDir: ".", loader: "ts" },
    outdir: "out",
    entryNames: "entry",
    bundle: true,
    splitting: true,
    minify: true,
    format: "esm",
    target: "es2022",
    metafile: true,
    write: false,
    logLevel: "error",
  });
  const first = new Set(["out/entry.js"]);
  for (const name of first)
    for (const { path, kind } of metafile.outputs[name]?.imports ?? [])
      if (kind === "import-statement") first.add(path);
  let [start, all] = [0, 0];
  for (const { path, contents } of outputFiles) {
    const { length } = gzipSync(contents, { level: 9 });
    all += length;
    if (first.has(path.slice(path.lastIndexOf("out/")))) start += length;
  }
  const text = outputFiles.map((file) => file.text).join("\n");
  return { text, files: Object.keys(metafile.inputs), start, all };
}

describe("a bundle that imports mlgpf/edge", () => {
  for (const from of ["./src/edge/index.ts", "mlgpf/edge"]) {
    test(`is below ${AT_START} bytes of gzip at the start and ${IN_ALL} in all: ${from}`, async () => {
      const { start, all, text } = await bundled(from);
      expect(text.length).toBeGreaterThan(AT_START);
      expect(start).toBeGreaterThan(10_000);
      expect(start).toBeLessThan(AT_START);
      expect(all).toBeGreaterThan(start);
      expect(all).toBeLessThan(IN_ALL);
    });
  }

  test("has nothing of training, of the devices or of the numeric core's module in it", async () => {
    const { files } = await bundled("./src/edge/index.ts");
    expect(files).toContain("src/edge/tagger.ts");
    expect(
      files.filter((file) => /^src\/(train|backend|generated|model(?!\/kernels)|compact|predict|cli)\//.test(file)),
    ).toEqual([]);
    expect(files.filter((file) => /node_modules|^node:|\.wgsl$/.test(file))).toEqual([]);
  });

  test("compiles nothing, fetches nothing and reads no file", async () => {
    const { text } = await bundled("./src/edge/index.ts");
    expect(text).not.toMatch(/\beval\(|new Function|WebAssembly\.(compile|Module\()|\bfetch\(|node:/);
    for (const [, asked] of text.matchAll(/\bimport\(([^)]*)\)/g)) expect(asked).toMatch(/^"\.\/[\w-]+\.js"$/); // its own chunks
    expect(text).toContain("WebAssembly.Instance");
  });

  test("goes with a module of a few kilobytes that imports nothing", async () => {
    const bytes = readFileSync("build/edge.wasm");
    expect(bytes.length).toBeLessThan(8000);
    expect(WebAssembly.Module.imports(await WebAssembly.compile(bytes))).toEqual([]);
  });
});
