// Everything a model can be loaded from, and what is said when it is not there.

import { describe, expect, test } from "vitest";
import { compactModel } from "../../src/compact/index.ts";
import { load, type ModelSource } from "../../src/edge/index.ts";
import { modelToBytes } from "../../src/model/file.ts";
import { sampleTexts, textModel, written } from "./support.ts";

const model = textModel({ features: 40, labels: 12, factors: 4, inducing: 5 });
const texts = sampleTexts(model, 20, 1);
const making = compactModel(model);

function streamOf(bytes: Uint8Array, size: number): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) controller.close();
      else controller.enqueue(bytes.slice(at, at + size));
      at += size;
    },
  });
}

describe("load", () => {
  const sources: Record<string, (bytes: Uint8Array<ArrayBuffer>) => ModelSource> = {
    bytes: (bytes) => bytes,
    "bytes at an odd place of a buffer": (bytes) => {
      const shifted = new Uint8Array(bytes.length + 3);
      shifted.set(bytes, 3);
      return shifted.subarray(3);
    },
    "a DataView": (bytes) => new DataView(bytes.buffer),
    "an ArrayBuffer": (bytes) => bytes.buffer,
    "a Response": (bytes) => new Response(bytes),
    "a Blob": (bytes) => new Blob([bytes]),
    "a stream": (bytes) => streamOf(bytes, 1000),
    "a promise": (bytes) => Promise.resolve(bytes),
    "a function": (bytes) => () => bytes,
    "an asynchronous function": (bytes) => () => Promise.resolve(new Response(bytes)),
  };
  for (const [what, source] of Object.entries(sources)) {
    test(`takes ${what}`, async () => {
      const bytes = await making;
      const wanted = (await load(bytes)).predictMany(texts);
      expect(written((await load(source(bytes))).predictMany(texts))).toBe(written(wanted));
    });
  }

  const wrong: [what: string, source: () => ModelSource, message: string][] = [
    ["an address", () => "https://example.org/model" as never, "tagger: found string, expected bytes, a Response"],
    ["nothing", () => undefined as never, "tagger: found undefined, expected bytes"],
    ["a page that is not there", () => new Response("no", { status: 404 }), "tagger: found HTTP status 404"],
    ["an empty file", () => new Uint8Array(0), "tagger: found 0 bytes, expected a safetensors file"],
    [
      "a full model",
      () => modelToBytes(model),
      'tagger: found format "mlgpf-model", expected a model made by mlgpf compact',
    ],
  ];
  for (const [what, source, message] of wrong) {
    test(`refuses ${what}`, async () => {
      await expect(load(source(), { name: "tagger" })).rejects.toThrow(message);
    });
  }

  test("passes on what a function or a stream throws", async () => {
    const failing = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.error(new Error("line cut")),
    });
    await expect(load(failing)).rejects.toThrow("line cut");
    await expect(load(() => Promise.reject(new Error("no network")))).rejects.toThrow("no network");
  });

  test("stops when it is told to", async () => {
    const bytes = await making;
    await expect(load(bytes, { signal: AbortSignal.abort() })).rejects.toThrow(/abort/i);
    const controller = new AbortController();
    let cancelled = false;
    const stream = new ReadableStream<Uint8Array>(
      {
        pull(to) {
          to.enqueue(bytes.slice(0, 10));
          controller.abort();
        },
        cancel() {
          cancelled = true;
        },
      },
      { highWaterMark: 0 },
    );
    await expect(load(stream, { signal: controller.signal })).rejects.toThrow(/abort/i);
    expect(cancelled).toBe(true);
  });

  test("refuses what is no module", async () => {
    await expect(load(await making, { wasm: {} as WebAssembly.Module })).rejects.toThrow();
  });
});
