// mlgpf selfcheck [FILE]: problems with known answers, computed here.

import process from "node:process";
import { type OpenDevice, openDevice } from "../backend/devices.ts";
import { closedCases } from "../closed/cases.ts";
import { closedOn } from "../closed/device/closed.ts";
import { type ClosedCase, worstClosedErrors } from "../closed/selfcheck.ts";
import { type Core, createCore, type Precision } from "../core/core.ts";
import { FormatError } from "../io/errors.ts";
import { readWhole } from "../io/files.ts";
import { selfcheckCases } from "../model/cases.ts";
import { type SelfcheckCase, type SelfcheckErrors, worstErrors } from "../model/selfcheck.ts";
import type { Command } from "./command.ts";
import { deviceFlag, deviceOf, type Parsed, UsageError } from "./flags.ts";

/** Single precision is held to less; double precision is checked with enough Gauss-Hermite nodes. */
const SETTINGS = {
  f64: { quadrature: 128, tolerance: 1e-9 },
  f32: { quadrature: "closed", tolerance: 1e-4 },
} as const;

/** Problems of the bound and of the closed form. */
interface Cases {
  bound: SelfcheckCase[];
  closed: ClosedCase[];
}

interface CheckResult {
  device: string;
  about: string;
  precision: Precision;
  cases: number;
  tolerance: number;
  passed: boolean;
  worst: SelfcheckErrors;
}

function verdict(
  worst: SelfcheckErrors,
  precision: Precision,
): Pick<CheckResult, "tolerance" | "passed" | "worst"> {
  const { tolerance } = SETTINGS[precision];
  return { tolerance, passed: Object.values(worst).every((error) => error < tolerance), worst };
}

async function checkBound(device: OpenDevice, cases: SelfcheckCase[]): Promise<CheckResult> {
  const { name, precision } = device.backend;
  const worst = await worstErrors(device.backend, cases, SETTINGS[precision].quadrature);
  device.check();
  return { device: name, about: device.about, precision, cases: cases.length, ...verdict(worst, precision) };
}

/** On a GPU: with its heavy parts there. */
async function checkClosed(core: Core, device: OpenDevice, cases: ClosedCase[]): Promise<CheckResult> {
  const { name, precision, onCore } = device.backend;
  const on = onCore ? undefined : closedOn(device, (note) => console.error(note));
  const worst = await worstClosedErrors(core, precision, cases, on);
  const about = `closed form, ${device.about}`;
  return { device: name, about, precision, cases: cases.length, ...verdict(worst, precision) };
}

async function checkOn(core: Core, device: OpenDevice, { bound, closed }: Cases): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  try {
    if (bound.length > 0) results.push(await checkBound(device, bound));
    if (closed.length > 0) results.push(await checkClosed(core, device, closed));
    return results;
  } finally {
    device.dispose();
  }
}

async function checkAll(
  core: Core,
  cases: Cases,
  choice: "wasm" | "webgpu" | "auto",
): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  if (choice !== "webgpu") {
    for (const precision of ["f64", "f32"] as const)
      results.push(...(await checkOn(core, await openDevice(core, "wasm", precision), cases)));
  }
  if (choice !== "wasm") {
    const device = await openDevice(core, choice, "f32");
    if (device.backend.name === "webgpu") results.push(...(await checkOn(core, device, cases)));
    else console.error(`WebGPU is not checked: ${device.about}`);
  }
  return results;
}

async function selfcheck(parsed: Parsed): Promise<void> {
  const [path, ...more] = parsed.positional;
  if (more.length > 0) throw new UsageError("mlgpf selfcheck takes at most one file");
  const choice = deviceOf(parsed, "auto");
  const cases = path === undefined ? { bound: selfcheckCases, closed: closedCases } : await readCases(path);
  const core = await createCore();
  let results: CheckResult[];
  try {
    results = await checkAll(core, cases, choice);
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
  console.log(`${about}, ${precision}, ${cases} cases, worst error of each quantity:`);
  const width = Math.max(18, ...Object.keys(worst).map((name) => name.length));
  for (const [name, error] of Object.entries(worst)) {
    const above = error < tolerance ? "" : `  above ${tolerance}`;
    console.log(`  ${name.padEnd(width)} ${error.toExponential(1)}${above}`);
  }
  console.log(passed ? `passed: all below ${tolerance}\n` : `FAILED: not all below ${tolerance}\n`);
}

/** A list of cases, or an object with one. */
async function readCases(path: string): Promise<Cases> {
  const isBound = (item: Partial<SelfcheckCase> | null): boolean =>
    Boolean(item?.parameters && item?.expected);
  const isClosed = (item: Partial<ClosedCase> | null): boolean => Boolean(item?.exact && item?.sparse);
  try {
    const content = JSON.parse(new TextDecoder().decode(await readWhole(path)));
    const cases: unknown = Array.isArray(content) ? content : content?.cases;
    if (Array.isArray(cases) && cases.length > 0 && cases.every((item) => isBound(item) || isClosed(item)))
      return { bound: cases.filter(isBound), closed: cases.filter(isClosed) };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new FormatError(
    path,
    "something else",
    "a JSON list of cases with parameters and expected values, or with exact and sparse (the closed form)",
  );
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
