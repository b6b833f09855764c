// That every byte a large request held is told to whoever collects garbage, and that it is collected by bytes.

import { expect, test } from "vitest";
import { HeldBytes } from "../../src/serve/body.ts";
import { garbageCollector } from "../../src/serve/garbage.ts";
import { defaultLimits, SMALL } from "../../src/serve/limits.ts";
import { projectOf } from "../../src/serve/project.ts";
import { Service } from "../../src/serve/service.ts";
import { wordTagger } from "./support.ts";

test("garbage is collected once for each so many bytes", () => {
  let collections = 0;
  const freed = garbageCollector(() => collections++, 100);
  const counts = [30, 69, 1, 99, 0, 1, 500, 99].map((bytes) => {
    freed(bytes);
    return collections;
  });
  expect(counts).toEqual([0, 0, 1, 1, 1, 2, 3, 3]);
});

test("a runtime can be asked to collect", () => {
  expect(() => garbageCollector(undefined, 1)(1)).not.toThrow();
});

test("all that large requests held is freed when they are over, and small ones count for nothing", async () => {
  const told: number[] = [];
  const service = new Service([projectOf(wordTagger())], {
    held: new HeldBytes(defaultLimits.heldBytes, (bytes) => told.push(bytes)),
  });
  const ask = (text: string) => {
    const body = new TextEncoder().encode(JSON.stringify({ text, topK: 1 }));
    const asked = service.answer({
      method: "POST",
      target: "/predict",
      header: (name) => (name === "content-type" ? "application/json" : undefined),
      body: async (take) => {
        take(body.length);
        return body;
      },
      gone: () => false,
    });
    return { bytes: body.length, asked };
  };
  const texts = [1, 100, SMALL.bodyBytes, 3 * SMALL.bodyBytes, 100_000].map((length) => "a".repeat(length));
  const requests = texts.map(ask);
  for (const { asked } of requests) (await asked).over(true);
  const large = requests.map(({ bytes }) => bytes).filter((bytes) => bytes > SMALL.bodyBytes);
  expect(large).toHaveLength(3);
  const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);
  expect(sum(told)).toBeGreaterThanOrEqual(sum(large));
  expect(told.every((bytes) => bytes > 0)).toBe(true);
});
