// The built `mlgpf serve` as a person meets it: run as a program of its own by the runtime that runs this test, and by Bun
// where that is Node.

import { type ChildProcess, spawn } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { describe, expect, test } from "vitest";
import { load } from "../../src/edge/index.ts";
import { modelToBytes } from "../../src/model/file.ts";
import { loadModel } from "../../src/predict/load.ts";
import { QUESTION, smallTagger, subjects } from "../examples/support.ts";
import { tinyData, tinyTraining } from "../support/training.ts";

const inDeno = "Deno" in globalThis;
const runtimes: Record<string, string[]> = inDeno
  ? { Deno: [resolve("node_modules/.bin/deno"), "run", "-A"] }
  : { Node: [process.execPath], Bun: [resolve("node_modules/.bin/bun")] };
const own = Object.values(runtimes)[0];

interface Program {
  child: ChildProcess;
  /** All that it has said so far. */
  said(): string;
  ended: Promise<number | null>;
}

/** Programs that a test has started and that may still run. */
const running = new Set<ChildProcess>();

function mlgpf(args: string[], runtime = own): Program {
  const [program, ...before] = runtime as [string, ...string[]];
  const child = spawn(program, [...before, resolve("dist/cli.js"), ...args], {
    env: { ...process.env, NO_COLOR: "1" },
  });
  running.add(child);
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk) => {
      text += chunk;
    });
  return { child, said: () => text, ended: new Promise((done) => child.once("close", done)) };
}

/** Not child.kill(): after it Deno reports the signal whatever code the program ends with. */
const signal = ({ child }: Program, name: "SIGINT" | "SIGTERM" | "SIGHUP"): boolean =>
  process.kill(child.pid as number, name);

