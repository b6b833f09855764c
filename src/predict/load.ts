// A model ready to use: predict labels for texts or features, measure it, save it.

import { ArgumentError } from "../base/errors.ts";
import type { Input } from "../base/input.ts";
import {
  allowedLabels,
  checkPredictOptions,
  chosenThreshold,
  expectedOf,
  type Prediction,
  type Predictions,
  type PredictOptions,
  withAbout,
  wordsToExplain,
} from "../base/prediction.ts";
import type { SparseRows } from "../base/sparse.ts";
import { loadStemmer } from "../data/stemmers.ts";
import { TfidfVectoriser } from "../data/tfidf.ts";
import type { DatasetInput } from "../io/dataset.ts";
import { bytesFrom, type FileSource, localPath } from "../io/source.ts";
import { modelFromBytes, modelToBytes } from "../model/file.ts";
import type { Model } from "../model/model.ts";
import type { LabelChoice } from "../parts/choose.ts";
import type { ModelSchema } from "../parts/part.ts";
import type { Predictor, ScoreOptions, Scores } from "../parts/predictor.ts";
import { type EvaluateOptions, type Evaluation, evaluatePredictor } from "./evaluate.ts";
import { explainRows } from "./explain.ts";
import { type LoadOptions, ModelHost } from "./host.ts";
import { isSingle, type ModelInput, modelRows } from "./input.ts";
import { dataFor, refusing } from "./reading.ts";

