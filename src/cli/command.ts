// One runner for all commands: it parses, checks the files to be written, opens the screen and turns errors and signals into a
// sentence and an exit code. A command is an entry: its name, positionals, options and work.

import { constants } from "node:os";
import process from "node:process";
import { checkWritable } from "../io/files.ts";
import {
  asTyped,
  type CommandOptions,
  flagHelp,
  flagsOf,
  type Given,
  leftWidth,
  parseFlags,
  UsageError,
} from "./flags.ts";
import { type Terminal, terminal } from "./terminal.ts";

export interface Call<Own> {
  args: string[];
  given: Given<Own>;
  /** Options of a table of the library that were given. */
  of(table: object): Record<string, unknown>;
  screen: Terminal;
}

export interface Command<Own = CommandOptions> {
  name: string;
  /** "MODEL [FILE]", "PART ..." */
  positionals: string;
  /** Options that are nearly always typed. */
  usually?: string;
  summary: string;
  examples: readonly string[];
  options: Own;
  /** Tables of the library, each under a title of the help. */
  tables?: Readonly<Record<string, object>>;
  /** Options that --help shows; --help-all shows all. Without it there is one help. */
  common?: readonly string[];
  /** Runs around it, where other processes run it too. */
  around?: (work: () => Promise<number>) => Promise<number>;
  /** May give an exit code. */
  run(call: Call<Own>): Promise<unknown>;
}

/** A command with its options checked against what it does. */
export const command = <const Own extends CommandOptions>(entry: Command<Own>): Command => entry as unknown as Command;

function bounds(positionals: string): [least: number, most: number] {
  const words = positionals.split(" ").filter(Boolean);
  const least = words.filter((word) => !/^\[|^\.\.\./.test(word)).length;
  return [least, positionals.includes("...") ? Infinity : words.length];
}

/** `mlgpf train FILE --out MODEL` */
function usage({ name, positionals, usually = "", options }: Command): string {
  const required = Object.entries(options).filter(([, { required }]) => required);
  const flags = required.map(([flag, option]) => `--${flag} ${option.flag?.value}`);
  return ["mlgpf", name, positionals, usually, ...flags, "[options]"].filter(Boolean).join(" ");
}

export const overviewOf = (entry: Command): string => `  ${usage(entry)}\n      ${entry.summary}`;

function help(entry: Command, all: boolean): string {
  const { summary, examples, options, tables = {}, common } = entry;
  const sections = Object.entries({ Options: options, ...tables }).map(([title, table]) => {
    const flags = flagsOf(table);
    return { title, flags: all || !common ? flags : flags.filter(({ name }) => common.includes(name)) };
  });
  const shown = sections.flatMap(({ flags }) => flags);
  const hidden = Object.values({ options, ...tables }).flatMap(flagsOf).length - shown.length;
  const width = leftWidth(shown);
  const columns = process.stdout.columns || 100;
  return [
    `${usage(entry)}\n\n${summary}\n\nExamples:\n${examples.map((example) => `  ${example}`).join("\n")}`,
    ...sections
      .filter(({ flags }) => flags.length > 0)
      .map(({ title, flags }) => `${title}:\n${flagHelp(flags, columns, width).join("\n")}`),
    ...(hidden > 0 ? [`mlgpf ${entry.name} --help-all shows ${hidden} more options.`] : []),
  ].join("\n\n");
}

export async function run(entry: Command, typed: readonly string[]): Promise<number> {
  const { name, positionals, options } = entry;
  const wanted = typed.find((arg) => ["--help", "-h", "--help-all"].includes(arg));
  if (wanted !== undefined) {
    console.log(help(entry, wanted === "--help-all"));
    return 0;
  }
  const tables = [options, ...Object.values(entry.tables ?? {})];
  const { positional: args, of } = parseFlags(typed, tables, `mlgpf ${name}`);
  const given = of(options);
  const [least, most] = bounds(positionals);
  if (args.length < least || args.length > most) {
    const hint = args.length > most && "out" in options ? "; the output goes to --out" : "";
    throw new UsageError(
      `mlgpf ${name} takes ${positionals || "no files"}, found ${args.join(" ") || "nothing"}${hint}`,
    );
  }
  for (const [option, { required, flag }] of Object.entries(options))
    if (required && given[option] === undefined) throw new UsageError(`mlgpf ${name} needs --${option} ${flag?.value}`);
  const work = async (): Promise<number> => {
    for (const [option, { writes }] of Object.entries(options))
      if (writes && typeof given[option] === "string") await checkWritable(given[option]);
    const screen = terminal(given.quiet === true);
    const code = await entry.run({ args, given: given as Given<CommandOptions>, of, screen });
    return typeof code === "number" ? code : 0;
  };
  try {
    return await (entry.around ? entry.around(work) : work());
  } catch (error) {
    throw asTyped(error, tables);
  }
}

export type SignalName = "SIGINT" | "SIGTERM";

/** As shells have it. */
const exitCode = (name: SignalName): number => 128 + constants.signals[name];

export class Stopped extends Error {
  override name = "Stopped";
  readonly exitCode: number;
  constructor(message: string, signal: SignalName) {
    super(message);
    this.exitCode = exitCode(signal);
  }
}

/** Hears Ctrl-C and SIGTERM: the first one is told, a second one ends at once. Returns how to leave off. */
export function hearSignals(first: (name: SignalName) => void): () => void {
  let came = false;
  const heard = (["SIGINT", "SIGTERM"] as const).map((name) => {
    const hear = (): void => {
      if (came) process.exit(exitCode(name));
      came = true;
      first(name);
    };
    process.on(name, hear);
    return (): unknown => process.removeListener(name, hear);
  });
  return () => {
    for (const leave of heard) leave();
  };
}
