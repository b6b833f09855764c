// mlgpf inspect MODEL and mlgpf selfcheck [FILE]

import process from "node:process";
import type { Backend } from "../backend/backend.ts";
import { type OpenDevice, openDevice } from "../backend/devices.ts";
import { createCore, type Precision } from "../core/core.ts";
import { FormatError } from "../io/errors.ts";
import { readWhole } from "../io/files.ts";
import { selfcheckCases } from "../model/cases.ts";
import { isClosed } from "../model/model.ts";
import { type SelfcheckCase, type SelfcheckErrors, worstErrors } from "../model/selfcheck.ts";
import type { Command } from "./command.ts";
import { deviceFlag, deviceOf, type Parsed, UsageError } from "./flags.ts";
import { openModel } from "./models.ts";

async function inspect(parsed: Parsed): Promise<void> {
  const [path, ...more] = parsed.positional;
  if (path === undefined || more.length > 0) throw new UsageError("mlgpf inspect takes one model");
  const model = await openModel(path);
  const latent = isClosed(model) ? model.latent : model;
  const about = {
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
const SETTINGS = {
  f64: { quadrature: 128, tolerance: 1e-9 },
  f32: { quadrature: "closed", tolerance: 1e-4 },
} as const;

interface CheckResult {
  device: Backend["name"];
  about: string;
  precision: Precision;
  cases: number;
  tolerance: number;
  passed: boolean;
  worst: SelfcheckErrors;
}

async function checkDevice(device: OpenDevice, cases: SelfcheckCase[]): Promise<CheckResult> {
  const { name, precision } = device.backend;
  const { quadrature, tolerance } = SETTINGS[precision];
  try {
    const worst = await worstErrors(device.backend, cases, quadrature);
    device.check();
    const passed = Object.values(worst).every((error) => error < tolerance);
    return { device: name, about: device.about, precision, cases: cases.length, tolerance, passed, worst };
  } finally {
    device.dispose();
  }
}

async function selfcheck(parsed: Parsed): Promise<void> {
  const [path, ...more] = parsed.positional;
  if (more.length > 0) throw new UsageError("mlgpf selfcheck takes at most one file");
  const choice = deviceOf(parsed, "auto");
  const cases = path === undefined ? selfcheckCases : await readCases(path);
  const core = await createCore();
  const results: CheckResult[] = [];
  try {
    if (choice !== "webgpu") {
      for (const precision of ["f64", "f32"] as const)
        results.push(await checkDevice(await openDevice(core, "wasm", precision), cases));
    }
    if (choice !== "wasm") {
      const device = await openDevice(core, choice, "f32");
      if (device.backend.name === "webgpu") results.push(await checkDevice(device, cases));
      else console.error(`WebGPU is not checked: ${device.about}`);
    }
  } finally {
    core.dispose();
  }
  for (const result of results) {
    if (parsed.on("json")) console.log(JSON.stringify(result));
    else printResult(result);
  }
  if (results.some(({ passed }) => !passed)) process.exitCode = 1;
}

function printResult({ about, precision, cases, tolerance, passed, worst }: CheckResult): void {
  console.log(`${about}, ${precision}, ${cases} cases, worst relative error of each quantity:`);
  for (const [name, error] of Object.entries(worst)) {
    const verdict = error < tolerance ? "" : `  above ${tolerance}`;
    console.log(`  ${name.padEnd(18)} ${error.toExponential(1)}${verdict}`);
  }
  console.log(passed ? `passed: all below ${tolerance}\n` : `FAILED: not all below ${tolerance}\n`);
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
  examples: ["mlgpf selfcheck", "mlgpf selfcheck --device webgpu", "mlgpf selfcheck cases.json --json"],
  flags: {
    device: deviceFlag("auto"),
    json: { kind: "switch", help: "print a JSON object for each device and precision" },
  },
  run: selfcheck,
};
