// Learning that goes on whatever fails: what cannot be learned is set aside, a learner that fails is replaced, and all else is
// learned once.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openJournal, type TaughtDocument } from "../../src/serve/learning/journal.ts";
import type { LearnedModel, Lesson } from "../../src/serve/learning/methods.ts";
import { type LearningThread, Session } from "../../src/serve/learning/session.ts";

/** A learner without a model: it refuses, fails at or dies of texts that say so, and keeps the others on a disk. */
class FakeLearner {
  static saved: { texts: string[]; batch: number } = { texts: [], batch: 0 };
  static opened = 0;
  #texts: string[] = [];
  #batch = 0;
  #dead = false;

  async call(method: string, argument: unknown): Promise<unknown> {
    if (this.#dead) throw new Error("the thread has ended");
    if (method === "open") {
      FakeLearner.opened++;
      this.#texts = [...FakeLearner.saved.texts];
      this.#batch = FakeLearner.saved.batch;
    }
    if (method === "learn") this.#learn(argument as Lesson);
    if (method !== "save") return { batch: this.#batch, texts: [...this.#texts], ids: [] };
    FakeLearner.saved = { texts: [...this.#texts], batch: this.#batch };
    return this.#batch;
  }

  #learn({ documents, batch }: Lesson): void {
    const texts = documents.map(({ text }) => text);
    if (texts.includes("refuse")) throw Object.assign(new Error("refused"), { name: "LearningError" });
    for (const text of texts) {
      // Half of what comes before is in already.
      if (text === "fail") this.#dead = true;
      if (this.#dead) throw new Error("out of memory");
      this.#texts.push(text);
    }
    if (batch !== undefined) this.#batch = batch;
  }

  async end(): Promise<void> {
    this.#dead = true;
  }
}

async function inFolder(body: (state: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "mlgpf-session-"));
  FakeLearner.saved = { texts: [], batch: 0 };
  FakeLearner.opened = 0;
  try {
    await body(join(folder, "state"));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const said: string[] = [];
const open = (state: string) =>
  Session.open({
    paths: { model: `${state}.model`, state },
    say: (sentence) => said.push(sentence),
    start: () => new FakeLearner() as unknown as LearningThread,
  });
const taught = (...texts: string[]): { documents: TaughtDocument[] } => ({
  documents: texts.map((text) => ({ text, labels: ["x"] })),
});
const textsOf = (model: LearnedModel): string[] => (model as unknown as { texts: string[] }).texts;
const aside = (state: string): object[] =>
  existsSync(`${state}.rejected.jsonl`)
    ? readFileSync(`${state}.rejected.jsonl`, "utf8")
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line))
    : [];

describe("a session", () => {
  test("sets aside the documents that are refused, and no others", () =>
    inFolder(async (state) => {
      const { session } = await open(state);
      const first = await session.add(taught("a", "b", "refuse", "c"));
      const second = await session.add(taught("refuse"));
      const third = await session.add(taught("d"));
      const model = await session.learn([first, second, third]);
      expect(textsOf(model)).toEqual(["a", "b", "c", "d"]);
      expect(model.batch).toBe(3);
      expect(aside(state)).toMatchObject([
        { text: "refuse", labels: ["x"], reason: "refused" },
        { text: "refuse", reason: "refused" },
      ]);
      expect(session.rejected).toBe(2);
      expect(said.at(-1)).toMatch(/state.rejected.jsonl: set aside 1 document that cannot be learned: refused/);
      expect(FakeLearner.opened).toBe(1);
      await session.save();
      await session.close();
      const again = await open(state);
      expect(again.left).toEqual([]);
      await again.session.close();
    }));

  test("replaces a learner that fails, learns again what it knew, and sets aside what it failed at", () =>
    inFolder(async (state) => {
      const { session } = await open(state);
      const learned = await session.add(taught("a"));
      await session.learn([learned]);
      const batches = [];
      for (const texts of [["b"], ["c", "fail", "d"], ["e"]]) batches.push(await session.add(taught(...texts)));
      const model = await session.learn(batches);
      // Nothing twice: what the failed learner had taken in went with it.
      expect(textsOf(model)).toEqual(["a", "b", "e"]);
      expect(model.batch).toBe(4);
      expect(aside(state)).toMatchObject([{ text: "c" }, { text: "fail", reason: "out of memory" }, { text: "d" }]);
      await session.close();
    }));

  test("learns after a crash what the journal has, and sets aside there too", () =>
    inFolder(async (state) => {
      const { session } = await open(state);
      for (const texts of [["a"], ["refuse", "b"]]) await session.add(taught(...texts));
      await session.close();
      const next = await open(state);
      expect(next.left.length).toBe(2);
      expect(textsOf(await next.session.learn(next.left))).toEqual(["a", "b"]);
      await next.session.save();
      await next.session.close();
      expect(readFileSync(`${state}.journal`, "utf8")).toBe("");
      expect(aside(state)).toMatchObject([{ text: "refuse" }]);
    }));

  test("has both files to itself, and lets go of them when it cannot open", () =>
    inFolder(async (state) => {
      const { session } = await open(state);
      await expect(open(state)).rejects.toThrow(/is using it/);
      await session.close();
      writeFileSync(`${state}.journal`, "not a journal");
      await expect(open(state)).rejects.toThrow(/journal: found/);
      rmSync(`${state}.journal`);
      await (await open(state)).session.close();
      expect((await openJournal(`${state}.journal`, 0)).after(0)).toEqual([]);
    }));
});
