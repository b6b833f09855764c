import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DataError } from "../../src/base/errors.ts";
import { hashInteger } from "../../src/base/hash.ts";
import { type ByteSource, openBytes, utf8, windows1252 } from "../../src/data/bytes.ts";
import { lineBlocks } from "../../src/data/lines.ts";
import { gzip, inPieces } from "./support.ts";

async function linesOf(source: ByteSource): Promise<string[]> {
  const lines: string[] = [];
  const { chunks, kind } = await openBytes(source, { file: "f" });
  expect(kind).toBe("text");
  for await (const block of lineBlocks(chunks, "f")) {
    while (block.next()) {
      const { bytes, start, end } = block;
      lines.push(utf8(bytes, start, end) ?? windows1252(bytes, start, end));
      expect(block.number).toBe(lines.length);
    }
  }
  return lines;
}

async function failure(source: ByteSource): Promise<string> {
  try {
    await linesOf(source);
  } catch (error) {
    expect(error).toBeInstanceOf(DataError);
    return (error as DataError).message;
  }
  return "none";
}

describe("lines", () => {
  test("of any text, in pieces of any size, packed or not", async () => {
    const text = fc.array(fc.string({ unit: "grapheme" }).map((line) => line.replaceAll(/[\n\r\0\ufeff]/g, "")));
    const ending = fc.constantFrom("\n", "\r\n");
    await fc.assert(
      fc.asyncProperty(
        text,
        ending,
        fc.boolean(),
        fc.integer({ min: 1, max: 9 }),
        fc.boolean(),
        async (lines, end, last, size, packed) => {
          const whole = lines.join(end) + (last && lines.length > 0 ? end : "");
          const expected =
            whole === "" ? [] : lines.at(-1) === "" && !(last && lines.length > 0) ? lines.slice(0, -1) : lines;
          const bytes = new TextEncoder().encode(whole);
          if (bytes.length >= 2 && bytes[0] === 0x1f && bytes[1] === 0x8b) return;
          expect(await linesOf(inPieces(packed ? await gzip(bytes) : bytes, size))).toEqual(expected);
        },
      ),
      { numRuns: 150 },
    );
  });
  test("of every kind of source", async () => {
    const text = "one\ntwo\r\nthree";
    const bytes = new TextEncoder().encode(text);
    for (const source of [text, bytes, new Blob([text]), inPieces(bytes, 4), await gzip(bytes)]) {
      expect(await linesOf(source)).toEqual(["one", "two", "three"]);
    }
    expect(await linesOf("")).toEqual([]);
    expect(await linesOf("\n\n")).toEqual(["", ""]);
  });
  test("without a byte order mark", async () => {
    expect(await linesOf("\ufeffa\nb")).toEqual(["a", "b"]);
    expect(await linesOf(inPieces(new TextEncoder().encode("\ufeffa\n"), 1))).toEqual(["a"]);
  });
  test("of UTF-16 in either order, in pieces of any size", async () => {
    const text = fc.string({ unit: fc.constantFrom("a", "é", "日", "😀", "\n", "\ufeff", " ") });
    await fc.assert(
      fc.asyncProperty(text, fc.boolean(), fc.integer({ min: 1, max: 7 }), async (whole, big, size) => {
        const bytes = new Uint8Array(2 * whole.length + 2);
        const view = new DataView(bytes.buffer);
        for (const [i, unit] of [0xfeff, ...whole.split("").map((each) => each.charCodeAt(0))].entries())
          view.setUint16(2 * i, unit, !big);
        const expected = whole.split("\n");
        if (expected.at(-1) === "") expected.pop();
        if (expected[0]?.startsWith("\ufeff")) return; // two marks
        expect(await linesOf(inPieces(bytes, size))).toEqual(expected);
      }),
    );
  });
  test("of Windows-1252", async () => {
    // € ‚ ... as the Encoding Standard maps them; the five bytes without a character stand for themselves.
    expect(windows1252(Uint8Array.of(0x80, 0x82, 0x81, 0x9f, 0xa0, 0xe9, 0xff, 65))).toBe("€‚\u0081Ÿ\u00a0éÿA");
    expect(await linesOf(Uint8Array.of(0x63, 0x61, 0x66, 0xe9, 10, 0xc3, 0xa9, 10))).toEqual(["café", "é"]);
  });
  test("longer than any chunk", async () => {
    const long = "x".repeat(1_000_000);
    expect(await linesOf(`a\n${long}\nb`)).toEqual(["a", long, "b"]);
  });
  test("keep a return that does not end the line", async () => {
    expect(await linesOf("a\rb\r\n")).toEqual(["a\rb"]);
  });
});

describe("what is no text", () => {
  test("zero bytes, with their line", async () => {
    expect(await failure("a\nb\nc\0d\n")).toBe("f, line 3: found binary data (a zero byte), expected UTF-8 text");
  });
  test("other packed and binary formats by name", async () => {
    expect(await failure(Uint8Array.of(0xfd, 0x37, 0x7a, 0x58, 0, 0))).toContain("found xz data, expected UTF-8 text");
    expect(await failure(inPieces(Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 1, 2), 1))).toContain("zstandard");
  });
  test("gzip cut short anywhere, or damaged", async () => {
    const packed = await gzip("some text\n".repeat(2000));
    for (const length of [2, 5, 12, packed.length >> 1, packed.length - 9, packed.length - 8, packed.length - 1]) {
      expect(await failure(packed.subarray(0, length))).toBe(
        "f: found gzip data that is damaged or cut short, expected a whole gzip file",
      );
      expect(await failure(inPieces(packed.subarray(0, length), 7))).toContain("cut short");
    }
    const damaged = packed.slice();
    damaged[packed.length >> 1] = damaged[packed.length >> 1] ^ 0xff;
    expect(await failure(damaged)).toContain("damaged or cut short");
    const wrongSum = packed.slice();
    wrongSum[packed.length - 6] = wrongSum[packed.length - 6] ^ 1;
    expect(await failure(wrongSum)).toContain("damaged or cut short");
  });
});

describe("the source", () => {
  test("is let go when reading stops early", async () => {
    for (const packed of [false, true]) {
      const lines = Array.from({ length: 50_000 }, (_, i) => hashInteger(i)); // does not pack well
      const bytes = new TextEncoder().encode(lines.join("\n"));
      let cancelled = false;
      const inner = inPieces(packed ? await gzip(bytes) : bytes, 50).getReader();
      const stream = new ReadableStream<Uint8Array>({
        async pull(controller) {
          const { done, value } = await inner.read();
          if (done) controller.close();
          else controller.enqueue(value);
        },
        cancel() {
          cancelled = true;
        },
      });
      for await (const block of lineBlocks((await openBytes(stream, { file: "f" })).chunks, "f")) {
        block.next();
        break;
      }
      expect(cancelled).toBe(true);
    }
  });
  test("hands its own error on, also from within gzip", async () => {
    for (const start of [
      [97, 98, 99, 10],
      [0x1f, 0x8b, 8, 0],
    ]) {
      let pulled = false;
      const stream = new ReadableStream<Uint8Array>({
        pull(controller) {
          if (pulled) throw new Error("disk on fire");
          pulled = true;
          controller.enqueue(Uint8Array.from(start));
        },
      });
      let message = "";
      try {
        await linesOf(stream);
      } catch (error) {
        message = (error as Error).message;
      }
      expect(message).toBe("disk on fire");
    }
  });
});
