// Keys and columns by which parts of a row are found.

import { excerpt } from "../errors.ts";

/** Where labels and ids are looked for, in this order, when no key is named. */
export const LABEL_KEYS: readonly string[] = ["labels", "label", "subjects", "subject_uris"];
export const ID_KEYS: readonly string[] = ["id", "document_id"];
/** A column or key of this name holds URIs with blanks between them. */
export const URI_KEY = "subject_uris";

/** One name or several as a list. */
export function listOf(names: string | readonly string[]): readonly string[] {
  return typeof names === "string" ? [names] : names;
}

/** Names for a sentence: `"a", "b" or "c"`. */
export function alternatives(names: readonly string[]): string {
  const quoted = names.map((name) => excerpt(name));
  return quoted.length < 2 ? quoted.join("") : `${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)}`;
}
