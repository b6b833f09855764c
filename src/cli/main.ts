#!/usr/bin/env node
// The mlgpf command, the same under Node, Deno and Bun.

import process from "node:process";
import { FileError } from "../io/errors.ts";
import { fileError } from "../io/files.ts";
import { listed } from "../options/kinds.ts";
import { didYouMean } from "../options/nearest.ts";
import { version } from "../version.ts";
import { askCommand } from "./ask.ts";
import { calibrateCommand } from "./calibrate.ts";
import type { Command } from "./command.ts";
import { compactCommand } from "./compact.ts";
import { evalCommand } from "./eval.ts";
import { deviceTyped, flagHelp, parseFlags, UsageError } from "./flags.ts";
import { inspectCommand } from "./inspect.ts";
import { learnCommand } from "./learn.ts";
import { mergeCommand, planCommand } from "./parts.ts";
import { predictCommand } from "./predict.ts";
import { selfcheckCommand } from "./selfcheck.ts";
import { serveCommand } from "./serve.ts";
import { Stopped } from "./signals.ts";
import { trainCommand } from "./train.ts";

const commands: Command[] = [
  trainCommand,
  learnCommand,
  askCommand,
  evalCommand,
  predictCommand,
  calibrateCommand,
  compactCommand,
  serveCommand,
  planCommand,
  mergeCommand,
  inspectCommand,
  selfcheckCommand,
];

function overview(): string {
  const lines = commands.map(({ usage, summary }) => `  ${usage}\n      ${summary}`);
  return `Extreme multi-label classification with honest probabilities.\n\n${lines.join("\n")}\n\nmlgpf COMMAND --help says more.`;
}

function help(command: Command): string {
  const examples = command.examples.map((example) => `  ${example}`).join("\n");
  return `${command.usage}\n\n${command.summary}\n\nExamples:\n${examples}\n\nOptions:\n${flagHelp(command.flags, process.stdout.columns || 100)}`;
}

async function main(args: string[]): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined || name === "--help" || name === "-h" || name === "help") {
    console.log(overview());
    return name === undefined ? 2 : 0;
  }
  if (name === "--version" || name === "-v") {
    console.log(version);
    return 0;
  }
  const command = commands.find((each) => each.name === name);
  if (command === undefined) {
    const names = commands.map((each) => each.name);
    throw new UsageError(`found the command ${name}, expected ${listed(names)}${didYouMean(name, names)}`);
  }
  if (rest.includes("--help") || rest.includes("-h")) {
    console.log(help(command));
    return 0;
  }
  await command.run(parseFlags(rest, command.flags, `mlgpf ${name}`)).catch((error) => {
    throw deviceTyped(error);
  });
  return Number(process.exitCode ?? 0);
}

/** A reader that goes away early (| head) is no error; a full disk is one. */
process.stdout.on("error", (error: { code?: string }) => {
  if (error.code === "EPIPE") process.exit(0);
  console.error(`mlgpf: ${fileError("write", "standard output", error).message}`);
  process.exit(1);
});

/** What a person was to see and cannot (2> on a full disk) does not end the work. */
process.stderr.on("error", () => {});

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  // Where standard output has no events (Deno) a failed write is thrown.
  const known = (error as { code?: string }).code === "ENOSPC" && !(error instanceof FileError);
  const said = known ? fileError("write", "standard output", error) : error;
  const message = said instanceof Error ? said.message : String(said);
  console.error(process.env.MLGPF_DEBUG && error instanceof Error ? error.stack : `mlgpf: ${message}`);
  process.exitCode = error instanceof UsageError ? 2 : error instanceof Stopped ? error.exitCode : 1;
}
