// A model ready to use: predict labels for texts or features, measure it, save it.

import type { DeviceChoice } from "../backend/devices.ts";
import { type CoreOptions, createCore } from "../core/core.ts";
import { ArgumentError } from "../core/errors.ts";
import type { Dataset, SparseRows } from "../data/dataset.ts";
import { TfidfVectoriser } from "../data/tfidf.ts";
import { allowedLabels, type LabelLists } from "../metrics/allowed.ts";
import { modelFromBytes, modelToBytes } from "../model/file.ts";
import type { TrainedModel } from "../model/model.ts";
import type { Predictor } from "../model/predictor.ts";
import { chooseLabels } from "./choose.ts";
import { type EvaluateOptions, type Evaluation, evaluate } from "./evaluate.ts";
import { ModelHost } from "./host.ts";

/** How a model is got ready. */
export interface LoadOptions extends CoreOptions {
  /** What computes (default wasm). */
  device?: DeviceChoice;
}

/** Which labels to give for a point. */
export interface PredictOptions extends LabelLists {
  /** Most labels for a point (default 5; with a threshold all that reach it). */
  topK?: number;
  /** Only labels at least this probable. */
  threshold?: number;
}

/** A label that was predicted. */
export interface PredictedLabel {
  label: string | number;
  id: number;
  /** E sigmoid(f): integrates the variance. */
  probability: number;
  /** Mean of the utility f, which labels are ranked by, and its standard deviation. */
  utility: number;
  deviation?: number;
}

/** A model that is ready to predict. */
export interface LoadedModel {
  readonly model: TrainedModel;
  /** What computes and, where there was a choice, why; another device when a GPU was lost. */
  readonly device: string;
  /** Labels of each text, or of each row of features, best first. */
  predict(input: readonly string[] | SparseRows, options?: PredictOptions): Promise<PredictedLabel[][]>;
  evaluate(data: Dataset, options?: EvaluateOptions): Promise<Evaluation>;
  save(): Uint8Array<ArrayBuffer>;
  dispose(): void;
  [Symbol.dispose](): void;
}

/** Gets a model (just trained, or the bytes of a file) ready to predict. Dispose of it when done. */
export async function loadModel(
  source: TrainedModel | Uint8Array,
  options: LoadOptions = {},
): Promise<LoadedModel> {
  const model = source instanceof Uint8Array ? modelFromBytes(source) : source;
  const core = await createCore(options);
  const host = await ModelHost.open(core, model, options.device).catch((error) => {
    core.dispose();
    throw error;
  });
  const vectoriser = model.vectoriser && TfidfVectoriser.fromJSON(model.vectoriser);
  const dispose = (): void => {
    host.dispose();
    core.dispose();
  };
  return {
    model,
    get device() {
      return host.about;
    },
    async predict(input, { topK, threshold, ...lists } = {}) {
      if (!("columns" in input) && vectoriser === undefined) {
        throw new ArgumentError(
          "input",
          "found texts, expected features: this model was not trained on texts",
        );
      }
      const features = "columns" in input ? input : (vectoriser as TfidfVectoriser).transform(input);
      const allowed = allowedLabels(labelsOf(model), lists);
      return await host.use((predictor) =>
        chooseLabels((depth) => predictRows(predictor, features, depth), model.labels, {
          topK,
          threshold,
          allowed,
        }),
      );
    },
    evaluate: (data, more) => host.use((predictor) => evaluate(predictor, data, more)),
    save: () => modelToBytes(model),
    dispose,
    [Symbol.dispose]: dispose,
  };
}

/** What the labels of a model are called: their names or, without names, their numbers. */
export const labelsOf = ({ labelNames, labels }: TrainedModel): readonly (string | number)[] =>
  labelNames ?? Array.from({ length: labels }, (_, label) => label);

/** The best labels of each row, most probable first. */
export async function predictRows(
  predictor: Predictor,
  features: SparseRows,
  depth: number,
): Promise<PredictedLabel[][]> {
  const { labelNames } = predictor.frame;
  const rows: PredictedLabel[][] = [];
  for await (const best of predictor.best(features, depth, { details: true })) {
    const { probability, utility, variance } = best.details as NonNullable<typeof best.details>;
    const found = Array.from(best.labels, (id, at) => ({
      label: labelNames?.[id] ?? id,
      id,
      probability: probability[at] as number,
      utility: utility[at] as number,
      ...(variance ? { deviation: Math.sqrt(Math.max(0, variance[at] as number)) } : {}),
    }));
    for (let i = 0; i < best.rows; i++) rows.push(found.slice(i * depth, (i + 1) * depth));
  }
  return rows;
}
