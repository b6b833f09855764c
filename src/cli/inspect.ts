// mlgpf inspect MODEL

import type { OpenCompact } from "../compact/open.ts";
import { isClosed, type TrainedModel } from "../model/model.ts";
import type { Command } from "./command.ts";
import { type Parsed, UsageError } from "./flags.ts";
import { isCompact, openAnyModel } from "./models.ts";

async function inspect(parsed: Parsed): Promise<void> {
  const [path, ...more] = parsed.positional;
  if (path === undefined || more.length > 0) throw new UsageError("mlgpf inspect takes one model");
  const model = await openAnyModel(path);
  const about = isCompact(model) ? aboutCompact(model) : aboutModel(model);
  if (parsed.on("json")) console.log(JSON.stringify(about));
  else
    for (const [name, value] of Object.entries(about))
      console.log(`${name.padEnd(14)} ${typeof value === "object" ? JSON.stringify(value) : value}`);
}

const NAMES = 5;

function aboutCompact({ info, labelNames }: OpenCompact): Record<string, unknown> {
  const { path: _, ...rest } = info;
  return { compact: true, ...rest, labelNames: labelNames.slice(0, NAMES) };
}

function aboutModel(model: TrainedModel): Record<string, unknown> {
  const latent = isClosed(model) ? model.latent : model;
  return {
    likelihood: model.likelihood,
    ...(isClosed(model) ? { form: model.closed.form, noise: model.closed.noise } : {}),
    calibrated: model.calibrator !== undefined,
    features: model.features,
    labels: model.labels,
    ...(latent && {
      kernel: latent.kernel,
      factors: latent.factors,
      inducingPoints: latent.inducingPoints,
      posterior: latent.posterior,
      precision: latent.phi instanceof Float32Array ? "f32" : "f64",
    }),
    fromText: model.vectoriser !== undefined,
    labelNames: model.labelNames?.slice(0, NAMES),
    summary: model.summary,
  };
}

export const inspectCommand: Command = {
  name: "inspect",
  usage: "mlgpf inspect MODEL [--json]",
  summary: "say what a model file holds and how it was trained",
  examples: ["mlgpf inspect model.safetensors"],
  flags: { json: { kind: "switch", help: "print one JSON object" } },
  run: inspect,
};
