import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FormatError } from "../../src/base/errors.ts";
import { hashInteger } from "../../src/base/hash.ts";
import {
  readSafetensors,
  readSafetensorsHeader,
  safetensorsChunks,
  type Tensor,
  type TensorFile,
  writeSafetensors,
} from "../../src/base/safetensors.ts";

/** A file by hand: header length, header, data. */
function fileOf(header: string, data: readonly number[] = [], length?: number): Uint8Array {
  const json = new TextEncoder().encode(header);
  const bytes = new Uint8Array(8 + json.length + data.length);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(length ?? json.length), true);
  bytes.set(json, 8);
  bytes.set(data, 8 + json.length);
  return bytes;
}

function tensorFile(tensors: Record<string, Tensor>, metadata: Record<string, string> = {}): TensorFile {
  return { tensors: new Map(Object.entries(tensors)), metadata };
}

function refusal(bytes: Uint8Array): string {
  try {
    readSafetensors(bytes, "m.safetensors");
  } catch (error) {
    expect(error).toBeInstanceOf(FormatError);
    const { message } = error as FormatError;
    expect(message).toMatch(/^m\.safetensors: found .+, expected .+$/);
    expect(message).not.toMatch(/[\n\r]/);
    return message;
  }
  return "read without an error";
}

const data: fc.Arbitrary<Tensor["data"]> = fc.oneof(
  fc.float64Array({ maxLength: 12 }),
  fc.float32Array({ maxLength: 12 }),
  fc.uint16Array({ maxLength: 12 }),
  fc.int32Array({ maxLength: 12 }),
  fc.bigInt64Array({ maxLength: 12 }),
  fc.uint8Array({ maxLength: 12 }),
  fc.int8Array({ maxLength: 12 }),
);

const DTYPES: Readonly<Record<string, Tensor["dtype"]>> = {
  Float64Array: "F64",
  Float32Array: "F32",
  Uint16Array: "F16",
  Int32Array: "I32",
  BigInt64Array: "I64",
  Uint8Array: "U8",
  Int8Array: "I8",
};

const tensor: fc.Arbitrary<Tensor> = fc.tuple(data, fc.nat(2)).map(([array, kind]) => {
  const shapes = [[array.length], [1, array.length], array.length === 1 ? [] : [array.length, 1, 1]];
  return { dtype: DTYPES[array.constructor.name], shape: shapes[kind], data: array } as Tensor;
});

const anyFile: fc.Arbitrary<TensorFile> = fc
  .record({
    tensors: fc.uniqueArray(fc.tuple(fc.string({ unit: "grapheme" }), tensor), {
      selector: ([name]) => name,
      maxLength: 6,
    }),
    metadata: fc.dictionary(fc.string(), fc.string({ unit: "grapheme" }), { maxKeys: 3 }),
  })
  .map(({ tensors, metadata }) => ({
    tensors: new Map(tensors.filter(([name]) => name !== "__metadata__")),
    metadata: { ...metadata },
  }));

function sorted(file: TensorFile): [string, Tensor][] {
  return [...file.tensors].sort(([a], [b]) => (a < b ? -1 : 1));
}

