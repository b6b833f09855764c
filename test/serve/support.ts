// A tagger whose answers can be foretold: the words of a text in order, each half as probable as the one before.

import { ArgumentError } from "../../src/base/errors.ts";
import type { Input, Prediction, PredictOptions, Tagger } from "../../src/serve/index.ts";

/** Where this tagger cuts. */
const OWN = { best: 0.2, label: 0.1 };

export function wordsOf(
  input: Input,
  { topK = Number.POSITIVE_INFINITY, threshold = 0, explain: asked = 0, allow, deny }: PredictOptions,
): Prediction[] {
  if (input === "refuse me") throw new ArgumentError("input", "found refuse me, expected another text");
  if (input === "break") throw new Error("a secret of the server");
  if (input === "overflow") return [{ label: "a", probability: Number.NaN, sd: 0 }];
  const words = typeof input === "string" ? input.split(" ") : Object.keys(input);
  return words
    .map((label, i) => ({ label, probability: 2 ** -(i + 1), sd: i }))
    .filter(({ label }) => (allow?.includes(label) ?? true) && !deny?.includes(label))
    .filter(({ probability }) => probability >= (typeof threshold === "number" ? threshold : OWN[threshold]))
    .slice(0, topK)
    .map((found) => (Number(asked) > 0 ? { ...found, reasons: [{ word: words[0], share: Number(asked) }] } : found));
}

export interface WordTagger extends Tagger {
  /** What each call of predictMany was given. */
  readonly calls: (readonly Input[])[];
}

export function wordTagger(): WordTagger {
  const calls: (readonly Input[])[] = [];
  return {
    calls,
    labels: ["a", "b", "c"],
    info: { kernel: "words", note: 'of "text"\\' },
    predictMany(inputs, options) {
      calls.push(inputs);
      return inputs.map((input) => wordsOf(input, options));
    },
  };
}

export const ask = (body: unknown, target = "/predict", headers: Record<string, string> = {}): Request =>
  new Request(`http://localhost${target}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" || body instanceof Uint8Array ? (body as BodyInit) : JSON.stringify(body),
  });

export async function gzip(text: string): Promise<Uint8Array> {
  const packed = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(packed).arrayBuffer());
}
