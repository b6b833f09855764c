// The queue: order, fairness, bounds, and one bad input among good ones.

import { describe, expect, test } from "vitest";
import { createHandler } from "../../src/serve/index.ts";
import { PredictionQueue } from "../../src/serve/queue.ts";
import { ask, wordsOf, wordTagger } from "./support.ts";

const texts = (count: number, name = "t"): string[] =>
  Array.from({ length: count }, (_, i) => `${name}${i} b c`);

describe("the queue", () => {
  test("gives each request its own answers in its own order, whatever runs beside it", async () => {
    const queue = new PredictionQueue(wordTagger(), 10_000);
    const requests = Array.from({ length: 40 }, (_, i) => ({
      inputs: texts((i * 7) % 50, `r${i}-`),
      options: i % 3 === 0 ? { topK: 2 } : { topK: 3, threshold: 0.2 },
    }));
    const found = await Promise.all(requests.map(({ inputs, options }) => queue.predict(inputs, options)));
    found.forEach((answers, i) => {
      const { inputs, options } = requests[i] as (typeof requests)[number];
      expect(answers).toEqual(inputs.map((input) => wordsOf(input, options)));
    });
    expect(queue.waiting).toBe(0);
  });

  test("predicts together what came together", async () => {
    const tagger = wordTagger();
    const queue = new PredictionQueue(tagger, 100);
    await Promise.all(texts(20).map((text) => queue.predict([text], { topK: 1 })));
    expect(tagger.calls.length).toBe(1);
  });

  test("does not let a text wait behind long batches", async () => {
    const tagger = wordTagger();
    const queue = new PredictionQueue(tagger, 100_000);
    const order: string[] = [];
    const batches = Array.from({ length: 10 }, () =>
      queue.predict(texts(500), { topK: 1 }).then(() => order.push("batch")),
    );
    await queue.predict(["alone"], { topK: 1 }).then(() => order.push("text"));
    expect(tagger.calls.length).toBeLessThan(4);
    await Promise.all(batches);
    expect(order[0]).toBe("text");
    expect(tagger.calls.flat().length).toBe(5001);
    expect(Math.max(...tagger.calls.map((inputs) => inputs.length))).toBeLessThan(33);
  });

  test("an input that is refused fails its own request alone, and frees its place", async () => {
    const queue = new PredictionQueue(wordTagger(), 1000);
    const bad = [...texts(10), "refuse me", ...texts(100)];
    const outcomes = await Promise.allSettled([
      queue.predict(["x y"], { topK: 2 }),
      queue.predict(bad, { topK: 2 }),
      queue.predict(texts(30), { topK: 2 }),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect((outcomes[1] as PromiseRejectedResult).reason.message).toMatch(/^input 10: /);
    expect((outcomes[2] as PromiseFulfilledResult<unknown>).value).toEqual(
      texts(30).map((text) => wordsOf(text, { topK: 2 })),
    );
    expect(queue.waiting).toBe(0);
    expect(await queue.predict(["after it"], { topK: 1 })).toEqual([wordsOf("after it", { topK: 1 })]);
  });

  test("waits for a tagger that answers later", async () => {
    const queue = new PredictionQueue(
      {
        labels: [],
        predictMany: async (inputs, options) => {
          await new Promise((done) => setTimeout(done, 1));
          return inputs.map((input) => wordsOf(input, options));
        },
      },
      100,
    );
    const found = await Promise.all([
      queue.predict(texts(20), { topK: 1 }),
      queue.predict(["z"], { topK: 1 }),
    ]);
    expect(found[0]).toEqual(texts(20).map((text) => wordsOf(text, { topK: 1 })));
    expect(found[1]).toEqual([wordsOf("z", { topK: 1 })]);
  });
});

describe("back-pressure", () => {
  const statuses = async (limits: object, requests: number, inputs: number): Promise<number[]> => {
    const handler = createHandler(wordTagger(), limits);
    const responses = await Promise.all(Array.from({ length: requests }, () => handler(ask(texts(inputs)))));
    for (const response of responses)
      expect(response.headers.get("retry-after")).toBe(response.status === 503 ? "1" : null);
    expect((await handler(ask({ text: "a" }))).status).toBe(200);
    return responses.map(({ status }) => status).sort();
  };

  test("a full queue refuses with 503 and recovers", async () => {
    expect(await statuses({ queue: 100 }, 4, 40)).toEqual([200, 200, 503, 503]);
  });

  test("too many requests at once are refused with 503", async () => {
    expect(await statuses({ requests: 3 }, 5, 1)).toEqual([200, 200, 200, 503, 503]);
  });

  test("a request longer than the queue gets through by itself", async () => {
    expect(await statuses({ queue: 10 }, 1, 50)).toEqual([200]);
  });
});
