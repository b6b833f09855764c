// HTML that cannot be broken out of: whatever goes into the template is escaped unless it is HTML already. Names, tables and
// sections as a report has them.

import { clean } from "../base/errors.ts";
import { grouped } from "./numbers.ts";

export class Html {
  constructor(readonly text: string) {}
}

export type HtmlPart = string | number | Html | undefined | readonly HtmlPart[];

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

function render(part: HtmlPart): string {
  if (part === undefined) return "";
  if (part instanceof Html) return part.text;
  if (typeof part === "object") return part.map(render).join("");
  return clean(String(part)).replace(/[&<>"']/g, (character) => ENTITIES[character]);
}

export function html(strings: TemplateStringsArray, ...parts: HtmlPart[]): Html {
  return new Html(strings.map((text, i) => text + render(parts[i])).join(""));
}

export const paragraph = (strings: TemplateStringsArray, ...parts: HtmlPart[]): Html =>
  html`<p>${html(strings, ...parts)}</p>\n`;

/** At most `most` characters; what is cut ends in an ellipsis. */
export function shorten(text: string, most: number): string {
  const characters = Array.from(text.slice(0, 4 * most));
  if (characters.length <= most) return characters.join("");
  const cut = characters.slice(0, most - 1).join("");
  return `${cut.trimEnd()}…`;
}

/** A name that may be broken inside its longest words, so that none of them makes a table wide. */
export function breakable(name: string): HtmlPart {
  const pieces = clean(name)
    .replace(/\S{16}(?=\S{4})/gu, "$&\n")
    .split("\n");
  return pieces.map((piece, i) => (i === 0 ? piece : html`<wbr>${piece}`));
}

export const whole = (value: number): string => grouped(Math.round(value));

/** A number and its unit, which never part. */
export const tight = (text: string): string => text.replaceAll(" ", "\u00a0");

/**
 * A table with a caption; the first cell of each row heads it, and numbers stand to the right: where nothing else is said, in all
 * columns but the first. It scrolls by itself where it is too wide.
 */
export function table(
  id: string,
  caption: HtmlPart,
  heads: readonly HtmlPart[],
  rows: readonly (readonly HtmlPart[])[],
  isNumber: (column: number) => boolean = (column) => column > 0,
): Html {
  const kind = (i: number): Html | undefined => (isNumber(i) ? html` class="number"` : undefined);
  const body = rows.map(
    ([first, ...rest]) =>
      html`<tr><th scope="row"${kind(0)}>${first}</th>${rest.map((cell, i) => html`<td${kind(i + 1)}>${cell}</td>`)}</tr>
`,
  );
  return html`<div class="scroll" role="region" aria-labelledby="${id}-caption" tabindex="0"><table id="${id}">
<caption id="${id}-caption">${caption}</caption>
<thead><tr>${heads.map((head, i) => html`<th scope="col"${kind(i)}>${head}</th>`)}</tr></thead>
<tbody>${body}</tbody>
</table></div>
`;
}

/** For a table without columns of numbers. */
export const textAlone = (): boolean => false;

export function section(id: string, title: string, ...content: HtmlPart[]): Html {
  return html`<section id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title">${title}</h2>
${content}</section>
`;
}
