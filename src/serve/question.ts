// The body of POST /predict: one input or many, how many labels, how probable.
//   {"text": "..."}, {"features": {"name": 1.5}}, {"texts": ["...", "..."]}, or a list of texts and of such objects;
//   "topK" and "threshold" in the object or in the query (/predict?topK=3).

import { excerpt } from "../data/errors.ts";
import { Refusal } from "./refusal.ts";
import type { TaggerInput, TaggerOptions } from "./tagger.ts";

export interface Question {
  inputs: TaggerInput[];
  options: TaggerOptions;
  /** One input asked for by itself is answered by itself. */
  single: boolean;
}

const DEFAULT_TOP = 5;
const FORMS = '{"text": "..."}, {"features": {...}}, {"texts": [...]} or a list of these';

type JsonObject = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function refuse(where: string, found: string, expected: string): never {
  throw new Refusal(400, `${where}: found ${found}, expected ${expected}`);
}

function describe(value: unknown): string {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (isObject(value)) return "an object";
  return typeof value === "string" ? excerpt(value) : String(value);
}

/** Reads a body and the query behind the `?`; what cannot be read is a Refusal. */
export function parseQuestion(bytes: Uint8Array, query: string, mostInputs: number): Question {
  const body = parseJson(bytes);
  const fromQuery = query === "" ? {} : Object.fromEntries(new URLSearchParams(query));
  for (const key of Object.keys(fromQuery))
    if (key !== "topK" && key !== "threshold") refuse("the query", excerpt(key), "topK or threshold");
  const list = Array.isArray(body) ? body : isObject(body) ? listOf(body) : undefined;
  if (list !== undefined && list.length > mostInputs)
    refuse("the body", `${list.length} inputs`, `at most ${mostInputs} in one request`);
  const inside: JsonObject = isObject(body) ? body : {};
  const options = optionsOf(inside, fromQuery);
  if (list !== undefined) return { inputs: list.map(listedInput), options, single: false };
  if (!isObject(body)) refuse("the body", describe(body), FORMS);
  return { inputs: [inputOf(body, "the body", true)], options, single: true };
}

function parseJson(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    refuse("the body", "bytes that are not UTF-8", "JSON in UTF-8");
  }
  if (text.trim() === "") refuse("the body", "nothing", FORMS);
  try {
    return JSON.parse(text);
  } catch {
    refuse("the body", excerpt(text), `JSON: ${FORMS}`);
  }
}

/** The list under "texts", if the object has one. */
function listOf(body: JsonObject): unknown[] | undefined {
  if (!Object.hasOwn(body, "texts")) return undefined;
  const { texts } = body;
  if (!Array.isArray(texts)) refuse("texts", describe(texts), "a list of texts");
  for (const key of ["text", "features"])
    if (Object.hasOwn(body, key)) refuse("the body", `both texts and ${key}`, "one of them");
  checkKeys(body, ["texts", "topK", "threshold"], "the body");
  return texts;
}

function listedInput(item: unknown, index: number): TaggerInput {
  if (typeof item === "string") return item;
  if (!isObject(item))
    refuse(`input ${index}`, describe(item), 'a text, {"text": "..."} or {"features": {...}}');
  return inputOf(item, `input ${index}`, false);
}

function inputOf(item: JsonObject, where: string, withOptions: boolean): TaggerInput {
  checkKeys(item, withOptions ? ["text", "features", "topK", "threshold"] : ["text", "features"], where);
  const hasText = Object.hasOwn(item, "text");
  const hasFeatures = Object.hasOwn(item, "features");
  if (hasText === hasFeatures)
    refuse(where, hasText ? "both text and features" : "neither text nor features", "one of them");
  const { text, features } = item;
  if (hasFeatures) return featuresOf(features, where);
  return typeof text === "string" ? text : refuse(where, `${describe(text)} as text`, "a string");
}

function featuresOf(features: unknown, where: string): TaggerInput {
  if (!isObject(features))
    refuse(where, `${describe(features)} as features`, "an object with a number for each");
  const { indices, values } = features;
  if (Array.isArray(indices) && Array.isArray(values)) {
    if (indices.length !== values.length)
      refuse(
        where,
        `${indices.length} indices with ${values.length} values`,
        "as many of one as of the other",
      );
    indices.forEach((index, i) => {
      if (!Number.isInteger(index) || index < 0)
        refuse(where, `index ${describe(index)}`, "a whole number of at least 0");
      checkValue(values[i], where, String(index));
    });
    return { indices: indices as number[], values: values as number[] };
  }
  for (const [name, value] of Object.entries(features)) checkValue(value, where, name);
  return features as Record<string, number>;
}

function checkValue(value: unknown, where: string, feature: string): void {
  if (typeof value !== "number")
    refuse(where, `${describe(value)} as feature ${excerpt(feature)}`, "a number");
}

function checkKeys(item: JsonObject, allowed: readonly string[], where: string): void {
  for (const key of Object.keys(item))
    if (!allowed.includes(key)) refuse(where, `the key ${excerpt(key)}`, allowed.join(", "));
}

function optionsOf(body: JsonObject, query: Readonly<Record<string, string>>): TaggerOptions {
  const chosen = (name: "topK" | "threshold"): unknown => {
    if (Object.hasOwn(body, name)) return body[name];
    const text = query[name];
    return text === undefined || text.trim() === "" ? text : Number(text);
  };
  const [topK = DEFAULT_TOP, threshold] = [chosen("topK"), chosen("threshold")];
  if (!Number.isInteger(topK) || (topK as number) < 1)
    refuse("topK", describe(topK), "a whole number of at least 1");
  if (threshold === undefined) return { topK: topK as number };
  if (typeof threshold !== "number" || !(threshold >= 0 && threshold <= 1))
    refuse("threshold", describe(threshold), "a number from 0 to 1");
  return { topK: topK as number, threshold };
}
