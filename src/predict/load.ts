// A model ready to use: predict labels for texts or features, measure it, save it.

import { WasmBackend } from "../backend/wasm.ts";
import { type CoreOptions, createCore } from "../core/core.ts";
import { ArgumentError } from "../core/errors.ts";
import type { Dataset, SparseRows } from "../data/dataset.ts";
import { TfidfVectoriser } from "../data/tfidf.ts";
import { modelFromBytes, modelToBytes } from "../io/modelfile.ts";
import { topLabels } from "../metrics/top.ts";
import { type Evaluation, evaluate } from "./evaluate.ts";
import type { TrainedModel } from "./model.ts";
import { Predictor } from "./predictor.ts";

export interface PredictOptions {
  /** Most labels for a point (default 5). */
  topK?: number;
  /** Only labels at least this probable. */
  threshold?: number;
}

export interface PredictedLabel {
  label: string | number;
  id: number;
  /** E sigmoid(f): integrates the variance. */
  probability: number;
  /** Mean of the utility f, which labels are ranked by, and its standard deviation. */
  utility: number;
  deviation: number;
}

export interface LoadedModel {
  readonly model: TrainedModel;
  /** Labels of each text, or of each row of features, best first. */
  predict(input: readonly string[] | SparseRows, options?: PredictOptions): Promise<PredictedLabel[][]>;
  evaluate(data: Dataset, options?: { calibration?: boolean }): Promise<Evaluation>;
  save(): Uint8Array<ArrayBuffer>;
  dispose(): void;
  [Symbol.dispose](): void;
}

/** Gets a model (just trained, or the bytes of a file) ready to predict. Dispose of it when done. */
export async function loadModel(
  source: TrainedModel | Uint8Array,
  options: CoreOptions = {},
): Promise<LoadedModel> {
  const model = source instanceof Uint8Array ? modelFromBytes(source) : source;
  const core = await createCore(options);
  const backend = new WasmBackend(core, model.phi instanceof Float32Array ? "f32" : "f64");
  const predictor = new Predictor(backend, model);
  const vectoriser = model.vectoriser && TfidfVectoriser.fromJSON(model.vectoriser);
  const dispose = (): void => {
    backend.dispose();
    core.dispose();
  };
  return {
    model,
    async predict(input, { topK = 5, threshold = 0 } = {}) {
      if (!("columns" in input) && vectoriser === undefined) {
        throw new ArgumentError(
          "input",
          "found texts, expected features: this model was not trained on texts",
        );
      }
      const features = "columns" in input ? input : (vectoriser as TfidfVectoriser).transform(input);
      return await predictRows(predictor, features, Math.min(topK, model.labels), threshold);
    },
    evaluate: (data, more) => evaluate(predictor, data, more),
    save: () => modelToBytes(model),
    dispose,
    [Symbol.dispose]: dispose,
  };
}

/** The best labels of each row. */
export async function predictRows(
  predictor: Predictor,
  features: SparseRows,
  depth: number,
  threshold: number,
): Promise<PredictedLabel[][]> {
  const { labels, labelNames } = predictor.model;
  const rows: PredictedLabel[][] = [];
  for await (const scores of predictor.score(features, { probability: true, variance: true })) {
    const ranked = topLabels(scores.utility, scores.rows, labels, depth);
    for (let i = 0; i < scores.rows; i++) {
      const found = Array.from(ranked.subarray(i * depth, (i + 1) * depth), (id) => ({
        label: labelNames?.[id] ?? id,
        id,
        probability: scores.probability?.[i * labels + id] as number,
        utility: scores.utility[i * labels + id] as number,
        deviation: Math.sqrt(Math.max(0, scores.variance?.[i * labels + id] as number)),
      }));
      rows.push(found.filter(({ probability }) => probability >= threshold));
    }
  }
  return rows;
}
