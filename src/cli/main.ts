#!/usr/bin/env node
// The mlgpf command, the same under Node, Deno and Bun.

import process from "node:process";
import { clean, FileError } from "../base/errors.ts";
import { mayBeWide } from "../core/wide.ts";
import { fileError } from "../io/files.ts";
import { listed } from "../options/kinds.ts";
import { didYouMean } from "../options/nearest.ts";
import { version } from "../version.ts";
import { overviewOf, run, Stopped } from "./command.ts";
import { commands } from "./commands.ts";
import { UsageError } from "./flags.ts";

function overview(): string {
  const lines = commands.map(overviewOf).join("\n");
  return `Extreme multi-label classification with calibrated probabilities.\n\n${lines}\n\nmlgpf COMMAND --help says more.`;
}

async function main([name, ...rest]: string[]): Promise<number> {
  if (name === undefined || name === "--help" || name === "-h" || name === "help") {
    console.log(overview());
    return name === undefined ? 2 : 0;
  }
  if (name === "--version" || name === "-v") {
    console.log(version);
    return 0;
  }
  const command = commands.find((each) => each.name === name);
  if (command) return await run(command, rest);
  const names = commands.map((each) => each.name);
  throw new UsageError(`found the command ${name}, expected ${listed(names)}${didYouMean(name, names)}`);
}

/** A reader that goes away early (| head) is no error; a full disk is one. */
process.stdout.on("error", (error: { code?: string }) => {
  if (error.code === "EPIPE") process.exit(0);
  console.error(`mlgpf: ${fileError("write", "standard output", error).message}`);
  process.exit(1);
});

/** Messages that cannot be written (2> on a full disk) do not end the work. */
process.stderr.on("error", () => {});

// Read by createCore, here and in the threads of a server.
if (mayBeWide()) process.env.MLGPF_WIDE ??= "1";

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  // Where standard output has no events (Deno) a failed write is thrown.
  const known = (error as { code?: string }).code === "ENOSPC" && !(error instanceof FileError);
  const shown = known ? fileError("write", "standard output", error) : error;
  const message = clean(shown instanceof Error ? shown.message : String(shown));
  console.error(process.env.MLGPF_DEBUG && error instanceof Error ? error.stack : `mlgpf: ${message}`);
  process.exitCode = error instanceof UsageError ? 2 : error instanceof Stopped ? error.exitCode : 1;
}
