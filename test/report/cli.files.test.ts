// --report of the built command: what a person types and gets.

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { describe, expect, test } from "vitest";
import { elements, parseHtml, tableRows, textOf } from "./support.ts";

const program = "Deno" in globalThis ? "node" : process.execPath;

function mlgpf(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(program, [resolve("dist/cli.js"), ...args], { encoding: "utf8" });
}

/** Texts in which each of four subjects has words of its own. */
function texts(count: number): string {
  const words = ["apple pear plum fruit", "iron copper zinc metal", "violin flute drum music", "river lake sea water"];
  return Array.from({ length: count }, (_, i) => {
    const own = words[i % 4].split(" ");
    const text = `${own[i % 3]} and ${own[(i + 1) % 3]} number ${i % 7}`;
    return JSON.stringify({ text, labels: [own[3]] });
  }).join("\n");
}

describe("mlgpf --report", () => {
  test("train and eval write reports with the figures that eval prints", () => {
    const folder = mkdtempSync(join(tmpdir(), "mlgpf-report-"));
    const path = (name: string): string => join(folder, name);
    try {
      writeFileSync(path("train.jsonl"), texts(200));
      writeFileSync(path("test.jsonl"), texts(60));
      const model = path("model.safetensors");
      const training = ["train", path("train.jsonl"), "--out", model, "--epochs", "5", "--factors", "4"];

      const early = mlgpf(...training, "--report", path("nowhere/report.html"));
      expect(early.status).toBe(1);
      expect(early.stderr).toContain("there is no such folder");
      expect(existsSync(model)).toBe(false);

      const report = path("report.html");
      const measured = mlgpf(...training, "--valid", path("test.jsonl"), "--report", report);
      expect(measured.stderr).toContain("report.html written");
      expect(measured.status).toBe(0);
      const printed = JSON.parse(
        mlgpf("eval", model, path("test.jsonl"), "--json", "--report", path("eval.html")).stdout,
      );
      for (const file of [report, path("eval.html")]) {
        const root = parseHtml(readFileSync(file, "utf8"));
        const [precision] = tableRows(root, "ranking") as [string[]];
        expect(precision.slice(1)).toEqual([1, 3, 5].map((k) => printed[`P@${k}`].toFixed(2)));
        expect(textOf(root)).not.toContain(folder);
      }
      const root = parseHtml(readFileSync(report, "utf8"));
      expect(elements(root).filter(({ attributes }) => attributes["data-plot"]).length).toBeGreaterThan(0);

      const blind = mlgpf(...training, "--report", report, "--quiet");
      expect(blind.stderr).toBe("");
      expect(readFileSync(report, "utf8")).toContain("--valid FILE");
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
