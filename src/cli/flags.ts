// Options as people type them. A command has tables of options, its own and those of the library; parsing, the help, the errors
// and the values in code are made from the tables. (`parseArgs` in node:util lacks options that may stand alone, negative
// numbers as values and, in one of the runtimes, `--no-...`.)

import { ArgumentError } from "../base/errors.ts";
import {
  type Choice,
  checked,
  fromText,
  type Kind,
  type Names,
  placeholder,
  type Real,
  type Switch,
  type Text,
  type Whole,
  wordsOf,
} from "../options/kinds.ts";
import { didYouMean } from "../options/nearest.ts";
import { type AnyOption, defaultInWords, entriesOf, type FlagHint } from "../options/table.ts";

export type CommandOption<K extends Kind = Kind> = K & {
  readonly meaning: string;
  /** In words, for the help. */
  readonly default?: string;
  readonly flag?: FlagHint;
  /** The value where none is given: `--explain` alone. */
  readonly bare?: string;
  readonly required?: true;
  /** It is the path of a file that the command writes. */
  readonly writes?: true;
};

export type CommandOptions = Readonly<Record<string, CommandOption>>;

type ValueOf<O> = O extends { kind: "switch" }
  ? boolean
  : O extends { kind: "text" }
    ? string
    : O extends { kind: "names" }
      ? string[]
      : O extends { kind: "number"; words: readonly (infer Word)[] }
        ? number | Word
        : O extends { kind: "choice"; choices: readonly (infer Name)[] }
          ? Name
          : number;

export type Given<Own> = { [Name in keyof Own]?: ValueOf<Own[Name]> };

type More = Omit<CommandOption, "kind" | "meaning">;

const option = <K extends Kind>(kind: K, value: string, meaning: string, more: More): CommandOption<K> => ({
  ...kind,
  ...more,
  meaning,
  flag: { ...more.flag, value },
});

export const text = (value: string, meaning: string, more: More = {}): CommandOption<Text> =>
  option({ kind: "text" }, value, meaning, more);

export const output = (value: string, meaning: string, more: More = {}): CommandOption<Text> =>
  text(value, meaning, { ...more, writes: true });

export const names = (value: string, meaning: string, more: More = {}): CommandOption<Names> =>
  option({ kind: "names" }, value, meaning, more);

export const real = (value: string, meaning: string, more: More & Limits): CommandOption<Real> =>
  option({ kind: "number" }, value, meaning, more);
type Limits = Omit<Real, "kind" | "words">;

/** A whole number of at least 1. */
export const count = (meaning: string, more: More & { to?: number } = {}): CommandOption<Whole> => ({
  kind: "whole",
  from: 1,
  ...more,
  meaning,
});

export const choice = <Name extends string>(
  choices: readonly Name[],
  meaning: string,
  standard?: string,
): CommandOption<Choice<Name>> => ({ kind: "choice", choices, meaning, ...(standard && { default: standard }) });

export const on = (meaning: string): CommandOption<Switch> => ({ kind: "switch", meaning });

export const quiet: CommandOption<Switch> = on("print only warnings and errors");
export const threads: CommandOption<Whole> = count("number of threads", { default: "one per core" });
const deviceNames = ["wasm", "webgpu", "auto"] as const;
export type DeviceName = (typeof deviceNames)[number];
export const device = (standard: DeviceName): CommandOption<Choice<DeviceName>> =>
  choice(deviceNames, "compute device; auto takes a hardware GPU if there is one", standard);

/** A command used wrongly: one sentence, exit code 2. */
export class UsageError extends Error {
  override name = "UsageError";
}

/** klWarmup -> kl-warmup */
export const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

export const flagName = (name: string, { flag }: AnyOption): string =>
  (flag === false ? undefined : flag?.name) ?? kebab(name);

/** A flag, and the option in code that it gives. */
interface Flag {
  name: string;
  option: string;
  kind: Kind;
  meaning: string;
  default: string | undefined;
  value: string;
  unit: number;
  bare: string | undefined;
  negatable: boolean;
}

/** The limits that can be checked before there are data. */
function kindAlone(option: AnyOption): Kind {
  if (option.kind === "whole") {
    const { to, ...rest } = option;
    return typeof to === "number" ? { ...rest, to } : rest;
  }
  if (option.kind !== "choice" || option.own?.fromFile) return option;
  const { own: _, ...rest } = option;
  return rest;
}

/** The flags of a table. */
export const flagsOf = (table: object): Flag[] =>
  entriesOf(table).flatMap(([name, option]) => (option.flag === false ? [] : [flagOf(name, option)]));

function flagOf(name: string, option: AnyOption): Flag {
  const hint = option.flag || {};
  const kind = kindAlone(option);
  return {
    name: flagName(name, option),
    option: name,
    kind,
    meaning: option.meaning,
    default: option.default === undefined ? undefined : defaultInWords(option),
    value: hint.value ?? option.symbol ?? placeholder(kind),
    unit: hint.unit ?? 1,
    bare: (option as unknown as CommandOption).bare,
    negatable: kind.kind === "switch" && option.default !== undefined,
  };
}

/** Positional arguments, and the options of a table that were given, as code has them. */
type Parsed = { positional: string[]; of(table: object): Record<string, unknown> };

