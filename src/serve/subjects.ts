// Addresses, names and notations of labels, out of a file as libraries keep them:
//   TSV   <http://example.org/cats>	cats	599.75          no header; the notation may be left out
//   CSV   uri,label_en,label_fi,notation                      with a header; "label" alone is a name in no language

import { DataError, excerpt } from "../base/errors.ts";
import { bareAddress, tableRows } from "../data/names.ts";

/** A label with its address and names. */
export interface Subject {
  readonly uri: string;
  readonly notation?: string;
  /** Names by language; "" is the language of a file that states none. */
  readonly names: Readonly<Record<string, string>>;
}

/** A label as an answer shows it. */
export interface NamedLabel {
  uri: string;
  label: string;
  notation: string | null;
}

/** A table of subjects, found by what a model may call them: their address, a name, or a notation. */
export class Subjects {
  readonly languages: readonly string[];
  readonly #found = new Map<string, Subject>();

  constructor(readonly rows: readonly Subject[]) {
    this.languages = [...new Set(rows.flatMap(({ names }) => Object.keys(names)))].filter(Boolean);
    // The last ones count most: an address is never taken for a name.
    for (const row of rows) if (row.notation !== undefined) this.#found.set(row.notation, row);
    for (const row of rows) for (const name of Object.values(row.names)) this.#found.set(name, row);
    for (const row of rows) this.#found.set(row.uri, row);
  }

  get(label: string): Subject | undefined {
    return this.#found.get(bareAddress(label));
  }
}

/** A label with its address and its name in a language; one that no table knows is both. */
export function namedLabel(label: string, language: string, subjects?: Subjects): NamedLabel {
  const subject = subjects?.get(label);
  if (subject === undefined) return { uri: bareAddress(label), label, notation: null };
  const { uri, names, notation = null } = subject;
  return { uri, label: names[language] ?? names[""] ?? Object.values(names)[0] ?? uri, notation };
}

/** Reads a label file; tabs or commas are told by its first line. */
export function readSubjects(text: string, file: string): Subjects {
  const refuse = (line: number, found: string, expected: string): never => {
    throw new DataError({ file, line, found, expected });
  };
  const rows = tableRows(text, file);
  const columns = columnsOf(rows[0]?.cells ?? []);
  const subjects = (columns.header ? rows.slice(1) : rows).map(({ cells, line }) =>
    subjectOf(cells, columns, (found, expected) => refuse(line, found, expected)),
  );
  if (subjects.length === 0) refuse(0, "no subjects", "lines of address, label and notation");
  return new Subjects(subjects);
}

interface Columns {
  header: boolean;
  uri: number;
  notation: number;
  names: readonly { language: string; column: number }[];
}

function columnsOf(first: readonly string[]): Columns {
  const titles = first.map((title) => title.toLowerCase());
  const uri = titles.indexOf("uri");
  if (uri < 0) return { header: false, uri: 0, notation: 2, names: [{ language: "", column: 1 }] };
  const names = titles.flatMap((title, column) => {
    const language = /^label(?:_(.+))?$/.exec(title);
    return language ? [{ language: language[1] ?? "", column }] : [];
  });
  return { header: true, uri, notation: titles.indexOf("notation"), names };
}

function subjectOf(
  cells: readonly string[],
  { uri, notation, names }: Columns,
  refuse: (found: string, expected: string) => never,
): Subject {
  const given = cells[uri] ?? "";
  const address = bareAddress(given);
  // A subject without a name is one that is no longer used; anything else alone on a line is no label file.
  if (address === "" || (cells.length === 1 && !/^<|:\/\//.test(given)))
    refuse(excerpt(cells.join(" ")), "address, label and notation");
  const known = names.flatMap(({ language, column }) => (cells[column] ? [[language, cells[column]]] : []));
  return {
    uri: address,
    ...(cells[notation] ? { notation: cells[notation] } : {}),
    names: Object.fromEntries(known) as Record<string, string>,
  };
}
