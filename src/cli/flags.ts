// Flags of the commands: what they are called, what they mean, how they are read.

import { parseArgs } from "node:util";

export type FlagKind = "text" | "number" | "switch";

export interface Flag {
  kind: FlagKind;
  help: string;
  /** What stands for the value in the help. */
  value?: string;
  /** The value where none is given: `--early-stop` alone. */
  bare?: string;
}

export type Flags = Record<string, Flag>;

/** A command used wrongly: one sentence, exit code 2. */
export class UsageError extends Error {
  override name = "UsageError";
}

export interface Parsed {
  positional: string[];
  text(name: string): string | undefined;
  number(name: string): number | undefined;
  on(name: string): boolean;
}

/** Reads arguments against flags; an unknown flag or a number that is none is a UsageError. */
export function parseFlags(args: string[], flags: Flags): Parsed {
  let values: Record<string, unknown>;
  let positional: string[];
  try {
    const options = Object.fromEntries(
      Object.entries(flags).map(([name, flag]) => [
        name,
        { type: flag.kind === "switch" ? "boolean" : "string" } as const,
      ]),
    );
    const parsed = parseArgs({ args: withBare(args, flags), options, allowPositionals: true, strict: true });
    values = parsed.values as Record<string, unknown>;
    positional = parsed.positionals;
  } catch (error) {
    throw new UsageError((error as Error).message.split(". ")[0] as string);
  }
  const text = (name: string): string | undefined => values[name] as string | undefined;
  return {
    positional,
    text,
    on: (name) => values[name] === true,
    number: (name) => {
      const given = text(name);
      if (given === undefined) return undefined;
      const value = Number(given);
      if (given.trim() === "" || !Number.isFinite(value))
        throw new UsageError(`--${name}: found ${given}, expected a number`);
      return value;
    },
  };
}

/** Fills in the values of flags that may stand without one. */
function withBare(args: string[], flags: Flags): string[] {
  return args.map((arg, i) => {
    const bare = arg.startsWith("--") ? flags[arg.slice(2)]?.bare : undefined;
    const next = args[i + 1];
    const hasValue = next !== undefined && next.trim() !== "" && Number.isFinite(Number(next));
    return bare === undefined || hasValue ? arg : `${arg}=${bare}`;
  });
}

/** The flags as aligned lines of help. */
export function flagHelp(flags: Flags): string {
  const left = Object.entries(flags).map(([name, flag]) => `--${name}${valueHelp(flag)}`);
  const width = Math.max(...left.map((item) => item.length));
  return Object.values(flags)
    .map((flag, i) => `  ${(left[i] as string).padEnd(width)}  ${flag.help}`)
    .join("\n");
}

function valueHelp({ kind, value = "N", bare }: Flag): string {
  if (kind === "switch") return "";
  return bare === undefined ? ` ${value}` : ` [${value}]`;
}

/** A flag for what computes. */
export const deviceFlag = (fallback: string): Flag => ({
  kind: "text",
  value: "NAME",
  help: `wasm, webgpu, or auto: a hardware GPU where there is one (default: ${fallback})`,
});

/** What --device says. */
export function deviceOf(parsed: Parsed, fallback: "auto" | "wasm" = "wasm"): "auto" | "wasm" | "webgpu" {
  const name = parsed.text("device") ?? fallback;
  if (name !== "auto" && name !== "wasm" && name !== "webgpu")
    throw new UsageError(`--device: found ${name}, expected wasm, webgpu or auto`);
  return name;
}

/** An object without the keys that were not given. */
export function given<T extends Record<string, unknown>>(
  values: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;
}