/** Reads arguments against tables; an unknown flag, or a value that its option does not take, is a UsageError. */
export function parseFlags(args: readonly string[], tables: readonly object[], command = "mlgpf"): Parsed {
  const flags = tables.flatMap(flagsOf);
  const values = new Map<string, unknown>();
  const positional: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const arg = args[at];
    if (arg === "--") {
      positional.push(...args.slice(at + 1));
      break;
    }
    if (!looksLikeFlag(arg)) {
      positional.push(arg);
      continue;
    }
    const [, raw = "", inline] = /^([^=]*)(?:=([\s\S]*))?$/.exec(arg) ?? [];
    const { flag, negated } = findFlag(raw, flags, command);
    const next = inline === undefined && takesNext(flag, args[at + 1]) ? args[++at] : undefined;
    const value = valueTyped(flag, raw, !negated, inline ?? next, args[at + 1]);
    const before = values.get(flag.name);
    if (flag.kind.kind === "names")
      values.set(flag.name, [...((before as string[]) ?? []), ...String(value).split(",")]);
    else if (before !== undefined && flag.kind.kind !== "switch")
      throw new UsageError(`${raw}: found it twice, expected it once`);
    else values.set(flag.name, value);
  }
  return { positional, of: (table) => givenOf(flagsOf(table), values) };
}

function givenOf(flags: readonly Flag[], values: ReadonlyMap<string, unknown>): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const { name, option, unit } of flags) {
    const typed = values.get(name);
    if (typed !== undefined) found[option] = unit === 1 ? typed : (typed as number) * unit;
  }
  return found;
}

const isNumber = (typed: string): boolean => typed.trim() !== "" && Number.isFinite(Number(typed));
const looksLikeFlag = (typed: string): boolean => /^-./.test(typed) && !isNumber(typed);

/** The argument after a flag is its value; a flag that may stand alone takes a number. */
function takesNext({ kind, bare }: Flag, next: string | undefined): boolean {
  if (kind.kind === "switch" || next === undefined) return false;
  return bare === undefined ? !looksLikeFlag(next) : isNumber(next);
}

function findFlag(raw: string, flags: readonly Flag[], command: string): { flag: Flag; negated: boolean } {
  const typed = raw.replace(/^--?/, "");
  const named = raw.startsWith("--") ? flags.find(({ name }) => name === typed) : undefined;
  if (named) return { flag: named, negated: false };
  const switched = flags.find(({ name, negatable }) => negatable && raw === `--no-${name}`);
  if (switched) return { flag: switched, negated: true };
  const all = flags.map(({ name }) => name);
  throw new UsageError(`${raw}: ${command} has no such option${didYouMean(typed, all, "--")}`);
}

/** The value of a flag, checked; `after` is what stood where its value was expected. */
function valueTyped(flag: Flag, raw: string, on: boolean, typed: string | undefined, after?: string): unknown {
  if (flag.kind.kind === "switch") {
    if (typed !== undefined) throw new UsageError(`${raw}: found the value ${typed}, expected none`);
    return on;
  }
  const value = typed ?? flag.bare;
  if (value === undefined) throw new UsageError(`${raw}: found ${after ?? "nothing"}, expected a value`);
  try {
    const read = fromText(flag.kind, raw, value);
    if (flag.kind.kind === "names" || (flag.kind.kind === "choice" && typeof read === "object")) return read;
    return checked(flag.kind, raw, read, undefined);
  } catch (error) {
    throw error instanceof ArgumentError ? new UsageError(error.message) : error;
  }
}

/** The flags of a table as aligned lines of help, no longer than `columns` where words allow it. */
export function flagHelp(flags: readonly Flag[], columns: number, width: number = leftWidth(flags)): string[] {
  return flags.map((flag) => {
    const lines = wrapped(meaningOf(flag), Math.max(30, columns - width - 4));
    return `  ${leftOf(flag).padEnd(width)}  ${lines.join(`\n${" ".repeat(width + 4)}`)}`;
  });
}

export const leftWidth = (flags: readonly Flag[]): number => Math.max(...flags.map((flag) => leftOf(flag).length));

function leftOf({ name, kind, value, bare, negatable }: Flag): string {
  const takes = kind.kind === "switch" ? "" : bare === undefined ? ` ${value}` : ` [${value}]`;
  return `--${negatable ? "[no-]" : ""}${name}${takes}`;
}

function meaningOf({ kind, meaning, default: standard }: Flag): string {
  const words = wordsOf(kind);
  const about = standard === undefined ? "" : ` (default: ${standard})`;
  return `${meaning}${words === undefined ? "" : `: ${words}`}${about}`;
}

/** Lines of at most so many characters, unless a word is longer. */
export function wrapped(words: string, most: number): string[] {
  const lines: string[] = [];
  for (const word of words.split(" ")) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > most) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

/**
 * An error by the name that was typed: `klWarmup: found 2` becomes `--kl-warmup: found 2`, and options that a message
 * has between backticks become flags too.
 */
export function asTyped(error: unknown, tables: readonly object[]): unknown {
  if (!(error instanceof Error)) return error;
  const flags = new Map<string, string>();
  for (const [name, option] of tables.flatMap(entriesOf)) flags.set(name, `--${flagName(name, option)}`);
  const named = (message: string): string =>
    message.replace(/`([\w.]+)`/g, (quoted, name) => flags.get(name) ?? quoted);
  const flag = error instanceof ArgumentError ? flags.get(error.argument) : undefined;
  if (error instanceof ArgumentError && flag !== undefined)
    return new UsageError(`${flag}: ${named(error.problem)}`, { cause: error });
  const message = named(error.message);
  return message === error.message ? error : new Error(message, { cause: error });
}
