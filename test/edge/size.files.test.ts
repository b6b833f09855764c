// What a bundle with mlgpf/edge weighs, and what is in it.

import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { describe, expect, test } from "vitest";

const MOST = 27_100;

async function bundled(from: string): Promise<{ text: string; files: string[]; gzip: number }> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: `export { load } from "${from}";`, resolveDir: ".", loader: "ts" },
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    metafile: true,
    write: false,
    logLevel: "error",
  });
  const text = outputFiles[0]?.text ?? "";
  return { text, files: Object.keys(metafile.inputs), gzip: gzipSync(text, { level: 9 }).length };
}

describe("a bundle that imports mlgpf/edge", () => {
  for (const from of ["./src/edge/index.ts", "mlgpf/edge"]) {
    test(`is below ${MOST} bytes of gzip: ${from}`, async () => {
      const { gzip, text } = await bundled(from);
      expect(text.length).toBeGreaterThan(MOST);
      expect(gzip).toBeLessThan(MOST);
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
    expect(text).not.toMatch(/\beval\(|new Function|WebAssembly\.(compile|Module\()|\bfetch\(|import\(|node:/);
    expect(text).toContain("WebAssembly.Instance");
  });

  test("goes with a module of a few kilobytes that imports nothing", async () => {
    const bytes = readFileSync("build/edge.wasm");
    expect(bytes.length).toBeLessThan(8000);
    expect(WebAssembly.Module.imports(await WebAssembly.compile(bytes))).toEqual([]);
  });
});
