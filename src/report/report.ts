// The report of a model in one call, from code.

import type { DatasetInput } from "../io/dataset.ts";
import { modelToBytes } from "../model/file.ts";
import { ModelHost } from "../predict/host.ts";
import { type LoadedModel, type ModelFile, modelFrom } from "../predict/load.ts";
import { dataFor } from "../predict/reading.ts";

/** Options of a report. */
export interface ReportOptions {
  /** Its subject (default "The model"). */
  title?: string;
  /** Told how much of the measuring is done (0 to 1). */
  onProgress?: (fraction: number) => void;
}

/**
 * The report of a model as one HTML text: how good its rankings are on data with known labels, how well
 * calibrated its probabilities, where to cut, its best and worst labels. What makes it is loaded only here.
 *
 * @param model The model, loaded or not.
 * @param data Rows with their labels, none of them from the training.
 * @param options Its title, and who is told how far it is.
 * @throws {DataError} Rows that cannot be read, with file and line.
 * @example
 * ```ts
 * await writeFile("report.html", await report("tagger.safetensors", "test.jsonl"));
 * ```
 */
export async function report(
  model: LoadedModel | ModelFile,
  data: DatasetInput,
  { title = "The model", onProgress }: ReportOptions = {},
): Promise<string> {
  const trained = typeof model === "object" && "predict" in model ? model.model : await modelFrom(model);
  const measured = await dataFor(trained.schema, data);
  const { makeReport } = await import("./page.ts");
  const host = await ModelHost.start(trained);
  try {
    return await host.use((predictor) =>
      makeReport({
        model: trained,
        bytes: modelToBytes(trained).length,
        title,
        run: { notes: [] },
        measure: { predictor, data: measured, file: measured.source?.file ?? "the data" },
        onProgress,
      }),
    );
  } finally {
    host.dispose();
  }
}
