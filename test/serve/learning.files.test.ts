// A server that learns: what it took is never lost and never learned twice, whenever it is killed; who may teach; what is
// refused.

import { type ChildProcess, spawn } from "node:child_process";
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { describe, expect, test } from "vitest";
import { stateFromBytes } from "../../src/closed/state.ts";
import { Journal } from "../../src/serve/learning/journal.ts";
import { mlgpf } from "../cli/support.ts";

const folders: string[] = [];
const running = new Set<ChildProcess>();

/** Runs a test; what it started and wrote is gone afterwards. */
const cleanly = (body: () => Promise<void>) => async (): Promise<void> => {
  try {
    await body();
  } finally {
    for (const child of running) child.kill("SIGKILL");
    running.clear();
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
  }
};

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "mlgpf-learning-"));
  folders.push(folder);
  return folder;
}

const SUBJECTS: Record<string, string> = {
  cats: "whiskers paw purr feline",
  ships: "harbour sail mast anchor",
  music: "violin chord melody rhythm",
};
const names = Object.keys(SUBJECTS);

function textOf(subject: string, i: number): string {
  const words = (SUBJECTS[subject] as string).split(" ");
  return `the ${words[i % 4]} and the ${words[(i >> 2) % 4]}`;
}

/** A trained model with its state. */
async function trained(): Promise<{ folder: string; model: string; state: string }> {
  const folder = newFolder();
  const [data, model, state] = ["docs.jsonl", "tagger.model", "tagger.state"].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  const rows = Array.from({ length: 48 }, (_, i) => {
    const subject = names[i % 3] as string;
    return JSON.stringify({ id: `t${i}`, text: textOf(subject, i), labels: [subject] });
  });
  writeFileSync(data, `${rows.join("\n")}\n`);
  const done = await mlgpf(["train", data, "--out", model, "--state", state]);
  expect(done.code, done.err).toBe(0);
  return { folder, model, state };
}

const own = "Deno" in globalThis ? [resolve("node_modules/.bin/deno"), "run", "-A"] : [process.execPath];

interface Server {
  url: string;
  child: ChildProcess;
  ended: Promise<unknown>;
}

async function serve(args: string[], env: Record<string, string> = {}): Promise<Server> {
  const [program, ...before] = own as [string, ...string[]];
  const child = spawn(program, [...before, resolve("dist/cli.js"), "serve", ...args, "--port", "0"], {
    env: { ...process.env, NO_COLOR: "1", ...env },
  });
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
  return { url, child, ended };
}

async function stop({ child, ended }: Server, signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<void> {
  process.kill(child.pid as number, signal);
  await ended;
  running.delete(child);
}

const teach = (
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
  id = "tagger",
): Promise<Response> =>
  fetch(`${url}/v1/projects/${id}/learn`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });

interface Standing {
  documents: number;
  learned: number;
  waiting: number;
  last: string | null;
}

async function standing(url: string): Promise<Standing> {
  const about = (await (await fetch(`${url}/v1/projects/tagger`)).json()) as { learning: Standing };
  return about.learning;
}

/** Asks again until everything that was taken is learned. */
async function settled(url: string): Promise<Standing> {
  for (;;) {
    const now = await standing(url);
    if (now.waiting === 0) return now;
  }
}

const lesson = (id: string, subject = "cats", i = 0) => ({
  document_id: id,
  text: textOf(subject, i),
  subjects: [{ label: subject }],
});

