// Data sets from paths, folders and addresses.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test, vi } from "vitest";
import { type ReadSource, readBatches, readDataset } from "../../src/io/dataset.ts";
import { bytesFrom } from "../../src/io/source.ts";
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

async function loadFailure(source: string): Promise<string> {
  return await bytesFrom(source, "the model").then(
    () => "read",
    (error: Error) => error.message,
  );
}

/** A little while of real time. */
const tick = (): Promise<string> => new Promise((done) => setImmediate(() => done("tick")));

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
        `cannot read ${address}/other.jsonl: the answer is status 404`,
      );
    } finally {
      server.close();
    }
  });
  test("by an address with a password, which goes to the server and into no message", async () => {
    const seen: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      seen.push(request.headers.authorization);
      response.statusCode = request.url?.startsWith("/docs.jsonl") ? 200 : 403;
      response.end(LINES.replace('"labels":[1]', "nope"));
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const { port } = server.address() as AddressInfo;
    const secret = `http://me:p%C3%A9%40ss@127.0.0.1:${port}`;
    try {
      const broken = await failure(`${secret}/docs.jsonl?token=abc`);
      expect(broken).toContain(`http://127.0.0.1:${port}/docs.jsonl?..., line 2: found`);
      expect(await failure(`${secret}/none?token=abc`)).toBe(
        `cannot read http://127.0.0.1:${port}/none?...: the answer is status 403`,
      );
      const batches = readBatches(`${secret}/docs.jsonl?token=abc`)[Symbol.asyncIterator]();
      const said = await batches.next().then(String, (error: Error) => error.message);
      for (const message of [broken, said]) expect(message).not.toMatch(/me:|p%C3|pé|token|abc/);
      expect(seen).toEqual(Array(3).fill(`Basic ${Buffer.from("me:pé@ss").toString("base64")}`));
      await failure(`http://me:100%@127.0.0.1:${port}/docs.jsonl`);
      expect(seen.at(-1)).toBe(`Basic ${Buffer.from("me:100%").toString("base64")}`);
      const embed = `${secret}/embed.mjs?token=abc`;
      const refused = await readDataset([], { embed }).catch((error: Error) => error.message);
      expect(refused).toContain(`in http://127.0.0.1:${port}/embed.mjs?..., expected an ES module`);
      expect(refused).not.toMatch(/me:|p%C3|abc/);
    } finally {
      server.close();
    }
    server.closeAllConnections();
    await new Promise((done) => setTimeout(done, 50));
    // Nobody is there any more.
    const gone = `cannot read http://127.0.0.1:${port}/docs.jsonl: nobody answers there`;
    expect(await failure(`${secret}/docs.jsonl`)).toBe(gone);
    expect(await loadFailure(`${secret}/docs.jsonl`)).toBe(gone);
    expect(await failure("http://no.such.host.invalid/docs.jsonl")).toMatch(
      /^cannot read http:\/\/no\.such\.host\.invalid\/docs\.jsonl: (there is no such host|the name of the host)/,
    );
  });
  test.each([
    ["http://me:secret@[bad/x?token=secret", "cannot read http://[bad/x?...: it is no address"],
    ["http://me:secret@host:99999/x", "cannot read http://host:99999/x: it is no address"],
    ["ftp://me:secret@host/x", "cannot read ftp://host/x: there is no such file"],
    ["http:/me:secret@host/x?token=secret", "cannot read http:/host/x?...: there is no such file"],
  ])("by an address that is none: %s", async (address, said) => {
    expect(await failure(address)).toBe(said);
    expect(await loadFailure(address)).toBe(said);
  });
  test("by an address of which nothing comes, not at first or not any more, is given up", async () => {
    const server = createServer((request, response) => {
      if (request.url === "/half.jsonl") response.writeHead(200).write(LINES.slice(0, 50));
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      for (const name of ["none.jsonl", "half.jsonl"]) {
        const failed = failure(`${address}/${name}`);
        for (let waited = 0; waited < 40 && (await Promise.race([failed, tick()])) === "tick"; waited++)
          vi.advanceTimersByTime(2_000);
        expect(await failed).toBe(`cannot read ${address}/${name}: no answer for 30 s`);
      }
      const reading = readDataset(`${address}/none.jsonl`, { signal: AbortSignal.timeout(50) });
      await expect(reading).rejects.toThrow(/timeout|aborted/i);
    } finally {
      vi.useRealTimers();
      server.closeAllConnections();
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
      expect(dataset.ids).toEqual(["a", "b", "d1"]);
      expect(result.unlabelled).toBe(1);
      expect(dataset.vectoriser?.terms).toEqual(["café", "red", "wine"]);
      const names = plain(result).rows.map(({ labels }) => labels.map((id) => dataset.labelNames?.[id]));
      expect(names).toEqual([["http://a/1", "other"], ["http://a/1", "http://a/2"], ["http://a/2"]]);
      const all = await readDataset(path(""), { tfidf: wordsAlone, requireLabels: false });
      expect(all.dataset.ids).toEqual(["a", "b", "c", "d1"]);
      expect(Array.from(all.dataset.unlabelled ?? [])).toEqual([0, 0, 1, 0]);
    });
  });
  test("of strangers: links out of it, devices and pipes are refused", async () => {
    await inFolder(async (path) => {
      mkdirSync(path("texts"));
      writeFileSync(path("secret.txt"), "secret");
      writeFileSync(path("texts/a.txt"), "red wine");
      const links: [name: string, to: string, why: string][] = [
        ["b.txt", "../secret.txt", "it is a link out of its folder"],
        ["a.key", "/dev/zero", "it is not a plain file"],
        ["c.json", "../secret.txt", "it is a link out of its folder"],
      ];
      for (const [name, to, why] of links) {
        symlinkSync(to, path(`texts/${name}`));
        expect(await failure(path("texts"))).toBe(`cannot read ${path(`texts/${name}`)}: ${why}`);
        rmSync(path(`texts/${name}`));
      }
      symlinkSync("a.txt", path("texts/d.txt")); // one that stays inside
      execFileSync("mkfifo", [path("texts/pipe.md")]); // nobody asks for it
      const { dataset } = await readDataset(path("texts"), { tfidf: wordsAlone, requireLabels: false });
      expect(dataset.ids).toEqual(["a", "d"]);
      execFileSync("mkfifo", [path("texts/e.txt")]);
      expect(await failure(path("texts"))).toContain("e.txt: it is not a plain file");
    });
  });
  test("that has none", async () => {
    await inFolder(async (path) => {
      mkdirSync(path("empty"));
      expect(await failure(path("empty"))).toBe(
        `${path("empty")}: found a folder without texts, expected files *.txt, *.json or *.md`,
      );
      writeFileSync(path("empty/a.json"), "[]");
      expect(await failure(path("empty"))).toContain("a.json: found something else, expected a JSON object");
    });
  });
});
