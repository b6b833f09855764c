// Models with vectors on a server: texts bring their vectors, or an embedder makes them, in questions and in lessons alike; and what
// was found of the model's promises goes on after a crash.

import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Prediction } from "../../src/base/prediction.ts";
import type { Documents } from "../../src/parts/regression/documents.ts";
import { stateFromBytes } from "../../src/parts/regression/state.ts";
import { mlgpf } from "../cli/support.ts";
import {
  cleanly,
  names,
  post,
  type Server,
  serve,
  settled,
  stop,
  suggested,
  teach,
  textOf,
  trained,
} from "./server.ts";

/** A vector of three numbers by the subject whose words are in a text. */
const MODULE = `const subjects = ["whiskers paw purr feline", "harbour sail mast anchor", "violin chord melody rhythm"];
let now = 0;
export const embed = async (texts) => {
  if (texts.some((text) => text.includes("slow"))) {
    console.error("at once " + ++now);
    await new Promise((done) => setTimeout(done, 20));
    now--;
  }
  if (texts.some((text) => text.includes("broken"))) throw new Error("out of memory");
  console.error("embedded " + texts.length);
  return texts.map((text) => subjects.map((words) => 0.1 + words.split(" ").filter((word) => text.includes(word)).length));
};
`;
const vectorOf = (subject: string): number[] => names.map((name) => (name === subject ? 2.1 : 0.1));

interface Vectored {
  model: string;
  state: string;
  module: string;
  folder: string;
}

/** The model of `trained`, with the vectors of the module. */
async function withVectors(): Promise<Vectored> {
  const { folder, model, state } = await trained();
  const module = join(folder, "embed.mjs");
  writeFileSync(module, MODULE);
  const args = ["train", join(folder, "docs.jsonl"), "--out", model, "--state", state, "--embed", module];
  const done = await mlgpf([...args, "--model", "gpr"]);
  expect(done.code, done.err).toBe(0);
  return { folder, model, state, module };
}

const asJson = (body: unknown): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});

type Predicted = { status: number; first: string; error: string };

const predict = async (url: string, body: unknown): Promise<Predicted> => {
  const answer = await fetch(`${url}/predict`, asJson(body));
  const { labels = [], error = "" } = (await answer.json()) as { labels?: Prediction[]; error?: string };
  return { status: answer.status, first: labels[0]?.label ?? "", error };
};

const detailOf = async (answer: Promise<Response>): Promise<string> =>
  ((await (await answer).json()) as { detail: string }).detail;

const promisesOf = async ({ url }: Server): Promise<{ promise: string; documents: number }[]> => {
  const health = await (await fetch(`${url}/health`)).json();
  return (health as { promises: { tagger: { promise: string; documents: number }[] } }).promises.tagger;
};

test(
  "lessons bring their vectors, the journal keeps them, and others are refused in one sentence",
  cleanly(async () => {
    const { model, state, folder } = await withVectors();
    const server = await serve([model, "--learn", state]);
    const { url } = server;
    const vector = [0.1, 4, 4];
    const lessonWith = (more: object, id = "a"): object[] => [
      { document_id: id, text: "an odd word", subjects: [{ label: "odd" }], ...more },
    ];
    for (const [more, said] of [
      [{}, /^document 0: found no vector vector, expected 3 numbers$/],
      [{ vector: [1, 2] }, /^document 0: found a vector vector of 2 numbers, expected 3 numbers$/],
      [{ vectors: { title: vector } }, /^document 0: found no vector vector, expected 3 numbers$/],
      [{ vector: [1, 2, "x"] }, /^document 0: found value "x" of vector vector, expected a finite number$/],
    ] as const)
      for (const [route, body] of [
        ["learn", lessonWith(more)],
        ["query", { documents: lessonWith(more) }],
      ] as const)
        expect(await detailOf(post(url, route, body))).toMatch(said);
    expect((await teach(url, lessonWith({ vector }))).status).toBe(204);
    expect((await teach(url, lessonWith({ vectors: { vector } }, "b"))).status).toBe(204);
    await settled(url);
    for (const name of names)
      expect(await predict(url, { text: "an odd word", vector: vectorOf(name) })).toMatchObject({ first: name });
    expect((await predict(url, "an odd word")).error).toMatch(/found no vector vector, expected 3 numbers/);
    const asked = await post(url, "query", { documents: [{ text: "the paw", vector }], top: 1 });
    expect(await asked.json()).toHaveLength(1);
    // What was taken is learned after a crash, with its vectors.
    expect(readFileSync(`${state}.journal`, "utf8")).toContain(JSON.stringify(vector));
    await stop(server, "SIGKILL");
    await stop(await serve([model, "--learn", state]));
    const { ids, features } = stateFromBytes(readFileSync(state)).documents as Documents;
    expect(ids.slice(-2)).toEqual(["a", "b"]);
    for (const row of [48, 49]) {
      const [first, ...others] = features.values.subarray(features.rowStart[row], features.rowStart[row + 1]).slice(-3);
      for (const value of others) expect(value / first).toBeCloseTo(40, 3);
    }
    // The same from a file.
    const file = join(folder, "more.jsonl");
    for (const [more, code, said] of [
      [{}, 1, /more\.jsonl, line 1: found no vector vector, expected 3 numbers/],
      [{ vector: [1] }, 1, /more\.jsonl, line 1: found a vector vector of 1 numbers, expected 3 numbers/],
      [{ vector }, 0, /Learned 1 documents/],
    ] as const) {
      writeFileSync(file, `${JSON.stringify({ id: "c", text: "an odd word", labels: ["odd"], ...more })}\n`);
      const learned = await mlgpf(["learn", model, file, "--state", state]);
      expect(learned.err).toMatch(said);
      expect(learned.code).toBe(code);
    }
  }),
);