describe("mlgpf serve --learn", () => {
  test(
    "learns what it is sent, corrections and new labels too, and writes it when it ends",
    cleanly(async () => {
      const { model, state } = await trained();
      const server = await serve([model, "--learn", state]);
      const { url } = server;
      expect(await standing(url)).toMatchObject({ documents: 48, learned: 0, last: null });
      // What one process learns no other may write over.
      writeFileSync(`${state}.more`, `{"id":"x","text":"the paw","labels":["cats"]}\n`);
      for (const args of [
        ["serve", model, "--learn", state, "--port", "0"],
        ["learn", model, `${state}.more`, "--state", state, "--format", "jsonl"],
      ]) {
        const other = await mlgpf(args);
        expect(other.code).toBe(1);
        expect(other.err).toMatch(/process \d+ is learning with it/);
      }
      // All of the texts about sails are about regattas, it is now said; one of them was known.
      const sails = Array.from({ length: 12 }, (_, i) => ({
        document_id: i === 0 ? "t1" : `new ${i}`,
        text: "the sail and the sail",
        subjects: [{ uri: "http://example.org/regatta" }],
      }));
      expect((await teach(url, sails)).status).toBe(204);
      const now = await settled(url);
      expect(now).toMatchObject({ documents: 59, learned: 12, waiting: 0 });
      expect(Number.isNaN(Date.parse(now.last as string))).toBe(false);
      const asked = await fetch(`${url}/v1/projects/tagger/suggest`, {
        method: "POST",
        body: new URLSearchParams({ text: "the sail and the sail", limit: "1" }),
      });
      const { results } = (await asked.json()) as { results: { uri: string }[] };
      expect(results[0]?.uri).toBe("http://example.org/regatta");
      await stop(server);
      const { documents } = stateFromBytes(readFileSync(state));
      expect(documents?.ids.length).toBe(59);
      expect(readFileSync(`${state}.journal`, "utf8")).toBe("");
    }),
  );

  test(
    "the newest model answers after each of many lessons; on Linux learning steps back behind those who ask",
    cleanly(async () => {
      const { model, state } = await trained();
      const server = await serve([model, "--learn", state]);
      const { url } = server;
      for (const name of ["first", "second", "third", "fourth"]) {
        const lesson = Array.from({ length: 30 }, (_, i) => ({
          document_id: `${name} ${i}`,
          text: `the mast and the ${name}`,
          subjects: [{ label: name }],
        }));
        expect((await teach(url, lesson)).status).toBe(204);
        await settled(url);
        // Many at once, while the threads have just taken turns.
        const answers = Array.from({ length: 8 }, async () => {
          const asked = await fetch(`${url}/v1/projects/tagger/suggest`, {
            method: "POST",
            body: new URLSearchParams({ text: `the mast and the ${name}`, limit: "1" }),
          });
          return ((await asked.json()) as { results: { label: string }[] }).results[0]?.label;
        });
        expect(new Set(await Promise.all(answers))).toEqual(new Set([name]));
      }
      if (process.platform === "linux") {
        const tasks = `/proc/${server.child.pid}/task`;
        // Behind the name in brackets the nineteenth of all fields is how nice the thread is.
        const nice = (task: string): number =>
          Number(readFileSync(`${tasks}/${task}/stat`, "utf8").split(") ")[1]?.split(" ")[16]);
        const all = readdirSync(tasks).map(nice);
        const usual = nice(String(server.child.pid));
        expect(all.some((each) => each > usual)).toBe(true);
        expect(all.filter((each) => each === usual).length).toBeGreaterThan(2);
      }
      await stop(server);
    }),
  );

  test(
    "loses nothing that it took, and learns nothing twice, however it is killed",
    cleanly(async () => {
      const { model, state } = await trained();
      const taken: string[] = [];
      let number = 0;
      for (let round = 0; round < 4; round++) {
        const server = await serve([model, "--learn", state]);
        expect((await standing(server.url)).documents).toBe(48 + taken.length);
        // The kill comes while one of these is under way: after an answer, before the next.
        for (let i = 0; i < 3 + round; i++) {
          const first = lesson(`k${number++}`, names[number % 3], number);
          const { document_id: _, ...nameless } = lesson("", names[number % 3], number + 1);
          expect((await teach(server.url, [first, nameless])).status).toBe(204);
          taken.push(first.document_id, "");
          if (round % 2 === 1 && i === 1) await settled(server.url);
        }
        await stop(server, "SIGKILL");
      }
      // Half a line, as a crash in the middle of writing leaves it.
      appendFileSync(`${state}.journal`, '0123456789abcdef {"batch":99,"docu');
      const last = await serve([model, "--learn", state]);
      expect(await standing(last.url)).toMatchObject({ documents: 48 + taken.length, waiting: 0 });
      const { document_id: _, ...nameless } = lesson("");
      expect((await teach(last.url, [nameless])).status).toBe(204);
      taken.push("");
      await settled(last.url);
      const journal = readFileSync(`${state}.journal`);
      await stop(last);
      // As after a crash between writing the state and letting go of the journal.
      writeFileSync(`${state}.journal`, journal);
      const again = await serve([model, "--learn", state]);
      expect(await standing(again.url)).toMatchObject({ documents: 48 + taken.length, waiting: 0 });
      await stop(again);
      const ids = stateFromBytes(readFileSync(state)).documents?.ids ?? [];
      expect([...ids].sort()).toEqual([...Array.from({ length: 48 }, (_, i) => `t${i}`), ...taken].sort());
    }),
  );

  test(
    "lets a document count as several, also when it is learned after a crash, by a server that has another weight",
    cleanly(async () => {
      const { model, state } = await trained();
      const first = await serve([model, "--learn", state, "--weight", "3"]);
      expect((await teach(first.url, [lesson("a"), lesson("b")])).status).toBe(204);
      await stop(first, "SIGKILL");
      const second = await serve([model, "--learn", state]);
      expect(await standing(second.url)).toMatchObject({ documents: 48 + 6, learned: 2 });
      // In place of three of it there is one.
      expect((await teach(second.url, [lesson("b", "ships")])).status).toBe(204);
      expect((await settled(second.url)).documents).toBe(48 + 3 + 1);
      await stop(second);
      expect([...(stateFromBytes(readFileSync(state)).documents?.weights ?? [])].slice(-2)).toEqual([3, 1]);
    }),
  );

  test(
    "asks for its token, and refuses what it cannot take with one sentence",
    cleanly(async () => {
      const { model, state } = await trained();
      const server = await serve([model, "--learn", state], { MLGPF_TOKEN: "a secret" });
      const { url } = server;
      const right = { authorization: "Bearer a secret" };
      const refusals: [status: number, answer: Promise<Response>, said: RegExp][] = [
        [401, teach(url, [lesson("a")]), /found none, expected "Bearer TOKEN"/],
        [401, teach(url, [lesson("a")], { authorization: "Bearer a secreT" }), /another token/],
        [404, teach(url, [lesson("a")], right, "other"), /not found/],
        [400, teach(url, { text: "a" }, right), /the body/],
        [400, teach(url, [{ subjects: [{ label: "cats" }] }], right), /as text/],
        [400, teach(url, [{ text: "a", subjects: [{ label: 7 }] }], right), /subject/],
        [400, teach(url, [{ text: "a", subjects: [] }], right), /no subjects/],
        [400, teach(url, [{ text: "a", subjects: [{ uri: " " }] }], right), /the subject " "/],
        [400, teach(url, [{ ...lesson("a"), document_id: 7 }], right), /document_id/],
        [400, teach(url, [lesson("a"), lesson("a")], right), /twice/],
      ];
      for (const [status, answer, said] of refusals) {
        const { status: found, detail } = (await (await answer).json()) as { status: number; detail: string };
        expect(found).toBe(status);
        expect(detail).toMatch(said);
      }
      expect(await standing(url)).toMatchObject({ documents: 48, waiting: 0, last: null });
      // Nothing is nothing to learn, and no reason to stop learning.
      expect((await teach(url, [], right)).status).toBe(204);
      expect(await standing(url)).toMatchObject({ documents: 48, last: null });
      for (const id of ["a", "b"]) {
        expect((await teach(url, [lesson(id)], right)).status).toBe(204);
        await settled(url);
      }
      expect(await standing(url)).toMatchObject({ documents: 50, learned: 2 });
      await stop(server);
      // As servers before this one took it.
      const journal = await Journal.open(
        `${state}.journal`,
        stateFromBytes(readFileSync(state)).journal ?? 0,
      );
      await journal.add([]);
      await journal.close();
      const again = await serve([model, "--learn", state]);
      expect(await standing(again.url)).toMatchObject({ documents: 50, waiting: 0 });
      await stop(again);
      const open = await mlgpf(["serve", model, "--learn", state, "--host", "0.0.0.0", "--port", "0"]);
      expect(open.code).toBe(2);
      expect(open.err).toMatch(/found no token with --host 0.0.0.0/);
      writeFileSync(`${state}.journal`, "damage\nmore\n");
      const damaged = await mlgpf(["serve", model, "--learn", state, "--port", "0"]);
      expect(damaged.err).toMatch(/journal: found a damaged line 1 before others/);
      const other = await mlgpf(["serve", model, "--learn", model, "--port", "0"]);
      expect(other.err).toMatch(/expected a state made by mlgpf/);
    }),
  );
});

