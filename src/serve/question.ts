// The body of POST /predict: one input or many, how many labels, how probable.
//   an input as base/input.ts has it, a list of inputs, or {"texts": ["...", "..."]}; as NDJSON an input on each line; as plain text one text. "topK", "explain", "unseen" and what decides on a threshold (base/prediction.ts) in
//   the object or in the query (/predict?topK=3, /predict?recall=0.9).

import { defined, describe, isObject, type JsonObject } from "../base/check.ts";
import { excerpt } from "../base/errors.ts";
import { type Input, listOfInputs, plainFeatures, plainInput, plainVectors } from "../base/input.ts";
import {
  aims,
  type LabelLists,
  type Prediction,
  type PredictOptions,
  thresholdWords,
  wordsToExplain,
} from "../base/prediction.ts";
import { type Body, decode, parseJson, queryOf, wholeIn } from "./body.ts";
import { JSON_TYPE, NDJSON_TYPE, refuse } from "./http.ts";
import { EXPLAINED } from "./limits.ts";
import type { Found } from "./project.ts";

export interface Question {
  inputs: Input[];
  options: Omit<PredictOptions, keyof LabelLists>;
  form: ReplyForm;
}

/** A reply: the text before, between and after those of its inputs. */
export interface ReplyForm {
  type: string;
  open: string;
  separator: string;
  close: string;
  one(found: Found, index: number): string;
}

const TEXT_TYPE = "text/plain";
const LINE_TYPES = [NDJSON_TYPE, "application/ndjson", "application/jsonl"];
export const PREDICT_TYPES: readonly string[] = [JSON_TYPE, ...LINE_TYPES, TEXT_TYPE];
const DEFAULT_TOP = 5;
const MOST_UNSEEN = 100;
const OPTIONS = ["topK", "threshold", "explain", "precision", "confidence", "recall", "for", "unseen"] as const;
/** Words that an option may be instead of a number. */
const WORDS: readonly string[] = [...thresholdWords, ...aims];
const INPUT = 'a text, {"text": "..."} or {"features": {...}}';
const FORMS = '{"text": "..."}, {"features": {...}}, {"texts": [...]} or a list of these';

export function parseQuestion(body: Body, mostInputs: number): Question {
  const question = questionOf(body, mostInputs);
  const { inputs, options } = question;
  if (options.explain !== undefined) {
    checkCount(inputs.length, EXPLAINED.inputs, " with explain");
    const bytes = body.bytes.length;
    if (bytes > EXPLAINED.bodyBytes)
      refuse("the body", `${bytes} bytes with explain`, `at most ${EXPLAINED.bodyBytes}`);
  }
  return question;
}

function questionOf({ bytes, type, accept, query }: Body, mostInputs: number): Question {
  const asked = queryOf(query, OPTIONS);
  const text = decode(bytes);
  if (type === TEXT_TYPE) return { inputs: [text], options: optionsOf({}, asked), form: single };
  if (type !== JSON_TYPE) return { inputs: parseLines(text, mostInputs), options: optionsOf({}, asked), form: lines };
  const value = parseJson(text, "the body", FORMS);
  const list = isObject(value) ? listOf(value) : listOfInputs(value);
  checkCount(list?.length ?? 1, mostInputs);
  const options = optionsOf(isObject(value) ? value : {}, asked);
  if (list !== undefined) {
    const form = LINE_TYPES.some((each) => accept.includes(each)) ? lines : results;
    return { inputs: list.map((item, i) => inputOf(item, `input ${i}`)), options, form };
  }
  return { inputs: [inputOf(value, "the body", OPTIONS)], options, form: single };
}

function checkCount(count: number, most: number, why = ""): void {
  if (count > most) refuse("the body", `${count} inputs${why}`, `at most ${most} in one request`);
}

