// A training that is measured and watched: on a part of its data, on each part in turn, step by step; a basis of one's own.

import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { data, inFolder, mlgpf, small, xcText } from "./support.ts";

const trainingOf = (path: (name: string) => string): string[] => {
  writeFileSync(path("data.txt"), xcText(data));
  return ["train", path("data.txt"), ...small];
};
const rowsOf = (file: string): string[][] =>
  readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => line.split(","));

describe("--valid 20%", () => {
  test("holds out a part by the seed", async () => {
    await inFolder(async (path) => {
      const train = [...trainingOf(path), "--out", path("model"), "--json"];
      const { code, out, err } = await mlgpf([...train, "--valid", "20%"]);
      expect(code, err).toBe(0);
      expect(err).toContain("120 rows, 40 features, 12 labels");
      expect(err).toMatch(/On the 30 held-out rows: P@1 /);
      const summary = JSON.parse(out);
      expect(summary.points).toBe(120);
      expect(summary.validation["P@1"]).toBeGreaterThan(20);
    });
  });
});

describe("--cross-validate", () => {
  test("prints mean and spread, and with --out trains on all of the data after that", async () => {
    await inFolder(async (path) => {
      const train = [...trainingOf(path), "--cross-validate", "3"];
      const printed = await mlgpf(train);
      expect(printed.code, printed.err).toBe(0);
      expect(printed.out).toMatch(/^ +mean +std dev\nP@1 +[\d.]+ +[\d.]+\n/);
      expect(printed.out).toMatch(/\nlogLoss +[\d.]+ +[\d.]+\n$/);
      expect(printed.err.match(/^100 rows, /gm)?.length).toBe(3);
      const both = await mlgpf([...train, "--json", "--out", path("model")]);
      const [crossed, summary] = both.out
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));
      const found = crossed.folds.map((figures: Record<string, number>) => figures["P@1"]);
      expect(found.length).toBe(3);
      const mean = found.reduce((sum: number, value: number) => sum + value, 0) / 3;
      expect(crossed.spread["P@1"].mean).toBeCloseTo(mean, 10);
      expect(summary.points).toBe(150);
    });
  });
});

describe("--log", () => {
  test("has the bound of every step, and changes nothing", async () => {
    await inFolder(async (path) => {
      const train = [...trainingOf(path), "--json", "--out"];
      const plain = await mlgpf([...train, path("plain")]);
      const logged = await mlgpf([...train, path("logged"), "--log", path("log.csv")]);
      expect(logged.code, logged.err).toBe(0);
      expect(readFileSync(path("logged")).equals(readFileSync(path("plain")))).toBe(true);
      const [head, ...steps] = rowsOf(path("log.csv"));
      expect(head).toEqual(["step", "epoch", "bound", "dataTerm", "divergence"]);
      expect(steps.map(([step]) => Number(step))).toEqual(Array.from({ length: 60 }, (_, i) => i + 1));
      for (const [, , bound, dataTerm, divergence] of steps)
        expect(Number(bound)).toBe(Number(dataTerm) - Number(divergence));
      const { dataTerm, divergence } = JSON.parse(plain.out);
      expect(steps.at(-1)?.slice(3).map(Number)).toEqual([dataTerm, divergence]);
    });
  });
});