describe("safetensors", () => {
  test("comes back as it was written", () => {
    fc.assert(
      fc.property(anyFile, (file) => {
        const read = readSafetensors(writeSafetensors(file));
        expect(sorted(read)).toEqual(sorted(file));
        expect(read.metadata).toEqual(file.metadata);
      }),
      { numRuns: 300 },
    );
  });
  test("the bytes the format asks for", () => {
    const bytes = writeSafetensors(
      tensorFile(
        {
          b: { dtype: "U8", shape: [3], data: Uint8Array.of(7, 8, 9) },
          a: { dtype: "F32", shape: [1, 2], data: Float32Array.of(1, -2) },
        },
        { z: "1", k: "v" },
      ),
    );
    const header =
      '{"__metadata__":{"k":"v","z":"1"},"a":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},"b":{"dtype":"U8","shape":[3],"data_offsets":[8,11]}}';
    const padded = header.padEnd(Math.ceil(header.length / 8) * 8, " ");
    expect(bytes).toEqual(fileOf(padded, [0, 0, 128, 63, 0, 0, 0, 192, 7, 8, 9]));
  });
  test("a file from another writer: other order, no padding, a scalar, an empty tensor", () => {
    const header =
      '{"x":{"shape":[2],"data_offsets":[4,8],"dtype":"F16"},"__metadata__":{"format":"pt"}, "n":{"dtype":"I32","shape":[],"data_offsets":[0,4]},"e":{"dtype":"F32","shape":[0,5],"data_offsets":[8,8]}}   ';
    const { tensors, metadata } = readSafetensors(fileOf(header, [1, 2, 0, 0, 0, 60, 0, 64]));
    expect(metadata).toEqual({ format: "pt" });
    expect(tensors.get("n")).toEqual({ dtype: "I32", shape: [], data: Int32Array.of(513) });
    expect(tensors.get("x")).toEqual({ dtype: "F16", shape: [2], data: Uint16Array.of(0x3c00, 0x4000) });
    expect(tensors.get("e")).toEqual({ dtype: "F32", shape: [0, 5], data: new Float32Array(0) });
    expect(readSafetensors(fileOf("{}")).tensors.size).toBe(0);
  });
  test("does not depend on the order tensors and metadata are given in", () => {
    const one: Tensor = { dtype: "F32", shape: [1], data: Float32Array.of(1) };
    const two: Tensor = { dtype: "F64", shape: [1], data: Float64Array.of(2) };
    const forward = writeSafetensors(tensorFile({ 10: one, 9: one, two }, { b: "1", a: "2" }));
    const backward = writeSafetensors({
      tensors: new Map<string, Tensor>([
        ["two", two],
        ["9", one],
        ["10", one],
      ]),
      metadata: { a: "2", b: "1" },
    });
    expect(forward).toEqual(backward);
  });
  test("reads in place where it can", () => {
    const file = tensorFile({
      x: { dtype: "F64", shape: [2], data: Float64Array.of(1, 2) },
      y: { dtype: "U8", shape: [1], data: Uint8Array.of(5) },
    });
    const bytes = writeSafetensors(file);
    expect(readSafetensors(bytes).tensors.get("x")?.data.buffer).toBe(bytes.buffer);
    const shifted = new Uint8Array(bytes.length + 1);
    shifted.set(bytes, 1);
    const copied = readSafetensors(shifted.subarray(1)).tensors;
    expect(copied.get("x")?.data).toEqual(Float64Array.of(1, 2));
    expect(copied.get("y")?.data.buffer).toBe(shifted.buffer);
  });
  test("in chunks without a copy", () => {
    const weights = Float32Array.of(1, 2, 3);
    const [, chunk] = safetensorsChunks(tensorFile({ w: { dtype: "F32", shape: [3], data: weights } }));
    expect(chunk?.buffer).toBe(weights.buffer);
  });
  test("the header alone", () => {
    const bytes = writeSafetensors(
      tensorFile({ w: { dtype: "F32", shape: [1000], data: new Float32Array(1000) } }, { a: "b" }),
    );
    const start = bytes.subarray(0, bytes.length - 4000);
    const header = readSafetensorsHeader(start, bytes.length);
    expect(header.dataStart).toBe(start.length);
    expect(header.tensors.get("w")).toEqual({
      dtype: "F32",
      shape: [1000],
      start: start.length,
      end: bytes.length,
    });
  });
  test("refuses to write what does not fit", () => {
    const wrong: Tensor = { dtype: "F32", shape: [3], data: Float32Array.of(1) };
    expect(() => writeSafetensors(tensorFile({ w: wrong }))).toThrow('found 4 bytes for tensor "w", expected F32 [3]');
    const type = { dtype: "F32", shape: [1], data: Int8Array.of(1, 2, 3, 4) } as unknown as Tensor;
    expect(() => writeSafetensors(tensorFile({ w: type }))).toThrow('tensor "w"');
    const one: Tensor = { dtype: "F32", shape: [1], data: Float32Array.of(1) };
    expect(() => writeSafetensors(tensorFile({ __metadata__: one }))).toThrow("expected another name");
  });
});