test(
  "--embed makes the vectors of texts that come without, for questions, lessons and Annif's clients",
  cleanly(async () => {
    const { model, state, module, folder } = await withVectors();
    const compact = join(folder, "small.bin");
    expect((await mlgpf(["compact", model, "--out", compact])).code).toBe(0);
    const learning = ["--learn", `tagger=${state}`, "--embed", `tagger=${module}`];
    const server = await serve([
      model,
      compact,
      "--id",
      "tagger",
      "--id",
      "small",
      ...learning,
      "--embed",
      `small=${module}`,
    ]);
    const { url } = server;
    for (const id of ["tagger", "small"]) {
      const ask = async (body: unknown): Promise<unknown> => (await fetch(`${url}/predict/${id}`, asJson(body))).json();
      const text = textOf("ships", 3);
      const vector = [0, 1, 2].map((i) => 0.1 + (i === 1 ? new Set(text.match(/harbour|sail|mast|anchor/g)).size : 0));
      const { labels } = (await ask({ text })) as { labels: unknown[] };
      expect(labels).toHaveLength(3);
      expect((await ask({ text, vector })) as object).toEqual((await ask(text)) as object);
      const { results } = (await ask({ texts: Array.from({ length: 300 }, (_, i) => `${text} ${i}`) })) as {
        results: unknown[];
      };
      expect(results).toHaveLength(300);
    }
    // Texts that stand in one line for the model go to the embedder together.
    expect(server.said()).toContain("embedded 32\n");
    expect((await suggested(url, "a mast and an anchor"))?.label).toBe("ships");
    const batch = {
      documents: [{ text: "a violin" }, { text: "a violin", vector: vectorOf("music"), document_id: null }],
    };
    const both = (await (await post(url, "suggest-batch", batch)).json()) as {
      document_id: null;
      results: unknown[];
    }[];
    expect(both.map(({ document_id: id }) => id)).toEqual([null, null]);
    expect((await teach(url, [{ text: "the sail again", subjects: [{ label: "odd" }] }])).status).toBe(204);
    expect((await settled(url)).learned).toBe(1);
    // One lesson and one question at a time has its vectors, which take more than texts.
    const slow = Array.from({ length: 5 }, (_, i) => [
      teach(url, [{ text: `a slow sail ${i}`, subjects: [{ label: "ships" }] }]),
      post(url, "query", { documents: [{ text: `a slow mast ${i}` }], top: 1 }),
    ]);
    for (const { ok } of await Promise.all(slow.flat())) expect(ok).toBe(true);
    expect(server.said()).toContain("at once 1\n");
    expect(server.said()).not.toContain("at once 3\n");
    const failed = await predict(url, "broken");
    expect(failed).toMatchObject({ status: 500 });
    expect(server.said()).toMatch(/found no vectors, expected some from embed.mjs: out of memory/);
    await stop(server);
    // Another embedder than the model's, and one for a model without vectors.
    const other = join(folder, "other.mjs");
    writeFileSync(other, "export const embed = async (texts) => texts.map(() => [3, 2, 1]);\n");
    const plain = await trained();
    const pipe = join(folder, "pipe.mjs");
    spawnSync("mkfifo", [pipe]);
    for (const [args, said] of [
      [[model, "--embed", pipe], /cannot read .*pipe\.mjs: it is not a plain file/],
      [[model, "--embed", other], /found other\.mjs, which makes other vectors than the model was trained with/],
      [[plain.model, "--embed", module], /found embed\.mjs, expected none: the model has no vectors/],
      [[plain.model, "--learn", plain.state, "--embed", module], /found embed\.mjs, expected none/],
      [[model, "--embed", "a", "--embed", "b"], /--embed: found a for 1 models, expected a module for each/],
    ] as const) {
      const refused = await mlgpf(["serve", ...args, "--port", "0"]);
      expect(refused.err).toMatch(said);
      expect(refused.code).not.toBe(0);
    }
  }),
);

test(
  "what was found of the model's promises goes on after an end and after a crash",
  cleanly(async () => {
    const { model, state } = await trained();
    const lessons = (from: number): object[] =>
      Array.from({ length: 10 }, (_, i) => ({
        document_id: `d${from + i}`,
        text: textOf(names[i % 3], from + i),
        subjects: [{ label: names[i % 3] }],
      }));
    let server = await serve([model, "--learn", state]);
    let count = 0;
    for (const signal of ["SIGTERM", "SIGKILL", "SIGKILL", "SIGTERM"] as const) {
      expect((await teach(server.url, lessons(count))).status).toBe(204);
      count += 10;
      if (signal === "SIGTERM") await settled(server.url);
      await stop(server, signal);
      server = await serve([model, "--learn", state]);
      const promises = await promisesOf(server);
      expect(promises.map(({ promise }) => promise)).toContain("recall");
      for (const { documents } of promises) expect(documents).toBe(count);
    }
    await stop(server);
  }),
);
