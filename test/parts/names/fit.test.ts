import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { countWords, namesFit } from "../../../src/parts/names/fit.ts";
import { type NamedLabel, NameMatcher, numbersOf } from "../../../src/parts/names/row.ts";

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

describe("weights of names", () => {
  // The score equations of a logistic regression: in each class as many labels are predicted as there are.
  test("predict as many labels of each class as there are", async () => {
    await fc.assert(
      fc.asyncProperty(fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })), async (stream) => {
        const random = (): number => stream.next().value as number;
        const words = ["kor", "lam", "mit", "nop", "pel", "rux"];
        const labels = words.map((word, i): NamedLabel => [`l${i}`, word]);
        const texts = Array.from({ length: 60 }, () => words.filter(() => random() < 0.4).join(" ") || "none");
        const matcher = new NameMatcher(labels, undefined);
        matcher.prepare(await countWords(matcher, texts));
        const names = labels.slice(0, 5).map(([label]) => label); // the last one is beyond
        const labelCounts = [1, 2, 5, 12, 30];
        const pairs = texts.flatMap((text, row) =>
          names.map((_, label) => ({
            row,
            label,
            signedWeight: random() < (text.includes(words[label]) ? 0.6 : 0.2) ? 1 : -1,
            logits: 4 * random() - 3,
          })),
        );
        const of = <N extends "row" | "label" | "signedWeight" | "logits">(name: N): Float64Array =>
          Float64Array.from(pairs, (pair) => pair[name]);
        const all = { row: of("row"), label: of("label"), signedWeight: of("signedWeight"), logits: of("logits") };
        const numbers = numbersOf(labels, names);
        const fit = await namesFit({ matcher, numbers, texts, labelCounts, leftOut: true });
        const weights = await fit.fit(all);
        const { logits, beyond } = fit.moved(all, weights);
        const classOf = (count: number): number => (count === 0 ? 0 : count < 3 ? 1 : count < 10 ? 2 : 3);
        const sums = new Map<string, number>();
        const add = (key: string, value: number): void => void sums.set(key, (sums.get(key) ?? 0) + value);
        pairs.forEach(({ row, label, signedWeight }, e) => {
          const group = classOf(labelCounts[label] - (signedWeight > 0 ? 1 : 0));
          const stands = texts[row].split(" ").includes(words[label]);
          if (!stands && group === 0) expect(logits[e]).toBe(pairs[e].logits);
          else add(`${stands} ${group}`, sigmoid(logits[e]) - (signedWeight > 0 ? 1 : 0));
        });
        beyond.logits.forEach((logit) => {
          add("true 0", sigmoid(logit));
        });
        expect(beyond.row).toHaveLength(texts.filter((text) => text.includes("rux")).length);
        for (const sum of sums.values()) expect(Math.abs(sum)).toBeLessThan(0.05);
      }),
      { numRuns: 20 },
    );
  });
});
