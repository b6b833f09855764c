// A model ready to use: predict labels for texts or features, measure it, save it.

import type { DeviceChoice } from "../backend/devices.ts";
import { type CoreOptions, createCore } from "../core/core.ts";
import type { SparseRows } from "../data/dataset.ts";
import { loadStemmer } from "../data/stemmers.ts";
import { TfidfVectoriser } from "../data/tfidf.ts";
import { bytesFrom, type FileSource } from "../io/bytes.ts";
import type { DatasetInput } from "../io/dataset.ts";
import { allowedLabels } from "../metrics/allowed.ts";
import { chosenThreshold } from "../metrics/cut.ts";
import {
  checkPredictOptions,
  type Prediction,
  type Predictions,
  type PredictOptions,
  withKnown,
} from "../metrics/prediction.ts";
import { modelFromBytes, modelToBytes } from "../model/file.ts";
import type { TrainedModel } from "../model/model.ts";
import type { Predictor, ScoreOptions, Scores } from "../model/predictor.ts";
import { chooseLabels } from "./choose.ts";
import { type EvaluateOptions, type Evaluation, evaluate } from "./evaluate.ts";
import { explainRows } from "./explain.ts";
import { ModelHost } from "./host.ts";
import { type ModelInput, modelRows } from "./input.ts";
import { dataFor } from "./reading.ts";

/** How a model is got ready. */
export interface LoadOptions extends CoreOptions {
  /** What computes (default wasm). */
  device?: DeviceChoice;
}

/** A model that is ready to predict. */
export interface LoadedModel {
  readonly model: TrainedModel;
  /** What computes and, where there was a choice, why; another device when a GPU was lost. */
  readonly device: string;
  /** Labels of a text, best first. */
  predict(text: string, options?: PredictOptions): Promise<Predictions>;
  /** Labels of each text, of each row of features or of each row of a data set, best first. */
  predict(input: ModelInput, options?: PredictOptions): Promise<Predictions[]>;
  /** Scores of every label [rows,K], and what else is asked for: probabilities, variances. */
  score(input: ModelInput, want?: ScoreOptions): Promise<Omit<Scores, "firstRow">>;
  /** Figures on data with known labels: a data set, a path, rows. */
  evaluate(data: DatasetInput, options?: EvaluateOptions): Promise<Evaluation>;
  /** The bytes of its file; `saveModel` writes one. */
  save(): Uint8Array<ArrayBuffer>;
  dispose(): void;
  [Symbol.dispose](): void;
}

/** A model that was just trained, or its file: a path, an address, a Blob, a Response, bytes. */
export type ModelFile = TrainedModel | FileSource;

/** The model itself. */
export async function modelFrom(source: ModelFile): Promise<TrainedModel> {
  if (typeof source === "object" && source !== null && "likelihood" in source) return source;
  const { bytes, file } = await bytesFrom(source, "the model");
  return modelFromBytes(bytes, file);
}

/**
 * Gets a model (just trained, or its file) ready to predict. Dispose of it when done.
 *
 * @param source The model, a path, an address, a Blob, a Response or bytes.
 * @param options Threads, and the device that computes.
 * @throws {FormatError} A file that is no model, or a damaged one.
 * @throws {FileError} A file that cannot be read.
 * @example
 * ```ts
 * const model = await loadModel("tagger.safetensors");
 * for (const { label, probability } of await model.predict("a small yellow bird")) console.log(label, probability);
 * model.dispose();
 * ```
 */
