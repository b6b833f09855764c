// What Annif's http backend does with a service (annif/backend/http.py), over sockets: a form to the endpoint, results
// read from the answer; the endpoint without /suggest for what is known of the project. The endpoint is that of
// examples/annif/projects.cfg.

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { loadCompact } from "../../src/serve/models.ts";
import { listen } from "../../src/serve/node.ts";
import { Service } from "../../src/serve/service.ts";
import { QUESTION, smallTagger } from "../examples/support.ts";

/** A client in the words of Annif's. */
class HttpBackend {
  readonly #endpoint: string;

  constructor(endpoint: string) {
    this.#endpoint = endpoint;
  }

  async projectInfo(key: string): Promise<unknown> {
    const response = await fetch(this.#endpoint.replace("/suggest", ""), { headers: this.#headers });
    if (!response.ok) throw new Error(`HTTP request failed: ${response.status}`);
    return ((await response.json()) as Record<string, unknown>)[key];
  }

  async suggest(text: string, params: Record<string, string>): Promise<Map<string, number>> {
    const body = new URLSearchParams({ text, metadata_title: "a title", ...params });
    const response = await fetch(this.#endpoint, { method: "POST", body, headers: this.#headers });
    if (!response.ok) throw new Error(`HTTP request failed: ${response.status}`);
    const { results } = (await response.json()) as { results: { uri: string; score: number }[] };
    return new Map(results.filter(({ score }) => score > 0).map(({ uri, score }) => [uri, score]));
  }

  readonly #headers = { "user-agent": "Annif/1.4.0" };
}

describe("Annif's http backend", () => {
  test("finds a trained project and gets the model's labels and probabilities", async () => {
    const { bytes, expected } = await smallTagger();
    const modified = new Date("2026-02-03T04:05:06Z");
    const project = {
      id: "tagger",
      name: "Cats and boats",
      language: "en",
      model: { ...(await loadCompact(bytes)), modified },
    };
    const server = await listen(new Service([project], { hosts: [] }), { host: "127.0.0.1", port: 0 });
    try {
      const configured = /^endpoint=(.*)$/m.exec(readFileSync("examples/annif/projects.cfg", "utf8"))?.[1] as string;
      const backend = new HttpBackend(configured.replace("http://127.0.0.1:8080", server.url));
      expect(await backend.projectInfo("is_trained")).toBe(true);
      expect(new Date((await backend.projectInfo("modification_time")) as string)).toEqual(modified);
      const found = await backend.suggest(QUESTION, { limit: "100" });
      expect([...found.keys()].slice(0, expected.length)).toEqual(expected.map(({ label }) => label));
      for (const { label, probability } of expected)
        expect(Math.abs((found.get(label) as number) - probability)).toBeLessThan(1e-5);
      // The text of a whole book.
      const long = await backend.suggest(`${QUESTION} `.repeat(5000), { limit: "1" });
      expect(long.size).toBe(1);
    } finally {
      await server.stop();
    }
  });
});
