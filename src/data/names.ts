// Files of names of labels, as libraries keep them:
//   TSV     <http://example.org/cats>	cats	felines          no header; what follows the address are names
//   CSV     uri,label_en,label_fi,notation                   with a header; "label" alone is a name in no language
//   JSONL   { "label": "c1", "name": "cats", "names": ["felines"] }
//   SKOS    Turtle or RDF/XML: skos:prefLabel and skos:altLabel, read by the package n3 or rdfxml-streaming-parser

import { isObject } from "../base/check.ts";
import { DataError } from "../base/errors.ts";
import { CsvRecords } from "./csvrecord.ts";

/** Names of labels, the preferred one first. */
export type LabelNames = Record<string, string[]>;

/** `<http://example.org/cats>` without its brackets. */
export const bareAddress = (uri: string): string => /^<(.*)>$/.exec(uri)?.[1] ?? uri;

/** A line of a table. */
export interface TableRow {
  readonly cells: readonly string[];
  readonly line: number;
}

/** The rows of a table, cells without blanks around them; tabs or commas are told by its first line. */
export function tableRows(text: string, file: string): TableRow[] {
  const lines = text.replace(/^\ufeff/, "").split(/\r?\n/);
  const tabs = lines[0]?.includes("\t");
  let line = 0;
  const records = new CsvRecords(",", (found) => {
    throw new DataError({ file, line, found, expected: "fields as in CSV" });
  });
  const rows: TableRow[] = [];
  for (const each of lines) {
    line++;
    if (each.trim() === "" && !records.midRecord) continue;
    const fields = tabs ? each.split("\t") : records.push(each);
    if (fields) rows.push({ cells: fields.map((field) => field.trim()), line });
  }
  records.finish();
  return rows;
}

/** A name has letters: a notation such as 599.75 is none. */
const isName = (text: unknown): text is string => typeof text === "string" && /\p{L}/u.test(text);

/** Names of labels out of a file's text; its format is told by what it holds. */
export async function parseNames(text: string, file: string): Promise<LabelNames> {
  const start = text.slice(0, 2000).trimStart();
  const names = /^<\?xml|^<(?:\w+:)?RDF/.test(start)
    ? await fromRdf(text, file, "rdfxml-streaming-parser")
    : /^@(?:prefix|base)\b|^PREFIX\b|^<[^>]*>\s+(?:a|<[^>]*>)\s/im.test(start)
      ? await fromRdf(text, file, "n3")
      : start.startsWith("{")
        ? fromLines(text, file)
        : fromTable(text, file);
  if (Object.keys(names).length === 0)
    throw new DataError({ file, line: 0, found: "no names of labels", expected: "lines of address and name" });
  return names;
}

function fromTable(text: string, file: string): LabelNames {
  const rows = tableRows(text, file);
  const titles = rows[0]?.cells.map((title) => title.toLowerCase()) ?? [];
  const uri = titles.indexOf("uri");
  const isColumn = (column: number): boolean => (uri < 0 ? column > 0 : /^label(_|$)/.test(titles[column] ?? ""));
  const names: LabelNames = Object.create(null);
  for (const { cells, line } of uri < 0 ? rows : rows.slice(1)) {
    const label = bareAddress(cells[Math.max(0, uri)] ?? "");
    if (label === "" || cells.length < 2)
      throw new DataError({ file, line, found: `${cells.length} cells`, expected: "a label and its name" });
    add(
      names,
      label,
      cells.filter((_, column) => isColumn(column)),
    );
  }
  return names;
}

function fromLines(text: string, file: string): LabelNames {
  const names: LabelNames = Object.create(null);
  text.split(/\r?\n/).forEach((each, i) => {
    if (each.trim() === "") return;
    const found = parsed(each);
    const { label, name, names: others = [] } = isObject(found) ? found : {};
    if (typeof label !== "string" || !Array.isArray(others))
      throw new DataError({ file, line: i + 1, found: each.slice(0, 60), expected: '{ "label", "name", "names" }' });
    add(names, label, [name, ...others]);
  });
  return names;
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function add(names: LabelNames, label: string, more: readonly unknown[]): void {
  const own = more.filter(isName);
  if (own.length > 0) names[label] = [...new Set([...(names[label] ?? []), ...own])];
}

interface Quad {
  readonly subject: { readonly value: string };
  readonly predicate: { readonly value: string };
  readonly object: { readonly value: string; readonly termType: string };
}

type RdfPackage = "n3" | "rdfxml-streaming-parser";
const SKOS = "http://www.w3.org/2004/02/skos/core#";

/** Names by SKOS, preferred ones first; the package is loaded only here. */
async function fromRdf(text: string, file: string, name: RdfPackage): Promise<LabelNames> {
  const module = await import(/* @vite-ignore */ name).catch(() => {
    throw new Error(`${file}: found RDF, expected the package ${name} to read it (npm install ${name})`);
  });
  const [preferred, others]: LabelNames[] = [Object.create(null), Object.create(null)];
  const take = ({ subject, predicate, object }: Quad): void => {
    if (object.termType !== "Literal") return;
    if (predicate.value === `${SKOS}prefLabel`) add(preferred, subject.value, [object.value]);
    if (predicate.value === `${SKOS}altLabel`) add(others, subject.value, [object.value]);
  };
  try {
    for (const quad of await quadsOf(module, name, text)) take(quad);
  } catch (error) {
    const expected = "Turtle or RDF/XML";
    throw new DataError({ file, line: 0, found: (error as Error).message, expected });
  }
  for (const [label, own] of Object.entries(others)) add(preferred, label, own);
  return preferred;
}

// biome-ignore lint/suspicious/noExplicitAny: modules of packages that may not be there
async function quadsOf(module: any, name: RdfPackage, text: string): Promise<Quad[]> {
  if (name === "n3") return new module.Parser({ baseIRI: "urn:names:" }).parse(text);
  const parser = new module.RdfXmlParser({ baseIRI: "urn:names:" });
  parser.end(text);
  const quads: Quad[] = [];
  for await (const quad of parser) quads.push(quad);
  return quads;
}
