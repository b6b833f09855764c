// What may be taught: never more documents or labels than can be learned; and batches as one lesson, in which the last word counts.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canBeExact, mostExact } from "../../src/parts/regression/cost.ts";
import type { Batch } from "../../src/serve/learning/journal.ts";
import { checkRoom, halvesOf, lessonOf } from "../../src/serve/learning/lessons.ts";
import type { Lesson } from "../../src/serve/learning/methods.ts";

const named = (from: number, to: number): string[] => Array.from({ length: to - from }, (_, i) => `label ${from + i}`);
const known = new Set(named(0, 4000));
const some = { labels: ["label 0"] };

describe("room for documents in a model that keeps them", () => {
  test("is up to the most that the form takes, with those that wait", () => {
    const most = mostExact(known.size);
    const model = { kept: most - 2, labelSize: 1 };
    expect(() => checkRoom(model, known, [some], [some])).not.toThrow();
    expect(() => checkRoom(model, known, [some], [some, some])).toThrow(
      `found ${most - 1} documents that were learned, expected at most ${most} with these and 4000 labels`,
    );
  });

  test("is less where labels come with the documents", () => {
    const model = { kept: mostExact(known.size) - 2, labelSize: 1 };
    const [waiting, coming] = [{ labels: named(3900, 5000) }, { labels: named(5000, 6000) }];
    // This is what learning would say after the documents were taken.
    expect(canBeExact(model.kept + 2, 6000)).toBe(false);
    expect(() => checkRoom(model, known, [waiting], [coming])).toThrow("and 6000 labels: train the model anew");
    expect(() => checkRoom(model, known, [coming, waiting], [some])).toThrow("and 6000 labels: train");
  });

  test("has no end in forms that keep no documents", () => {
    const many = Array.from({ length: 20000 }, () => some);
    expect(() => checkRoom({ labelSize: 1 }, known, [], many)).not.toThrow();
  });
});

describe("room for labels", () => {
  test("is a thousand new ones in a request", () => {
    const coming = (to: number) => [{ labels: named(3990, 4500) }, { labels: named(4400, to) }];
    expect(() => checkRoom({ labelSize: 1 }, known, [], coming(5000))).not.toThrow();
    expect(() => checkRoom({ labelSize: 1 }, known, [], coming(5001))).toThrow(
      "found 1001 labels that the model does not have, expected at most 1000 in one request",
    );
  });

  test("is as much as was given, or as memory has, with those that wait", () => {
    const coming = [{ labels: named(4000, 4100) }];
    const waiting = [{ labels: named(4050, 4200) }];
    expect(() => checkRoom({ labelSize: 1 }, known, waiting, coming, 4200)).not.toThrow();
    expect(() => checkRoom({ labelSize: 1 }, known, waiting, coming, 4199)).toThrow(
      "found 4200 labels with these, expected at most 4199 (--max-labels): train the model anew",
    );
    // Known labels are always welcome.
    expect(() => checkRoom({ labelSize: 1 }, known, waiting, [some], 3)).not.toThrow();
    expect(() => checkRoom({ labelSize: 11_000 }, known, waiting, coming)).not.toThrow();
    expect(() => checkRoom({ labelSize: 12_000 }, known, waiting, coming)).toThrow(/expected at most 4067/);
  });
});

describe("batches as one lesson", () => {
  const ids = fc.constantFrom("a", "b", "c", "d");
  const document = fc.record({
    id: fc.option(ids, { nil: undefined }),
    text: fc.string(),
    labels: fc.constant(["x"]),
  });
  const changes = fc.record({
    documents: fc.uniqueArray(document, { maxLength: 4, selector: ({ id }) => id ?? Symbol() }),
    forget: fc.uniqueArray(ids, { maxLength: 2 }),
  });

  /** The texts that remain where each change is made one after another; forgetting goes first in a batch. */
  function remaining(batches: readonly Pick<Lesson, "documents" | "forget">[]): string[] {
    const named = new Map([["a", "first"]]);
    const nameless: string[] = [];
    for (const { documents, forget = [] } of batches) {
      for (const id of forget) named.delete(id);
      for (const { id, text } of documents) id === undefined ? nameless.push(text) : named.set(id, text);
    }
    return [...[...named].map(([id, text]) => `${id}: ${text}`).sort(), ...nameless];
  }

  test("give what they give one after another, also in halves", () => {
    fc.assert(
      fc.property(fc.array(changes, { minLength: 1, maxLength: 5 }), (given) => {
        const batches = given.map((each, i): Batch => ({ ...each, batch: i + 3, time: "" }) as Batch);
        const lesson = lessonOf(batches);
        expect(lesson.batch).toBe(given.length + 2);
        expect(remaining([lesson])).toEqual(remaining(batches));
        const parts = (whole: Lesson): Lesson[] => halvesOf(whole)?.flatMap(parts) ?? [whole];
        const split = parts(lesson);
        expect(remaining(split)).toEqual(remaining(batches));
        expect(split.every(({ documents, forget = [] }) => documents.length + forget.length <= 1)).toBe(true);
        expect(split.map(({ batch }) => batch)).toEqual([...split.slice(1).map(() => undefined), lesson.batch]);
      }),
      { numRuns: 300, seed: 1 },
    );
  });
});