export async function loadModel(source: ModelFile, options: LoadOptions = {}): Promise<LoadedModel> {
  const model = await modelFrom(source);
  const vectoriser = model.vectoriser && TfidfVectoriser.fromJSON(model.vectoriser);
  if (vectoriser?.stem !== undefined) await loadStemmer(vectoriser.stem);
  const core = await createCore(options);
  const host = await ModelHost.open(core, model, options.device).catch((error) => {
    core.dispose();
    throw error;
  });
  const dispose = (): void => {
    host.dispose();
    core.dispose();
  };
  async function predict(text: string, options?: PredictOptions): Promise<Predictions>;
  async function predict(input: ModelInput, options?: PredictOptions): Promise<Predictions[]>;
  async function predict(
    input: string | ModelInput,
    given: PredictOptions = {},
  ): Promise<Predictions | Predictions[]> {
    checkPredictOptions(given);
    const { explain, ...options } = given;
    const { topK, sd, threshold: _, precision: __, ...lists } = options;
    const threshold = chosenThreshold(options, model.thresholds);
    const single = typeof input === "string";
    const { features, known, written } = modelRows(single ? [input] : input, vectoriser, model.columnIds);
    const allowed = allowedLabels(labelsOf(model), lists);
    const rows = await host.use((predictor) =>
      chooseLabels((depth) => predictRows(predictor, features, depth, sd), model.labels, {
        topK,
        threshold,
        allowed,
      }),
    );
    if (explain !== undefined)
      await host.use((predictor) => explainRows(predictor, model, { features, written }, rows, explain));
    const answers = rows.map((labels, row) => withKnown(labels, known[row] as number));
    return single ? (answers[0] as Predictions) : answers;
  }
  return {
    model,
    get device() {
      return host.about;
    },
    predict,
    score: async (input, want) => {
      const { features } = modelRows(input, vectoriser, model.columnIds);
      return await host.use((predictor) => allScores(predictor, features, want));
    },
    evaluate: async (input, more) => {
      const data = await dataFor(model, input);
      return await host.use((predictor) => evaluate(predictor, data, more));
    },
    save: () => modelToBytes(model),
    dispose,
    [Symbol.dispose]: dispose,
  };
}

/** The scores of all rows in one piece. */
async function allScores(
  predictor: Predictor,
  features: SparseRows,
  want: ScoreOptions = {},
): Promise<Omit<Scores, "firstRow">> {
  const blocks: Scores[] = [];
  for await (const block of predictor.score(features, want)) blocks.push(block);
  const whole = (name: "utility" | "probability" | "variance"): Float64Array =>
    Float64Array.from(blocks.flatMap((block) => Array.from(block[name] ?? [])));
  const has = (name: "probability" | "variance"): boolean =>
    blocks.some((block) => block[name] !== undefined);
  return {
    rows: features.rows,
    utility: whole("utility"),
    ...(has("probability") && { probability: whole("probability") }),
    ...(has("variance") && { variance: whole("variance") }),
  };
}

/** What the labels of a model are called: their names or, without names, their numbers. */
export const labelsOf = ({
  labelNames,
  labels,
}: Pick<TrainedModel, "labelNames" | "labels">): readonly (string | number)[] =>
  labelNames ?? Array.from({ length: labels }, (_, label) => label);

/** A prediction of a model that knows its labels by number. */
export type RankedPrediction = Prediction & Required<Pick<Prediction, "id" | "score">>;

/** The best labels of each row, most probable first. */
export async function predictRows(
  predictor: Predictor,
  features: SparseRows,
  depth: number,
  deviations = true,
): Promise<RankedPrediction[][]> {
  const { labelNames } = predictor.frame;
  const rows: RankedPrediction[][] = [];
  for await (const best of predictor.best(features, depth, { details: true, deviations })) {
    const { probability, utility, variance, sd } = best.details as NonNullable<typeof best.details>;
    const found = Array.from(best.labels, (id, at) => ({
      label: labelNames?.[id] ?? String(id),
      probability: probability[at] as number,
      ...(variance && deviations ? { sd: Math.sqrt(Math.max(0, variance[at] as number)) } : {}),
      ...(sd ? { sd: sd[at] as number } : {}),
      score: utility[at] as number,
      id,
    }));
    for (let i = 0; i < best.rows; i++) rows.push(found.slice(i * depth, (i + 1) * depth));
  }
  return rows;
}
