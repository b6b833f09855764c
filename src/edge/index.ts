// mlgpf/edge: predicting with a compact model, in a few kB. No training, no GPU, no eval, nothing compiled from bytes,
// no file system, no fetch of its own.

import { type ModelSource, readSource } from "../base/source.ts";
import { type LoadOptions, openTagger, type Tagger } from "./tagger.ts";

export { ArgumentError, FormatError } from "../base/errors.ts";
export type { FeatureInput, Input } from "../base/input.ts";
export type { LabelLists, Prediction, Predictions, PredictOptions } from "../base/prediction.ts";
export type { ModelSource } from "../base/source.ts";
export type { Stemmer } from "../base/stem.ts";
export type { LoadOptions, RawScores, Tagger, TaggerInfo } from "./tagger.ts";

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
  const { signal, name } = options;
  return (await openTagger(await readSource(source, signal, name), options)).tagger;
}
