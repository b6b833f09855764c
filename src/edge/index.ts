// mlgpf/edge: predicting with a compact model, in a few kB. No training, no GPU, no eval, nothing compiled from bytes,
// no file system, no fetch of its own.

import { ArgumentError } from "../core/errors.ts";
import { type Stemmer, Stems } from "../data/stem.ts";
import { readCompact } from "./read.ts";
import { Scorer } from "./scorer.ts";
import { type ModelSource, readSource } from "./source.ts";
import { Tagger } from "./tagger.ts";

export { ArgumentError } from "../core/errors.ts";
export type { Stemmer } from "../data/stem.ts";
export { FormatError } from "../io/errors.ts";
export type { LabelLists } from "../metrics/allowed.ts";
export type { Prediction, Predictions, PredictOptions } from "../metrics/prediction.ts";
export type { IndexedFeatures, Input } from "./input.ts";
export type { ModelSource } from "./source.ts";
export type { RawScores, Tagger, TaggerInfo } from "./tagger.ts";

/** How a compact model is loaded. */
export interface LoadOptions {
  /** mlgpf/edge.wasm, imported by the bundler or compiled by the caller: several times faster, the same numbers. */
  wasm?: WebAssembly.Module;
  /**
   * What stems the words, for a model whose words are stemmed: `import * as english from "@orama/stemmers/english"`, or what
   * gives the stemmer of a language.
   */
  stem?: Stemmer | ((language: string) => Stemmer | Promise<Stemmer>);
  signal?: AbortSignal;
  /** What errors call the model: its path or address. */
  name?: string;
}

/**
 * Gets a compact model (made by `mlgpf compact`) ready to predict.
 *
 * @param source Its bytes, a Blob, a Response or a stream, or what gives one of these.
 * @param options The WASM that makes it faster, and a signal that stops the loading.
 * @throws {FormatError} What is no compact model, or a damaged one.
 * @throws {ArgumentError} No stemmer for a model whose words are stemmed.
 * @example
 * ```ts
 * const tagger = await load(fetch("tagger.bin"));
 * const labels = tagger.predict("a small yellow bird", { topK: 3 });
 * ```
 */
export async function load(source: ModelSource, options: LoadOptions = {}): Promise<Tagger> {
  const { wasm, signal, name, stem } = options;
  const model = readCompact(await readSource(source, signal, name), name);
  return new Tagger(model, new Scorer(model, wasm), await stemsFor(model.about.text?.stem, stem));
}

/** What stems words as a model's vocabulary does. */
async function stemsFor(
  language: string | undefined,
  given: LoadOptions["stem"],
): Promise<Stems | undefined> {
  if (language === undefined) return undefined;
  const stemmer = typeof given === "function" ? await given(language) : given;
  if (stemmer?.language === language && typeof stemmer.stemmer === "function") return new Stems(stemmer);
  const found = stemmer === undefined ? "none" : `that of ${String(stemmer.language)}`;
  throw new ArgumentError(
    "stem",
    `found ${found}, expected the stemmer of ${language}, which this model needs`,
  );
}
