// A compact model where a full one would stand: its names and vocabulary taken out of the file, and a predictor that asks
// the tagger. For measuring it and for looking at it; serving needs mlgpf/edge alone.

import type { Reason, Thresholds } from "../base/prediction.ts";
import { readSafetensors } from "../base/safetensors.ts";
import type { SparseRows } from "../base/sparse.ts";
import { TensorReader } from "../base/tensors.ts";
import type { RankedValue } from "../base/top.ts";
import { loadStemmer } from "../data/stemmers.ts";
import { TfidfVectoriser } from "../data/tfidf.ts";
import type { Tagger, TaggerInfo } from "../edge/index.ts";
import type { CompactModel } from "../edge/read.ts";
import { openTagger } from "../edge/tagger.ts";
import { keysFrom } from "../model/file.ts";
import { atLabels, chooseRows, type LabelChoice } from "../parts/choose.ts";
import type { ModelSchema } from "../parts/part.ts";
import type { ChosenLabels, Predictor, ScoreOptions, Scores } from "../parts/predictor.ts";
import { edgeModule } from "./module.ts";

/** A compact model that is ready. */
export interface OpenCompact {
  readonly schema: ModelSchema & { readonly labelNames: readonly string[] };
  readonly thresholds?: Thresholds | undefined;
  readonly info: TaggerInfo;
  readonly predictor: Predictor;
}

/** Opens the bytes of a compact model; `file` is its name for errors. */
export async function openCompact(bytes: Uint8Array, file = "the compact model"): Promise<OpenCompact> {
  const options = { stem: loadStemmer, wasm: await edgeModule(), name: file };
  const { model, tagger } = await openTagger(bytes, options);
  const { features, labels, points = 0, normalise, columnIds, columnWeights, probabilities } = model;
  const { thresholds } = probabilities;
  const schema = {
    features,
    labels,
    points,
    transform: { normalise, columnWeights, ...(model.views && { views: model.views }) },
    labelCounts: model.labelCounts ?? new Int32Array(labels),
    labelNames: tagger.labels,
    ...(tagger.unseen.length > 0 && { unseenLabels: tagger.unseen }),
    columnIds,
    ...featureNamesOf(model),
    ...keysFrom(new TensorReader(readSafetensors(bytes, file), file)),
  };
  const predictor = new CompactPredictor(tagger, schema, thresholds);
  return { schema, thresholds, info: tagger.info, predictor };
}

/** Names of the features, or how they are made from texts. */
function featureNamesOf({
  features,
  views,
  embedder,
  vocabulary,
  order,
  text,
  frequency,
}: CompactModel): Pick<ModelSchema, "vectoriser" | "featureNames"> {
  if (vocabulary === undefined) return {};
  const size = views?.[0].from ?? features;
  const names = new Array<string>(size);
  for (let i = 0; i < size; i++) names[order ? order[i] : i] = vocabulary.name(i);
  if (text === undefined || frequency === undefined) return { featureNames: names };
  const { documents, ...options } = text;
  const vectors = views?.map(({ name, from, to }) => ({ name, length: to - from }));
  const state = { version: 1, options, documents, terms: names, documentFrequency: [...frequency], vectors, embedder };
  return { vectoriser: TfidfVectoriser.fromJSON(state).toJSON() };
}

/** Rows that are scored together. */
const BLOCK = 128;

class CompactPredictor implements Predictor {
  constructor(
    private readonly tagger: Tagger,
    readonly schema: ModelSchema,
    readonly thresholds: Thresholds | undefined,
  ) {}

  async *score(features: SparseRows, want: ScoreOptions = {}): AsyncGenerator<Scores> {
    const { labels: k, columnIds } = this.schema;
    for (let firstRow = 0; firstRow < features.rows; firstRow += BLOCK) {
      const rows = Math.min(BLOCK, features.rows - firstRow);
      const utility = new Float64Array(rows * k);
      const beyond: RankedValue[][] = [];
      const probability = new Float64Array(want.probability ? rows * k : 0);
      const variance = new Float64Array(want.variance ? rows * k : 0);
      for (let i = 0; i < rows; i++) {
        const [from, to] = [features.rowStart[firstRow + i], features.rowStart[firstRow + i + 1]];
        const columns = features.columnIndex.subarray(from, to);
        const input = {
          indices: columnIds ? columns.map((column) => columnIds[column]) : columns,
          values: features.values.subarray(from, to),
        };
        const scores = this.tagger.score(input, features.texts?.[firstRow + i]);
        beyond.push(scores.beyond.map(({ label, probability: value }) => ({ label, value })));
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
        ...(this.tagger.unseen.length > 0 && { beyond }),
      };
    }
  }

  async *choose(features: SparseRows, choice: LabelChoice, deviations = true): AsyncGenerator<ChosenLabels> {
    const { labels: k } = this.schema;
    const { parts, calibrated } = this.tagger.info;
    const want = { probability: true, variance: deviations && !calibrated && parts[0].variance !== "none" };
    for await (const { rows, utility, probability = utility, variance, beyond } of this.score(features, want)) {
      const lists = chooseRows(probability, k, (p) => p, choice, beyond);
      const sd = variance && atLabels(variance, k, lists, Math.sqrt);
      const values = Float64Array.from(lists.values);
      yield {
        rows,
        ...lists,
        utility: atLabels(utility, k, lists),
        probability: values,
        sd,
        ...(beyond && { beyond }),
      };
    }
  }

  nameReason(text: string, label: number, probability: number): Reason | undefined {
    return this.tagger.nameReason(text, label, probability);
  }

  free(): void {
    this.tagger.dispose();
  }
}
