// Documents with the model's names for their subjects, refused before they are taken where they could not be learned.

import { excerpt } from "../../base/errors.ts";
import { plainVectors, type Refuse, type VectorShape, vectorRow } from "../../base/input.ts";
import { counted } from "../../base/numbers.ts";
import { mostExact } from "../../parts/regression/cost.ts";
import { HttpError, refuse } from "../http.ts";
import type { IndexedDocument, TextInput } from "../project.ts";
import type { Subjects } from "../subjects.ts";
import type { Batch, Changes, TaughtDocument } from "./journal.ts";
import type { LearnedModel, Lesson } from "./methods.ts";

/** Documents with the labels that the model calls their subjects; without subjects none of its labels fits. */
export function taughtDocuments(
  documents: readonly IndexedDocument[],
  known: ReadonlySet<string>,
  subjects: Subjects | undefined,
  weight = 1,
): TaughtDocument[] {
  checkOnce(documents.flatMap(({ id }) => (id === undefined ? [] : [id])));
  return documents.map(({ subjects: given, ...document }) => {
    const labels = new Set(given.map((subject) => labelOf(subject, known, subjects)));
    return { ...document, labels: [...labels], ...(weight !== 1 && { weight }) };
  });
}

/** Refuses documents with other vectors than the model's. */
export function checkVectors(documents: readonly TextInput[], shapes: readonly VectorShape[]): void {
  for (const [i, document] of documents.entries()) {
    const refuseIt: Refuse = (found, expected) => refuse(`document ${i}`, found, expected);
    vectorRow(shapes, plainVectors(document, refuseIt), refuseIt);
  }
}

export function checkOnce(ids: readonly string[]): void {
  const seen = new Set<string>();
  for (const id of ids) {
    if (seen.has(id)) throw new HttpError(400, `found document_id ${excerpt(id)} twice, expected each once`);
    seen.add(id);
  }
}

/** The model's name of a subject: of all its names the one that the model has, or else its address. */
function labelOf(
  { uri, label }: IndexedDocument["subjects"][number],
  known: ReadonlySet<string>,
  subjects: Subjects | undefined,
): string {
  const subject = subjects?.get(uri ?? (label as string));
  const others = [subject?.uri, ...Object.values(subject?.names ?? {}), subject?.notation];
  const names = [uri, uri && `<${uri}>`, label, ...others];
  const found = names.find((name) => name !== undefined && known.has(name));
  return (found ?? uri ?? subject?.uri ?? label) as string;
}

/** New labels that one request may bring. */
const MOST_NEW = 1000;
/** Memory that the labels of a learning model may take in all threads together, unless --max-labels says how many. */
const MOST_BYTES = 2 ** 31;
/** Bytes of a number, in all threads together while a lesson is learned and the next model takes over. */
const BYTES_EACH = 44;

/** Refuses documents that would make a model too large; `waiting` were taken and are not learned yet. */
export function checkRoom(
  { kept, labelSize }: Pick<LearnedModel, "kept" | "labelSize">,
  known: ReadonlySet<string>,
  waiting: readonly Pick<TaughtDocument, "labels">[],
  coming: readonly Pick<TaughtDocument, "labels">[],
  maxLabels: number = Math.floor(MOST_BYTES / (BYTES_EACH * labelSize)),
): void {
  const unknown = (documents: readonly Pick<TaughtDocument, "labels">[]): Set<string> =>
    new Set(documents.flatMap(({ labels }) => labels).filter((label) => !known.has(label)));
  const fresh = unknown(coming);
  if (fresh.size > MOST_NEW)
    refuse("the body", `${fresh.size} labels that the model does not have`, `at most ${MOST_NEW} in one request`);
  const all = [...waiting, ...coming];
  const labels = known.size + unknown(all).size;
  if (fresh.size > 0 && labels > maxLabels)
    throw new HttpError(
      507,
      `found ${labels} labels with these, expected at most ${maxLabels} (--max-labels): train the model anew`,
    );
  if (kept === undefined) return;
  const most = mostExact(labels);
  if (kept + all.length > most)
    throw new HttpError(
      507,
      `found ${kept + waiting.length} documents that were learned, expected at most ${most} with these and ${labels} labels: train the model anew`,
    );
}

export const documentsText = (count: number): string => counted(count, "document");

/** About what a number takes in the journal. */
const BYTES_WRITTEN = 12;

export function sizeOf({ documents, forget = [] }: Changes): number {
  const length = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + text.length, 0);
  const numbers = ({ vector, vectors = {} }: TaughtDocument): number =>
    [vector ?? [], ...Object.values(vectors)].reduce((sum, own) => sum + BYTES_WRITTEN * own.length, 0);
  const own = (document: TaughtDocument): number =>
    100 + document.text.length + length(document.labels) + numbers(document);
  return documents.reduce((sum, document) => sum + own(document), 0) + length(forget);
}

/** Batches as one lesson: of each document the last that was said counts. */
export function lessonOf(batches: readonly Batch[]): Lesson {
  const last = new Map<string, TaughtDocument | undefined>();
  for (const { documents, forget = [] } of batches) {
    for (const id of forget) last.set(id, undefined);
    for (const document of documents) if (document.id !== undefined) last.set(document.id, document);
  }
  return {
    documents: batches
      .flatMap(({ documents }) => documents)
      .filter((document) => document.id === undefined || last.get(document.id) === document),
    forget: [...last].flatMap(([id, document]) => (document === undefined ? [id] : [])),
    batch: batches.at(-1)?.batch,
  };
}

/** A lesson as two, one after the other; undefined where it is a single change. */
export function halvesOf({ documents, forget = [], batch }: Lesson): [Lesson, Lesson] | undefined {
  const count = documents.length + forget.length;
  if (count < 2) return undefined;
  const [middle, rest] = [Math.ceil(count / 2), Math.max(0, Math.ceil(count / 2) - documents.length)];
  return [
    { documents: documents.slice(0, middle), forget: forget.slice(0, rest) },
    { documents: documents.slice(middle), forget: forget.slice(rest), batch },
  ];
}
