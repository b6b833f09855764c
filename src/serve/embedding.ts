// Vectors of texts that come without one: an embedder makes them, the one that the model was trained with.

import { isObject } from "../base/check.ts";
import { ArgumentError } from "../base/errors.ts";
import type { TfidfState } from "../data/tfidf.ts";
import { checkMark, type Embedder, embedded } from "../data/vectors.ts";
import { openEmbedder } from "../io/dataset.ts";
import type { Tagger } from "./project.ts";

/** The text of an input that is nothing else. */
function bareText(input: unknown): string | undefined {
  if (typeof input === "string") return input;
  const { text, vector, vectors } = isObject(input) ? input : {};
  return typeof text === "string" && vector === undefined && vectors === undefined ? text : undefined;
}

/** Digits that tell numbers of single precision apart. */
const DIGITS = 9;

export class Embedding {
  private constructor(
    private readonly embedder: Embedder,
    private readonly length: number,
  ) {}

  /** Refuses another embedder than that of the model. */
  static async open(place: string, { vectors, embedder: mark }: Partial<TfidfState> = {}): Promise<Embedding> {
    const embedder = await openEmbedder(place);
    if (!vectors?.length)
      throw new ArgumentError("embed", `found ${embedder.name}, expected none: the model has no vectors`);
    if (mark) await checkMark(embedder, mark);
    return new Embedding(embedder, vectors[0].length);
  }

  /** The inputs, where one is a text alone with its vector. */
  async beside<I>(inputs: readonly I[]): Promise<I[]> {
    const out = [...inputs];
    const places = [...inputs.keys()].filter((i) => bareText(inputs[i]) !== undefined);
    if (places.length === 0) return out;
    const texts = places.map((i) => bareText(inputs[i]) as string);
    const { vectors } = await embedded(this.embedder, texts, { length: this.length, keep: false }).catch((error) => {
      // No fault of whoever asks.
      throw new Error(`found no vectors, expected some from ${this.embedder.name}: ${(error as Error).message}`);
    });
    for (const [row, i] of places.entries()) {
      const own = vectors.subarray(row * this.length, (row + 1) * this.length);
      const vector = Array.from(own, (value) => Number(value.toPrecision(DIGITS)));
      out[i] = { ...(isObject(inputs[i]) ? inputs[i] : { text: texts[row] }), vector } as I;
    }
    return out;
  }

  /** A tagger that is given the vectors. */
  before(tagger: Tagger): Tagger {
    const { labels, info } = tagger;
    return {
      labels,
      ...(info && { info }),
      predictMany: async (inputs, options) => tagger.predictMany(await this.beside(inputs), options),
    };
  }
}
