// The report of a model in one call, from code.

import { createCore } from "../core/core.ts";
import type { DatasetInput } from "../io/dataset.ts";
import { modelToBytes } from "../model/file.ts";
import { ModelHost } from "../predict/host.ts";
import { type LoadedModel, type ModelFile, modelFrom } from "../predict/load.ts";
import { dataFor } from "../predict/reading.ts";

/** What a report says of its subject. */
export interface ReportOptions {
  /** What it is about (default "The model"). */
  title?: string;
  /** Told how much of the measuring is done (0 to 1). */
  onProgress?: (fraction: number) => void;
}

/**
 * The report of a model as one HTML text: how good its rankings are on data with known labels, how honest its
 * probabilities, where to cut, which labels are done best and worst. What makes it is loaded only here.
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
  const measured = await dataFor(trained, data);
  const { collectReport, htmlReport } = await import("./index.ts");
  const core = await createCore();
  try {
    const host = await ModelHost.open(core, trained);
    try {
      const input = await host.use((predictor) =>
        collectReport({
          model: trained,
          bytes: modelToBytes(trained).length,
          title,
          run: { notes: [] },
          measure: { predictor, data: measured, file: measured.source?.file ?? "the data" },
          ...(onProgress && { onProgress }),
        }),
      );
      return htmlReport(input);
    } finally {
      host.dispose();
    }
  } finally {
    core.dispose();
  }
}
