// The body of POST /predict: one input or many, how many labels, how probable.
//   {"text": "..."}, {"features": {"name": 1.5}}, {"texts": ["...", "..."]}, or a list of texts and of such objects;
//   as NDJSON a text or such an object on each line. "topK", "threshold" and "explain" in the object or in the query
//   (/predict?topK=3).

import { excerpt } from "../data/errors.ts";
import { thresholdWords } from "../metrics/cut.ts";
import { JSON_TYPE, NDJSON_TYPE } from "./answer.ts";
import { EXPLAINED } from "./limits.ts";
import { refuse } from "./refusal.ts";
import type { FoundLabel, FoundLabels, TaggerInput, TaggerOptions } from "./tagger.ts";

/** What is to be predicted, and how its answer is written. */
export interface Question {
  inputs: TaggerInput[];
  options: Pick<TaggerOptions, "topK" | "threshold" | "explain" | "sd">;
  form: AnswerForm;
}

/** An answer: what comes before, between and after the texts of its inputs. */
export interface AnswerForm {
  type: string;
  open: string;
  separator: string;
  close: string;
  one(found: FoundLabels, index: number): string;
}

/** A body that has arrived, with what its request says about it. */
export interface Body {
  readonly bytes: Uint8Array;
  /** Its media type, without parameters, in lower case. */
  readonly type: string;
  /** What the client wants back. */
  readonly accept: string;
  /** What stands behind the `?`. */
  readonly query: string;
}

export const PREDICT_TYPES: readonly string[] = [
  JSON_TYPE,
  NDJSON_TYPE,
  "application/ndjson",
  "application/jsonl",
];
const DEFAULT_TOP = 5;
const OPTIONS = ["topK", "threshold", "explain"] as const;
const FORMS = '{"text": "..."}, {"features": {...}}, {"texts": [...]} or a list of these';

type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A value of the client's in a sentence. */
export function describe(value: unknown): string {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (isObject(value)) return "an object";
  return typeof value === "string" ? excerpt(value) : String(value);
}

/** Reads a body and its query; what cannot be read is a Refusal. */
export function parseQuestion(body: Body, mostInputs: number): Question {
  const question = questionOf(body, mostInputs);
  checkWhy(question, body.bytes.length);
  return question;
}

function questionOf(body: Body, mostInputs: number): Question {
  const query = queryOf(body.query, OPTIONS);
  const text = decode(body.bytes);
  if (body.type !== JSON_TYPE)
    return { inputs: parseLines(text, mostInputs), options: optionsOf({}, query), form: lines };
  const value = parseJson(text);
  const list = Array.isArray(value) ? value : isObject(value) ? listOf(value) : undefined;
  checkCount(list?.length ?? 1, mostInputs);
  const options = optionsOf(isObject(value) ? value : {}, query);
  if (list !== undefined) {
    const form = PREDICT_TYPES.slice(1).some((type) => body.accept.includes(type)) ? lines : results;
    return { inputs: list.map((item, i) => listedInput(item, `input ${i}`)), options, form };
  }
  if (!isObject(value)) refuse("the body", describe(value), FORMS);
  return { inputs: [inputOf(value, "the body", true)], options, form: single };
}

/** The parameters of a query; each may come once and no others may. */
export function queryOf(query: string, allowed: readonly string[]): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  if (query === "") return found;
  for (const [key, value] of new URLSearchParams(query)) {
    if (!allowed.includes(key)) refuse("the query", excerpt(key), allowed.join(" or "));
    if (Object.hasOwn(found, key)) refuse("the query", `${key} twice`, "each once");
    found[key] = value;
  }
  return found;
}

export function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return refuse("the body", "bytes that are not UTF-8", "text in UTF-8");
  }
}

export function parseJson(text: string, where: string = "the body", forms: string = FORMS): unknown {
  if (text.trim() === "") refuse(where, "nothing", forms);
  try {
    return JSON.parse(text);
  } catch {
    return refuse(where, excerpt(text), `JSON: ${forms}`);
  }
}

function checkCount(count: number, most: number, why = ""): void {
  if (count > most) refuse("the body", `${count} inputs${why}`, `at most ${most} in one request`);
}

