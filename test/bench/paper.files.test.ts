// npm run paper on data of one's own: the paper's methods on the two files of a folder.

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";

const paper = (...args: string[]): { status: number | null; stdout: string; stderr: string } =>
  spawnSync("node", ["scripts/ts.mjs", "bench/paper.ts", ...args], { encoding: "utf8" });

test("npm run paper -- --data measures the methods that are named, and says which file is missing", () => {
  const folder = mkdtempSync(join(tmpdir(), "mlgpf-paper-"));
  const rows = Array.from({ length: 30 }, (_, i) => `${i % 3} ${i % 3}:1 ${3 + (i % 4)}:0.5`);
  try {
    writeFileSync(join(folder, "train.txt"), `30 7 3\n${rows.join("\n")}\n`);
    const half = paper("--data", folder);
    expect(half.stderr).toContain("found train.txt, expected test.txt or test.txt.gz");
    expect(half.status).toBe(1);
    writeFileSync(join(folder, "test.txt"), `30 7 3\n${rows.join("\n")}\n`);
    const { stdout, stderr, status } = paper("--data", folder, "--methods", "s-LINEAR,SE", "--epochs", "2");
    expect(status, stderr).toBe(0);
    expect(stdout).toMatch(/^s-LINEAR +[\d.]+ \/ [\d.]+ \/ [\d.]+ +[\d.]+ s\nSE +[\d.]+ \/ /);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
