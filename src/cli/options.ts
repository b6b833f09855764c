// Tables of options as flags: how they are typed, what was given of them, and their errors by the name that was typed.

import { ArgumentError } from "../core/errors.ts";
import type { Kind } from "../options/kinds.ts";
import { type AnyOption, defaultInWords, entriesOf } from "../options/table.ts";
import { type Flag, type Flags, given, type Parsed, UsageError } from "./flags.ts";

/** klWarmup -> kl-warmup */
const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

export const flagName = (name: string, { flag }: AnyOption): string => flag?.name ?? kebab(name);

/** What the command line can check before there are data. */
function kindAlone(option: Exclude<AnyOption, { kind: "group" }>): Kind {
  if (option.kind === "whole") {
    const { to, ...rest } = option;
    return typeof to === "number" ? { ...rest, to } : rest;
  }
  if (option.kind !== "choice" || option.own?.fromFile) return option;
  const { own: _, ...rest } = option;
  return rest;
}

/** An option, and each option of a group, with the path to it in code. */
interface Place {
  flag: string;
  path: string[];
  option: Exclude<AnyOption, { kind: "group" }>;
  /** The flag may stand alone: it is the first of a group. */
  bare?: string;
  meaning: string;
}

function placesOf(table: object): Place[] {
  return entriesOf(table).flatMap(([name, option]) => {
    const flag = flagName(name, option);
    if (option.kind !== "group") return [{ flag, path: [name], option, meaning: option.meaning }];
    return entriesOf(option.parts).map(([part, own], i) => ({
      flag: i === 0 ? flag : `${flag}-${kebab(part)}`,
      path: [name, part],
      option: own as Place["option"],
      ...(i === 0 ? { bare: String(own.default) } : {}),
      meaning: i === 0 ? `${option.meaning}: ${own.meaning}` : `with --${flag}: ${own.meaning}`,
    }));
  });
}

/** The flags of a table. */
export function flagsOf(table: object): Flags {
  const flags = placesOf(table).map(({ flag, option, bare, meaning }): [string, Flag] => [
    flag,
    {
      ...kindAlone(option),
      help: meaning,
      default: defaultInWords(option),
      ...given({ value: option.flag?.value ?? option.symbol, bare }),
      ...(option.kind === "switch" ? { negatable: true } : {}),
    },
  ]);
  return Object.fromEntries(flags);
}

/** What was given of a table's options, as code has it. */
export function optionsGiven(table: object, parsed: Parsed): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const { flag, path, option } of placesOf(table)) {
    const typed = parsed.value(flag);
    if (typed === undefined) continue;
    const value = option.flag?.unit === undefined ? typed : (typed as number) * option.flag.unit;
    const [name, part] = path as [string, string | undefined];
    found[name] = part === undefined ? value : { ...(found[name] as object | undefined), [part]: value };
  }
  return found;
}

/**
 * An error by the name that was typed: `klWarmup: found 2` becomes `--kl-warmup: found 2`, and options that a message
 * has between backticks become flags too.
 */
export function asTyped(error: unknown, ...tables: object[]): unknown {
  if (!(error instanceof Error)) return error;
  const flags = new Map<string, string>();
  for (const table of tables) {
    for (const [name, option] of entriesOf(table)) flags.set(name, `--${flagName(name, option)}`);
    for (const { flag, path } of placesOf(table)) flags.set(path.join("."), `--${flag}`);
  }
  const named = (text: string): string =>
    text.replace(/`([\w.]+)`/g, (quoted, name) => flags.get(name) ?? quoted);
  const flag = error instanceof ArgumentError ? flags.get(error.argument) : undefined;
  if (error instanceof ArgumentError && flag !== undefined)
    return new UsageError(`${flag}: ${named(error.problem)}`, { cause: error });
  const message = named(error.message);
  return message === error.message ? error : new Error(message, { cause: error });
}
