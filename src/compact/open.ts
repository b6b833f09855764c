// A compact model where a full one would stand: its names and vocabulary taken out of the file, and a predictor that asks
// the tagger. For measuring it and for looking at it; serving needs mlgpf/edge alone.

import type { SparseRows } from "../data/dataset.ts";
import { loadStemmer } from "../data/stemmers.ts";
import { TfidfVectoriser } from "../data/tfidf.ts";
import { load, type Tagger, type TaggerInfo } from "../edge/index.ts";
import { type CompactModel, readCompact } from "../edge/read.ts";
import { readSafetensors } from "../io/safetensors.ts";
import { topLabels } from "../metrics/top.ts";
import type { ModelCommon, ModelFrame } from "../model/model.ts";
import type { BestLabels, BestOptions, Predictor, ScoreOptions, Scores } from "../model/predictor.ts";
import { edgeModule } from "./module.ts";
import { vocabularyNames } from "./names.ts";

/** A compact model that is ready. */
export interface OpenCompact extends Omit<ModelCommon, "summary" | "calibrator"> {
  readonly labelNames: readonly string[];
  readonly info: TaggerInfo;
  readonly predictor: Predictor;
}

/** Opens the bytes of a compact model; `file` is its name for errors. */
export async function openCompact(bytes: Uint8Array, file = "the compact model"): Promise<OpenCompact> {
  const tagger = await load(bytes, { stem: loadStemmer, wasm: await edgeModule(), name: file });
  const model = readCompact(bytes, file);
  const { tensors } = readSafetensors(bytes, file);
  const { about, columnIds, columnWeights } = model;
  const { points = 0, features, labels, normalise } = about;
  const frame: ModelFrame = {
    features,
    labels,
    points,
    transform: { normalise, ...(columnWeights && { columnWeights }) },
    labelCounts: (tensors.get("labelCounts")?.data as Int32Array | undefined) ?? new Int32Array(labels),
    labelNames: tagger.labels,
    ...(columnIds && { columnIds }),
  };
  return {
    ...frame,
    ...(model.thresholds && { thresholds: model.thresholds }),
    ...featureNamesOf(model, tensors.get("vocabulary")?.data as Uint8Array | undefined),
    labelNames: tagger.labels,
    info: tagger.info,
    predictor: new CompactPredictor(tagger, frame),
  };
}

/** What the features are called, or how they are made from texts. */
function featureNamesOf(
  { about, order, frequency }: CompactModel,
  vocabulary: Uint8Array | undefined,
): Pick<ModelCommon, "vectoriser" | "featureNames"> {
  if (vocabulary === undefined) return {};
  const names = vocabularyNames(vocabulary, about.features, order);
  if (about.text === undefined || frequency === undefined) return { featureNames: names };
  const { documents, ...options } = about.text;
  const state = { options, documents, terms: names, documentFrequency: frequency };
  return { vectoriser: new TfidfVectoriser(state).toJSON() };
}

/** Rows that are scored together. */
const BLOCK = 128;

class CompactPredictor implements Predictor {
  readonly frame: ModelFrame;
  readonly #tagger: Tagger;

  constructor(tagger: Tagger, frame: ModelFrame) {
    this.frame = frame;
    this.#tagger = tagger;
  }

  async *score(features: SparseRows, want: ScoreOptions = {}): AsyncGenerator<Scores> {
    const { labels: k, columnIds } = this.frame;
    for (let firstRow = 0; firstRow < features.rows; firstRow += BLOCK) {
      const rows = Math.min(BLOCK, features.rows - firstRow);
      const utility = new Float64Array(rows * k);
      const probability = new Float64Array(want.probability ? rows * k : 0);
      const variance = new Float64Array(want.variance ? rows * k : 0);
      for (let i = 0; i < rows; i++) {
        const [from, to] = [features.rowStart[firstRow + i], features.rowStart[firstRow + i + 1]];
        const columns = features.columnIndex.subarray(from, to);
        const scores = this.#tagger.score({
          indices: columnIds ? columns.map((column) => columnIds[column] as number) : columns,
          values: features.values.subarray(from, to),
        });
        utility.set(scores.utilities, i * k);
        for (let label = 0; label < k; label++) {
          if (want.probability) probability[i * k + label] = scores.probability(label);
          if (want.variance) variance[i * k + label] = scores.variance(label);
        }
      }
      yield {
        firstRow,
        rows,
        utility,
        ...(want.probability && { probability }),
        ...(want.variance && { variance }),
      };
    }
  }

  async *best(
    features: SparseRows,
    depth: number,
    { rank = "probability", details = false }: BestOptions = {},
  ): AsyncGenerator<BestLabels> {
    const { labels: k } = this.frame;
    const hasVariance = this.#tagger.info.variance !== "none" && !this.#tagger.info.calibrated;
    const want = { probability: true, variance: details && hasVariance };
    for await (const { firstRow, rows, ...scores } of this.score(features, want)) {
      const { utility, probability = utility, variance } = scores;
      const ranked = topLabels(rank === "utility" ? utility : probability, rows, k, depth);
      const of = (all: ArrayLike<number>): Float64Array =>
        Float64Array.from(ranked, (label, at) => all[Math.floor(at / depth) * k + label] as number);
      const found = {
        utility: of(utility),
        probability: of(probability),
        ...(variance && { variance: of(variance) }),
      };
      const labels = Int32Array.from(ranked);
      yield { firstRow, rows, labels, values: found[rank], ...(details && { details: found }) };
    }
  }

  free(): void {
    this.#tagger.dispose();
  }
}
