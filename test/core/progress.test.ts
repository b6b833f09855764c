// Long work in parts: all of it is done once, in order, and a cancellation is heard after the part in which it comes.

import { expect, test } from "vitest";
import { byParts, later } from "../../src/base/progress.ts";

test("parts cover everything once, in order", async () => {
  for (const [count, each] of [
    [0, 1],
    [1, 1e12],
    [7, 1e12],
    [1000, 3e6],
    [1000, 0],
  ] as const) {
    const done: number[] = [];
    await byParts({}, count, each, (from, to) => {
      for (let i = from; i < to; i++) done.push(i);
    });
    expect(done).toEqual(Array.from({ length: count }, (_, i) => i));
  }
});

test("a cancellation during a part ends the work after it", async () => {
  const abort = new AbortController();
  const parts: number[] = [];
  const work = byParts({ signal: abort.signal }, 10, 1e12, (from) => {
    parts.push(from);
    if (from === 2) later(() => abort.abort(new Error("enough")));
  });
  await expect(work).rejects.toThrow("enough");
  expect(parts).toEqual([0, 1, 2]);
});
