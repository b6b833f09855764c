// A folder of texts, as Annif keeps them: `doc.txt` with its subjects in `doc.tsv` (`<uri><TAB>label` a line) or `doc.key`
// (a label a line) beside it, or `doc.json` with text and subjects in one; or, without these, notes in Markdown, also below it.

import { isObject, type JsonObject } from "../base/check.ts";
import { DataError } from "../base/errors.ts";
import { joined, openBytes, utf8, windows1252 } from "../data/bytes.ts";
import type { DataRow } from "../data/options.ts";
import { node, readWhole, writeAtomically } from "./files.ts";
import { isMarkdown, loadYaml, markdownRow, withTags } from "./markdown.ts";

const LONGEST_TEXT = 2 ** 28;

function refuse(file: string, found: string, expected: string): never {
  throw new DataError({ file, line: 0, found, expected });
}

/** The texts of a folder in the order of their names, those in JSON after the others; or its notes, whose labels stand under `keys`. */
export async function* folderRows(folder: string, keys?: readonly string[]): AsyncGenerator<DataRow> {
  const { join, readdir } = await node();
  const names = new Set((await readdir(folder)).sort());
  const texts = [...names].filter((name) => name.endsWith(".txt"));
  const documents = [...names].filter((name) => name.endsWith(".json"));
  const notes = texts.length + documents.length > 0 ? [] : await notesIn(folder);
  for (const id of notes)
    yield { id, ...markdownRow(await loadYaml(), await readText(folder, join(folder, id)), id, keys) };
  if (texts.length + documents.length + notes.length === 0)
    refuse(folder, "a folder without texts", "files *.txt, *.json or *.md");
  for (const name of texts) {
    const id = name.slice(0, -".txt".length);
    const beside = [`${id}.tsv`, `${id}.key`].find((each) => names.has(each));
    const labels = beside === undefined ? null : subjectsOf(await readText(folder, join(folder, beside)));
    yield { id, text: await readText(folder, join(folder, name)), labels };
  }
  for (const name of documents) {
    const row = recordOf(await readText(folder, join(folder, name)), join(folder, name));
    const id = (row.id ?? row.document_id ?? name.slice(0, -".json".length)) as string;
    yield { ...row, id, labels: (row.subjects ?? row.labels ?? null) as null };
  }
}

/** Markdown files in a folder and below it, but for hidden folders, in the order of their names. */
async function notesIn(folder: string, below = ""): Promise<string[]> {
  const { join, readdir } = await node();
  const found: string[] = [];
  for (const entry of await readdir(join(folder, below), { withFileTypes: true })) {
    const path = `${below}${entry.name}`;
    if (entry.isFile() && isMarkdown(entry.name)) found.push(path);
    const hidden = entry.name.startsWith(".") || entry.name === "node_modules";
    if (entry.isDirectory() && !hidden) found.push(...(await notesIn(folder, `${path}/`)));
  }
  return found.sort();
}

/** Puts tags into a note of a folder that has none (one with tags may have been learned: a model is sure of new texts); what it was is kept in `NOTE.bak`. True where the note has changed. */
export async function tagNote(
  folder: string,
  id: string,
  tags: readonly string[],
  keys?: readonly string[],
): Promise<boolean> {
  const { join, rm } = await node();
  const path = join(folder, id);
  const bytes = await readWhole(path, { folder, most: LONGEST_TEXT });
  const note = utf8(bytes) ?? refuse(path, "no UTF-8", "a note in UTF-8");
  const tagged = withTags(await loadYaml(), note, path, tags, keys);
  if (tagged === undefined) return false;
  await rm(`${path}.bak`, { force: true }); // a link would be followed, and may lead out of the folder
  await writeAtomically(`${path}.bak`, bytes);
  await writeAtomically(path, new TextEncoder().encode(tagged));
  return true;
}

/** A subject a line: its URI where it has one, else its label. */
function subjectsOf(written: string): string[] {
  return written
    .split(/\r?\n/)
    .map((line) => {
      const parts = line.split("\t").map((part) => part.trim());
      const uri = parts.find((part) => /^<.*>$/.test(part));
      return uri === undefined ? (parts.find((part) => part !== "") ?? "") : uri.slice(1, -1);
    })
    .filter((subject) => subject !== "");
}

function recordOf(written: string, file: string): JsonObject {
  try {
    const row: unknown = JSON.parse(written);
    if (isObject(row)) return row;
  } catch {
    // said below
  }
  return refuse(file, "something else", "a JSON object with text and subjects");
}

/** A text inside of the folder, unpacked where it is gzip. */
async function readText(folder: string, path: string): Promise<string> {
  const { chunks } = await openBytes(await readWhole(path, { folder, most: LONGEST_TEXT }), { file: path });
  const whole = await joined(chunks, () => LONGEST_TEXT);
  const bytes = whole ?? refuse(path, `more than ${LONGEST_TEXT} bytes`, "a shorter text");
  return (utf8(bytes) ?? windows1252(bytes)).replace(/^\ufeff/, "");
}
