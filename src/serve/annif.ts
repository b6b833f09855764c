// The shape of Annif's REST interface, as its clients read it: questions for a text, or for up to 32, and descriptions of
// projects.
//   POST /v1/projects/{id}/suggest        a form: text, limit, threshold, language, metadata_*
//   POST /v1/projects/{id}/suggest-batch  {"documents": [{"document_id", "text", "metadata"}]}, the rest in the query
//
// Routes of a project that learns, learn in Annif's shape and the others beside it:
//   POST /v1/projects/{id}/learn      [{"document_id": "...", "text": "...", "subjects": [{"uri": "..."}, {"label": "..."}]}]
//   POST /v1/projects/{id}/forget     ["document_id", ...]
//   POST /v1/projects/{id}/query      {"documents": [{"document_id": "...", "text": "..."}], "top": 10}
//   GET  /v1/projects/{id}/documents  ids of what was learned, ?offset=0&limit=1000

import { describe, isObject, type JsonObject } from "../base/check.ts";
import { type Input, plainVectors, type VectorInput } from "../base/input.ts";
import { type Body, decode, parseJson, queryOf, wholeIn } from "./body.ts";
import { type HttpError, JSON_TYPE, json, type Reply, refuse } from "./http.ts";
import { asInput, type Found, type IndexedDocument, type Learning, type Project, type TextInput } from "./project.ts";
import { checkThreshold, digits, type Question, type ReplyForm } from "./question.ts";
import { namedLabel } from "./subjects.ts";

export const FORM_TYPE = "application/x-www-form-urlencoded";

const CHOICES: readonly string[] = ["limit", "threshold", "language"];
const DEFAULT_LIMIT = 10;
const MOST_DOCUMENTS = 32;
const DOCUMENT = '{"document_id": "...", "text": "..."}';

export const aboutVocabulary = ({ id, language, model, subjects }: Project): object => ({
  vocab_id: id,
  languages: subjects?.languages ?? [language],
  size: model.labels,
  loaded: true,
});

export function aboutProject(project: Project): object {
  const { id, name, language, model, learning } = project;
  return {
    project_id: id,
    name,
    language,
    backend: { backend_id: "mlgpf" },
    is_trained: true,
    modification_time: model.modified?.toISOString() ?? null,
    vocab: aboutVocabulary(project),
    vocab_language: language,
    ...(learning && { learning: learning.status }),
  };
}

const TITLES: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Learning not allowed",
  404: "Not Found",
  405: "Method Not Allowed",
  413: "Payload Too Large",
  415: "Unsupported Media Type",
  501: "Not Implemented",
  503: "Service unavailable",
  507: "Insufficient Storage",
};

/** A refusal as a problem (RFC 9457), which Annif's clients show. */
export function problem({ status, message, headers }: HttpError): Reply {
  const type = { "content-type": "application/problem+json" };
  const about = { type: "about:blank", title: TITLES[status] ?? "Error", status, detail: message };
  return json(status, about, { ...type, ...headers });
}

/** The form of a single text; fields that nobody here knows (metadata_*, project) are passed over. */
export function parseSuggest(body: Body, project: Project): Question {
  const form = new URLSearchParams(decode(body.bytes));
  const text = form.get("text");
  if (text === null) refuse("text", "nothing", "the text to index");
  const given = CHOICES.flatMap((name) => (form.has(name) ? [[name, form.get(name)]] : []));
  const choice = choiceOf(Object.fromEntries(given), project);
  const one: ReplyForm["one"] = (found) => `{"results":${resultsOf(found, choice, project)}}`;
  return questionOf([text], choice, { type: JSON_TYPE, open: "", separator: "", close: "\n", one });
}

export function parseSuggestBatch(body: Body, project: Project): Question {
  const form = `{"documents": [${DOCUMENT}]}`;
  const { inputs, ids } = documentsIn(body.bytes, form, MOST_DOCUMENTS);
  const choice = choiceOf(queryOf(body.query, CHOICES), project);
  const one: ReplyForm["one"] = (found, i) =>
    `{"results":${resultsOf(found, choice, project)},"document_id":${JSON.stringify(ids[i])}}`;
  return questionOf(inputs.map(asInput), choice, { type: JSON_TYPE, open: "[", separator: ",", close: "]\n", one });
}

/** A body of this form, its documents as inputs and their ids. */
function documentsIn(bytes: Uint8Array, form: string, most: number): Documents {
  const value = parseJson(decode(bytes), "the body", form);
  const body = isObject(value) ? value : {};
  const { documents } = body;
  if (!Array.isArray(documents)) refuse("documents", describe(documents), "a list of documents");
  if (documents.length > most) refuse("documents", `${documents.length} of them`, `at most ${most}`);
  const read = documents.map((document, i) => textOf(document, i, DOCUMENT));
  return { body, inputs: read.map(({ input }) => input), ids: read.map(({ id = null }) => id) };
}

type Documents = { body: JsonObject; inputs: TextInput[]; ids: readonly (string | null)[] };
type Text = { readonly document: JsonObject; readonly input: TextInput; readonly id?: string };

