// The figures of a model on data with known labels, in one call.

import type { DatasetInput } from "../io/dataset.ts";
import type { EvaluateOptions, Evaluation } from "./evaluate.ts";
import { type LoadedModel, loadModel, type ModelFile } from "./load.ts";

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
