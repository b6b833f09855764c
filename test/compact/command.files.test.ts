// `mlgpf compact` as a person meets it: the built command in a folder of its own.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { load } from "../../src/edge/index.ts";
import { modelToBytes } from "../../src/model/file.ts";
import { train } from "../../src/train/train.ts";
import { sampleTexts, textModel } from "../edge/support.ts";

const model = textModel({ features: 80, labels: 25, factors: 6, inducing: 8 });
const texts = sampleTexts(model, 40, 2).slice(8);

interface Outcome {
  code: number | null;
  out: string;
  err: string;
}

/** Runs the command in a folder with a model and data; says what it left there. */
function inFolder(body: (run: (...args: string[]) => Outcome, path: (name: string) => string) => void | Promise<void>) {
  return async (): Promise<void> => {
    const folder = mkdtempSync(join(tmpdir(), "mlgpf-compact-"));
    const path = (name: string): string => join(folder, name);
    const run = (...args: string[]): Outcome => {
      const { status, stdout, stderr } = spawnSync("node", [resolve("dist/cli.js"), "compact", ...args], {
        cwd: folder,
        encoding: "utf8",
      });
      return { code: status, out: stdout, err: stderr };
    };
    try {
      writeFileSync(path("model.safetensors"), modelToBytes(model));
      const lines = texts.map((text, i) => JSON.stringify({ text, labels: [model.schema.labelNames?.[i % 25]] }));
      writeFileSync(path("test.jsonl"), `${lines.join("\n")}\n`);
      await body(run, path);
      expect(readdirSync(folder).filter((name) => name.endsWith(".tmp"))).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  };
}

describe("mlgpf compact", () => {
  test(
    "says why a model of few points gets no smaller, and refuses a place where nothing can be written at once",
    inFolder(async (run, path) => {
      const rows = Array.from({ length: 12 }, (_, i) => ({
        text: Array.from({ length: 40 }, (_, w) => `word${(i * 7 + w * 5) % 60}`).join(" "),
        labels: Array.from({ length: 8 }, (_, k) => `label ${(i + k * 3) % 25}`),
      }));
      const few = await train(rows, { model: "gpr", threads: 1 });
      writeFileSync(path("few.safetensors"), modelToBytes(few));
      expect(run("few.safetensors", "--out", "few.bin").err).toMatch(/written: [\d.]+ kB instead of/);
      const refused = run("none.safetensors", "--out", path("no/where.bin"));
      expect([refused.code, refused.err]).toEqual([
        1,
        `mlgpf: cannot write ${path("no/where.bin")}: there is no such folder\n`,
      ]);
    }),
  );

  test(
    "writes a model that predicts, beside the other, and says in one line what it did",
    inFolder(async (run, path) => {
      const { code, out, err } = run("model.safetensors");
      expect([code, out]).toEqual([0, ""]);
      expect(err).toMatch(
        /^model\.compact\.safetensors written: [\d.]+ kB instead of [\d.]+ kB \(int5, diagonal variance\)/,
      );
      const tagger = await load(readFileSync(path("model.compact.safetensors")));
      expect(tagger.predictMany(texts).every((found) => found.length === 5)).toBe(true);
      expect(tagger.info.parts[0].variance).toBe("diagonal");
    }),
  );

  test(
    "measures the choice, and the others on request",
    inFolder((run, path) => {
      const chosen = run("model.safetensors", "--out", "small.safetensors", "--type", "int8", "--data", "test.jsonl");
      expect(chosen.code).toBe(0);
      const rows = chosen.out.trimEnd().split("\n");
      expect(rows[0]).toMatch(/size\s+P@1\s+P@3\s+P@5\s+ECE@5 %\s+log loss/);
      expect(rows.slice(1).map((row) => row.split(/ {2,}/)[0])).toEqual(["the model", "int8, diagonal variance"]);
      expect(chosen.err).toMatch(/small\.safetensors written: .*: P@1 [+-][\d.]+, P@5 [+-][\d.]+, ECE@5/);

      const all = run(
        "model.safetensors",
        "--out",
        "small.safetensors",
        "--data",
        "test.jsonl",
        "--report",
        "--json",
        "--quiet",
      );
      expect([all.code, all.err]).toEqual([0, ""]);
      const { figures, bytes, choice } = JSON.parse(all.out);
      expect(figures).toHaveLength(10);
      expect(figures[1]).toMatchObject({ name: choice, bytes });
      expect(bytes).toBe(readFileSync(path("small.safetensors")).length);
      const [original, , full] = figures;
      expect(full.name).toBe("f32, diagonal variance");
      expect(full["P@5"]).toBe(original["P@5"]);
    }),
  );

  test(
    "refuses what cannot be in one sentence, and leaves nothing behind",
    inFolder((run, path) => {
      const before = readdirSync(path("."));
      const wrong: [args: string[], code: number, message: string][] = [
        [[], 2, "mlgpf compact takes MODEL"],
        [["model.safetensors", "--type", "int9"], 2, "--type: found int9, expected f32, f16, int8"],
        [["model.safetensors", "--variance", "some"], 2, "--variance: found some, expected exact"],
        [["model.safetensors", "--rank", "0", "--variance", "low-rank"], 2, "rank: found 0"],
        [
          ["model.safetensors", "--out", "model.safetensors"],
          2,
          "--out: found model.safetensors, expected another file",
        ],
        [["model.safetensors", "--report"], 2, "--report: found no data"],
        [["nothere.safetensors"], 1, "cannot read nothere.safetensors: there is no such file"],
        [["test.jsonl"], 1, "test.jsonl: found"],
        [["model.safetensors", "--out", "no/folder.safetensors"], 1, "cannot write no/folder.safetensors"],
      ];
      for (const [args, code, message] of wrong) {
        const found = run(...args);
        expect([args, found.code, found.out]).toEqual([args, code, ""]);
        expect(found.err).toContain(message);
        expect(found.err.trimEnd().split("\n")).toHaveLength(1);
      }
      expect(readdirSync(path("."))).toEqual(before);
    }),
  );
});