describe("the journal", () => {
  const documents = [{ id: "ä", text: "one\ntwo", labels: ["x"] }];

  test(
    "has whole batches wherever it is cut off, and goes on behind them",
    cleanly(async () => {
      const path = join(newFolder(), "journal");
      const journal = await Journal.open(path, 4);
      for (let i = 0; i < 3; i++) await journal.add(documents);
      await journal.close();
      const whole = readFileSync(path);
      const ends = [...whole.keys()].filter((i) => whole[i] === 10).map((i) => i + 1);
      for (let cut = 0; cut <= whole.length; cut++) {
        writeFileSync(path, whole.subarray(0, cut));
        const left = await Journal.open(path, 4);
        const kept = ends.filter((end) => end <= cut).length;
        expect(left.after(0).map(({ batch }) => batch)).toEqual([5, 6, 7].slice(0, kept));
        expect((await left.add(documents)).batch).toBe(5 + kept);
        await left.close();
        const again = await Journal.open(path, 4);
        expect(again.after(0).length).toBe(kept + 1);
        expect(again.after(4 + kept)[0]?.documents).toEqual(documents);
        await again.close();
      }
    }),
  );

  test(
    "lets go of what is in the state and of nothing else; damage in the middle is refused",
    cleanly(async () => {
      const path = join(newFolder(), "journal");
      const journal = await Journal.open(path, 0);
      for (let i = 0; i < 4; i++) await journal.add(documents);
      await journal.drop(2);
      await journal.add(documents);
      await journal.close();
      const left = await Journal.open(path, 0);
      expect(left.after(0).map(({ batch }) => batch)).toEqual([3, 4, 5]);
      await left.close();
      const content = readFileSync(path);
      content[30] = (content[30] as number) ^ 1;
      writeFileSync(path, content);
      await expect(Journal.open(path, 0)).rejects.toThrow(/damaged line 1/);
    }),
  );
});
