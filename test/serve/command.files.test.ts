// The built `mlgpf serve` as a person meets it: run as a program of its own by the runtime that runs this test.

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { describe, expect, test } from "vitest";
import { modelToBytes } from "../../src/io/modelfile.ts";
import { loadModel } from "../../src/predict/load.ts";
import { tinyData, tinyTraining } from "../support/training.ts";

const own = "Deno" in globalThis ? [resolve("node_modules/.bin/deno"), "run", "-A"] : [process.execPath];

interface Program {
  child: ChildProcess;
  /** All that it has said so far. */
  said(): string;
  ended: Promise<number | null>;
}

/** Programs that a test has started and that may still run. */
const running = new Set<ChildProcess>();

function mlgpf(args: string[]): Program {
  const [program, ...before] = own as [string, ...string[]];
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
const signal = ({ child }: Program, name: "SIGINT" | "SIGTERM"): boolean =>
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
            expect(Math.abs(sd - (expected[row]?.[i]?.deviation as number))).toBeLessThan(1e-4);
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
      const head = `POST /predict HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n`;
      const begin = async (): Promise<{ finish(): void; answer: Promise<string> }> => {
        const socket = connect(port, "127.0.0.1");
        let text = "";
        socket.on("data", (chunk) => {
          text += chunk;
        });
        socket.on("error", () => {});
        socket.write(head + body.slice(0, 5));
        // The server has read it when a request after it was answered.
        await (await fetch(`http://127.0.0.1:${port}/health`)).text();
        return {
          finish: () => socket.write(body.slice(5)),
          answer: new Promise((done) => socket.once("close", () => done(text))),
        };
      };
      const first = await begin();
      signal(server, "SIGINT");
      while (!server.said().includes("stopping")) await new Promise((done) => setTimeout(done, 20));
      first.finish();
      expect(await first.answer).toMatch(/^HTTP\/1.1 200 [\s\S]*"labels"/);
      expect(await server.ended).toBe(0);
    }));

  test("a second signal ends at once", () =>
    withModel(async (path) => {
      const server = mlgpf(["serve", path, "--port", "0", "--timeout", "600"]);
      const port = Number(new URL(await address(server)).port);
      const socket = connect(port, "127.0.0.1");
      socket.on("error", () => {});
      socket.write("POST /predict HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{");
      await (await fetch(`http://127.0.0.1:${port}/health`)).text();
      signal(server, "SIGINT");
      while (!server.said().includes("stopping")) await new Promise((done) => setTimeout(done, 20));
      signal(server, "SIGINT");
      expect(await server.ended).toBe(130);
    }));

  test("has help", async () => {
    const program = mlgpf(["serve", "--help"]);
    expect(await program.ended).toBe(0);
    expect(program.said()).toMatch(/^mlgpf serve MODEL [\s\S]*Examples:[\s\S]*--max-queue N/);
  });

  test("what cannot be served is one sentence and an exit code", () =>
    withModel(async (path, folder) => {
      const busy = createServer();
      await new Promise<void>((done) => busy.listen(0, "127.0.0.1", done));
      const { port } = busy.address() as AddressInfo;
      const broken = join(folder, "broken.safetensors");
      writeFileSync(broken, "not a model");
      const cases: [args: string[], code: number, sentence: RegExp][] = [
        [
          [path, "--port", String(port)],
          1,
          new RegExp(`cannot listen on 127.0.0.1:${port}: the port is in use`),
        ],
        [[path, "--port", "70000"], 2, /--port: found 70000, expected a whole number from 0 to 65535/],
        [[path, "--max-body", "0"], 2, /--max-body: found 0/],
        [[], 2, /takes one model/],
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
