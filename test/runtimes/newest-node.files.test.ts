// The newest Node: modules by `import source`, and relaxed SIMD.
// @module-tag long

import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newestNodePath } from "../../scripts/machine.ts";

const program = `
import source module from "./dist/core.wasm";
import { createCore, hasRelaxedSimd, matrixFrom, matrix, gemm } from "./dist/core.js";

async function square(options) {
  const core = await createCore(options);
  const a = matrixFrom(core, 2, 2, [1, 2, 3, 4], "f64");
  const out = matrix(core, 2, 2, "f64");
  gemm(a, a, out);
  return { relaxed: core.relaxed, values: [...out.toArray()] };
}

console.log(JSON.stringify({
  source: await square({ module }),
  relaxed: hasRelaxedSimd() && (await square({ relaxed: true, threads: 1 })),
}));
`;

test("import source and relaxed SIMD", () => {
  const folder = mkdtempSync(join(tmpdir(), "mlgpf-newest-"));
  try {
    cpSync("dist", join(folder, "dist"), { recursive: true });
    writeFileSync(join(folder, "program.mjs"), program);
    const { stdout, stderr, status } = spawnSync(newestNodePath, ["program.mjs"], {
      cwd: folder,
      encoding: "utf8",
    });
    expect(status, stderr).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      source: { relaxed: false, values: [7, 10, 15, 22] },
      relaxed: { relaxed: true, values: [7, 10, 15, 22] },
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
