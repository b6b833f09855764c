// Requests out of a grammar, over sockets: every one gets a whole answer of a known status, or the connection is closed;
// none is a fault of the server, none keeps it from answering others, and nothing is left behind.
// MLGPF_FUZZ=20000 plays more of them, MLGPF_FUZZ_SEED=1000000 others; bench/trust/server.ts plays a million.

import process from "node:process";
import { describe, expect, test } from "vitest";
import { loadCompact } from "../../src/serve/models.ts";
import { listen } from "../../src/serve/node.ts";
import { Service } from "../../src/serve/service.ts";
import { smallTagger } from "../examples/support.ts";
import { script } from "./grammar.ts";
import { stranger } from "./stranger.ts";

const COUNT = Number(process.env.MLGPF_FUZZ ?? 0) || 600;
const FIRST = Number(process.env.MLGPF_FUZZ_SEED ?? 1);
const AT_ONCE = 24;

describe("strangers", () => {
  test("are answered or cut off, and leave nothing behind", async () => {
    const { bytes } = await smallTagger();
    const project = { id: "tagger", name: "tagger", language: "en", model: await loadCompact(bytes) };
    const service = new Service([project], { hosts: [], limits: { seconds: 1, answerLabels: 1000 } });
    const server = await listen(service, { host: "127.0.0.1", port: 0 });
    const logged: unknown[] = [];
    const log = console.error;
    console.error = (error: unknown) => logged.push(error);
    const wrong: string[] = [];
    try {
      let next = FIRST;
      const client = async (): Promise<void> => {
        while (next < FIRST + COUNT) {
          const seed = next++;
          const fault = await stranger(Number(new URL(server.url).port), script(seed), 10_000);
          if (fault !== undefined) wrong.push(`seed ${seed}: ${fault}`);
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, client));
      expect(wrong).toEqual([]);
      expect(logged).toEqual([]);
      const response = await fetch(`${server.url}/predict`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: '{"text": "a lion"}',
      });
      expect(response.status).toBe(200);
      await response.text();
      const numbers = async (): Promise<string> => (await fetch(`${server.url}/metrics`)).text();
      while (!(await numbers()).includes("mlgpf_requests_in_flight 1\n"))
        await new Promise((done) => setTimeout(done, 20));
      expect(await numbers()).toMatch(/mlgpf_inputs_waiting 0\n[\s\S]*mlgpf_held_bytes 0\n/);
    } finally {
      console.error = log;
      await server.stop();
    }
  });
});
