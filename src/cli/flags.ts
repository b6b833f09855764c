// Flags of the commands: what they are called, what they take, how they are read. A table of flags is all that a command
// says about its own; parsing, the help and the errors are made from it.

import { ArgumentError } from "../core/errors.ts";
import { checked, fromText, type Kind, placeholder, wordsOf } from "../options/kinds.ts";
import { didYouMean } from "../options/nearest.ts";

export type Flag = Kind & {
  help: string;
  /** In words, for the help. */
  default?: string;
  /** What stands for the value in the help. */
  value?: string;
  /** The value where none is given: `--early-stop` alone. */
  bare?: string;
  /** It may be given more than once, and all of its values count. */
  repeat?: boolean;
  /** A switch that is also there as `--no-...`. */
  negatable?: boolean;
};

export type Flags = Record<string, Flag>;

/** A command used wrongly: one sentence, exit code 2. */
export class UsageError extends Error {
  override name = "UsageError";
}

/** What was given. Every value has been checked against its flag. */
export interface Parsed {
  positional: string[];
  text(name: string): string | undefined;
  number(name: string): number | undefined;
  /** Whether a switch is on. */
  on(name: string): boolean;
  /** All values of a flag that may be repeated. */
  all(name: string): string[];
  /** The value as code has it, or undefined where the flag was not given. */
  value(name: string): unknown;
}

/** Reads arguments against flags; an unknown flag, or a value that its flag does not take, is a UsageError. */
export function parseFlags(args: string[], flags: Flags, command = "mlgpf"): Parsed {
  const values = new Map<string, unknown[]>();
  const positional: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] as string;
    if (arg === "--") {
      positional.push(...args.slice(at + 1));
      break;
    }
    if (!looksLikeFlag(arg)) {
      positional.push(arg);
      continue;
    }
    const [, raw = "", inline] = /^([^=]*)(?:=([\s\S]*))?$/.exec(arg) ?? [];
    const { name, flag, on } = findFlag(raw, flags, command);
    const next = inline === undefined && takesNext(flag, args[at + 1]) ? args[++at] : undefined;
    const found = values.get(name) ?? [];
    if (found.length > 0 && !flag.repeat && flag.kind !== "switch")
      throw new UsageError(`${raw}: found it twice, expected it once`);
    values.set(name, [...found, flagValue(flag, raw, on, inline ?? next, args[at + 1])]);
  }
  const last = (name: string): unknown => values.get(name)?.at(-1);
  return {
    positional,
    text: (name) => last(name) as string | undefined,
    number: (name) => last(name) as number | undefined,
    on: (name) => last(name) === true,
    all: (name) => (values.get(name) ?? []) as string[],
    value: last,
  };
}

const isNumber = (text: string): boolean => text.trim() !== "" && Number.isFinite(Number(text));
const looksLikeFlag = (text: string): boolean => /^-./.test(text) && !isNumber(text);

/** Whether the argument after a flag is its value. A flag that may stand alone takes a number. */
function takesNext({ kind, bare }: Flag, next: string | undefined): boolean {
  if (kind === "switch" || next === undefined) return false;
  return bare === undefined ? !looksLikeFlag(next) : isNumber(next);
}

/** The flag that was typed, and what it says if it is a switch. */
function findFlag(raw: string, flags: Flags, command: string): { name: string; flag: Flag; on: boolean } {
  const typed = raw.replace(/^--?/, "");
  const positive = typed.replace(/^no-/, "");
  const negated = !Object.hasOwn(flags, typed) && flags[positive]?.negatable === true;
  const name = negated ? positive : typed;
  const flag = raw.startsWith("--") && Object.hasOwn(flags, name) ? flags[name] : undefined;
  if (flag === undefined)
    throw new UsageError(
      `${raw}: ${command} has no such option${didYouMean(typed, Object.keys(flags), "--")}`,
    );
  return { name, flag, on: !negated };
}

/** The value of a flag, checked; `after` is what stood where its value was expected. */
function flagValue(flag: Flag, raw: string, on: boolean, text: string | undefined, after?: string): unknown {
  if (flag.kind === "switch") {
    if (text !== undefined) throw new UsageError(`${raw}: found the value ${text}, expected none`);
    return on;
  }
  const typed = text ?? flag.bare;
  if (typed === undefined) throw new UsageError(`${raw}: found ${after ?? "nothing"}, expected a value`);
  try {
    const value = fromText(flag, raw, typed);
    return typeof value === "object" ? value : checked(flag, raw, value, undefined);
  } catch (error) {
    throw error instanceof ArgumentError ? new UsageError(error.message) : error;
  }
}

/** The flags as aligned lines of help, no longer than `columns` where words allow it. */
export function flagHelp(flags: Flags, columns: number): string {
  const left = Object.entries(flags).map(
    ([name, flag]) => `--${flag.negatable ? "[no-]" : ""}${name}${valueHelp(flag)}`,
  );
  const width = Math.max(...left.map((item) => item.length));
  return Object.values(flags)
    .map((flag, i) => {
      const lines = wrapped(flagMeaning(flag), Math.max(30, columns - width - 4));
      return `  ${(left[i] as string).padEnd(width)}  ${lines.join(`\n${" ".repeat(width + 4)}`)}`;
    })
    .join("\n");
}

/** Lines of at most so many characters, unless a word is longer. */
export function wrapped(text: string, most: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > most) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

/** What a flag is, the words it takes and its default. */
function flagMeaning(flag: Flag): string {
  const words = wordsOf(flag);
  const standard = flag.default === undefined ? "" : ` (default: ${flag.default})`;
  return `${flag.help}${words === undefined ? "" : `: ${words}`}${standard}`;
}

function valueHelp(flag: Flag): string {
  if (flag.kind === "switch") return "";
  const value = flag.value ?? placeholder(flag);
  return flag.bare === undefined ? ` ${value}` : ` [${value}]`;
}

export const deviceNames = ["wasm", "webgpu", "auto"] as const;
export type DeviceName = (typeof deviceNames)[number];

/** A flag for what computes. */
export const deviceFlag = (standard: DeviceName): Flag => ({
  kind: "choice",
  choices: deviceNames,
  help: "what computes; auto is a hardware GPU where there is one",
  default: standard,
});

/** What --device says. */
export const deviceOf = (parsed: Parsed, standard: DeviceName = "wasm"): DeviceName =>
  (parsed.text("device") as DeviceName | undefined) ?? standard;

/** An error about the device by the name that was typed. */
export const deviceTyped = (error: unknown): unknown =>
  error instanceof ArgumentError && error.argument === "device"
    ? new UsageError(`--device: ${error.problem}`, { cause: error })
    : error;

/** Flags that several commands have. */
export const threadsFlag: Flag = {
  kind: "whole",
  from: 1,
  help: "threads",
  default: "one for each core",
};
export const quietFlag: Flag = { kind: "switch", help: "say nothing unless something is wrong" };

/** An object without the keys that were not given. */
export function given<T extends Record<string, unknown>>(
  values: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;
}
