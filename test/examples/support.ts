// What the examples are tested with: a small tagger, a port, and a way to wait for a server.

import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type BuildOptions, build } from "esbuild";
import { compactModel } from "../../src/compact/index.ts";
import { readDataset } from "../../src/data/reader.ts";
import { load, type Prediction } from "../../src/edge/index.ts";
import type { Model } from "../../src/model/model.ts";
import { train } from "../../src/train/train.ts";

/** Labels of the small tagger, and the words of each. */
export const subjects: Record<string, string[]> = {
  cats: ["cat", "whiskers", "purr", "paw", "lion"],
  boats: ["boat", "sail", "harbour", "anchor", "sea"],
  bread: ["flour", "oven", "loaf", "yeast", "crust"],
  music: ["violin", "melody", "chord", "choir", "song"],
};

/** Texts about one or two subjects. */
export function documents(): string {
  const names = Object.keys(subjects);
  const lines: string[] = [];
  for (let i = 0; i < 160; i++) {
    const labels = [...new Set([names[i % 4], names[(i + (i >> 2)) % 4]])];
    const words = labels.flatMap((label, j) => [0, 1, 2].map((w) => subjects[label]?.[(i + w * (j + 1)) % 5]));
    lines.push(JSON.stringify({ text: `the ${words.join(" and the ")}`, labels }));
  }
  return lines.join("\n");
}

export const QUESTION = "a lion with a paw on the anchor of a boat";

interface SmallTagger {
  /** A compact model. */
  bytes: Uint8Array<ArrayBuffer>;
  /** What the library says to the question. */
  expected: Prediction[];
}

let made: Promise<SmallTagger> | undefined;

/** A tagger that is trained in a moment, once. */
export function smallTagger(): Promise<SmallTagger> {
  made ??= makeTagger();
  return made;
}

let trained: Promise<Model> | undefined;

function smallModel(): Promise<Model> {
  trained ??= readDataset(new Blob([documents()]), { format: "jsonl" }).then(({ dataset }) =>
    train(dataset, { threads: 1, factors: 4, inducingPoints: 8, rank: 8, batch: 40, epochs: 20 }),
  );
  return trained;
}

async function makeTagger(): Promise<SmallTagger> {
  const bytes = await compactModel(await smallModel());
  return { bytes, expected: (await load(bytes)).predict(QUESTION) };
}

/** The same tagger with "new " before the name of each label. */
export async function renamedTagger(): Promise<Uint8Array<ArrayBuffer>> {
  const model = await smallModel();
  const labelNames = (model.schema.labelNames ?? []).map((name) => `new ${name}`);
  return await compactModel({ ...model, schema: { ...model.schema, labelNames } });
}

/** Runs the body in a project of its own: the example, the package as a user has it, and a tagger. */
export async function inProject(
  example: string,
  body: (folder: string, expected: Prediction[]) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "mlgpf-example-"));
  try {
    cpSync(join("examples", example), folder, { recursive: true });
    mkdirSync(join(folder, "node_modules"));
    symlinkSync(resolve("."), join(folder, "node_modules/mlgpf"));
    writeFileSync(join(folder, "package.json"), '{"type": "module", "dependencies": {"mlgpf": "*"}}');
    const { bytes, expected } = await smallTagger();
    writeFileSync(join(folder, "tagger.bin"), bytes);
    await body(folder, expected);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Runs esbuild in a project. */
export async function bundle(folder: string, options: BuildOptions): Promise<void> {
  await build({ absWorkingDir: folder, bundle: true, logLevel: "error", ...options });
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as { port: number };
  await new Promise((done) => server.close(done));
  return port;
}

/** Asks until the server is there. */
async function answerOf(url: string, question: RequestInit, child: ChildProcess): Promise<unknown> {
  for (let attempt = 0; ; attempt++) {
    try {
      const response = await fetch(url, { method: "POST", ...question });
      if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
      return await response.json();
    } catch (error) {
      if (attempt > 100 || child.exitCode !== null) throw error;
      await new Promise((done) => setTimeout(done, 100));
    }
  }
}

type Question = RequestInit & { path?: string };

/** Starts a program in a folder, does some work that asks it at that port, and ends it. */
export async function withProgram<T>(
  folder: string,
  port: number,
  command: string,
  args: string[],
  work: (ask: (question?: Question) => Promise<unknown>) => Promise<T>,
): Promise<T> {
  const child = spawn(command, args, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  try {
    return await work(({ path = "/", ...question } = { body: QUESTION }) =>
      answerOf(`http://127.0.0.1:${port}${path}`, question, child),
    );
  } finally {
    child.kill();
  }
}

/** Starts a program in a folder, asks it a question at that port, and ends it. */
export function askProgram(
  folder: string,
  port: number,
  command: string,
  args: string[],
  question?: Question,
): Promise<unknown> {
  return withProgram(folder, port, command, args, (ask) => ask(question));
}
