// Parquet, read by the package hyparquet, which a page would have to bundle.

import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readDataset } from "../../../src/data/reader.ts";
import { generator } from "../../support/numbers.ts";
import { plain, refusal, wordsAlone } from "../support.ts";
import { packed, table } from "./parquetfiles.ts";

const options = { file: "t.parquet", text: "a", labels: "e", id: "b", tfidf: wordsAlone };

test("a Parquet file is read: texts, labels and ids, or columns of numbers", async () => {
  const read = await readDataset(table, { ...options, requireLabels: false });
  expect([read.format, read.dataset.ids]).toEqual(["parquet", ["1", "2", "3", "4", "5"]]);
  expect(plain(read).rows.map(({ labels }) => labels)).toEqual([[1, 2, 3], [], [], [1, 2, 3], [1, 2]]);
  expect(Array.from(read.dataset.unlabelled ?? [])).toEqual([0, 1, 1, 0, 0]); // null, which says nothing
  expect(read.emptyRows).toBe(1);
  const numbers = await readDataset(table, { file: "t.parquet", labels: "e", ignore: ["b"] });
  expect(numbers.dataset.featureNames).toEqual(["c"]);
  expect(Array.from(numbers.dataset.features.values)).toEqual([2, 5, 2]);
  expect(numbers.unlabelled).toBe(2);
});

test("a sentence about a damaged file is one line that moves no cursor", async () => {
  const name = table.findLastIndex((byte, i) => byte === 0x61 && table[i - 1] === 1 && table[i - 2] === 0x18); // a column's path
  for (const mark of [0x0d, 0x1b, 0x0a]) {
    const bytes = table.slice();
    bytes[name] = mark;
    const said = await refusal(bytes, options);
    expect(said).toContain("hyparquet cannot read");
    expect(said).not.toMatch(/\p{Cc}/u);
  }
});

/** The table with its row group said to have so many rows. */
function claiming(rows: number): Uint8Array {
  const varint: number[] = [];
  for (let left = 2 * rows; left > 0; left = Math.floor(left / 128))
    varint.push((left % 128) + (left >= 128 ? 128 : 0));
  // total_byte_size 311, num_rows 5
  const at = table.findLastIndex((byte, i) => byte === 0x16 && table[i + 1] === 0xee && table[i + 3] === 0x16);
  const bytes = [...table.subarray(0, at + 4), ...varint, ...table.subarray(at + 5)];
  const view = new DataView(Uint8Array.from(bytes).buffer);
  view.setUint32(bytes.length - 8, view.getUint32(bytes.length - 8, true) + varint.length - 1, true);
  return new Uint8Array(view.buffer);
}

describe("a Parquet file that would never end", () => {
  test("by the rows it says it has is refused before it is read", async () => {
    expect(plain(await readDataset(claiming(5), options))).toEqual(plain(await readDataset(table, options)));
    const said = await refusal(claiming(2 ** 30), options);
    expect(said).toMatch(/^t\.parquet: found a Parquet file that unpacks to 4\d{10} bytes, expected at most 67108864/);
    expect(said).toContain("(option maxUnpacked allows more)");
  });
  test("because hyparquet loops over one changed byte is given up after a while, or when told to", async () => {
    const looping = table.slice();
    looping[30] ^= 16;
    expect(await refusal(looping, options)).toContain("takes more than 4 s to read, expected");
    const reading = readDataset(looping, { ...options, signal: AbortSignal.timeout(300) });
    await expect(reading).rejects.toThrow(/timeout|aborted/i);
  }, 60_000);
  test("or is damaged anywhere gives a data set or one sentence, and never takes more than a few seconds", async () => {
    const next = generator(7);
    for (let i = 0; i < 40; i++) {
      const bytes = table.slice();
      bytes[Math.floor(next() * bytes.length)] ^= 1 << Math.floor(next() * 8);
      await refusal(bytes, options); // which looks at what was thrown
    }
  }, 300_000);
});

test("one that is refused in a row leaves no thread behind", async () => {
  const threads = (): number => readdirSync("/proc/self/task").length;
  const refuse = (): Promise<string> => refusal(packed, { file: "t.parquet", text: "missing" });
  await refuse();
  const before = threads();
  for (let i = 0; i < 8; i++) await refuse();
  expect(threads()).toBeLessThan(before + 8); // an engine has some of its own, which come and go
});

test("one that is cut short is refused in one sentence", async () => {
  expect(await refusal(table.subarray(0, 600), options)).toContain("a Parquet file that hyparquet cannot read");
});

test("one that is packed by zstd, in several groups of rows, is read with hyparquet-compressors", async () => {
  const { dataset } = await readDataset(packed, { file: "t.parquet", tfidf: wordsAlone });
  expect(dataset.ids).toEqual(["9007199254740993", "2", "3", "4"]);
  expect(dataset.labelNames).toEqual(["land", "sea", "big"]);
  expect(Array.from(dataset.labels.rowStart)).toEqual([0, 1, 3, 4, 4]);
});

test("where hyparquet is not installed, the package to install is named", () => {
  const folder = mkdtempSync(join(tmpdir(), "mlgpf-parquet-"));
  try {
    cpSync("dist", join(folder, "dist"), { recursive: true });
    writeFileSync(join(folder, "package.json"), '{"type": "module"}');
    writeFileSync(join(folder, "t.parquet"), table);
    const args = ["dist/cli.js", "train", "t.parquet", "--out", "model"];
    const { status, stderr } = spawnSync("node", args, { cwd: folder, encoding: "utf8" });
    expect(status).toBe(1);
    expect(stderr.trimEnd().split("\n").at(-1)).toBe(
      "mlgpf: t.parquet: found a Parquet file, expected the package hyparquet to read it (npm install hyparquet)",
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});
