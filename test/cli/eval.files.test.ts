// mlgpf eval as a person meets it: its figures beside those computed from what mlgpf predict prints.

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { describe, expect, test } from "vitest";
import type { Evaluation } from "../../src/metrics/evaluation.ts";
import { generator } from "../support/numbers.ts";

const LABELS = 8;
const program = "Deno" in globalThis ? "node" : process.execPath;

function mlgpf(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(program, [resolve("dist/cli.js"), ...args], { encoding: "utf8" });
}

interface Point {
  text: string;
  labels: string[];
}

/** Points whose words hint at their labels, some of them without any. */
function points(count: number, seed: number): Point[] {
  const next = generator(seed);
  return Array.from({ length: count }, (_, i) => {
    const own = Array.from({ length: LABELS }, (_, label) => label).filter((label) => next() < 0.4 / (label + 1));
    const words = own.filter(() => next() < 0.8).map((label) => `word${label}`);
    return {
      text: [...words, `noise${i % 11}`].join(" "),
      labels: i % 20 === 0 ? [] : own.map((label) => `l${label}`),
    };
  });
}

const trainedOn = points(400, 1);
const tested = points(160, 2);
const jsonl = (list: readonly Point[]): string => list.map((each) => JSON.stringify(each)).join("\n");

type PathOf = (name: string) => string;