function parseLines(text: string, mostInputs: number): Input[] {
  const inputs: Input[] = [];
  for (const [i, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    checkCount(inputs.length + 1, mostInputs);
    const where = `line ${i + 1}`;
    inputs.push(inputOf(parseJson(line, where, INPUT), where));
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

const VECTORS = ["vector", "vectors"];

/** One input as a tagger takes it: its text, or its features, checked. */
function inputOf(item: unknown, where: string, more: readonly string[] = []): Input {
  const refuseIt = (found: string, expected: string): never => refuse(where, found, expected);
  const known = ["text", "features", ...VECTORS, ...more];
  if (!isObject(item) || !known.some((key) => Object.hasOwn(item, key))) {
    plainInput(item, refuseIt);
    return item as Input;
  }
  checkKeys(item, known, where);
  const hasText = Object.hasOwn(item, "text");
  const hasFeatures = Object.hasOwn(item, "features");
  const vectors = plainVectors(item, refuseIt);
  if (hasText === hasFeatures && !(vectors && !hasText))
    refuseIt(hasText ? "both text and features" : "neither text nor features", "one of them");
  const { text, features } = item;
  if (hasFeatures) plainFeatures(features, refuseIt);
  else if (hasText && typeof text !== "string") refuseIt(`${describe(text)} as text`, "a string");
  if (vectors) return Object.fromEntries(["text", ...VECTORS].map((key) => [key, item[key]])) as Input;
  return (hasFeatures ? features : text) as Input;
}

function checkKeys(item: JsonObject, allowed: readonly string[], where: string): void {
  for (const key of Object.keys(item))
    if (!allowed.includes(key)) refuse(where, `the key ${excerpt(key)}`, allowed.join(", "));
}

function optionsOf(body: JsonObject, query: Readonly<Record<string, string>>): Question["options"] {
  const chosen = (name: (typeof OPTIONS)[number]): unknown => {
    if (Object.hasOwn(body, name)) return body[name];
    const text = query[name];
    return text === undefined || text.trim() === "" || WORDS.includes(text) ? text : Number(text);
  };
  const [topK, threshold, asked, precision, confidence, recall, aim, unseen] = OPTIONS.map(chosen);
  if (!thresholdWords.some((word) => word === threshold))
    checkThreshold(threshold, `a number from 0 to 1, ${thresholdWords.join(" or ")}`);
  // The model says what it can promise, and refuses the rest.
  const choice = { threshold, precision, confidence, recall, for: aim };
  const any = Object.values(choice).some((value) => value !== undefined);
  if (topK !== undefined) wholeIn("topK", topK, 1);
  if (unseen !== undefined) wholeIn("unseen", unseen, 1, MOST_UNSEEN);
  const explain = typeof asked === "boolean" ? wordsToExplain(asked) : asked;
  const { words, labels } = EXPLAINED;
  if (explain !== undefined) {
    wholeIn("explain", explain, 1, words);
    if (topK !== undefined && (topK as number) > labels) refuse("topK", `${topK} with explain`, `at most ${labels}`);
  }
  // With a threshold of any kind and no number all labels that reach it; explaining costs more than predicting.
  const top = topK ?? (any ? (explain === undefined ? undefined : labels) : DEFAULT_TOP);
  return defined({ topK: top, ...choice, explain, unseen }) as Question["options"];
}

export function checkThreshold(threshold: unknown, expected: string = "a number from 0 to 1"): void {
  if (threshold === undefined || (typeof threshold === "number" && threshold >= 0 && threshold <= 1)) return;
  refuse("threshold", describe(threshold), expected);
}

/** Six digits are more than anybody needs and half of what JSON would print. */
export const digits = (value: number): number => Number(value.toPrecision(6));

const rounded = ({ label, probability, sd, reasons }: Prediction): Prediction => ({
  label,
  probability: digits(probability),
  ...(sd !== undefined && { sd: digits(sd) }),
  ...(reasons && { reasons: reasons.map((reason) => ({ ...reason, share: digits(reason.share) })) }),
});

function one(found: Found): string {
  const { known, expectedPrecision, expectedRecall, noneFits, unseen } = found;
  const about = Object.entries({ known, expectedPrecision, expectedRecall }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, digits(value)]],
  );
  const others = unseen && { unseen: unseen.map(rounded) };
  return JSON.stringify({ labels: found.map(rounded), ...others, ...Object.fromEntries(about), noneFits });
}

const single: ReplyForm = { type: JSON_TYPE, open: "", separator: "", close: "\n", one };
const results: ReplyForm = { type: JSON_TYPE, open: '{"results":[', separator: ",", close: "]}\n", one };
const line: ReplyForm["one"] = (found) => `${one(found)}\n`;
const lines: ReplyForm = { type: NDJSON_TYPE, open: "", separator: "", close: "", one: line };
