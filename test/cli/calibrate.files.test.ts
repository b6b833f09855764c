// mlgpf calibrate as a person meets it, and thresholds of the model's own on the command line.

import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { promised } from "../../src/base/prediction.ts";
import { modelFromBytes } from "../../src/model/file.ts";
import { generator } from "../support/numbers.ts";
import { inFolder, mlgpf } from "./support.ts";

const LABELS = 6;

/** Texts whose words hint at their labels. */
function texts(count: number, seed: number, sure: number): string {
  const next = generator(seed);
  return Array.from({ length: count }, (_, i) => {
    const words = Array.from({ length: LABELS }, (_, label) => label).filter(() => next() < 0.3);
    const labels = words.filter(() => next() < sure).map((label) => `l${label}`);
    return JSON.stringify({ text: [...words.map((w) => `word${w}`), `noise${i % 7}`].join(" "), labels });
  }).join("\n");
}

describe("mlgpf calibrate", () => {
  test("fits a model to new data; predict and eval cut where it says", async () => {
    await inFolder(async (path) => {
      writeFileSync(path("train.jsonl"), texts(500, 1, 0.9));
      writeFileSync(path("now.jsonl"), texts(800, 2, 0.5));
      writeFileSync(path("later.jsonl"), texts(400, 3, 0.5));
      const options = ["--model", "gpr", "--threads", "1", "--out", path("model")];
      const trained = await mlgpf(["train", path("train.jsonl"), ...options]);
      expect(trained.code, trained.err).toBe(0);
      const expectationOf = async (model: string): Promise<{ confidence: number; accuracy: number }> => {
        const { out } = await mlgpf(["eval", path(model), path("later.jsonl"), "--json", "--threshold", "label"]);
        const { expectation, kept } = JSON.parse(out);
        expect(kept.threshold).toBe("label");
        return expectation;
      };
      const off = ({ confidence, accuracy }: { confidence: number; accuracy: number }): number =>
        Math.abs(confidence - accuracy);
      const before = readFileSync(path("model"));
      const offBefore = off(await expectationOf("model"));
      expect(offBefore).toBeGreaterThan(0.15);
      const again = await mlgpf(["calibrate", path("model"), path("now.jsonl"), "--out", path("newer")]);
      expect(again.code, again.err).toBe(0);
      expect(again.err).toContain("too far off for chance");
      expect(again.err).toContain("After, on the same rows: log loss");
      expect(off(await expectationOf("newer"))).toBeLessThan(offBefore / 2);
      expect(readFileSync(path("model"))).toEqual(before);
      await mlgpf(["calibrate", path("model"), path("now.jsonl"), "--quiet"]);
      expect(readFileSync(path("model"))).toEqual(readFileSync(path("newer")));
      await cuts(path("newer"), path("later.jsonl"));
    });
  });
});

/** What predict keeps is what reaches the threshold in the file. */
async function cuts(model: string, data: string): Promise<void> {
  const { thresholds } = modelFromBytes(readFileSync(model));
  for (const [flags, least] of [
    [["--threshold", "best"], thresholds?.f1.overall],
    [["--recall", "0.5"], thresholds && promised({ recall: 0.5 }, thresholds.guarantees)?.threshold],
  ] as const) {
    const { out, code, err } = await mlgpf(["predict", model, data, ...flags, "--quiet"]);
    expect(code, err).toBe(0);
    const said = out
      .trimEnd()
      .split("\n")
      .flatMap((line) => JSON.parse(line).labels.map(({ probability }: { probability: number }) => probability));
    expect(said.length).toBeGreaterThan(20);
    expect(Math.min(...said)).toBeGreaterThan((least as number) - 1e-5);
  }
  const wrong = await mlgpf(["predict", model, data, "--threshold", "good"]);
  expect(wrong.err).toContain("--threshold: found good, expected best, label or a number");
}
