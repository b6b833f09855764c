// Several safetensors files in the same bytes.

import { expect, test } from "vitest";
import { FormatError } from "../../src/base/errors.ts";
import { joined, readSafetensorsSeries, safetensorsChunks } from "../../src/base/safetensors.ts";

test("a series of files is read one after another, however many there are", () => {
  const one = joined(safetensorsChunks({ tensors: new Map(), metadata: {} }));
  const count = 20_000;
  const bytes = new Uint8Array(count * one.length);
  for (let i = 0; i < count; i++) bytes.set(one, i * one.length);
  expect(readSafetensorsSeries(bytes)).toHaveLength(count);
  expect(() => readSafetensorsSeries(bytes.subarray(0, -1))).toThrow(FormatError);
  expect(() => readSafetensorsSeries(new Uint8Array(0))).toThrow(FormatError);
});
