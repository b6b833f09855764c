// mlgpf inspect MODEL

import process from "node:process";
import type { OpenCompact } from "../compact/open.ts";
import { isClosed, type TrainedModel, type TrainingSummary } from "../model/model.ts";
import type { Command } from "./command.ts";
import { given, type Parsed, UsageError, wrapped } from "./flags.ts";
import { isCompact, openAnyModel } from "./models.ts";
import { figuresLine } from "./progress.ts";

async function inspect(parsed: Parsed): Promise<void> {
  const [path, ...more] = parsed.positional;
  if (path === undefined || more.length > 0) throw new UsageError("mlgpf inspect takes one model");
  const model = await openAnyModel(path);
  const about = isCompact(model) ? aboutCompact(model) : aboutModel(model);
  if (parsed.on("json")) console.log(JSON.stringify(about));
  else for (const line of linesOf(about, process.stdout.columns || 80)) console.log(line);
}

const NAMES = 5;
const WIDTH = 15;

/** A line for each name, or several where the value is long; what a summary has is said name by name. */
function linesOf({ summary, ...about }: Record<string, unknown>, columns: number): string[] {
  const { leftOut, validation, ...rest } = (summary ?? {}) as Partial<TrainingSummary>;
  const all = {
    ...about,
    ...rest,
    ...given({ leftOut: leftOut && figuresLine(leftOut), validation: validation && figuresLine(validation) }),
  };
  return Object.entries(all).flatMap(([name, value]) => {
    if (value === undefined) return [];
    const [first, ...more] = wrapped(valueText(value), Math.max(30, columns - WIDTH));
    return [`${name.padEnd(WIDTH - 1)} ${first}`, ...more.map((line) => " ".repeat(WIDTH) + line)];
  });
}

/** Names in a list with commas between them, options as `name value`. */
function valueText(value: unknown): string {
  if (Array.isArray(value)) return value.join(", ");
  if (typeof value !== "object" || value === null) return String(value);
  return Object.entries(value)
    .map(([name, inner]) => `${name} ${typeof inner === "object" ? JSON.stringify(inner) : inner}`)
    .join(", ");
}

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