describe("a broken file is refused in one sentence:", () => {
  const zeros = (count: number): number[] => new Array<number>(count).fill(0);
  const described = (description: string, bytes = 4): Uint8Array => fileOf(`{"w":${description}}`, zeros(bytes));
  const cases: readonly [name: string, bytes: Uint8Array, message: string][] = [
    ["no bytes", new Uint8Array(0), "found 0 bytes, expected a safetensors file of at least 8"],
    ["too short", Uint8Array.of(1, 2, 3), "found 3 bytes"],
    [
      "header beyond the file",
      fileOf("{}", [], 100),
      "found a header of 100 bytes in a file of 10, expected a whole file",
    ],
    ["header too long", fileOf("{}", [], 100_000_001), "found a header length of 100000001"],
    ["a text file", new TextEncoder().encode("rows features labels"), "found text, expected a model"],
    ["not JSON", fileOf("{nope}"), "found a header that is not JSON"],
    ["not UTF-8", fileOf("{}x").map((byte) => (byte === 120 ? 0xff : byte)), "found a header that is not JSON"],
    ["empty header", fileOf(""), "found a header that is not JSON"],
    ["a list", fileOf("[]"), "found a header that does not begin with {"],
    ["a blank first", fileOf(" {}"), "found a header that does not begin with {"],
    ["a number", fileOf("7"), "found a header that does not begin with {"],
    [
      "a name twice",
      fileOf(
        '{"w":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"\\u0077":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}',
      ),
      'found "w" twice in the header',
    ],
    [
      "a field twice",
      described('{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}'),
      'found "dtype" twice',
    ],
    ["no description", described("4"), 'found no description for tensor "w"'],
    [
      "unknown field",
      described('{"dtype":"F32","shape":[1],"data_offsets":[0,4],"x":1}'),
      'found a field "x" for tensor "w"',
    ],
    [
      "unknown dtype",
      described('{"dtype":"F8","shape":[1],"data_offsets":[0,4]}'),
      'found dtype "F8" for tensor "w", expected one of I64, F64, F32, I32, F16, I8, U8',
    ],
    ["no dtype", described('{"shape":[1],"data_offsets":[0,4]}'), 'found dtype "undefined"'],
    [
      "shape no list",
      described('{"dtype":"F32","shape":1,"data_offsets":[0,4]}'),
      "found a shape that is not a list of sizes",
    ],
    [
      "negative size",
      described('{"dtype":"F32","shape":[-1,-1],"data_offsets":[0,4]}'),
      "found a shape that is not a list of sizes",
    ],
    ["fraction", described('{"dtype":"F32","shape":[0.5,2],"data_offsets":[0,4]}'), "found a shape"],
    ["shape text", described('{"dtype":"F32","shape":["1"],"data_offsets":[0,4]}'), "found a shape"],
    [
      "offsets",
      described('{"dtype":"F32","shape":[1],"data_offsets":[0]}'),
      "found data_offsets that are not two numbers",
    ],
    [
      "negative offset",
      described('{"dtype":"F32","shape":[1],"data_offsets":[-4,0]}'),
      "found data_offsets that are not two",
    ],
    ["reversed offsets", described('{"dtype":"F32","shape":[0],"data_offsets":[4,0]}'), "found data_offsets [4, 0]"],
    [
      "wrong size",
      described('{"dtype":"F32","shape":[2],"data_offsets":[0,4]}'),
      'found data_offsets [0, 4] for tensor "w", expected 8 bytes as its shape has',
    ],
    [
      "overflow",
      described('{"dtype":"F32","shape":[4294967296,4294967296,4294967296],"data_offsets":[0,4]}'),
      "found data_offsets [0, 4]",
    ],
    [
      "cut short",
      described('{"dtype":"F32","shape":[2],"data_offsets":[0,8]}'),
      'found data up to byte 8 for tensor "w", expected at most 4 (is the file cut short?)',
    ],
    [
      "huge",
      described('{"dtype":"F32","shape":[1000000000000],"data_offsets":[0,4000000000000]}'),
      "found data up to byte 4000000000000",
    ],
    [
      "trailing bytes",
      described('{"dtype":"F32","shape":[1],"data_offsets":[0,4]}', 6),
      "found 2 bytes after the last tensor, expected the end of the file",
    ],
    ["gap", described('{"dtype":"F32","shape":[1],"data_offsets":[4,8]}', 8), 'found a gap before tensor "w"'],
    [
      "overlap",
      fileOf(
        '{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}}',
        zeros(6),
      ),
      'found an overlap before tensor "b"',
    ],
    ["metadata", fileOf('{"__metadata__":{"a":1}}'), "found __metadata__ that is not a map of texts"],
    ["metadata list", fileOf('{"__metadata__":["a"]}'), "found __metadata__ that is not a map of texts"],
    ["deep nesting", fileOf(`{"a":${"[".repeat(100_000)}`), "found a header that is not JSON"],
  ];
  for (const [name, bytes, message] of cases) {
    test(name, () => {
      expect(refusal(bytes)).toContain(message);
    });
  }
});

describe("altered files", () => {
  const original = writeSafetensors(
    tensorFile(
      {
        Phi: { dtype: "F32", shape: [2, 2], data: Float32Array.of(1, 2, 3, 4) },
        sigma: { dtype: "F64", shape: [1], data: Float64Array.of(0.5) },
        index: { dtype: "I32", shape: [3], data: Int32Array.of(1, 2, 3) },
      },
      { format: "mlgpf", labels: '["a","b"]' },
    ),
  );
  test("give one sentence or a file that is consistent, five thousand times", () => {
    for (let i = 0; i < 5000; i++) {
      const random = (k: number): number => hashInteger(i * 16 + k, 7);
      const kind = i % 5;
      let bytes = original.slice();
      const at = random(0) % bytes.length;
      if (kind < 2) bytes[at] = random(1) & 255;
      else if (kind === 2) bytes = bytes.slice(0, at);
      else if (kind === 3) bytes = Uint8Array.from([...bytes.subarray(0, at), random(1) & 255, ...bytes.subarray(at)]);
      else for (let k = 0; k < 4; k++) bytes[8 + (random(2 * k) % 200)] = 32 + (random(2 * k + 1) % 96);
      const message = refusal(bytes);
      if (kind === 2 || kind === 3) expect(message).not.toBe("read without an error");
      if (message === "read without an error") {
        const read = readSafetensors(bytes);
        expect(sorted(readSafetensors(writeSafetensors(read)))).toEqual(sorted(read));
      }
    }
  });
});
