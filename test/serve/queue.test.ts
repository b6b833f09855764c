// The queue: order, fairness, turns that are limited by work, and one bad input among good ones.

import { describe, expect, test } from "vitest";
import { createHandler, type Prediction, type PredictOptions, projectOf, type Tagger } from "../../src/serve/index.ts";
import { PredictionQueue } from "../../src/serve/queue.ts";
import { ask, wordsOf, wordTagger } from "./support.ts";

const texts = (count: number, name = "t"): string[] => Array.from({ length: count }, (_, i) => `${name}${i} b c`);

/** A queue with one tagger, whose answers are collected. */
function queueOf(tagger: Tagger) {
  const queue = new PredictionQueue();
  const { model } = projectOf(tagger);
  return {
    get waiting(): number {
      return queue.waiting;
    },
    async predict(inputs: string[], options: PredictOptions, gone = false): Promise<(readonly Prediction[])[]> {
      const found: (readonly Prediction[])[] = [];
      const each = (labels: readonly Prediction[], index: number): void => {
        expect(index).toBe(found.length);
        found.push(labels);
      };
      await queue.predict({ model, inputs, options, each, gone: () => gone });
      return found;
    },
  };
}

describe("the queue", () => {
  test("gives each request its own answers in its own order, whatever runs beside it", async () => {
    const queue = queueOf(wordTagger());
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
    const queue = queueOf(tagger);
    await Promise.all(texts(20).map((text) => queue.predict([text], { topK: 1 })));
    expect(tagger.calls.length).toBe(1);
  });

  test("does not let a text wait behind long batches", async () => {
    const tagger = wordTagger();
    const queue = queueOf(tagger);
    const order: string[] = [];
    const batches = Array.from({ length: 10 }, () =>
      queue.predict(texts(500), { topK: 1 }).then(() => order.push("batch")),
    );
    await queue.predict(["alone"], { topK: 1 }).then(() => order.push("text"));
    expect(tagger.calls.length).toBeLessThan(3);
    await Promise.all(batches);
    expect(order[0]).toBe("text");
    expect(tagger.calls.flat().length).toBe(5001);
  });

  test("a turn is limited by the bytes of its texts and by what the labels of the model cost, whatever waits", async () => {
    for (const labels of [3, 1_000_000]) {
      const tagger = { ...wordTagger(), labels: new Array<string>(labels) };
      const queue = queueOf(tagger);
      const lengths = [10, 100_000, 1, 3000, 40_000, 7, 500];
      const inputs = Array.from({ length: 300 }, (_, i) => "a".repeat(lengths[i % lengths.length]));
      await Promise.all(Array.from({ length: 6 }, (_, i) => queue.predict(inputs.slice(50 * i), { topK: 1 })));
      for (const call of tagger.calls) {
        const bytes = call.reduce((sum: number, text) => sum + (text as string).length, 0);
        // One by itself may be longer than a turn.
        expect(call.length === 1 || bytes <= 32 << 10).toBe(true);
        if (labels === 1_000_000) expect(call.length).toBe(1);
      }
    }
  });

  test("the shortest goes first, but the longest is not put off for ever", async () => {
    const tagger = wordTagger();
    const queue = queueOf(tagger);
    let waits = true;
    const long = queue.predict(texts(1000), { topK: 2 }).then(() => {
      waits = false;
    });
    let short = 0;
    for (; waits; short++) await queue.predict(["x"], { topK: 1 });
    expect(short).toBeGreaterThan(10);
    // Turns of the two alternate: 1,000 short texts are about ten turns of their own.
    expect(short).toBeLessThan(200);
    await long;
  });

  test("what nobody waits for any more is not predicted", async () => {
    const tagger = wordTagger();
    const queue = queueOf(tagger);
    const gone = queue.predict(["gone"], { topK: 1 }, true);
    await expect(gone).rejects.toThrow("went away");
    await queue.predict(["there"], { topK: 1 });
    expect(tagger.calls).toEqual([["there"]]);
  });

  test("one whose answers are refused ends by itself", async () => {
    const queue = new PredictionQueue();
    const { model } = projectOf(wordTagger());
    const refusing = queue.predict({
      model,
      inputs: texts(500),
      options: { topK: 1 },
      each: (_, index) => {
        if (index === 3) throw new Error("enough");
      },
    });
    await expect(refusing).rejects.toThrow("enough");
    expect(queue.waiting).toBe(0);
  });

  test("an input that is refused fails its own request alone, and frees its place", async () => {
    const queue = queueOf(wordTagger());
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
    const queue = queueOf({
      labels: [],
      predictMany: async (inputs, options) => {
        await new Promise((done) => setTimeout(done, 1));
        return inputs.map((input) => wordsOf(input, options));
      },
    });
    const found = await Promise.all([queue.predict(texts(20), { topK: 1 }), queue.predict(["z"], { topK: 1 })]);
    expect(found[0]).toEqual(texts(20).map((text) => wordsOf(text, { topK: 1 })));
    expect(found[1]).toEqual([wordsOf("z", { topK: 1 })]);
  });
});

describe("back-pressure", () => {
  const statuses = async (limits: object, requests: number, inputs: string[]): Promise<number[]> => {
    const handler = createHandler(wordTagger(), limits);
    const responses = await Promise.all(Array.from({ length: requests }, () => handler(ask(inputs))));
    for (const response of responses)
      expect(response.headers.get("retry-after")).toBe(response.status === 503 ? "1" : null);
    expect((await handler(ask({ text: "a" }))).status).toBe(200);
    return responses.map(({ status }) => status).sort();
  };

  test("large requests that hold too much are refused with 503, small ones are not", async () => {
    const large = ["a".repeat(40_000)];
    expect(await statuses({ heldBytes: 100_000 }, 4, large)).toEqual([200, 200, 503, 503]);
    expect(await statuses({ heldBytes: 1 }, 20, ["small"])).toEqual(new Array(20).fill(200));
  });

  test("too many requests at once are refused with 503", async () => {
    expect(await statuses({ requests: 3 }, 5, texts(1))).toEqual([200, 200, 200, 503, 503]);
  });
});