function inFolder<T>(body: (path: PathOf) => T): T {
  const folder = mkdtempSync(join(tmpdir(), "mlgpf-eval-"));
  try {
    writeFileSync(join(folder, "test.jsonl"), jsonl(tested));
    return body((name) => join(folder, name));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** What was said of a label of a point, and whether it is so. */
interface Pair {
  row: number;
  label: string;
  p: number;
  yes: boolean;
}

interface Made {
  model: Uint8Array;
  pairs: Pair[];
}

/** A model, and what predict says of every label of every test point. */
function make(): Made {
  return inFolder((path) => {
    writeFileSync(path("train.jsonl"), jsonl(trainedOn));
    const options = ["--factors", "4", "--epochs", "20"];
    const trained = mlgpf("train", path("train.jsonl"), "--out", path("model"), ...options);
    expect(trained.status, trained.stderr).toBe(0);
    const all = ["--top", String(LABELS), "--quiet"];
    const lines = mlgpf("predict", path("model"), path("test.jsonl"), ...all)
      .stdout.trimEnd()
      .split("\n");
    const pairs = lines.flatMap((line, row) => {
      const truth = tested[row]?.labels ?? [];
      const { labels } = JSON.parse(line) as { labels: { label: string; probability: number }[] };
      return labels.map(({ label, probability }) => ({
        row,
        label,
        p: probability,
        yes: truth.includes(label),
      }));
    });
    return { model: readFileSync(path("model")), pairs };
  });
}

let made: Made | undefined;

type Printed = Required<Omit<Evaluation, "ranking" | "perLabel">> &
  Record<"P@1" | "points" | "pointsWithoutLabels" | "logLoss" | "brier", number>;

interface World extends Made {
  path: PathOf;
  /** Runs eval on the test points. */
  run(...args: string[]): ReturnType<typeof mlgpf>;
  /** Its JSON. */
  measured(...args: string[]): Printed;
}

/** Runs the body beside a model that is made once. */
function withModel(body: (world: World) => void): void {
  made ??= make();
  const { model, pairs } = made;
  inFolder((path) => {
    writeFileSync(path("model"), model);
    const run = (...args: string[]) => mlgpf("eval", path("model"), path("test.jsonl"), ...args);
    const measured = (...args: string[]) => JSON.parse(run("--json", "--quiet", ...args).stdout);
    body({ model, pairs, path, run, measured });
  });
}

describe("mlgpf eval", () => {
  test("--calibration gives log loss and Brier score a point, and the bias of what is likely", () => {
    withModel(({ pairs, measured }) => {
      const found = measured("--calibration");
      const labelled = tested.filter(({ labels }) => labels.length > 0).length;
      expect([found.points, found.pointsWithoutLabels]).toEqual([labelled, tested.length - labelled]);
      expect(found.calibration.points).toBe(tested.length);
      const sum = (of: (pair: { p: number; yes: boolean }) => number): number =>
        pairs.reduce((total, pair) => total + of(pair), 0);
      expect(found.logLoss).toBeCloseTo(sum(({ p, yes }) => -Math.log(yes ? p : 1 - p)) / tested.length, 4);
      expect(found.brier).toBeCloseTo(sum(({ p, yes }) => (p - (yes ? 1 : 0)) ** 2) / tested.length, 4);
      const likely = pairs.filter(({ p }) => p >= 0.05);
      const bias = likely.reduce((total, { p, yes }) => total + p - (yes ? 1 : 0), 0) / likely.length;
      expect(found.calibration.overFivePercent.predictions).toBe(likely.length);
      expect(found.calibration.overFivePercent.bias).toBeCloseTo(bias, 5);
      expect(found.calibration.top5.predictions).toBe(5 * tested.length);
    });
  });

  test("--threshold keeps all labels above it, --limit at most so many", () => {
    withModel(({ pairs, measured }) => {
      const { kept } = measured("--threshold", "0.2");
      const over = pairs.filter(({ p }) => p >= 0.2);
      expect(kept.truePositives).toBe(over.filter(({ yes }) => yes).length);
      expect(kept.falsePositives).toBe(over.filter(({ yes }) => !yes).length);
      expect(kept.falseNegatives).toBe(pairs.filter(({ p, yes }) => yes && p < 0.2).length);
      expect(measured("--limit", "2").kept.labelsPerPoint).toBe(2);
      expect(measured().kept.limit).toBe(5);
    });
  });

  test("--thresholds has a row for each, and --per-label a line for each label", () => {
    withModel(({ pairs, path, run, measured }) => {
      const { thresholds } = measured("--thresholds");
      const at = thresholds.thresholds.find(({ threshold }) => threshold === 0.2);
      const over = pairs.filter(({ p }) => p >= 0.2);
      expect(at?.overall.precision).toBeCloseTo(over.filter(({ yes }) => yes).length / over.length, 10);

      for (const name of ["labels.csv", "labels.json"]) {
        const { status, stderr } = run("--per-label", path(name), "--threshold", "0.2");
        expect(status, stderr).toBe(0);
        expect(stderr).toContain(`${name} written: ${LABELS} labels`);
      }
      const [head, ...lines] = readFileSync(path("labels.csv"), "utf8")
        .trimEnd()
        .split("\n")
        .map((line) => line.split(","));
      const list = JSON.parse(readFileSync(path("labels.json"), "utf8"));
      expect(lines.length).toBe(LABELS);
      lines.forEach((cells, i) => {
        const cell = (name: string): string => cells[(head as string[]).indexOf(name)];
        const own = pairs.filter(({ label }) => label === cell("name"));
        const [right, kept, having] = [
          own.filter(({ p, yes }) => yes && p >= 0.2).length,
          own.filter(({ p }) => p >= 0.2).length,
          own.filter(({ yes }) => yes).length,
        ];
        expect([cell("right"), cell("kept"), cell("rows")]).toEqual([right, kept, having].map(String));
        expect(cell("precision")).toBe(kept === 0 ? "" : String(Number((right / kept).toPrecision(6))));
        expect(list[i].recall ?? "").toBe(cell("recall") === "" ? "" : Number(cell("recall")));
      });
    });
  });

  test("--tail ranks by p times the inverse propensity to its power", () => {
    withModel(({ pairs, measured, run }) => {
      const labelled = trainedOn.filter(({ labels }) => labels.length > 0);
      const weight = (label: string, tail: number): number => {
        const count = labelled.filter(({ labels }) => labels.includes(label)).length;
        return (1 + (Math.log(labelled.length) - 1) * 2.5 ** 0.55 * (count + 1.5) ** -0.55) ** tail;
      };
      for (const tail of [0, 0.6, 1]) {
        const first = new Map<number, Pair>();
        for (const pair of pairs) {
          if (tested[pair.row].labels.length === 0) continue;
          const held = first.get(pair.row);
          if (!held || pair.p * weight(pair.label, tail) > held.p * weight(held.label, tail)) first.set(pair.row, pair);
        }
        const right = [...first.values()].filter(({ yes }) => yes).length;
        expect(measured("--tail", String(tail))["P@1"]).toBeCloseTo((100 * right) / first.size, 6);
      }
      expect(measured("--rank", "utility")["P@1"]).toBeGreaterThan(0);
      expect(run("--rank", "utility", "--tail", "1").stderr).toContain("expected the rank probability");
    });
  });

  test("prints all of it within 80 columns", () => {
    withModel(({ run }) => {
      const { stdout } = run("--calibration", "--thresholds", "--quiet");
      expect(stdout).toContain("log loss");
      expect(stdout).toContain("top 5 labels of each row");
      for (const line of stdout.split("\n")) expect(line.length, line).toBeLessThanOrEqual(80);
    });
  });

  test("refuses what makes no sense before it reads anything", () => {
    withModel(({ path, run }) => {
      const wrong: [string[], string][] = [
        [["--limit", "0"], "--limit: found 0, expected a whole number of at least 1"],
        [["--threshold", "30"], "--threshold: found 30, expected best, label or a number from 0 to 1"],
        [["--per-label", path("nowhere/labels.csv")], "there is no such folder"],
      ];
      for (const [args, message] of wrong) {
        const { status, stderr } = run(...args);
        expect(stderr).toContain(message);
        expect(stderr.trimEnd().split("\n").length).toBe(1);
        expect(status).toBeGreaterThan(0);
      }
      expect(existsSync(path("nowhere"))).toBe(false);
    });
  });
});

test("of a single label eval and train say precision, recall and F1 at one half, no rankings", () => {
  inFolder((path) => {
    const moderation = (list: readonly Point[]): string =>
      jsonl(list.map(({ text, labels }) => ({ text, labels: labels.filter((label) => label === "l0") })));
    writeFileSync(path("train.jsonl"), moderation(trainedOn));
    writeFileSync(path("one.jsonl"), moderation(tested));
    const trained = mlgpf("train", path("train.jsonl"), "--valid", path("one.jsonl"), "--out", path("model"));
    const said = /with 1 label\. On the 160 rows of .*: precision ([\d.]+) recall ([\d.]+) F1 [\d.]+ log loss [\d.]+$/m;
    const [, precision, recall] = said.exec(trained.stderr) ?? [];
    const lines = mlgpf("predict", path("model"), path("one.jsonl"), "--threshold", "0.5", "--quiet").stdout.trimEnd();
    const kept = lines.split("\n").map((line) => JSON.parse(line).labels.length === 1);
    const isTrue = tested.map(({ labels }) => labels.includes("l0"));
    const right = kept.filter((each, row) => each && isTrue[row]).length;
    const count = (list: boolean[]): number => list.filter(Boolean).length;
    expect(Number(precision)).toBeCloseTo((100 * right) / count(kept), 1);
    expect(Number(recall)).toBeCloseTo((100 * right) / count(isTrue), 1);
    const { stdout } = mlgpf("eval", path("model"), path("one.jsonl"));
    expect(stdout).toMatch(new RegExp(`^  160 rows, ${count(isTrue)} of them with the label\\.$`, "m"));
    expect(stdout).toContain(`${right} right, ${count(kept) - right} wrong, ${count(isTrue) - right} missed`);
    expect(stdout).not.toMatch(/nDCG|R-precision/);
  });
});