function parseLines(text: string, mostInputs: number): TaggerInput[] {
  const inputs: TaggerInput[] = [];
  for (const [i, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    checkCount(inputs.length + 1, mostInputs);
    const where = `line ${i + 1}`;
    inputs.push(listedInput(parseJson(line, where, 'a text, {"text": "..."} or {"features": {...}}'), where));
  }
  return inputs;
}

/** The list under "texts", if the object has one. */
function listOf(body: JsonObject): unknown[] | undefined {
  if (!Object.hasOwn(body, "texts")) return undefined;
  const { texts } = body;
  if (!Array.isArray(texts)) refuse("texts", describe(texts), "a list of texts");
  for (const key of ["text", "features"])
    if (Object.hasOwn(body, key)) refuse("the body", `both texts and ${key}`, "one of them");
  checkKeys(body, ["texts", ...OPTIONS], "the body");
  return texts;
}

function listedInput(item: unknown, where: string): TaggerInput {
  if (typeof item === "string") return item;
  if (!isObject(item)) refuse(where, describe(item), 'a text, {"text": "..."} or {"features": {...}}');
  return inputOf(item, where, false);
}

function inputOf(item: JsonObject, where: string, withOptions: boolean): TaggerInput {
  checkKeys(item, withOptions ? ["text", "features", ...OPTIONS] : ["text", "features"], where);
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

/** JSON has no infinities, but 1e400 becomes one. */
function checkValue(value: unknown, where: string, feature: string): void {
  if (typeof value !== "number" || !Number.isFinite(value))
    refuse(where, `${describe(value)} as feature ${excerpt(feature)}`, "a finite number");
}

function checkKeys(item: JsonObject, allowed: readonly string[], where: string): void {
  for (const key of Object.keys(item))
    if (!allowed.includes(key)) refuse(where, `the key ${excerpt(key)}`, allowed.join(", "));
}

function optionsOf(body: JsonObject, query: Readonly<Record<string, string>>): Question["options"] {
  const chosen = (name: (typeof OPTIONS)[number]): unknown => {
    if (Object.hasOwn(body, name)) return body[name];
    const text = query[name];
    return text === undefined || text.trim() === "" || isWord(text) ? text : Number(text);
  };
  const [topK, threshold, explain] = [chosen("topK"), chosen("threshold"), chosen("explain")];
  return { ...topOf(topK, threshold), ...cutOf(threshold), ...whyOf(explain, topK, threshold) };
}

/** How many words for each label, and of how many labels: those that say why cost more. */
function whyOf(explain: unknown, topK: unknown, threshold: unknown): Pick<TaggerOptions, "explain" | "topK"> {
  if (explain === undefined) return {};
  const { words, labels } = EXPLAINED;
  if (!Number.isInteger(explain) || (explain as number) < 1 || (explain as number) > words)
    refuse("explain", describe(explain), `a whole number from 1 to ${words}`);
  if (topK !== undefined && (topK as number) > labels)
    refuse("topK", `${topK} with explain`, `at most ${labels}`);
  const most = topK === undefined && threshold !== undefined ? { topK: labels } : {};
  return { explain: explain as number, ...most };
}

/** Bounds of a request that asks why. */
function checkWhy({ inputs, options }: Question, bytes: number): void {
  if (options.explain === undefined) return;
  checkCount(inputs.length, EXPLAINED.inputs, " with explain");
  if (bytes > EXPLAINED.bodyBytes)
    refuse("the body", `${bytes} bytes with explain`, `at most ${EXPLAINED.bodyBytes}`);
}

/** How many labels: with a threshold and no number all that reach it. */
function topOf(topK: unknown, threshold: unknown): { topK?: number } {
  if (topK === undefined) return threshold === undefined ? { topK: DEFAULT_TOP } : {};
  if (!Number.isInteger(topK) || (topK as number) < 1)
    refuse("topK", describe(topK), "a whole number of at least 1");
  return { topK: topK as number };
}

/** A number, or a threshold of the model's own. */
function cutOf(threshold: unknown): Pick<TaggerOptions, "threshold"> {
  if (isWord(threshold)) return { threshold };
  return thresholdOf(threshold, `a number from 0 to 1, ${thresholdWords.join(" or ")}`);
}

const isWord = (threshold: unknown): threshold is (typeof thresholdWords)[number] =>
  thresholdWords.some((word) => word === threshold);

export function thresholdOf(
  threshold: unknown,
  expected: string = "a number from 0 to 1",
): { threshold?: number } {
  if (threshold === undefined) return {};
  if (typeof threshold !== "number" || !(threshold >= 0 && threshold <= 1))
    refuse("threshold", describe(threshold), expected);
  return { threshold };
}

/** Six digits are more than anybody needs and half of what JSON would print. */
export const digits = (value: number): number => Number(value.toPrecision(6));

function rounded({ label, probability, sd, reasons }: FoundLabel): FoundLabel {
  return {
    label,
    probability: digits(probability),
    ...(sd !== undefined && { sd: digits(sd) }),
    ...(reasons && { reasons: reasons.map(({ word, share }) => ({ word, share: digits(share) })) }),
  };
}

function one(found: FoundLabels): string {
  const known = found.known === undefined ? {} : { known: digits(found.known) };
  return JSON.stringify({ labels: found.map(rounded), ...known });
}

const single: AnswerForm = { type: JSON_TYPE, open: "", separator: "", close: "\n", one };
const results: AnswerForm = { type: JSON_TYPE, open: '{"results":[', separator: ",", close: "]}\n", one };
const lines: AnswerForm = {
  type: NDJSON_TYPE,
  open: "",
  separator: "",
  close: "",
  one: (found) => `${one(found)}\n`,
};
