// The built `mlgpf serve --learn` as a program of its own, a small model for it, and what its clients send.

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { expect } from "vitest";
import { mlgpf } from "../cli/support.ts";

const folders: string[] = [];
const running = new Set<ChildProcess>();

/** Runs a test; what it started and wrote is gone afterwards. */
export const cleanly = (body: () => Promise<void>) => async (): Promise<void> => {
  try {
    await body();
  } finally {
    for (const child of running) child.kill("SIGKILL");
    running.clear();
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
  }
};

const SUBJECTS: Record<string, string> = {
  cats: "whiskers paw purr feline",
  ships: "harbour sail mast anchor",
  music: "violin chord melody rhythm",
};
export const names: string[] = Object.keys(SUBJECTS);
export const words: string[] = Object.values(SUBJECTS).join(" ").split(" ");

export function textOf(subject: string, i: number): string {
  const own = SUBJECTS[subject].split(" ");
  return `the ${own[i % 4]} and the ${own[(i >> 2) % 4]}`;
}

export interface Trained {
  folder: string;
  model: string;
  state: string;
}

/** A trained model of 48 documents with its state; labels may be called something else. */
export async function trained(labelOf: (subject: string) => unknown = (subject) => subject): Promise<Trained> {
  const folder = mkdtempSync(join(tmpdir(), "mlgpf-learning-"));
  folders.push(folder);
  const [data, model, state] = ["docs.jsonl", "tagger.model", "tagger.state"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const rows = Array.from({ length: 48 }, (_, i) => {
    const subject = names[i % 3];
    return JSON.stringify({ id: `t${i}`, text: textOf(subject, i), labels: [labelOf(subject)] });
  });
  writeFileSync(data, `${rows.join("\n")}\n`);
  const done = await mlgpf(["train", data, "--out", model, "--state", state]);
  expect(done.code, done.err).toBe(0);
  return { folder, model, state };
}

const own = "Deno" in globalThis ? [resolve("node_modules/.bin/deno"), "run", "-A"] : [process.execPath];

export interface Server {
  url: string;
  child: ChildProcess;
  ended: Promise<unknown>;
  /** All that it has said so far. */
  said(): string;
}

/** Starts a server; `before` is run in the same shell, for limits. */
export async function serve(args: string[], env: Record<string, string> = {}, before = ""): Promise<Server> {
  // Only Node takes a file that may not grow for an error: others are ended by a signal.
  const command = [...(before === "" ? own : ["node"]), resolve("dist/cli.js"), "serve", ...args, "--port", "0"];
  const [program, ...more] = before === "" ? command : ["sh", "-c", `${before}; exec "$@"`, "sh", ...command];
  const child = spawn(program, more, { env: { ...process.env, NO_COLOR: "1", ...env } });
  running.add(child);
  let said = "";
  const ended = new Promise((done) => child.once("close", done));
  const url = await new Promise<string>((found, failed) => {
    const take = (chunk: unknown): void => {
      said += chunk;
      const address = /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0];
      if (address !== undefined) found(address);
    };
    child.stdout?.on("data", take);
    child.stderr?.on("data", take);
    void ended.then(() => failed(new Error(said)));
  });
  return { url, child, ended, said: () => said };
}

export async function stop({ child, ended }: Server, signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<void> {
  process.kill(child.pid as number, signal);
  await ended;
  running.delete(child);
}

/** Sends something to a route of the project. */
export const post = (
  url: string,
  route: string,
  body: unknown,
  headers: Record<string, string> = {},
  id = "tagger",
): Promise<Response> =>
  fetch(`${url}/v1/projects/${id}/${route}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });

export const teach = (
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
  id = "tagger",
): Promise<Response> => post(url, "learn", body, headers, id);

/** The label that a text is said to be about first of all. */
export async function suggested(url: string, text: string): Promise<{ uri: string; label: string } | undefined> {
  const asked = await fetch(`${url}/v1/projects/tagger/suggest`, {
    method: "POST",
    body: new URLSearchParams({ text, limit: "1" }),
  });
  return ((await asked.json()) as { results: { uri: string; label: string }[] }).results[0];
}

export interface Standing {
  documents: number;
  learned: number;
  waiting: number;
  rejected: number;
  last: string | null;
  problem?: string;
}

export async function standing(url: string): Promise<Standing> {
  const about = (await (await fetch(`${url}/v1/projects/tagger`)).json()) as { learning: Standing };
  return about.learning;
}

/** Asks again until it is so. */
export async function until(url: string, isSo: (now: Standing) => boolean): Promise<Standing> {
  for (;;) {
    const now = await standing(url);
    if (isSo(now)) return now;
    await new Promise((done) => setTimeout(done, 20));
  }
}

/** Asks again until everything that was taken is learned. */
export const settled = (url: string): Promise<Standing> => until(url, ({ waiting }) => waiting === 0);

export const lesson = (id: string, subject = "cats", i = 0): Record<string, unknown> => ({
  document_id: id,
  text: textOf(subject, i),
  subjects: [{ label: subject }],
});
