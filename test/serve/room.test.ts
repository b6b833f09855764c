// Room for documents in a model that keeps them: never more than can be learned, with all the labels there will be.

import { expect, test } from "vitest";
import { checkRoom } from "../../src/serve/learning/room.ts";
import { canBeExact, mostExact } from "../../src/train/exact.ts";

const named = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, i) => `label ${from + i}`);
const known = new Set(named(0, 4000));
const some = { labels: ["label 0"] };

test("is up to the most that the form takes, with those that wait", () => {
  const most = mostExact(known.size);
  expect(() => checkRoom({ kept: most - 2 }, known, [some], [some])).not.toThrow();
  expect(() => checkRoom({ kept: most - 2 }, known, [some], [some, some])).toThrow(
    `found ${most - 1} documents that were learned, expected at most ${most} with these and 4000 labels`,
  );
});

test("is less where labels come with the documents", () => {
  const kept = mostExact(known.size) - 2;
  const coming = [{ labels: named(3900, 6000) }];
  // This is what learning would say after the documents were taken.
  expect(canBeExact(kept + 2, 6000)).toBe(false);
  expect(() => checkRoom({ kept }, known, [some], coming)).toThrow("and 6000 labels: train the model anew");
  expect(() => checkRoom({ kept }, known, coming, [some])).toThrow("and 6000 labels: train the model anew");
});

test("has no end in forms that keep no documents", () => {
  expect(() =>
    checkRoom(
      {},
      known,
      [],
      Array.from({ length: 20000 }, () => some),
    ),
  ).not.toThrow();
});
