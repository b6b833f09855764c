// A folder of texts, as Annif keeps them: `doc.txt` with its subjects in `doc.tsv` (`<uri><TAB>label` a line) or `doc.key`
// (a label a line) beside it, or `doc.json` with text and subjects in one.

import { joined, openBytes } from "../data/bytes.ts";
import { utf8, windows1252 } from "../data/encoding.ts";
import { DataError } from "../data/errors.ts";
import type { DataRow } from "../data/options.ts";
import { readWhole } from "./files.ts";

const LONGEST_TEXT = 2 ** 28;

/** The texts of a folder in the order of their names, those in JSON after the others. */
export async function* folderRows(folder: string): AsyncGenerator<DataRow> {
  const [{ readdir }, { join }] = await Promise.all([import("node:fs/promises"), import("node:path")]);
  const names = new Set((await readdir(folder)).sort());
  const texts = [...names].filter((name) => name.endsWith(".txt"));
  const documents = [...names].filter((name) => name.endsWith(".json"));
  if (texts.length + documents.length === 0)
    throw new DataError({
      file: folder,
      line: 0,
      found: "a folder without texts",
      expected: "files *.txt or *.json",
    });
  for (const name of texts) {
    const id = name.slice(0, -".txt".length);
    const beside = [`${id}.tsv`, `${id}.key`].find((each) => names.has(each));
    const subjects = beside === undefined ? undefined : await readText(join(folder, beside));
    yield {
      id,
      text: await readText(join(folder, name)),
      labels: subjects === undefined ? null : subjectsOf(subjects),
    };
  }
  for (const name of documents) {
    const row = recordOf(await readText(join(folder, name)), join(folder, name));
    const id = (row.id ?? row.document_id ?? name.slice(0, -".json".length)) as string;
    yield { ...row, id, labels: (row.subjects ?? row.labels ?? null) as null };
  }
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

function recordOf(written: string, file: string): Record<string, unknown> {
  try {
    const row: unknown = JSON.parse(written);
    if (typeof row === "object" && row !== null && !Array.isArray(row)) return row as Record<string, unknown>;
  } catch {
    // said below
  }
  throw new DataError({
    file,
    line: 0,
    found: "something else",
    expected: "a JSON object with text and subjects",
  });
}

async function readText(path: string): Promise<string> {
  const { chunks } = await openBytes(await readWhole(path), { file: path });
  const bytes = await joined(chunks, LONGEST_TEXT);
  if (bytes === undefined)
    throw new DataError({
      file: path,
      line: 0,
      found: `more than ${LONGEST_TEXT} bytes`,
      expected: "a shorter text",
    });
  return (utf8(bytes) ?? windows1252(bytes)).replace(/^\ufeff/, "");
}
