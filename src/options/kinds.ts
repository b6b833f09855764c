// Kinds of option values: how a value is checked, how it is read from a command line, how it is said in words.

import { finiteNumber, wholeNumber } from "../base/check.ts";
import { ArgumentError } from "../base/errors.ts";

export interface Switch {
  readonly kind: "switch";
}

export interface Text {
  readonly kind: "text";
}

/** A number, from `from` or above `above`, up to `to`; or one of some words instead of it. */
export interface Real {
  readonly kind: "number";
  readonly words?: readonly string[];
  readonly from?: number;
  readonly above?: number;
  readonly to?: number;
}

/** A whole number whose limit may depend on what else is known; or a word instead of it. */
export interface Whole<Known = unknown> {
  readonly kind: "whole";
  readonly from?: number;
  readonly to?: number | ((known: Known) => number);
  readonly word?: string;
}

export interface Choice<Name extends string = string> {
  readonly kind: "choice";
  readonly choices: readonly Name[];
  /** Other names of some of them. */
  readonly also?: Readonly<Record<string, Name>>;
  /** Other forms in code; on the command line it is the name of a file with it, or cannot be. */
  readonly own?: { readonly expected: string; readonly fromFile?: boolean; accepts(value: unknown): boolean };
}

/** Values that have no word of their own in code, by the word on the command line. */
export interface Words {
  readonly kind: "words";
  readonly words: Readonly<Record<string, unknown>>;
}

/** One name or several; on the command line the flag is given several times. */
export interface Names {
  readonly kind: "names";
}

/** Two whole numbers, the smaller first, or false: `3-5`, `4` or `no` on the command line. */
export interface Range {
  readonly kind: "range";
  readonly from: number;
  readonly to: number;
}

export type Kind<Known = unknown> = Switch | Text | Real | Whole<Known> | Choice | Words | Names | Range;

/** "a, b or c" */
export const listed = (words: readonly string[]): string =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;

const refused = (name: string, found: unknown, expected: string): ArgumentError =>
  new ArgumentError(name, `found ${String(found)}, expected ${expected}`);

/** The value, or an ArgumentError that names it. */
export function checked<Known>(kind: Kind<Known>, name: string, value: unknown, known: Known): unknown {
  switch (kind.kind) {
    case "switch":
      if (typeof value !== "boolean") throw refused(name, value, "true or false");
      return value;
    case "text":
      if (typeof value !== "string") throw refused(name, value, "a text");
      return value;
    case "number":
      return orWord(instead(kind), value, () => checkedReal(kind, name, value));
    case "whole": {
      const to = typeof kind.to === "function" ? kind.to(known) : kind.to;
      return orWord(instead(kind), value, () => wholeNumber(name, value as number, kind.from ?? 0, to));
    }
    case "choice":
      return checkedChoice(kind, name, value);
    case "words": {
      const values = Object.values(kind.words);
      if (!values.includes(value)) throw refused(name, value, listed(values.map(String)));
      return value;
    }
    case "names": {
      const list = typeof value === "string" ? [value] : value;
      if (!Array.isArray(list) || !list.every((each) => typeof each === "string"))
        throw refused(name, value, "a name or a list of names");
      return list;
    }
    case "range":
      return value === false ? value : checkedRange(kind, name, value);
  }
}

function checkedRange({ from, to }: Range, name: string, value: unknown): unknown {
  const isPair = Array.isArray(value) && value.length === 2 && value.every(Number.isInteger);
  if (isPair && value[0] >= from && value[1] >= value[0] && value[1] <= to) return value;
  const found = Array.isArray(value) ? value.join("-") : value;
  throw refused(name, found, `no, or two numbers from ${from} to ${to}, the smaller first`);
}

const instead = (kind: Real | Whole<never>): readonly string[] =>
  kind.kind === "number" ? (kind.words ?? []) : kind.word === undefined ? [] : [kind.word];

/** One of the words as it is; else runs a check and, where a word would have done as well, says so. */
function orWord(words: readonly string[], value: unknown, check: () => unknown): unknown {
  if (typeof value === "string" && words.includes(value)) return value;
  try {
    return check();
  } catch (error) {
    if (words.length === 0 || !(error instanceof ArgumentError)) throw error;
    const either = `expected ${words.join(", ")} or `;
    throw new ArgumentError(error.argument, error.problem.replace("expected ", either));
  }
}

function checkedReal({ from, above, to }: Real, name: string, value: unknown): number {
  const number = finiteNumber(name, value as number);
  const low = from !== undefined ? number < from : above !== undefined && number <= above;
  if (!low && (to === undefined || number <= to)) return number;
  throw refused(name, value, `a number ${rangeInWords({ from, above, to })}`);
}

function rangeInWords({ from, above, to }: Record<"from" | "above" | "to", number | undefined>): string {
  if (from !== undefined) return to === undefined ? `of at least ${from}` : `from ${from} to ${to}`;
  return [above === undefined ? "" : `above ${above}`, to === undefined ? "" : `at most ${to}`]
    .filter(Boolean)
    .join(" and ");
}

function checkedChoice({ choices, also, own }: Choice, name: string, value: unknown): unknown {
  if (typeof value === "string") {
    const found = Object.hasOwn(also ?? {}, value) ? (also as Record<string, string>)[value] : value;
    if (choices.includes(found as string)) return found;
  } else if (own?.accepts(value)) return value;
  throw refused(name, value, listed([...choices, ...(own ? [own.expected] : [])]));
}

/** A file that a command line names where code would have a value. */
export interface FromFile {
  readonly file: string;
}

/** A typed value as the value that code would have; it is still to be checked. */
export function fromText(kind: Kind, name: string, text: string): unknown {
  switch (kind.kind) {
    case "switch":
    case "text":
    case "names":
      return text;
    case "range": {
      if (text === "no") return false;
      const [, least, most = least] = /^(\d+)(?:-(\d+))?$/.exec(text) ?? [];
      if (least === undefined)
        throw refused(name, text, `no, or two numbers from ${kind.from} to ${kind.to}, such as 3-5`);
      return [Number(least), Number(most)];
    }
    case "number":
    case "whole": {
      const words = instead(kind);
      if (words.includes(text)) return text;
      const number = Number(text);
      if (text.trim() !== "" && !Number.isNaN(number)) return number;
      throw refused(name, text, listed([...words, "a number"]));
    }
    case "choice":
      return kind.own === undefined || isNamed(kind, text) ? text : { file: text };
    case "words":
      if (!Object.hasOwn(kind.words, text)) throw refused(name, text, listed(Object.keys(kind.words)));
      return kind.words[text];
  }
}

const isNamed = ({ choices, also }: Choice, text: string): boolean =>
  choices.includes(text) || Object.hasOwn(also ?? {}, text);

/** The words that it takes, where it takes only some. */
export function wordsOf(kind: Kind): string | undefined {
  if (kind.kind === "choice") return listed([...kind.choices, ...(kind.own ? [kind.own.expected] : [])]);
  if (kind.kind === "words") return listed(Object.keys(kind.words));
  return undefined;
}

/** Placeholder of the value in the help. */
export function placeholder(kind: Kind): string {
  if (kind.kind === "whole" || kind.kind === "number") return ["N", ...instead(kind)].join("|");
  if (kind.kind === "choice") return kind.own ? "NAME|FILE" : "NAME";
  return { words: "WORD", names: "NAME", range: "N-M", text: "TEXT", switch: "" }[kind.kind];
}
