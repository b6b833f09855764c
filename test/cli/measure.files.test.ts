// A training that is measured and watched: on a part of its data, on each part in turn, step by step; a basis of one's own.

import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import * as numpy from "../data/formats/numpyfiles.ts";
import { data, expectSentence, inFolder, mlgpf, small, xcText } from "./support.ts";

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
  test("holds out a part by the seed, and stops early by it", async () => {
    await inFolder(async (path) => {
      const train = [...trainingOf(path), "--out", path("model"), "--json"];
      const { code, out, err } = await mlgpf([...train, "--valid", "20%", "--early-stop"]);
      expect(code, err).toBe(0);
      expect(err).toContain("120 rows, 40 features, 12 labels");
      expect(err).toMatch(/On the 30 held-out rows: P@1 /);
      expect(err).toMatch(/^This will take a few seconds and \d+ MB$/m);
      const summary = JSON.parse(out);
      expect(summary.points).toBe(120);
      expect(summary.validation["P@1"]).toBeGreaterThan(20);
    });
  });
});

describe("--labels-from", () => {
  test("has the labels of numpy's features, --valid-labels-from those to measure on", async () => {
    await inFolder(async (path) => {
      for (const name of ["X.npy", "test.npy"]) writeFileSync(path(name), numpy.plain);
      writeFileSync(path("Y.npy"), numpy.list);
      writeFileSync(path("Y.npz"), numpy.sparseLabels);
      const train = ["train", path("X.npy"), "--labels-from", path("Y.npz"), "--out", path("model")];
      const valid = ["--valid", path("test.npy"), "--valid-labels-from"];
      const figures = async (labels: string): Promise<string | undefined> => {
        const { code, err, out } = await mlgpf([...train, ...valid, path(labels), "--json"]);
        expect(code, err).toBe(0);
        expect(err).toMatch(labels === "Y.npy" ? /test\.npy: accuracy \S+ %/ : /test\.npy: P@1 \S+ P@3/);
        return JSON.parse(out).validation["P@3"].toFixed(1);
      };
      // Of the labels [0], [0, 1] and [1], [0]: three, or two, of six.
      expect(await figures("Y.npz")).toBe("50.0");
      expect(await figures("Y.npy")).toBe("33.3");
      const help = (await mlgpf(["predict", "--help"])).out;
      expect(help).not.toContain("--valid-labels-from");
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

describe("--basis FILE", () => {
  test("takes rows as text or from numpy, and as many as they are", async () => {
    await inFolder(async (path) => {
      const train = trainingOf(path).filter((word, i, all) => word !== "--rank" && all[i - 1] !== "--rank");
      const rows = Array.from({ length: 7 }, (_, r) =>
        Array.from({ length: 40 }, (_, d) => ((r * d) % 5) - 1 + (r === d ? 1 : 0)),
      );
      writeFileSync(path("rows.txt"), `${rows.map((row) => row.join(" ")).join("\n")}\n`);
      writeFileSync(path("rows.npy"), npy(rows));
      const models: Buffer[] = [];
      for (const name of ["rows.txt", "rows.npy"]) {
        const { code, out, err } = await mlgpf([...train, "--out", path("model"), "--basis", path(name), "--json"]);
        expect(code, err).toBe(0);
        expect(JSON.parse(out).options).toMatchObject({ basis: "given", rank: 7 });
        models.push(readFileSync(path("model")));
      }
      expect(models[0]?.equals(models[1])).toBe(true);
      writeFileSync(path("wrong.txt"), "1 2 3\n4 5\n");
      const cases: [string, string][] = [
        ["wrong.txt", "wrong.txt: found 2 numbers in row 2, expected 3 as in the first"],
        ["none.txt", "none.txt: there is no such file"],
      ];
      for (const [name, message] of cases) {
        const refused = await mlgpf([...train, "--out", path("other"), "--basis", path(name)]);
        expect(refused.code).toBe(1);
        expectSentence(refused);
        expect(refused.err).toContain(message);
      }
    });
  });
});

/** A matrix as numpy saves it, in double precision and by columns. */
function npy(rows: number[][]): Uint8Array {
  const columns = rows[0]?.length ?? 0;
  const header = `{'descr': '<f8', 'fortran_order': True, 'shape': (${rows.length}, ${columns}), }`.padEnd(117);
  const values = Float64Array.from({ length: rows.length * columns }, (_, at) => {
    return rows[at % rows.length]?.[Math.floor(at / rows.length)];
  });
  const magic = [0x93, ...new TextEncoder().encode("NUMPY"), 1, 0, header.length + 1, 0];
  return Uint8Array.from([...magic, ...new TextEncoder().encode(`${header}\n`), ...new Uint8Array(values.buffer)]);
}
