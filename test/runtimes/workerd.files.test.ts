// workerd: the module imported statically, one thread, the same digest. Nothing may be compiled from bytes there.

import { spawn } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { describe, expect, test } from "vitest";
import { expectedDigest } from "../support/digest.ts";

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

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as { port: number };
  await new Promise((done) => server.close(done));
  return port;
}

describe("workerd", () => {
  test("gives the recorded digest from a statically imported module", async () => {
    const folder = mkdtempSync(join(tmpdir(), "mlgpf-workerd-"));
    const port = await freePort();
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
    writeFileSync(
      join(folder, "config.capnp"),
      `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [ (name = "main", worker = .battery) ],
  sockets = [ (name = "http", address = "127.0.0.1:${port}", http = (), service = "main") ],
);
const battery :Workerd.Worker = (
  modules = [ (name = "worker.js", esModule = embed "worker.js"), (name = "./core.wasm", wasm = embed "core.wasm") ],
  compatibilityDate = "2026-01-01",
);
`,
    );
    const child = spawn("node_modules/.bin/workerd", ["serve", join(folder, "config.capnp")], {
      stdio: "inherit",
    });
    try {
      const answer = await firstAnswer(`http://127.0.0.1:${port}/`);
      expect(answer).toEqual({
        digest: expectedDigest,
        threads: 1,
        reason: "one thread: a compiled module was passed in",
      });
    } finally {
      child.kill();
      rmSync(folder, { recursive: true });
    }
  });
});

/** Asks until the server is up. */
async function firstAnswer(url: string): Promise<unknown> {
  for (let attempt = 0; ; attempt++) {
    try {
      const response = await fetch(url);
      if (!response.ok) throw new Error(await response.text());
      return await response.json();
    } catch (error) {
      if (attempt > 100) throw error;
      await new Promise((done) => setTimeout(done, 100));
    }
  }
}
