// Words, numbers and tables as the sections of a report use them.

import { grouped } from "../plots/numbers.ts";
import { clean, type Html, type HtmlPart, html, shorten } from "./html.ts";
import type { ReportModel } from "./input.ts";

const LABEL_LETTERS = 90;
/** Between a number and its unit, which never part. */
const GAP = "\u00a0";

/** The label as people call it. */
export function labelName({ labelNames, labels }: ReportModel, label: number): string {
  const name = labelNames?.[label];
  if (name !== undefined && name !== "") return shorten(name, LABEL_LETTERS);
  return label < labels ? `label ${label}` : `label ${label}, unknown to the model`;
}

/** A name that may be broken inside its longest words, so that none of them makes a table wide. */
export function breakable(name: string): HtmlPart {
  const pieces = clean(name)
    .replace(/\S{16}(?=\S{4})/gu, "$&\n")
    .split("\n");
  return pieces.map((piece, i) => (i === 0 ? piece : html`<wbr>${piece}`));
}

export const whole = (value: number): string => grouped(Math.round(value));

/** 0.5 -> "50.0 %" */
export const percent = (part: number, digits = 1): string => `${(100 * part).toFixed(digits)}${GAP}%`;

/** A difference in percent points, with its sign: -0.012 -> "−1.20" */
export const signedPoints = (part: number): string =>
  `${part < 0 ? "−" : "+"}${Math.abs(100 * part).toFixed(2)}`;

/** 75 -> "1 min 15 s", 2.34 -> "2.3 s" */
export function duration(seconds: number): string {
  if (seconds < 9.95) return `${seconds.toFixed(1)}${GAP}s`;
  const all = Math.round(seconds);
  if (all < 60) return `${all}${GAP}s`;
  const minutes = Math.floor(all / 60);
  return minutes < 60
    ? `${minutes}${GAP}min ${all % 60}${GAP}s`
    : `${Math.floor(minutes / 60)}${GAP}h ${minutes % 60}${GAP}min`;
}

export function fileSize(bytes: number): string {
  if (bytes < 1000) return `${bytes}${GAP}B`;
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(0)}${GAP}kB` : `${(bytes / 1e6).toFixed(1)}${GAP}MB`;
}

export interface Column {
  head: string;
  /** Numbers stand to the right. */
  number?: boolean;
}

/** A first column of names, and columns of numbers. */
export const columnsOf = (first: string, ...numbers: readonly string[]): Column[] => [
  { head: first },
  ...numbers.map((head) => ({ head, number: true })),
];

/** A table with a caption; the first cell of each row heads it. It scrolls by itself where it is too wide. */
export function table(
  id: string,
  caption: HtmlPart,
  columns: readonly Column[],
  rows: readonly (readonly HtmlPart[])[],
): Html {
  const kind = (i: number): Html | undefined => (columns[i]?.number ? html` class="number"` : undefined);
  const head = columns.map((column, i) => html`<th scope="col"${kind(i)}>${column.head}</th>`);
  const body = rows.map((cells) => {
    const [first, ...rest] = cells;
    return html`<tr><th scope="row"${kind(0)}>${first}</th>${rest.map((cell, i) => html`<td${kind(i + 1)}>${cell}</td>`)}</tr>
`;
  });
  return html`<div class="scroll" role="region" aria-labelledby="${id}-caption" tabindex="0"><table id="${id}">
<caption id="${id}-caption">${caption}</caption>
<thead><tr>${head}</tr></thead>
<tbody>${body}</tbody>
</table></div>
`;
}

/** A value of an option, as it is written on the command line. */
export function optionText(value: unknown): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "object") return JSON.stringify(value);
  return String(typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(6)) : value);
}

export function section(id: string, title: string, ...content: HtmlPart[]): Html {
  return html`<section id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title">${title}</h2>
${content}</section>
`;
}
