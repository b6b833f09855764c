// The examples for servers and workers, each in its real runtime: one question, the library's answer.

import { copyFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import type { Prediction } from "../../src/edge/index.ts";
import { askProgram, bundle, freePort, inProject } from "./support.ts";

/** The same labels in the same order; probabilities within 1e-6. */
function expectSame(answer: unknown, expected: Prediction[]): void {
  const found = answer as Prediction[];
  expect(found.map(({ label }) => label)).toEqual(expected.map(({ label }) => label));
  expect(found.length).toBeGreaterThan(2);
  for (const [i, { probability }] of found.entries())
    expect(Math.abs(probability - (expected[i]?.probability as number))).toBeLessThan(1e-6);
}

const program = (name: string): string => resolve("node_modules/.bin", name);

describe("examples", () => {
  test("node-server", () =>
    inProject("node-server", async (folder, expected) => {
      const port = await freePort();
      const args = ["server.js", "tagger.bin", String(port)];
      expectSame(await askProgram(folder, port, "node", args), expected);
    }));

  test("deno-server", () =>
    inProject("deno-server", async (folder, expected) => {
      const port = await freePort();
      const args = ["run", "--allow-net", "--allow-read", "server.ts", "tagger.bin", String(port)];
      expectSame(await askProgram(folder, port, program("deno"), args), expected);
    }));

  test("worker, under workerd", () =>
    inProject("worker", async (folder, expected) => {
      const port = await freePort();
      await bundle(folder, {
        entryPoints: ["worker.ts"],
        outfile: "worker.js",
        format: "esm",
        external: ["*.wasm", "*.bin"],
      });
      copyFileSync("dist/edge.wasm", join(folder, "edge.wasm"));
      const args = ["serve", "worker.capnp", "--socket-addr", `http=127.0.0.1:${port}`];
      expectSame(await askProgram(folder, port, program("workerd"), args), expected);
    }));

  test("edge-function, under edge-runtime", () =>
    inProject("edge-function", async (folder, expected) => {
      const port = await freePort();
      await bundle(folder, {
        entryPoints: ["function.js"],
        outfile: "out.js",
        target: "es2022",
        loader: { ".bin": "binary" },
      });
      const args = [program("edge-runtime"), "--listen", "--port", String(port), "out.js"];
      expectSame(await askProgram(folder, port, "node", args), expected);
    }));
});