/** A model that is ready to predict. */
export interface LoadedModel {
  readonly model: Model;
  /** The device that computes and, where there was a choice, why; another one when a GPU was lost. */
  readonly device: string;
  /** Labels of one input (a text, features), best first. */
  predict(input: Input, options?: PredictOptions): Promise<Predictions>;
  /** Labels of each input of a list, of each row of features or of each row of a data set, best first. */
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

const forgotten = new FinalizationRegistry<ModelHost>((host) => host.dispose());

/** A model that was just trained, or its file: a path, an address, a Blob, a Response, bytes. */
export type ModelFile = Model | FileSource;

/** The model itself. */
export async function modelFrom(source: ModelFile): Promise<Model> {
  if (typeof source === "object" && source !== null && "parts" in source) return source;
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
  const vectoriser = model.schema.vectoriser && TfidfVectoriser.fromJSON(model.schema.vectoriser);
  if (vectoriser?.stem !== undefined) await loadStemmer(vectoriser.stem);
  // Whatever is used of the model holds on to this; when nothing does, the memory is freed though nobody disposed of it.
  const own = { host: await ModelHost.start(model, options) };
  forgotten.register(own, own.host, own);
  const dispose = (): void => {
    forgotten.unregister(own);
    own.host.dispose();
  };
  async function predict(input: Input, options?: PredictOptions): Promise<Predictions>;
  async function predict(input: ModelInput, options?: PredictOptions): Promise<Predictions[]>;
  async function predict(input: Input | ModelInput, given: PredictOptions = {}): Promise<Predictions | Predictions[]> {
    checkPredictOptions(given);
    const { explain: asked, ...options } = given;
    const explain = wordsToExplain(asked);
    const { topK, sd, allow, deny, unseen } = options;
    const threshold = chosenThreshold(options, model.thresholds);
    const { features, known } = modelRows(input, model.schema, vectoriser);
    const allowed = allowedLabels(labelsOf(model.schema), { allow, deny });
    const rows = await own.host.use((predictor) =>
      predictRows(predictor, features, { topK, threshold, allowed, unseen }, sd),
    );
    if (explain !== undefined)
      await own.host.use((predictor) => explainRows(predictor, model, features, rows, explain));
    const answers = rows.map((labels, row) => {
      const { expected, unseen: others } = labels;
      return withAbout(labels, known[row], { ...expected, ...(others && { unseen: others }) });
    });
    return isSingle(input) ? answers[0] : answers;
  }
  return {
    model,
    get device() {
      return own.host.about;
    },
    predict,
    score: async (input, want) => {
      const { features } = modelRows(input, model.schema, vectoriser);
      return await own.host.use((predictor) => allScores(predictor, features, want));
    },
    evaluate: async (input, more) => {
      const data = await dataFor(model.schema, input, refusing(model));
      return await own.host.use((predictor) => evaluatePredictor(predictor, data, more));
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
  const has = (name: "probability" | "variance"): boolean => blocks.some((block) => block[name] !== undefined);
  return {
    rows: features.rows,
    utility: whole("utility"),
    ...(has("probability") && { probability: whole("probability") }),
    ...(has("variance") && { variance: whole("variance") }),
  };
}

/** Names of the labels or, without names, their numbers; those that training has not seen behind the others. */
export const labelsOf = ({
  labelNames,
  labels,
  unseenLabels = [],
}: Pick<ModelSchema, "labelNames" | "labels" | "unseenLabels">): readonly (string | number)[] =>
  labelNames ? [...labelNames, ...unseenLabels] : Array.from({ length: labels }, (_, label) => label);

const labelName = ({ labels, labelNames, unseenLabels }: ModelSchema, id: number): string =>
  (id < labels ? labelNames?.[id] : unseenLabels?.[id - labels]) ?? String(id);

/** A prediction of a model that knows its labels by number. */
export type RankedPrediction = Prediction & Required<Pick<Prediction, "id" | "score">>;

/** Labels of a row, with their expected precision and recall where the model is calibrated. */
export type RankedRow = RankedPrediction[] & {
  expected?: ReturnType<typeof expectedOf>;
  /** The best labels that no training point has, where these were asked for. */
  unseen?: Prediction[];
};

/** The labels that are chosen for each row, most probable first. */
export async function predictRows(
  predictor: Predictor,
  features: SparseRows,
  choice: LabelChoice,
  deviations = true,
): Promise<RankedRow[]> {
  const { schema, thresholds } = predictor;
  const rows: RankedRow[] = [];
  for await (const chosen of predictor.choose(features, choice, deviations)) {
    const { rowStart, probability, utility, sd, top, beyond } = chosen;
    const found = Array.from(chosen.labels, (id, at) => ({
      label: labelName(schema, id),
      probability: probability[at],
      ...(sd && { sd: sd[at] }),
      score: utility[at],
      id,
    }));
    for (let i = 0; i < chosen.rows; i++) {
      const row: RankedRow = found.slice(rowStart[i], rowStart[i + 1]);
      if (top && thresholds) Object.defineProperty(row, "expected", { value: expectedOf(row, top[i], thresholds) });
      if (choice.unseen) {
        const best = beyond?.[i]?.slice(0, choice.unseen) ?? [];
        const value = best.map(({ label: id, value: p }) => ({ label: labelName(schema, id), probability: p, id }));
        Object.defineProperty(row, "unseen", { value, configurable: true });
      }
      rows.push(row);
    }
  }
  return rows;
}

/**
 * Writes a model to a path, in Node, Deno and Bun: whole or not at all. Elsewhere `modelToBytes` gives the bytes of the
 * file.
 *
 * @param model The model, as `train` or `loadModel` gave it.
 * @param place A path or a `file:` address.
 * @throws {FileError} A place that cannot be written to; what was there stays.
 * @example
 * ```ts
 * await saveModel(await train("docs.jsonl"), "tagger.safetensors");
 * ```
 */
export async function saveModel(model: Model | LoadedModel, place: string | URL): Promise<void> {
  if (typeof model !== "object" || model === null)
    throw new ArgumentError("model", `found ${JSON.stringify(model)}, expected a model, then its place`);
  const path = await localPath(place, "write", "modelToBytes(model) gives the bytes of the file");
  const { writeAtomically } = await import("../io/files.ts");
  await writeAtomically(path, modelToBytes("predict" in model ? model.model : model));
}

/**
 * Measures a model (loaded or not) on data with known labels: P@k, nDCG@k and what the options ask for. Data that are
 * not read yet (a path, rows) are read as the model needs them.
 *
 * @param model The model, loaded or not.
 * @param data Rows with their labels, none of them from the training.
 * @param options What to measure beside the rankings: `calibration`, a `threshold`, labels by frequency.
 * @throws {DataError} Rows that cannot be read, with file and line.
 * @example
 * ```ts
 * const { ranking, calibration } = await evaluate("tagger.safetensors", "test.jsonl", { calibration: true });
 * ```
 */
export async function evaluate(
  model: LoadedModel | ModelFile,
  data: DatasetInput,
  options: EvaluateOptions = {},
): Promise<Evaluation> {
  if (typeof model === "object" && "evaluate" in model) return await model.evaluate(data, options);
  const loaded = await loadModel(model);
  try {
    return await loaded.evaluate(data, options);
  } finally {
    loaded.dispose();
  }
}
