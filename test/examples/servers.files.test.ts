// The examples for servers and workers, each in its real runtime: one question, the library's answer.

import { copyFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import type { Prediction } from "../../src/edge/index.ts";
import {
  askProgram,
  bundle,
  freePort,
  inProject,
  QUESTION,
  renamedTagger,
  smallTagger,
  withProgram,
} from "./support.ts";

/** The same labels in the same order; probabilities within 1e-6. */
function expectSame(answer: unknown, expected: Prediction[]): void {
  const found = answer as Prediction[];
  expect(found.map(({ label }) => label)).toEqual(expected.map(({ label }) => label));
  expect(found.length).toBeGreaterThan(2);
  for (const [i, { probability }] of found.entries())
    expect(Math.abs(probability - (expected[i]?.probability as number))).toBeLessThan(1e-6);
}

const program = (name: string): string => resolve("node_modules/.bin", name);

/** workerd for a Worker that fetches its model from this machine. */
const workerWithModelAt = (port: number): string => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [ (name = "tagger", worker = .tagger), (name = "internet", network = (allow = ["local"])) ],
  sockets = [ (name = "http", address = "127.0.0.1:8080", http = (), service = "tagger") ],
);
const tagger :Workerd.Worker = (
  modules = [
    (name = "worker.js", esModule = embed "worker.js"),
    (name = "mlgpf/edge.wasm", wasm = embed "edge.wasm"),
  ],
  bindings = [
    (name = "MODEL_URL", text = "http://127.0.0.1:${port}/tagger.bin"),
    (name = "CHECK_SECONDS", text = "0"),
  ],
  compatibilityDate = "2026-01-01",
);
`;

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

  test("worker-model, under workerd: another model takes over, and a broken one does not", () =>
    inProject("worker-model", async (folder, expected) => {
      const port = await freePort();
      const { bytes } = await smallTagger();
      let served = { etag: "1", bytes: bytes as Uint8Array };
      const models = createServer((request, response) => {
        response.writeHead(200, { etag: `"${served.etag}"`, "content-length": served.bytes.length });
        response.end(request.method === "HEAD" ? undefined : served.bytes);
      });
      await new Promise<void>((done) => models.listen(0, "127.0.0.1", done));
      const { port: modelPort } = models.address() as AddressInfo;
      try {
        await bundle(folder, {
          entryPoints: ["worker.ts"],
          outfile: "worker.js",
          format: "esm",
          external: ["*.wasm"],
        });
        copyFileSync("dist/edge.wasm", join(folder, "edge.wasm"));
        writeFileSync(join(folder, "worker.capnp"), workerWithModelAt(modelPort));
        const args = ["serve", "worker.capnp", "--socket-addr", `http=127.0.0.1:${port}`];
        await withProgram(folder, port, program("workerd"), args, async (ask) => {
          expectSame(await ask(), expected);
          const renamed = await renamedTagger();
          served = { etag: "2", bytes: renamed };
          const first = async (): Promise<string> => ((await ask()) as Prediction[])[0]?.label ?? "";
          for (let label = await first(); !label.startsWith("new "); ) label = await first();
          served = { etag: "3", bytes: Uint8Array.of(1, 2, 3) };
          for (let i = 0; i < 3; i++) expect(await first()).toMatch(/^new /);
        });
      } finally {
        models.closeAllConnections();
        models.close();
      }
    }));

  test("worker-model, with a bucket and with a key-value store", () =>
    inProject("worker-model", async (folder, expected) => {
      await bundle(folder, { entryPoints: ["model.ts"], outfile: "model.mjs", format: "esm" });
      const { bytes } = await smallTagger();
      const renamed = await renamedTagger();
      let served: { version: number; bytes: Uint8Array } | undefined;
      const stream = (): ReadableStream<Uint8Array> => new Blob([served?.bytes as BlobPart]).stream();
      const bucket = {
        head: async () => served && { httpEtag: String(served.version) },
        get: async () => served && { body: stream() },
      };
      const store = {
        list: async () => ({
          keys: served
            ? [{ name: "tagger.bin.old" }, { name: "tagger.bin", metadata: { version: served.version } }]
            : [],
        }),
        get: async () => (served ? stream() : null),
      };
      for (const [i, binding] of [{ MODELS: bucket }, { MODELS_KV: store }].entries()) {
        const { tagger } = await import(`${pathToFileURL(join(folder, "model.mjs")).href}?${i}`);
        const work: Promise<unknown>[] = [];
        const env = { ...binding, CHECK_SECONDS: "0" };
        const ask = async (): Promise<Prediction[]> =>
          (await tagger(env, (each: Promise<unknown>) => work.push(each))).predict(QUESTION);
        served = undefined;
        await expect(ask()).rejects.toThrow("expected a model made by mlgpf compact");
        served = { version: 1, bytes };
        expectSame(await ask(), expected);
        served = { version: 2, bytes: renamed };
        expectSame(await ask(), expected);
        await Promise.all(work);
        expect((await ask())[0]?.label).toMatch(/^new /);
      }
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
