// POST /v1/projects/{id}/learn: [{"text": "...", "subjects": [{"uri": "..."}, {"label": "..."}]}], as Annif's clients send
// it; with "document_id" a later version takes the place of an earlier one. What is done with the documents is the project's.

import type { IndexedDocument } from "./project.ts";
import { decode, describe, isObject, parseJson } from "./question.ts";
import { refuse } from "./refusal.ts";

const FORM = '[{"text": "...", "subjects": [{"uri": "..."}]}]';

export function parseDocuments(bytes: Uint8Array, most: number): IndexedDocument[] {
  const value = parseJson(decode(bytes), "the body", FORM);
  if (!Array.isArray(value)) refuse("the body", describe(value), FORM);
  if (value.length > most) refuse("the body", `${value.length} documents`, `at most ${most} in one request`);
  return value.map((document: unknown, i) => {
    const where = `document ${i}`;
    if (!isObject(document)) refuse(where, describe(document), '{"text": "...", "subjects": [...]}');
    const { text, subjects, document_id: id } = document;
    if (id !== undefined && (typeof id !== "string" || id === ""))
      refuse(where, `${describe(id)} as document_id`, "a text that is not empty");
    if (typeof text !== "string") refuse(where, `${describe(text)} as text`, "a string");
    if (!Array.isArray(subjects)) refuse(where, `${describe(subjects)} as subjects`, "a list");
    return {
      ...(id !== undefined && { id: id as string }),
      text,
      subjects: subjects.map((subject) => subjectOf(subject, where)),
    };
  });
}

function subjectOf(subject: unknown, where: string): IndexedDocument["subjects"][number] {
  const { uri, label } = isObject(subject) ? subject : {};
  const isName = (name: unknown): boolean =>
    name === undefined || (typeof name === "string" && name.trim() !== "");
  if ((uri === undefined && label === undefined) || !isName(uri) || !isName(label))
    refuse(where, `the subject ${describe(uri ?? label ?? subject)}`, '{"uri": "..."} or {"label": "..."}');
  return {
    ...(uri === undefined ? {} : { uri: uri as string }),
    ...(label === undefined ? {} : { label: label as string }),
  };
}
