// Parquet is read by the package hyparquet. Where it is installed a file is read; where it is not, that is said.

import { expect, test } from "vitest";
import { readDataset } from "../../../src/data/reader.ts";
import { plain, refusal, wordsAlone } from "../support.ts";

/** datapage_v2.snappy.parquet of Apache's parquet-testing: columns a (text), b, c (numbers), d (boolean), e (list). */
const table = Uint8Array.from(
  atob(
    "UEFSMRUEFQ4VEkwVAhUAAAAHGAMAAABhYmMVBhUIFQxcFQoVAhUKFRAVBBUALBgDYWJjGANhYmMWAgAAAAMXAgQAAxUGFRQVGFwVChUAFQoVChUAFQAsGAQFAAAAGAQBAAAAFgAAAAAKJIABBAUCAgAAAAAVBBVAFTBMFQgVAAAAIAAACQEAQAkHAAgNCCQQQAAAAAAAABRAFQYVCBUMXBUKFQAVChUQFQAVACwYCAAAAAAAABRAGAgAAAAAAAAAQBYAAAAABAwCA+QAFQYVDBUQXBUKFQAVChUGFQAVACwYAQEYAQAWAAAAAAYUAgAAAAMXFQQVGBUcTBUGFQAAAAwsAQAAAAIAAAADAAAAFQYVGBUcXBUUFQQVChUQFQoVBiwYBAMAAAAYBAEAAAAWBAAAAAXGAgUqqAoABAwCAyRJFQIZjEgMc3Bhcmtfc2NoZW1hFQoAFQwlAhgBYSUAABUCJQAYAWIAFQolABgBYwAVACUAGAFkADUCGAFlFQIVBgA1BBgEbGlzdBUCABUCJQAYB2VsZW1lbnQAFgoZHBlcJggcFQwZJQAQGRgBYRUCFgoWdhZ+Jgg8GANhYmMYA2FiYxYCAAAAJoYBHBUCGRUKGRgBYhUCFgoWXhZiJoYBPBgEBQAAABgEAQAAABYAAAAAJugBHBUKGSUAEBkYAWMVAhYKFrwBFrABJugBPBgIAAAAAAAAFEAYCAAAAAAAAABAFgAAAAAmmAMcFQAZFQYZGAFkFQIWChZKFk4mmAM8GAEBGAEAFgAAAAAm5gMcFQIZJQAQGTgBZQRsaXN0B2VsZW1lbnQVAhYUFpQBFpwBJuYDPBgEAwAAABgEAQAAABYEAAAAFu4EFgoAGRwYKW9yZy5hcGFjaGUuc3Bhcmsuc3FsLnBhcnF1ZXQucm93Lm1ldGFkYXRhGP0CeyJ0eXBlIjoic3RydWN0IiwiZmllbGRzIjpbeyJuYW1lIjoiYSIsInR5cGUiOiJzdHJpbmciLCJudWxsYWJsZSI6dHJ1ZSwibWV0YWRhdGEiOnt9fSx7Im5hbWUiOiJiIiwidHlwZSI6ImludGVnZXIiLCJudWxsYWJsZSI6ZmFsc2UsIm1ldGFkYXRhIjp7fX0seyJuYW1lIjoiYyIsInR5cGUiOiJkb3VibGUiLCJudWxsYWJsZSI6ZmFsc2UsIm1ldGFkYXRhIjp7fX0seyJuYW1lIjoiZCIsInR5cGUiOiJib29sZWFuIiwibnVsbGFibGUiOmZhbHNlLCJtZXRhZGF0YSI6e319LHsibmFtZSI6ImUiLCJ0eXBlIjp7InR5cGUiOiJhcnJheSIsImVsZW1lbnRUeXBlIjoiaW50ZWdlciIsImNvbnRhaW5zTnVsbCI6ZmFsc2V9LCJudWxsYWJsZSI6dHJ1ZSwibWV0YWRhdGEiOnt9fV19ABhJcGFycXVldC1tciB2ZXJzaW9uIDEuOC4xIChidWlsZCA0YWJhNGRhZTdiYjBkNGVkYmNmNzkyM2FlMTMzOWYyOGZkM2Y3ZmNmKQBEAwAAUEFSMQ==",
  ),
  (character) => character.charCodeAt(0),
);

async function isInstalled(): Promise<boolean> {
  const name = "hyparquet";
  return await import(/* @vite-ignore */ name).then(
    () => true,
    () => false,
  );
}

test("a Parquet file is read, or the package that would read it is named", async () => {
  const options = { file: "t.parquet", text: "a", labels: "e", id: "b", tfidf: wordsAlone };
  if (!(await isInstalled())) {
    expect(await refusal(table, options)).toBe(
      "t.parquet: found a Parquet file, expected the package hyparquet to read it (npm install hyparquet)",
    );
    return;
  }
  const read = await readDataset(table, options);
  expect([read.format, read.dataset.ids]).toEqual(["parquet", ["1", "2", "3", "4", "5"]]);
  expect(plain(read).rows.map(({ labels }) => labels)).toEqual([[1, 2, 3], [], [], [1, 2, 3], [1, 2]]);
  expect(read.emptyRows).toBe(1);
  const numbers = await readDataset(table, { file: "t.parquet", labels: "e", ignore: ["b"] });
  expect(numbers.dataset.featureNames).toEqual(["c"]);
  expect(Array.from(numbers.dataset.features.values)).toEqual([2, 3, 4, 5, 2]);
  expect(await refusal(table.subarray(0, 600), options)).toContain(
    "a Parquet file that hyparquet cannot read",
  );
});
