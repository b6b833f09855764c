// Data sets from paths, folders and addresses.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { type ReadSource, readBatches, readDataset } from "../../src/io/dataset.ts";
import { plain, wordsAlone } from "../data/support.ts";

const LINES = '{"id":"x","features":[1,2],"labels":[0]}\n{"id":"y","features":[0,3],"labels":[1]}\n';

async function inFolder(body: (path: (name: string) => string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "mlgpf-data-"));
  try {
    await body((name) => join(folder, name));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function failure(source: ReadSource): Promise<string> {
  return await readDataset(source).then(
    () => "read",
    (error: Error) => error.message,
  );
}

describe("a data set", () => {
  test("by its path, as a text or a URL; the data themselves; rows", async () => {
    await inFolder(async (path) => {
      writeFileSync(path("docs.jsonl"), LINES);
      const expected = await readDataset(new Blob([LINES]));
      const rows = LINES.trim()
        .split("\n")
        .map((line) => JSON.parse(line));
      for (const source of [path("docs.jsonl"), pathToFileURL(path("docs.jsonl")), LINES, rows]) {
        const { dataset } = await readDataset(source);
        expect(dataset.features).toEqual(expected.dataset.features);
        expect(dataset.ids).toEqual(["x", "y"]);
      }
      const seen: (number | undefined)[] = [];
      const { dataset } = await readDataset(path("docs.jsonl"), {
        onProgress: ({ total }) => seen.push(total),
      });
      expect(dataset.source?.file).toBe(path("docs.jsonl"));
      expect(seen).toEqual([LINES.length]);
      let read = 0;
      for await (const { features } of readBatches(path("docs.jsonl"))) read += features.rows;
      expect(read).toBe(2);
    });
  });
  test("that is not there", async () => {
    await inFolder(async (path) => {
      const missing = `cannot read ${path("docs.jsonl")}: there is no such file`;
      expect(await failure(path("docs.jsonl"))).toBe(missing);
      const batches = readBatches(path("docs.jsonl"))[Symbol.asyncIterator]();
      await expect(batches.next()).rejects.toThrow(missing);
    });
  });
  test("by its address", async () => {
    const server = createServer((request, response) => {
      response.statusCode = request.url === "/docs.jsonl" ? 200 : 404;
      response.end(request.url === "/docs.jsonl" ? LINES : "nothing");
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      expect((await readDataset(`${address}/docs.jsonl`)).dataset.ids).toEqual(["x", "y"]);
      expect((await readDataset(new URL("docs.jsonl", address))).dataset.ids).toEqual(["x", "y"]);
      expect(await failure(`${address}/other.jsonl`)).toBe(
        `${address}/other.jsonl: found status 404, expected a file at this address`,
      );
    } finally {
      server.close();
    }
  });
});

describe("a folder of texts", () => {
  test("with subjects beside them", async () => {
    await inFolder(async (path) => {
      const files: Record<string, string | Uint8Array> = {
        "b.txt": "\ufeffred wine",
        "b.tsv": "<http://a/1>\tred\n\n<http://a/2>\twine\r\n",
        "a.txt": Uint8Array.from("caf\xe9 wine", (each) => each.charCodeAt(0)),
        "a.key": "http://a/1\nother\n",
        "c.txt": "white wine",
        "d.json": JSON.stringify({ document_id: "d1", text: "red", subjects: [{ uri: "http://a/2" }] }),
        "notes.md": "not a text",
      };
      for (const [name, content] of Object.entries(files)) writeFileSync(path(name), content);
      const result = await readDataset(path(""), { tfidf: wordsAlone });
      const { dataset } = result;
      expect(dataset.ids).toEqual(["a", "b", "c", "d1"]);
      expect(dataset.vectoriser?.terms).toEqual(["café", "red", "white", "wine"]);
      const names = plain(result).rows.map(({ labels }) => labels.map((id) => dataset.labelNames?.[id]));
      expect(names).toEqual([["http://a/1", "other"], ["http://a/1", "http://a/2"], [], ["http://a/2"]]);
    });
  });
  test("that has none", async () => {
    await inFolder(async (path) => {
      mkdirSync(path("empty"));
      expect(await failure(path("empty"))).toBe(
        `${path("empty")}: found a folder without texts, expected files *.txt or *.json`,
      );
      writeFileSync(path("empty/a.json"), "[]");
      expect(await failure(path("empty"))).toContain("a.json: found something else, expected a JSON object");
    });
  });
});