/** Waits for the address that the server announces. */
async function address({ child, said }: Program): Promise<string> {
  for (;;) {
    const found = /http:\/\/127\.0\.0\.1:\d+/.exec(said())?.[0];
    if (found !== undefined) return found;
    if (child.exitCode !== null) throw new Error(`the server ended: ${said()}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}

async function withModel(body: (path: string, folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "mlgpf-serve-"));
  try {
    const path = join(folder, "model.safetensors");
    writeFileSync(path, modelToBytes(await tinyTraining()));
    await body(path, folder);
  } finally {
    for (const child of running) if (child.exitCode === null) child.kill("SIGKILL");
    running.clear();
    rmSync(folder, { recursive: true });
  }
}

/** A row of the training data as a question. */
function question(row: number): { features: { indices: number[]; values: number[] } } {
  const { rowStart, columnIndex, values } = tinyData.features;
  const [from, to] = [rowStart[row], rowStart[row + 1]];
  return {
    features: {
      indices: Array.from(columnIndex.subarray(from, to)),
      values: Array.from(values.subarray(from, to)),
    },
  };
}

const head = (length: number): string =>
  `POST /predict HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;

const post = (url: string, body: unknown): Promise<Response> =>
  fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });

describe("mlgpf serve", () => {
  test("answers as the library does, and ends with 0 on Ctrl-C and on SIGTERM", () =>
    withModel(async (path) => {
      const rows = Array.from({ length: 20 }, (_, i) => i);
      const model = await loadModel(await tinyTraining(), { threads: 1 });
      const expected = (await model.predict(tinyData.features, { topK: 3 })).slice(0, rows.length);
      model.dispose();
      for (const name of ["SIGINT", "SIGTERM"] as const) {
        const server = mlgpf(["serve", path, "--port", "0"]);
        const url = await address(server);
        const top = await (
          await fetch(`${url}/predict?topK=3`, {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: JSON.stringify(rows.map(question)),
          })
        ).json();
        const { results } = top as {
          results: { labels: { label: string; probability: number; sd: number }[] }[];
        };
        results.forEach(({ labels }, row) => {
          expect(labels.map(({ label }) => label)).toEqual(expected[row]?.map(({ label }) => String(label)));
          labels.forEach(({ probability, sd }, i) => {
            expect(Math.abs(probability - (expected[row]?.[i]?.probability as number))).toBeLessThan(2e-6);
            expect(Math.abs(sd - (expected[row]?.[i]?.sd as number))).toBeLessThan(1e-4);
          });
        });
        signal(server, name);
        expect(await server.ended).toBe(0);
        expect(server.said()).not.toContain("    at ");
      }
    }));

  test("finishes a request that is under way when the signal comes", () =>
    withModel(async (path) => {
      const server = mlgpf(["serve", path, "--port", "0"]);
      const port = Number(new URL(await address(server)).port);
      const body = JSON.stringify(question(0));
      const begin = async (): Promise<{ finish(): void; answer: Promise<string> }> => {
        const socket = connect(port, "127.0.0.1");
        let text = "";
        socket.on("data", (chunk) => {
          text += chunk;
        });
        socket.on("error", () => {});
        socket.write(head(body.length) + body.slice(0, 5));
        // The server has read it when a request after it was answered.
        await (await fetch(`http://127.0.0.1:${port}/health`)).text();
        return {
          finish: () => socket.write(body.slice(5)),
          answer: new Promise((done) => socket.once("close", () => done(text))),
        };
      };
      const first = await begin();
      signal(server, "SIGINT");
      while (!server.said().includes("Stopping")) await new Promise((done) => setTimeout(done, 20));
      first.finish();
      expect(await first.answer).toMatch(/^HTTP\/1.1 200 [\s\S]*"labels"/);
      expect(await server.ended).toBe(0);
    }));

  for (const [name, runtime] of Object.entries(runtimes)) {
    test(`ends on SIGTERM whatever connections do, and says what it dropped: ${name}`, { tags: "long" }, () =>
      withModel(async (path) => {
        const limits = ["--timeout", "3", "--max-batch", "20000", "--max-answer", "1000000"];
        const server = mlgpf(["serve", path, "--port", "0", ...limits], runtime);
        const url = await address(server);
        const unread = JSON.stringify({ texts: new Array(20_000).fill({ features: {} }), threshold: 0 });
        const sockets = ["", "GET /hea", `${head(9)}{`, head(unread.length) + unread].map((text) => {
          const socket = connect(Number(new URL(url).port), "127.0.0.1");
          socket.on("error", () => {});
          socket.pause();
          socket.write(text);
          return socket;
        });
        const held = /mlgpf_held_bytes (\d+)/;
        for (let bytes = 0; bytes < 4e6; ) bytes = Number(held.exec(await (await fetch(`${url}/metrics`)).text())?.[1]);
        signal(server, "SIGTERM");
        expect(await server.ended).toBe(0);
        expect(server.said()).toMatch(/Stopped after 3 s: dropped [12] requests in flight/);
        for (const socket of sockets) socket.destroy();
      }),
    );

    test(`does large requests in a thread of their own, with the same answers: ${name}`, () =>
      withModel(async (path) => {
        const server = mlgpf(["serve", path, "--port", "0"], runtime);
        const url = await address(server);
        const ask = async (body: unknown): Promise<unknown> => {
          const response = await post(`${url}/predict?topK=3`, body);
          return response.status === 200 ? await response.json() : [response.status, await response.text()];
        };
        const one = (await ask(question(0))) as object;
        const many = (await ask(new Array(1000).fill(question(0)))) as { results: object[] };
        expect(many.results).toEqual(new Array(1000).fill(one));
        const wrong = [...new Array(900).fill(question(0)), { features: { indices: [1e6], values: [1] } }];
        expect(await ask(wrong)).toEqual([400, expect.stringContaining("input 900: input: found feature 1000000")]);
        expect(await ask("x".repeat(20_000))).toEqual([
          400,
          expect.stringContaining("found a text, expected features"),
        ]);
        const { results } = (await ask(new Array(500).fill(question(1)))) as { results: object[] };
        expect(results[499]).toEqual(await ask(question(1)));
        signal(server, "SIGTERM");
        expect(await server.ended).toBe(0);
      }));

    test(`reads its model again on SIGHUP, and loses no request: ${name}`, () =>
      withModel(async (path, folder) => {
        const served = join(folder, "served.bin");
        const model = await tinyTraining();
        const labelNames = Array.from({ length: model.schema.labels }, (_, i) => `new ${i}`);
        const renamed = { ...model, schema: { ...model.schema, labelNames } };
        copyFileSync(path, served);
        const server = mlgpf(["serve", served, "--port", "0"], runtime);
        const url = await address(server);
        const statuses = new Set<number>();
        /** The label that each client was last given ("" before its first answer), and how many answers there were. */
        const names = ["", "", "", ""];
        let answers = 0;
        let asking = true;
        const load = names.map(async (_, client) => {
          // The large ones of the first go through the other thread.
          const body = client === 0 ? new Array(300).fill(question(0)) : question(0);
          while (asking) {
            const response = await post(`${url}/predict?topK=1`, body);
            statuses.add(response.status);
            names[client] = /"label":"([^"]*)"/.exec(await response.text())?.[1] as string;
            answers++;
          }
        });
        const until = async (done: () => boolean): Promise<void> => {
          while (!done()) await new Promise((next) => setTimeout(next, 10));
        };
        const allNew = (): boolean => names.every((name) => name.startsWith("new "));
        await until(() => answers > 20 && !names.includes(""));
        expect(allNew()).toBe(false);
        writeFileSync(served, modelToBytes(renamed));
        signal(server, "SIGHUP");
        await until(() => server.said().includes("Reloaded "));
        await until(allNew);
        writeFileSync(served, "broken");
        signal(server, "SIGHUP");
        await until(() => server.said().includes("still serving the model as it was"));
        const before = answers;
        await until(() => answers > before + 20);
        asking = false;
        await Promise.all(load);
        expect([...statuses]).toEqual([200]);
        expect(allNew()).toBe(true);
        signal(server, "SIGTERM");
        expect(await server.ended).toBe(0);
      }));
  }

  test("allow and deny lists, a page's origin, other names", () =>
    withModel(async (path, folder) => {
      const [allow, deny] = [join(folder, "allow.txt"), join(folder, "deny.txt")];
      writeFileSync(allow, "1\n2\r\n\n3\nunknown\n");
      writeFileSync(deny, "2\n");
      const lists = ["--allow", allow, "--deny", deny];
      const doors = ["--cors", "https://page.example", "--allow-host", "tagger.example"];
      const server = mlgpf(["serve", path, "--port", "0", ...lists, ...doors]);
      const url = await address(server);
      for (const body of [question(0), new Array(300).fill(question(0))]) {
        const text = await (await post(`${url}/predict?threshold=0`, body)).text();
        const labels = new Set([...text.matchAll(/"label":"([^"]*)"/g)].map((match) => match[1]));
        expect([...labels].sort()).toEqual(["1", "3"]);
      }
      const page = await fetch(`${url}/health`, { headers: { origin: "https://page.example" } });
      expect(page.headers.get("access-control-allow-origin")).toBe("https://page.example");
      await page.text();
      const statusFor = async (host: string): Promise<string> => {
        const socket = connect(Number(new URL(url).port), "127.0.0.1");
        socket.write(`GET /health HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`);
        let text = "";
        for await (const chunk of socket) text += chunk;
        return text.slice(9, 12);
      };
      expect(await statusFor("tagger.example:99")).toBe("200");
      expect(await statusFor("other.example")).toBe("421");
      signal(server, "SIGTERM");
      expect(await server.ended).toBe(0);
    }));

  test("several models under their names, in Annif's shape, with names for their labels", () =>
    withModel(async (path, folder) => {
      const table = join(folder, "subjects.tsv");
      const { bytes } = await smallTagger();
      const small = join(folder, "small.bin");
      writeFileSync(small, bytes);
      writeFileSync(
        table,
        Object.keys(subjects)
          .map((name, i) => `http://example.org/${i}\t${name}`)
          .join("\n"),
      );
      const ids = ["--id", "first", "--id", "second", "--language", "fi", "--labels-file", table];
      const server = mlgpf(["serve", path, small, "--port", "0", ...ids]);
      const url = await address(server);
      expect(server.said()).toContain(`${path}: none of its labels is in the --labels-file (the first is 0)`);
      expect(server.said()).not.toContain(`${small}: none`);
      const { projects } = (await (await fetch(`${url}/v1/projects`)).json()) as {
        projects: { project_id: string; language: string; modification_time: string }[];
      };
      expect(projects.map(({ project_id, language }) => [project_id, language])).toEqual([
        ["first", "fi"],
        ["second", "fi"],
      ]);
      expect(Date.now() - Date.parse(projects[1]?.modification_time as string)).toBeLessThan(600_000);
      const names = Object.keys(subjects);
      const tagger = await load(bytes);
      // The long one goes through the other thread.
      for (const text of [QUESTION, `${QUESTION} `.repeat(2000)]) {
        const best = tagger.predict(text, { topK: 1 })[0]?.label as string;
        const response = await fetch(`${url}/v1/projects/second/suggest`, {
          method: "POST",
          body: new URLSearchParams({ text, limit: "1" }),
        });
        expect(await response.json()).toEqual({
          results: [
            {
              uri: `http://example.org/${names.indexOf(best)}`,
              label: best,
              notation: null,
              score: expect.any(Number),
            },
          ],
        });
      }
      expect((await post(`${url}/predict/first`, question(0))).status).toBe(200);
      expect((await post(`${url}/predict/second`, { text: QUESTION })).status).toBe(200);
      signal(server, "SIGTERM");
      expect(await server.ended).toBe(0);
    }));

  test("a second signal ends at once", () =>
    withModel(async (path) => {
      const server = mlgpf(["serve", path, "--port", "0", "--timeout", "600"]);
      const port = Number(new URL(await address(server)).port);
      const socket = connect(port, "127.0.0.1");
      socket.on("error", () => {});
      socket.write(`${head(9)}{`);
      await (await fetch(`http://127.0.0.1:${port}/health`)).text();
      signal(server, "SIGINT");
      while (!server.said().includes("Stopping")) await new Promise((done) => setTimeout(done, 20));
      signal(server, "SIGINT");
      expect(await server.ended).toBe(130);
    }));

  test("has help", async () => {
    const program = mlgpf(["serve", "--help"]);
    expect(await program.ended).toBe(0);
    expect(program.said()).toMatch(/^mlgpf serve MODEL [\s\S]*Examples:[\s\S]*--max-answer N/);
  });

  test("what cannot be served is one sentence and an exit code", () =>
    withModel(async (path, folder) => {
      const busy = createServer();
      await new Promise<void>((done) => busy.listen(0, "127.0.0.1", done));
      const { port } = busy.address() as AddressInfo;
      const broken = join(folder, "broken.safetensors");
      writeFileSync(broken, "not a model");
      const cases: [args: string[], code: number, sentence: RegExp][] = [
        [[path, "--port", String(port)], 1, new RegExp(`cannot listen on 127.0.0.1:${port}: the port is in use`)],
        [[path, "--port", "70000"], 2, /--port: found 70000, expected a whole number from 0 to 65535/],
        [[path, "--max-body", "0"], 2, /--max-body: found 0/],
        [[path, "--id", "a", "--id", "b"], 2, /--id: found 2 for 1 models, expected one for each/],
        [[path, path], 2, /--id: found two models called model/],
        [
          [path, "--labels-file", broken],
          1,
          /broken.safetensors, line 1: found "not a model", expected address, label/,
        ],
        [[path, "--deny", join(folder, "none")], 1, /there is no such file/],
        [[], 2, /takes MODEL \.\.\., found nothing/],
        [[join(folder, "none")], 1, /there is no such file/],
        [[broken], 1, /broken.safetensors: found/],
      ];
      for (const [args, code, sentence] of cases) {
        const program = mlgpf(["serve", ...args]);
        expect(await program.ended).toBe(code);
        expect(program.said()).toMatch(sentence);
        expect(program.said().trimEnd().split("\n").length).toBe(1);
      }
      busy.close();
    }));
});
