// Checks the metadata of a compact model, field by field.

import { isFieldWeight, type TermRules } from "../data/terms.ts";
import { FormatError, shownJson } from "../io/errors.ts";
import { kernelNames } from "../model/kernels/index.ts";
import { type ClosedAbout, type CompactAbout, VARIANCE_FORMS } from "./format.ts";

type Fields = Record<string, unknown>;

/** Hyper-parameters lie below it, and above its inverse. */
const LARGEST = 1e36;
/** A size that an array of the file can have; what the file really holds is checked by its tensors' shapes. */
const MOST = 2 ** 31 - 1;

export function checkAbout(json: string | undefined, file: string): CompactAbout {
  const refuse = (name: string, found: unknown, expected: string): never => {
    throw new FormatError(file, `${name} ${shownJson(found)} in its metadata`, expected);
  };
  let about: Fields = {};
  try {
    about = Object(JSON.parse(json ?? ""));
  } catch {
    refuse("about", json, "JSON");
  }
  const count = (from: Fields, name: string, least = 1, most = MOST): number => {
    const value = from[name];
    const right = Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
    return right ? (value as number) : refuse(name, value, `a whole number from ${least} to ${most}`);
  };
  const truth = (from: Fields, name: string): boolean =>
    typeof from[name] === "boolean" ? from[name] : refuse(name, from[name], "true or false");

  const word = <Name extends string>(from: Fields, name: string, words: readonly Name[]): Name =>
    words.find((each) => each === from[name]) ?? refuse(name, from[name], words.join(" or "));

  /** So many numbers, each between these. */
  const numbers = (from: Fields, name: string, size: number, above: number, expected: string): number[] => {
    const list = from[name];
    const right =
      Array.isArray(list) &&
      list.length === size &&
      list.every((value) => typeof value === "number" && value > above && value < LARGEST);
    return right ? (list as number[]) : refuse(name, list, expected);
  };
  const hyperOf = (from: Fields): CompactAbout["hyper"] =>
    numbers(from, "hyper", 3, 1 / LARGEST, "three positive numbers") as CompactAbout["hyper"];

  const { text, bits, closed } = about;
  const factors = count(about, "factors", closed === undefined ? 1 : 0);
  const groups = count(about, "groups");
  if (groups !== 1 && groups !== factors) refuse("groups", groups, `1 or ${factors}`);
  const packed: Record<string, number> = {};
  for (const name of Object.keys(Object(bits))) packed[name] = count(Object(bits), name, 2, 8);
  return {
    kernel: word(about, "kernel", kernelNames),
    features: count(about, "features"),
    rows: count(about, "rows"),
    labels: count(about, "labels"),
    factors,
    groups,
    inducing: count(about, "inducing", 0),
    rank: count(about, "rank", 0),
    hyper: hyperOf(about),
    normalise: truth(about, "normalise"),
    bits: packed,
    variance: word(about, "variance", VARIANCE_FORMS),
    ...(closed === undefined ? {} : { closed: closedForm(Object(closed)) }),
    ...(about.points === undefined ? {} : { points: count(about, "points") }),
    ...(text === undefined ? {} : { text: rules(Object(text)) }),
  };

  function closedForm(of: Fields): ClosedAbout {
    return {
      kernel: word(of, "kernel", kernelNames),
      hyper: hyperOf(of),
      points: count(of, "points", 0),
      tangent: numbers(of, "tangent", 2, -LARGEST, "two numbers") as ClosedAbout["tangent"],
      stack: count(of, "stack", 0),
      ...(of.whole === undefined ? {} : { whole: truth(of, "whole") }),
    };
  }

  function rules(of: Fields): TermRules & { documents: number } {
    const wordNgrams = count(of, "wordNgrams", 0, 9);
    const { charNgrams: range } = of;
    const right =
      Array.isArray(range) &&
      range.length === 2 &&
      range.every(Number.isInteger) &&
      1 <= range[0] &&
      range[0] <= range[1] &&
      range[1] <= 9;
    if (range !== undefined && !right) refuse("charNgrams", range, "two whole numbers from 1 to 9");
    const weight = (name: "opening" | "charWeight"): Partial<TermRules> => {
      const value = of[name];
      if (value === undefined) return {};
      return isFieldWeight(value) ? { [name]: value } : refuse(name, value, "the weight of a field");
    };
    const language = (stem: unknown): string =>
      typeof stem === "string" && /^[a-z]{1,30}$/.test(stem) ? stem : refuse("stem", stem, "a language");
    return {
      wordNgrams,
      ...(range === undefined ? {} : { charNgrams: range as [number, number] }),
      sublinear: truth(of, "sublinear"),
      idf: truth(of, "idf"),
      normalise: truth(of, "normalise"),
      ...weight("opening"),
      ...weight("charWeight"),
      ...(of.countUnknown === undefined ? {} : { countUnknown: truth(of, "countUnknown") }),
      ...(of.stem === undefined ? {} : { stem: language(of.stem) }),
      documents: count(of, "documents", 0),
    };
  }
}
