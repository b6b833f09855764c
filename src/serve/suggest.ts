// What Annif's clients ask for a text, or for up to 32, and how they want it answered:
//   POST /v1/projects/{id}/suggest        a form: text, limit, threshold, language, metadata_*
//   POST /v1/projects/{id}/suggest-batch  {"documents": [{"document_id", "text", "metadata"}]}, the rest in the query

import { JSON_TYPE } from "./answer.ts";
import type { Project } from "./project.ts";
import {
  type AnswerForm,
  type Body,
  decode,
  describe,
  digits,
  isObject,
  parseJson,
  type Question,
  queryOf,
  thresholdOf,
} from "./question.ts";
import { refuse } from "./refusal.ts";
import { namedLabel } from "./subjects.ts";
import type { FoundLabel } from "./tagger.ts";

export const FORM_TYPE = "application/x-www-form-urlencoded";

const CHOICES: readonly string[] = ["limit", "threshold", "language"];
const DEFAULT_LIMIT = 10;
const MOST_DOCUMENTS = 32;

/** The form of a single text; fields that nobody here knows (metadata_*, project) are passed over. */
export function parseSuggest(body: Body, project: Project): Question {
  const form = new URLSearchParams(decode(body.bytes));
  const text = form.get("text");
  if (text === null) refuse("text", "nothing", "the text to index");
  const given = CHOICES.flatMap((name) => (form.has(name) ? [[name, form.get(name)]] : []));
  const choice = choiceOf(Object.fromEntries(given), project);
  return questionOf([text], choice, {
    type: JSON_TYPE,
    open: "",
    separator: "",
    close: "\n",
    one: (found) => `{"results":${resultsOf(found, choice, project)}}`,
  });
}

export function parseSuggestBatch(body: Body, project: Project): Question {
  const forms = '{"documents": [{"document_id": "...", "text": "..."}]}';
  const value = parseJson(decode(body.bytes), "the body", forms);
  const documents = isObject(value) ? value.documents : undefined;
  if (!Array.isArray(documents)) refuse("documents", describe(documents), "a list of documents");
  if (documents.length > MOST_DOCUMENTS)
    refuse("documents", `${documents.length} of them`, `at most ${MOST_DOCUMENTS}`);
  const choice = choiceOf(queryOf(body.query, CHOICES), project);
  const ids: (string | null)[] = [];
  const texts = documents.map((document: unknown, i) => {
    const where = `document ${i}`;
    if (!isObject(document)) refuse(where, describe(document), '{"document_id": "...", "text": "..."}');
    const { text, document_id: id = null } = document;
    if (typeof text !== "string") refuse(where, `${describe(text)} as text`, "a string");
    if (id !== null && typeof id !== "string") refuse(where, `${describe(id)} as document_id`, "a string");
    ids.push(id);
    return text;
  });
  return questionOf(texts, choice, {
    type: JSON_TYPE,
    open: "[",
    separator: ",",
    close: "]\n",
    one: (found, i) =>
      `{"results":${resultsOf(found, choice, project)},"document_id":${JSON.stringify(ids[i])}}`,
  });
}

/** Which labels, and the language of their names. */
interface Choice {
  limit: number;
  threshold?: number;
  language: string;
}

function choiceOf(given: Readonly<Record<string, string>>, project: Project): Choice {
  const number = (name: string): number | undefined =>
    given[name] === undefined ? undefined : Number(given[name].trim() || Number.NaN);
  const limit = number("limit") ?? DEFAULT_LIMIT;
  if (!Number.isInteger(limit) || limit < 0)
    refuse("limit", describe(given.limit), "a whole number of at least 0");
  const threshold = number("threshold");
  return {
    limit,
    ...thresholdOf(Number.isNaN(threshold) ? given.threshold : threshold),
    language: languageOf(given.language, project),
  };
}

function languageOf(asked: string | undefined, { language, subjects }: Project): string {
  if (asked === undefined || asked === "" || asked === language) return language;
  const known = subjects?.languages ?? [];
  return known.includes(asked)
    ? asked
    : refuse("language", describe(asked), [language, ...known].join(" or "));
}

/** A limit of 0 asks for nothing; a tagger gives one label at least. */
function questionOf(texts: string[], { limit, threshold }: Choice, form: AnswerForm): Question {
  return {
    inputs: texts,
    options: { topK: Math.max(1, limit), sd: false, ...(threshold === undefined ? {} : { threshold }) },
    form,
  };
}

function resultsOf(found: readonly FoundLabel[], { limit, language }: Choice, { subjects }: Project): string {
  const shown = found.slice(0, limit).map(({ label, probability }) => {
    const { uri, label: name, notation } = namedLabel(String(label), language, subjects);
    return { uri, label: name, notation, score: digits(probability) };
  });
  return JSON.stringify(shown);
}
