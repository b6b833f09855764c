// A table of options: one entry says what an option takes, its default, its meaning and its flag. Everything that
// knows about options (types, checks, the command line, help, the report, the guide) reads it there.

import { ArgumentError } from "../base/errors.ts";
import {
  type Choice,
  checked,
  type Kind,
  type Names,
  type Range,
  type Real,
  type Switch,
  type Text,
  type Whole,
} from "./kinds.ts";
import { didYouMean } from "./nearest.ts";

/** A default that depends on the data or on other options, in words and in code. */
export interface Rule<Value, Known> {
  readonly words: string;
  of(known: Known): Value;
}

/** The default of an option that is off unless it is given, in words. */
export const none = (words: string): Rule<undefined, unknown> => ({ words, of: () => undefined });

/** Options with their defaults filled in; those that may be off, which `Open` names, may be undefined. */
export type Settled<Given, Open extends keyof Given> = Required<Omit<Given, Open>> & {
  readonly [Name in Exclude<Open, never>]: Given[Name] | undefined;
};

/** How an option is typed on the command line, where its name alone does not say it. */
export interface FlagHint {
  /** Without the dashes. */
  readonly name?: string;
  /** Placeholder of its value in the help. */
  readonly value?: string;
  /** One of the flag's units in units of code: 2^20 for MB where code has bytes. */
  readonly unit?: number;
}

/** An option, whatever it takes. */
export interface About<Full, Known> {
  /** Its meaning in a few words: for the help and the report. */
  readonly meaning: string;
  /** The paper's. */
  readonly symbol?: string;
  /** A rule may give undefined: then the option is off unless it is given. */
  readonly default: Full | Rule<Full, Known>;
  /** False: it cannot be typed. */
  readonly flag?: FlagHint | false;
  /** Expectation that a value fails beside the other options. */
  refuse?(value: Full, known: Known): string | undefined;
  /** A given value, adapted to the data. */
  settle?(value: Full, known: Known): Full;
}

/** Kinds that may take values of this type. */
type KindOf<Given, Known> = [Given] extends [boolean]
  ? Switch
  : [Given] extends [number]
    ? Whole<Known> | Real
    : [Given] extends [string]
      ? Choice<Given> | (string extends Given ? Text : never)
      : [Exclude<Given, false>] extends [readonly [number, number]]
        ? Range
        : [Given] extends [string | readonly string[]]
          ? Names
          : Kind<Known>;

/** `Given` is what people may write, `Full` what the program works with. */
export type OptionTable<Given, Full extends Record<keyof Given, unknown>, Known> = {
  readonly [Name in keyof Given]-?: KindOf<Exclude<Given[Name], undefined>, Known> & About<Full[Name], Known>;
};

/** An entry whose type is not looked at. */
export type AnyOption = Kind<unknown> & About<unknown, unknown>;
export type AnyTable = Readonly<Record<string, AnyOption>>;

/** A table for what reads all of its entries alike. */
export const entriesOf = (table: object): [name: string, option: AnyOption][] => Object.entries(table as AnyTable);

export const isRule = (value: unknown): value is Rule<unknown, unknown> =>
  typeof value === "object" && value !== null && typeof (value as { of?: unknown }).of === "function";

/** A default in words: `linear`, `no`, `a tenth of the labels, at least 100, at most 300`. */
export function defaultInWords({ default: value, kind, ...option }: AnyOption): string {
  if (isRule(value)) return value.words;
  if (kind === "words") {
    const { words } = option as unknown as { words: Record<string, unknown> };
    return Object.keys(words).find((word) => words[word] === value) as string;
  }
  return typeof value === "boolean" ? (value ? "yes" : "no") : String(value);
}

/** Refuses keys that no option has, and says which one may have been meant. */
export function refuseUnknown(given: object, names: readonly string[], what = "option"): void {
  for (const key of Object.keys(given))
    if (!names.includes(key)) throw new ArgumentError(key, `there is no such ${what}${didYouMean(key, names)}`);
}

/** Fills in the defaults and refuses what cannot be, naming the option. A default may ask for any other option. */
export function completeTable<Given extends object, Full extends Record<keyof Given, unknown>, Known>(
  table: OptionTable<Given, Full, Known & Full>,
  given: Given,
  about: Known,
): Full {
  const values = new Map<string, unknown>();
  const known = { ...about } as Known & Full;
  const options = entriesOf(table);
  for (const [name, option] of options) {
    const value = (): unknown => {
      if (!values.has(name)) values.set(name, fullValue(option, name, (given as Record<string, unknown>)[name], known));
      return values.get(name);
    };
    Object.defineProperty(known, name, { get: value, enumerable: true });
  }
  return Object.fromEntries(options.map(([name]) => [name, known[name as keyof Full]])) as Full;
}

function fullValue(option: AnyOption, name: string, given: unknown, known: unknown): unknown {
  const standard = option.default;
  const value = given === undefined ? (isRule(standard) ? standard.of(known) : standard) : given;
  if (value === undefined) return undefined;
  const full = checked(option, name, value, known);
  const expected = option.refuse?.(full, known);
  if (expected !== undefined) throw new ArgumentError(name, `found ${String(full)}, expected ${expected}`);
  return option.settle ? option.settle(full, known) : full;
}
