// mlgpf inspect MODEL and mlgpf selfcheck [FILE]

import process from "node:process";
import { WasmBackend } from "../backend/wasm.ts";
import { createCore } from "../core/core.ts";
import { FormatError } from "../io/errors.ts";
import { readWhole } from "../io/files.ts";
import { selfcheckCases } from "../model/cases.ts";
import { type SelfcheckCase, selfcheckCase } from "../model/selfcheck.ts";
import type { Command } from "./command.ts";
import { type Parsed, UsageError } from "./flags.ts";
import { openModel } from "./predict.ts";

async function inspect(parsed: Parsed): Promise<void> {
  const [path, ...more] = parsed.positional;
  if (path === undefined || more.length > 0) throw new UsageError("mlgpf inspect takes one model");
  const model = await openModel(path);
  const about = {
    kernel: model.kernel,
    features: model.features,
    labels: model.labels,
    factors: model.factors,
    inducingPoints: model.inducing,
    covariance: model.groups === 1 ? "shared" : "perFactor",
    precision: model.phi instanceof Float32Array ? "f32" : "f64",
    fromText: model.vectoriser !== undefined,
    labelNames: model.labelNames?.slice(0, 5),
    summary: model.summary,
  };
  if (parsed.on("json")) console.log(JSON.stringify(about));
  else
    for (const [name, value] of Object.entries(about))
      console.log(`${name.padEnd(14)} ${typeof value === "object" ? JSON.stringify(value) : value}`);
}

export const inspectCommand: Command = {
  name: "inspect",
  usage: "mlgpf inspect MODEL [--json]",
  summary: "say what a model file holds and how it was trained",
  examples: ["mlgpf inspect model.safetensors"],
  flags: { json: { kind: "switch", help: "print one JSON object" } },
  run: inspect,
};

/** Single precision is held to less; double precision is checked with enough Gauss-Hermite nodes. */
const SETTINGS = [
  { precision: "f64", quadrature: 128, tolerance: 1e-9 },
  { precision: "f32", quadrature: "closed", tolerance: 1e-4 },
] as const;

async function selfcheck(parsed: Parsed): Promise<void> {
  const [path, ...more] = parsed.positional;
  if (more.length > 0) throw new UsageError("mlgpf selfcheck takes at most one file");
  const device = parsed.text("device") ?? "auto";
  if (!["wasm", "auto"].includes(device))
    throw new UsageError(`--device: found ${device}, expected wasm or auto`);
  const cases = path === undefined ? selfcheckCases : await readCases(path);
  const core = await createCore();
  const results: Record<string, unknown>[] = [];
  for (const { precision, quadrature, tolerance } of SETTINGS) {
    const backend = new WasmBackend(core, precision);
    const worst: Record<string, number> = {};
    for (const problem of cases) {
      for (const [name, error] of Object.entries(await selfcheckCase(backend, problem, quadrature))) {
        worst[name] = Math.max(worst[name] ?? 0, error);
      }
    }
    backend.dispose();
    const passed = Object.values(worst).every((error) => error < tolerance);
    results.push({
      device: "wasm",
      precision,
      threads: core.threads,
      cases: cases.length,
      tolerance,
      passed,
      worst,
    });
  }
  core.dispose();
  for (const result of results) {
    if (parsed.on("json")) console.log(JSON.stringify(result));
    else printResult(result as never);
  }
  if (results.some(({ passed }) => !passed)) process.exitCode = 1;
}

function printResult(result: {
  precision: string;
  cases: number;
  tolerance: number;
  passed: boolean;
  worst: Record<string, number>;
}): void {
  console.log(`wasm, ${result.precision}, ${result.cases} cases, worst relative error of each quantity:`);
  for (const [name, error] of Object.entries(result.worst)) {
    console.log(
      `  ${name.padEnd(18)} ${error.toExponential(1)}${error < result.tolerance ? "" : `  above ${result.tolerance}`}`,
    );
  }
  console.log(
    result.passed ? `passed: all below ${result.tolerance}\n` : `FAILED: not all below ${result.tolerance}\n`,
  );
}

async function readCases(path: string): Promise<SelfcheckCase[]> {
  try {
    const cases = JSON.parse(new TextDecoder().decode(await readWhole(path)));
    if (Array.isArray(cases) && cases.length > 0 && cases.every((item) => item?.parameters && item?.expected))
      return cases;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new FormatError(path, "something else", "a JSON list of cases with parameters and expected values");
}

export const selfcheckCommand: Command = {
  name: "selfcheck",
  usage: "mlgpf selfcheck [FILE] [--device wasm|webgpu|auto]",
  summary: "compute problems with known answers on this machine and compare",
  examples: ["mlgpf selfcheck", "mlgpf selfcheck cases.json --json"],
  flags: {
    device: { kind: "text", value: "NAME", help: "wasm or auto (default: auto)" },
    json: { kind: "switch", help: "print a JSON object for each precision" },
  },
  run: selfcheck,
};
