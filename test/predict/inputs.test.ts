// One definition of an input: the reader of training data, the library, the edge and the server take and refuse the same ones, and make
// the same rows of them.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compactModel } from "../../src/compact/index.ts";
import { load } from "../../src/edge/index.ts";
import type { Model } from "../../src/model/model.ts";
import { loadModel } from "../../src/predict/load.ts";
import { dataFor } from "../../src/predict/reading.ts";
import { createHandler, projectOf } from "../../src/serve/index.ts";
import { train } from "../../src/train/train.ts";

const COLUMNS = 4;
/** The first of the places that have the compact model. */
const EDGE = 4;
const settings = { threads: 1 } as const;
const labels = (i: number): string[] => [number(i, 0) > 0 ? "odd" : "even"];
const number = (i: number, j: number): number => ((7 * i + (j + 1) * (i % 3)) % 5) - 2;

/** The same input at each place: the probability of "odd", or undefined where it is refused. */
async function everywhere(model: Model): Promise<(input: unknown) => Promise<(number | undefined)[]>> {
  const loaded = await loadModel(model, { threads: 1 });
  const tagger = await load(await compactModel(model));
  const handler = createHandler([projectOf(tagger)]);
  const odd = (found: readonly { label: string; probability: number }[]): number =>
    found.find(({ label }) => label === "odd")?.probability ?? Number.NaN;
  const post = async (body: unknown): Promise<number> => {
    const request = new Request("http://localhost/predict", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const response = await handler(request);
    const answer = await response.json();
    if (response.status === 400) throw new Error(JSON.stringify(answer));
    expect(response.status).toBe(200);
    return odd((answer.results?.[0] ?? answer).labels);
  };
  return async (input) => {
    const json = JSON.parse(
      JSON.stringify(input, (_, value) => (ArrayBuffer.isView(value) ? Array.from(value as never) : value)),
    );
    const row = typeof input === "string" ? { text: input } : { features: input };
    const places: (() => Promise<number>)[] = [
      async () => {
        const data = await dataFor(model.schema, [row] as never, { requireLabels: false });
        return odd((await loaded.predict(data))[0]);
      },
      async () => odd(await loaded.predict(input as string)),
      async () => odd((await loaded.predict([input, input] as string[]))[1]),
      async () => odd(await loaded.predict(row as { text: string })),
      async () => odd(tagger.predict(input as string)),
      async () => odd(tagger.predict([input, input] as string[])[1]),
      () => post(json),
      () => post([json]),
      () => post(typeof json === "string" ? { text: json } : { features: json }),
    ];
    const found: (number | undefined)[] = [];
    for (const place of places) found.push(await place().catch(() => undefined));
    return found;
  };
}

/** All places answer as the first; a compact model has shorter numbers. */
function expectSame(found: readonly (number | undefined)[], input: unknown): number | undefined {
  const [first] = found;
  found.forEach((other, place) => {
    const nearest = place < EDGE ? first : found[EDGE];
    if (first === undefined) expect(other, JSON.stringify(input)).toBeUndefined();
    else expect(other, JSON.stringify(input)).toBeCloseTo(nearest as number, 5);
  });
  if (first !== undefined) expect(found[EDGE], JSON.stringify(input)).toBeCloseTo(first, 2);
  return first;
}

describe("train, predict, edge and serve read the same inputs alike", () => {
  test("features by number", async () => {
    const rows = Array.from({ length: 60 }, (_, i) => ({
      features: Array.from({ length: COLUMNS }, (_, j) => number(i, j)),
      labels: labels(i),
    }));
    const ask = await everywhere(await train(rows, settings));
    const value = fc.constantFrom(0, 1, -2.5, 0.125, 3);
    const column = fc.integer({ min: 0, max: COLUMNS }); // one more than there are
    const entries = fc.uniqueArray(fc.tuple(column, value), { selector: ([at]) => at, maxLength: COLUMNS });
    const dense = fc.array(value, { minLength: COLUMNS - 1, maxLength: COLUMNS + 1 });
    const input = fc.oneof(
      dense,
      dense.map((values) => Float32Array.from(values)),
      entries.filter((list) => list.length > 0),
      entries.map((list) => ({ indices: list.map(([at]) => at), values: list.map(([, each]) => each) })),
      entries.map((list) => Object.fromEntries(list)),
    );
    await fc.assert(
      fc.asyncProperty(input, async (given) => {
        expectSame(await ask(given), given);
      }),
      { numRuns: 40 },
    );
    const pairs = [0, 1, 2, 3].map((j) => [j, number(2, j)]);
    const known = expectSame(await ask(pairs), pairs);
    expect(Math.abs((known as number) - (expectSame(await ask([[0, 3]]), "another") as number))).toBeGreaterThan(0.1);
    expect(known).toBeCloseTo(expectSame(await ask(rows[2].features), "dense") as number, 6);
    for (const wrong of [
      [1, 2, 3],
      [1, 2, 3, 4, 5],
      [1, "2", 3, 4],
      [[1, 2, 3]],
      { indices: [4], values: [1] },
      "text",
    ])
      expect(expectSame(await ask(wrong), wrong)).toBeUndefined();
  });

  test("features by name, and texts", async () => {
    const named = Array.from({ length: 60 }, (_, i) => ({
      features: { red: number(i, 0), wine: number(i, 1), oak: number(i, 2) },
      labels: labels(i),
    }));
    const askNames = await everywhere(await train(named, settings));
    for (const input of [{ red: 1, oak: -2 }, { oak: 1, unknown: 3 }, {}])
      expect(expectSame(await askNames(input), input)).toBeDefined();
    expect(expectSame(await askNames({ red: "1" }), "a text as value")).toBeUndefined();
    const texts = Array.from({ length: 60 }, (_, i) => ({
      text: number(i, 0) > 0 ? "red wine of the year" : "an old oak tree",
      labels: labels(i),
    }));
    const askTexts = await everywhere(await train(texts, settings));
    for (const input of ["red oak", "wine of nobody", ""])
      expect(expectSame(await askTexts(input), input)).toBeDefined();
  });
});