function textOf(document: unknown, index: number, form: string): Text {
  const where = `document ${index}`;
  if (!isObject(document)) refuse(where, describe(document), form);
  const { text, document_id: id } = document;
  if (typeof text !== "string") refuse(where, `${describe(text)} as text`, "a string");
  if (id !== undefined && id !== null && typeof id !== "string")
    refuse(where, `${describe(id)} as document_id`, "a string");
  const { vector, vectors } = document as VectorInput;
  plainVectors(document, (found, expected) => refuse(where, found, expected));
  const input = { text, ...(vector !== undefined && { vector }), ...(vectors !== undefined && { vectors }) };
  return { document, input, id: id ?? undefined };
}

type Choice = { limit: number; threshold: number | undefined; language: string };

function choiceOf(given: Readonly<Record<string, string>>, project: Project): Choice {
  const limit = wholeIn("limit", numberOf(given.limit) ?? DEFAULT_LIMIT, 0, undefined, given.limit);
  const threshold = numberOf(given.threshold);
  checkThreshold(Number.isNaN(threshold) ? given.threshold : threshold);
  const known = [project.language, ...(project.subjects?.languages ?? [])];
  const language = given.language || project.language;
  if (!known.includes(language)) refuse("language", describe(language), known.join(" or "));
  return { limit, threshold, language };
}

const numberOf = (typed: string | undefined): number | undefined =>
  typed === undefined ? undefined : Number(typed.trim() || Number.NaN);

/** A limit of 0 asks for nothing; a tagger gives one label at least. */
const questionOf = (inputs: Input[], { limit, threshold }: Choice, form: ReplyForm): Question => ({
  inputs,
  options: { topK: Math.max(1, limit), sd: false, ...(threshold !== undefined && { threshold }) },
  form,
});

const resultsOf = (found: Found, { limit, language }: Choice, project: Project): string =>
  JSON.stringify(suggestions(found.slice(0, limit), project, language));

const suggestions = (found: Found, { language, subjects }: Project, named: string = language): object[] =>
  found.map(({ label, probability }) => ({
    ...namedLabel(String(label), named, subjects),
    score: digits(probability),
  }));

const MOST_LISTED = 10_000;
const DEFAULT_LISTED = 1000;
const DEFAULT_TOP = 10;

function listIn(bytes: Uint8Array, most: number, what: string, form: string): unknown[] {
  const value = parseJson(decode(bytes), "the body", `[${form}]`);
  if (!Array.isArray(value)) refuse("the body", describe(value), `[${form}]`);
  if (value.length > most) refuse("the body", `${value.length} ${what}`, `at most ${most} in one request`);
  return value;
}

/** Documents to learn from; one with the "document_id" of an earlier one takes its place. */
export function parseDocuments(bytes: Uint8Array, most: number): IndexedDocument[] {
  const form = '{"text": "...", "subjects": [{"uri": "..."}]}';
  return listIn(bytes, most, "documents", form).map((each, i) => {
    const where = `document ${i}`;
    const { document, input, id } = textOf(each, i, form);
    const { subjects } = document;
    if (id === "") refuse(where, '"" as document_id', "a text that is not empty");
    if (!Array.isArray(subjects)) refuse(where, `${describe(subjects)} as subjects`, "a list");
    return {
      ...(id !== undefined && { id }),
      ...input,
      subjects: subjects.map((subject) => subjectOf(subject, where)),
    };
  });
}

function subjectOf(subject: unknown, where: string): IndexedDocument["subjects"][number] {
  const { uri, label } = isObject(subject) ? subject : {};
  const isName = (name: unknown): name is string | undefined =>
    name === undefined || (typeof name === "string" && name.trim() !== "");
  if ((uri === undefined && label === undefined) || !isName(uri) || !isName(label))
    return refuse(where, `the subject ${describe(uri ?? label ?? subject)}`, '{"uri": "..."} or {"label": "..."}');
  return { ...(uri !== undefined && { uri }), ...(label !== undefined && { label }) };
}

export function parseIds(bytes: Uint8Array, most: number): string[] {
  return listIn(bytes, most, "ids", '"document_id"').map((id, i) =>
    typeof id === "string" && id !== "" ? id : refuse(`id ${i}`, describe(id), "a document_id"),
  );
}

export async function queryDocuments(
  bytes: Uint8Array,
  most: number,
  learning: Learning,
  project: Project,
): Promise<object[]> {
  const { body, inputs, ids } = documentsIn(bytes, `{"documents": [${DOCUMENT}], "top": 10}`, most);
  const top = wholeIn("top", body.top ?? DEFAULT_TOP, 1, undefined, body.top);
  return (await learning.query(inputs, top)).map(({ row, value, variance, uncertainty, labels }) => ({
    document_id: ids[row],
    document: row,
    value: digits(value),
    variance: digits(variance),
    uncertainty: digits(uncertainty),
    results: suggestions(labels, project),
  }));
}

export function listDocuments(query: string, ids: ReadonlySet<string>): object {
  const given = queryOf(query, ["offset", "limit"]);
  const number = (name: string, standard: number, most: number): number =>
    wholeIn(name, numberOf(given[name]) ?? standard, 0, most, given[name]);
  const offset = number("offset", 0, Number.MAX_SAFE_INTEGER);
  const limit = number("limit", DEFAULT_LISTED, MOST_LISTED);
  return { total: ids.size, offset, document_ids: [...ids].slice(offset, offset + limit) };
}
