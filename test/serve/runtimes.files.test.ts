// One handler, and the runtimes that take a function from Request to Response: Deno.serve, Bun.serve, workerd.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { describe, expect, test } from "vitest";
import { askProgram, freePort, QUESTION, smallTagger } from "../examples/support.ts";

interface Host {
  /** The program, after the imports of `load` and `createHandler`. */
  source: (port: number) => string;
  command: string;
  args: string[];
}

const capnp = (port: number): string => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [ (name = "main", worker = .main) ],
  sockets = [ (name = "http", address = "127.0.0.1:${port}", http = (), service = "main") ],
);
const main :Workerd.Worker = (
  modules = [ (name = "main.js", esModule = embed "main.js"), (name = "./tagger.bin", data = embed "tagger.bin") ],
  compatibilityDate = "2026-01-01",
);
`;

const hosts: Record<string, Host> = {
  "Deno.serve": {
    source: (port) => `
      const handler = createHandler(await load(await Deno.readFile("tagger.bin")));
      Deno.serve({ port: ${port}, hostname: "127.0.0.1" }, handler);`,
    command: "deno",
    args: ["run", "--allow-net", "--allow-read", "main.js"],
  },
  "Bun.serve": {
    source: (port) => `
      const fetch = createHandler(await load(await Bun.file("tagger.bin").arrayBuffer()));
      Bun.serve({ port: ${port}, hostname: "127.0.0.1", fetch });`,
    command: "bun",
    args: ["main.js"],
  },
  workerd: {
    source: () => `
      import model from "./tagger.bin";
      const handler = load(model).then((tagger) => createHandler(tagger));
      export default { fetch: async (request) => (await handler)(request) };`,
    command: "workerd",
    args: ["serve", "config.capnp"],
  },
};

describe("createHandler", () => {
  for (const [name, { source, command, args }] of Object.entries(hosts)) {
    test(`under ${name}`, async () => {
      const folder = mkdtempSync(join(tmpdir(), "mlgpf-host-"));
      try {
        const port = await freePort();
        const { bytes, expected } = await smallTagger();
        writeFileSync(join(folder, "tagger.bin"), bytes);
        writeFileSync(join(folder, "config.capnp"), capnp(port));
        await build({
          stdin: {
            contents: `
              import { load } from "./src/edge/index.ts";
              import { createHandler } from "./src/serve/index.ts";
              ${source(port)}`,
            resolveDir: resolve("."),
          },
          outfile: join(folder, "main.js"),
          bundle: true,
          format: "esm",
          target: "es2022",
          external: ["*.bin"],
          logLevel: "error",
        });
        const answer = await askProgram(folder, port, resolve("node_modules/.bin", command), args, {
          path: "/predict",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ texts: [QUESTION, "", QUESTION], topK: 2 }),
        });
        const { results } = answer as { results: { labels: { label: string; probability: number }[] }[] };
        expect(results.length).toBe(3);
        expect(results[2]).toEqual(results[0]);
        expect(results[1]).not.toEqual(results[0]);
        results[0]?.labels.forEach(({ label, probability }, i) => {
          expect(label).toBe(expected[i]?.label);
          expect(Math.abs(probability - (expected[i]?.probability as number))).toBeLessThan(2e-6);
        });
      } finally {
        rmSync(folder, { recursive: true });
      }
    });
  }
});
