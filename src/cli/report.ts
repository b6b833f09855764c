// --report FILE: the report of a training or of a measurement, written as one HTML file.

import { basename } from "node:path";
import process from "node:process";
import { writeAtomically } from "../io/files.ts";
import type { Predictor } from "../model/predictor.ts";
import type { ReportData, ReportSource } from "../report/collect.ts";
import type { Terminal } from "./terminal.ts";

/** The program and the machine it runs on. */
export function machine(): string {
  const { bun, deno, node } = process.versions;
  const [name, version] = deno ? ["Deno", deno] : bun ? ["Bun", bun] : ["Node", node];
  return `${name} ${version} on ${process.platform} ${process.arch}`;
}

export interface ReportJob extends Omit<ReportSource, "measure" | "onProgress"> {
  /** Data with known labels to measure on; without it the report says how to give some. */
  validation?: ReportData;
}

/** Measures and writes. What makes reports is loaded only here. */
export async function writeReport(
  path: string,
  { validation, ...source }: ReportJob,
  predictor: Predictor,
  screen: Terminal,
): Promise<void> {
  const { collectReport, htmlReport } = await import("../report/index.ts");
  const input = await collectReport({
    ...source,
    title: nameOf(source.title),
    ...(validation ? { measure: { predictor, ...validation, file: nameOf(validation.file) } } : {}),
    onProgress: (fraction) => screen.show("measuring for the report", fraction),
  });
  screen.done();
  await writeAtomically(path, new TextEncoder().encode(htmlReport(input)));
  screen.say(`${path} written: open it in a browser`);
}

/** A report is passed on: it names files, not the folders of this machine. */
const nameOf = (file: string): string => (file === "-" ? "standard input" : basename(file));
