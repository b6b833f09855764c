// A training in closed form cut into 1, 2, 4 and 8 parts: whether the model has the same bytes, and how long the longest way
// through it is. Parts run one after another on one core each, as if each had a machine of its own, and the critical path is
// added up: plan, slowest part, merger. Times are those of the processor, which other work on the machine hardly changes.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import type { BenchOptions } from "./harness.ts";
import { textLikeCsr } from "./problems.ts";

const POINTS = 240_000;
/** Points that are made at once. */
const BLOCK = 20_000;
const FEATURES = 3000;
const LABELS = 50;
const WORDS = 250;
const COUNTS = [1, 2, 4, 8];
const RESULTS = "bench/SCALE.md";
const BEGIN = "<!-- npm run bench -- shards -->";
const END = "<!-- end -->";

/** Seconds of the processor that a command takes: the shell tells what its children took. */
function seconds(...args: string[]): number {
  const command = ["-c", '"$@" && times', "sh", process.execPath, resolve("dist/cli.js"), ...args, "--quiet"];
  const told = execFileSync("sh", command, { encoding: "utf8" }).trimEnd().split("\n").at(-1) as string;
  return [...told.matchAll(/(\d+)m([\d.]+)s/g)].reduce((sum, [, m, s]) => sum + 60 * Number(m) + Number(s), 0);
}

/** Documents that lean to topics, and labels that are the rests of their most telling words. */
function rows(count: number, seed: number): string {
  const { rowStart, columnIndex, values } = textLikeCsr(count, FEATURES, WORDS, seed);
  const lines = Array.from({ length: count }, (_, i) => {
    const [from, to] = [rowStart[i], rowStart[i + 1]];
    const entries = Array.from({ length: to - from }, (_, e) => from + e);
    const telling = entries.sort((a, b) => values[b] - values[a]).slice(0, 2);
    const labels = new Set(telling.map((e) => columnIndex[e] % LABELS));
    const features = entries.sort((a, b) => a - b).map((e) => `${columnIndex[e]}:${values[e]?.toFixed(4)}`);
    return `${[...labels].sort((a, b) => a - b).join(",")} ${features.join(" ")}\n`;
  });
  return lines.join("");
}

function writeData(path: string): void {
  writeFileSync(path, `${POINTS} ${FEATURES} ${LABELS}\n`);
  for (let from = 0; from < POINTS; from += BLOCK) appendFileSync(path, rows(BLOCK, from / BLOCK));
}

interface Row {
  parts: number;
  plan: number;
  slowest: number;
  all: number;
  merger: number;
  digest: string;
}

/** A training in so many parts. */
function trainedIn(parts: number, path: (name: string) => string): Row {
  const plan = seconds("plan", path("data.txt"), "--out", path("plan"));
  const files = Array.from({ length: parts }, (_, i) => path(`part.${i + 1}`));
  const taken = files.map((file, i) => {
    const shard = ["--shard", `${i + 1}/${parts}`, "--threads", "1"];
    return seconds("train", path("data.txt"), "--plan", path("plan"), ...shard, "--out", file);
  });
  const merger = seconds("merge", ...files, "--out", path("model"), "--threads", "1");
  for (const file of files) rmSync(file);
  const digest = createHash("sha256")
    .update(readFileSync(path("model")))
    .digest("hex");
  const all = taken.reduce((sum, each) => sum + each, 0);
  return { parts, plan, slowest: Math.max(...taken), all, merger, digest };
}

function table(rows: readonly Row[]): string {
  const s = (value: number): string => value.toFixed(1);
  const lines = rows.map(
    ({ parts, plan, slowest, all, merger, digest }) =>
      `| ${parts} | ${s(plan)} | ${s(slowest)} | ${s(all)} | ${s(merger)} | ${s(plan + slowest + merger)} | ${digest.slice(0, 12)} |`,
  );
  return [
    `N = ${POINTS.toLocaleString("en")}, ${FEATURES.toLocaleString("en")} features, ${LABELS} labels, ${WORDS} words a point; seconds of the processor.`,
    "",
    "| parts | plan | slowest part | all parts | merger | critical path, added up | SHA-256 of the model |",
    "|---|---|---|---|---|---|---|",
    ...lines,
  ].join("\n");
}

/** Puts the table in the place of the last one. */
function keep(made: string): void {
  const page = readFileSync(RESULTS, "utf8");
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`found no ${BEGIN} ... ${END} in ${RESULTS}, expected both`);
  writeFileSync(RESULTS, `${page.slice(0, from + BEGIN.length)}\n${made}\n${page.slice(to)}`);
}

export async function shardsBench({ json }: BenchOptions): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "mlgpf-shards-"));
  const path = (name: string): string => join(folder, name);
  try {
    writeData(path("data.txt"));
    const rows = COUNTS.map((parts) => trainedIn(parts, path));
    console.log(json ? JSON.stringify(rows) : table(rows));
    if (new Set(rows.map(({ digest }) => digest)).size > 1)
      throw new Error("found other bytes for other numbers of parts");
    keep(table(rows));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
