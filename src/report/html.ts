// HTML that cannot be broken out of: whatever goes into the template is escaped unless it is HTML already.

export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type HtmlPart = string | number | Html | undefined | readonly HtmlPart[];

const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Control characters, those that turn the direction of writing, and halves of surrogate pairs. */
const UNPRINTABLE =
  /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/gu;

/** One line of text that shows what it is. */
export const clean = (text: string): string => text.replace(UNPRINTABLE, " ");

export const escapeText = (text: string): string =>
  clean(text).replace(/[&<>"']/g, (character) => ENTITIES[character] as string);

function render(part: HtmlPart): string {
  if (part === undefined) return "";
  if (part instanceof Html) return part.text;
  if (typeof part === "object") return part.map(render).join("");
  return escapeText(String(part));
}

export function html(strings: TemplateStringsArray, ...parts: HtmlPart[]): Html {
  return new Html(strings.map((text, i) => text + render(parts[i])).join(""));
}

/** JSON for a script element: nothing in it can end the element or open a comment. */
export function scriptJson(value: unknown): Html {
  const text = JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return new Html(text);
}

/** At most `most` characters; what is cut ends in an ellipsis. */
export function shorten(text: string, most: number): string {
  const characters = Array.from(text.slice(0, 4 * most));
  return characters.length <= most
    ? characters.join("")
    : `${characters
        .slice(0, most - 1)
        .join("")
        .trimEnd()}…`;
}
