// workerd: the module imported statically, one thread, the same digest. Nothing may be compiled from bytes there.

import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { describe, expect, test } from "vitest";
import { expectedDigest } from "../support/digest.ts";
import { answerOfWorkerd } from "../support/workerd.ts";

const WORKER = `
import module from "./core.wasm";
import { createCore } from "../../src/core/index.ts";
import { batteryDigest } from "../support/battery.ts";
export default {
  async fetch() {
    const core = await createCore({ module });
    return Response.json({ digest: await batteryDigest(core), threads: core.threads, reason: core.threadsReason });
  },
};
`;

describe("workerd", () => {
  test("gives the recorded digest from a statically imported module", async () => {
    const folder = mkdtempSync(join(tmpdir(), "mlgpf-workerd-"));
    await build({
      stdin: { contents: WORKER, resolveDir: resolve("test/runtimes"), loader: "ts" },
      outfile: join(folder, "worker.js"),
      bundle: true,
      format: "esm",
      target: "es2022",
      external: ["./core.wasm", "node:*"],
      logLevel: "error",
    });
    mkdirSync(folder, { recursive: true });
    copyFileSync("build/core.wasm", join(folder, "core.wasm"));
    try {
      const answer = await answerOfWorkerd(folder, { "worker.js": "esModule", "./core.wasm": "wasm" });
      expect(answer).toEqual({
        digest: expectedDigest,
        threads: 1,
        reason: "one thread: a compiled module was passed in",
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
