// The declarations, held to what strict users have: every library checked, none of the browser's; and the source, imported
// by Deno from outside.

import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";

const run = promisify(execFile);
const program = (name: string): string => resolve("node_modules/.bin", name);

const USE = `import { evaluate, loadModel, readDataset, report, saveModel, train } from "mlgpf";
import { createCore } from "mlgpf/core";
import { load } from "mlgpf/edge";
import wasm from "mlgpf/edge.wasm";
import { createHandler } from "mlgpf/serve";
export const all = [evaluate, loadModel, readDataset, report, saveModel, train, createCore, load, wasm, createHandler];
`;

async function inFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "mlgpf-types-"));
  try {
    await body(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe("declarations", () => {
  const cases: [lib: string[], types: string[], moduleResolution: string][] = [
    [["es2022"], ["node"], "nodenext"],
    [["es2022"], ["node"], "bundler"],
    [["es2023", "dom", "esnext.disposable"], [], "bundler"],
    [["es2022", "dom"], ["node"], "nodenext"],
  ];
  test.each(cases)("have no error with lib %s, types %s, %s", (lib, types, moduleResolution) =>
    inFolder(async (folder) => {
      mkdirSync(join(folder, "node_modules"));
      symlinkSync(resolve("."), join(folder, "node_modules/mlgpf"));
      writeFileSync(join(folder, "use.ts"), USE);
      const compilerOptions = {
        strict: true,
        noEmit: true,
        skipLibCheck: false,
        exactOptionalPropertyTypes: true,
        target: "es2022",
        lib,
        types,
        module: moduleResolution === "bundler" ? "esnext" : moduleResolution,
        moduleResolution,
        typeRoots: [resolve("node_modules/@types")],
        preserveSymlinks: true,
      };
      writeFileSync(join(folder, "package.json"), '{"type": "module"}');
      writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["use.ts"] }));
      const { stdout } = await run(program("tsc"), ["-p", "."], { cwd: folder }).catch((error) => error);
      expect(stdout).toBe("");
    }),
  );
});

test("the source has no error for who imports it in Deno from outside", { tags: "long" }, () =>
  inFolder(async (folder) => {
    const entries = ["index", "edge/index", "serve/index", "core/index"];
    const text = entries.map((entry) => `export * from ${JSON.stringify(resolve(`src/${entry}.ts`))};`).join("\n");
    const files = entries.map((_, i) => join(folder, `use${i}.ts`));
    for (const [i, file] of files.entries()) writeFileSync(file, text.split("\n")[i]);
    const { stderr } = await run(program("deno"), ["check", "--quiet", ...files], {
      cwd: folder,
      env: { ...process.env, NO_COLOR: "1" },
    }).catch((error) => error);
    expect(stderr).toBe("");
  }),
);
