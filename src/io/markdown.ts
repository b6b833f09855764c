// Notes in Markdown with YAML front matter (Obsidian, Hugo, Jekyll, Astro): the text of a note and its tags, and tags put into one that
// has none. Only the tags are written; every other byte of a note stays as it is.

import { DataError } from "../base/errors.ts";
import type { DataRow } from "../data/options.ts";

type Yaml = { parse(source: string): unknown };

const PACKAGE = "yaml";

export const loadYaml = async (): Promise<Yaml> =>
  await import(/* @vite-ignore */ PACKAGE).catch(() => {
    throw new Error(`found Markdown, expected the package ${PACKAGE} to read it (npm install ${PACKAGE})`);
  });

export const isMarkdown = (name: string): boolean => /\.(md|mdx|markdown)$/i.test(name);

const FRONT = /^(\ufeff?---[ \t]*\r?\n)([\s\S]*?\r?\n|)---[ \t]*(?:\r?\n|$)/;
const TAGS = ["tags", "tag"];

function aboutOf(yaml: Yaml, note: string, file: string): Readonly<Record<string, unknown>> {
  const refuse = (found: string): never => {
    throw new DataError({ file, line: 1, found, expected: "front matter in YAML between lines of ---" });
  };
  if (/^\ufeff?\+\+\+\s/.test(note)) refuse("front matter in TOML");
  try {
    return Object(yaml.parse(FRONT.exec(note)?.[2] ?? ""));
  } catch (error) {
    return refuse((error as Error).message.split("\n")[0]);
  }
}

/** Lists and mappings within are no text, and some cannot become one: a mapping may have a key toString. */
const textOf = (value: unknown): string => (typeof value === "object" ? "" : String(value ?? ""));

/** The tags that a value of the front matter stands for; a text has them between commas or blanks. */
function tagsOf(value: unknown): string[] {
  const text = textOf(value);
  const tags = Array.isArray(value) ? value.map(textOf) : text.split(text.includes(",") ? "," : /\s+/);
  return tags.map((tag) => tag.trim().replace(/^#/, "")).filter(Boolean);
}

/** A note as a row: title and body, and the tags of its front matter under these keys; without such a key it has no labels yet. */
export function markdownRow(yaml: Yaml, note: string, file: string, keys: readonly string[] = TAGS): DataRow {
  const about = aboutOf(yaml, note, file);
  const title = textOf(about.title ?? file.replace(/^.*[/\\]/, "").replace(/\.\w+$/, ""));
  const own = keys.filter((key) => key in about);
  const labels = own.length > 0 ? own.flatMap((key) => tagsOf(about[key])) : null;
  return { text: `${title}\n${note.replace(FRONT, "")}`, labels };
}

/** The note with these tags; undefined where it has some already. */
export function withTags(
  yaml: Yaml,
  note: string,
  file: string,
  tags: readonly string[],
  keys: readonly string[] = TAGS,
): string | undefined {
  const about = aboutOf(yaml, note, file);
  if (tags.length === 0 || keys.some((key) => tagsOf(about[key]).length > 0)) return undefined;
  const line = note.includes("\r\n") ? "\r\n" : "\n";
  const key = keys.find((each) => each in about) ?? keys[0];
  // JSON is YAML too; plain words need no quotes.
  const list = `[${tags.map((tag) => (/^\p{L}[\p{L}\p{N}_/-]{3,}$/u.test(tag) && !/^(true|false|null)$/i.test(tag) ? tag : JSON.stringify(tag))).join(", ")}]`;
  const empty = new RegExp(`^(${key.replaceAll(/\W/g, "\\$&")}[ \\t]*:)[ \\t]*(?:\\[\\s*\\]|""|''|null|~)?`, "m");
  const mark = note.startsWith("\ufeff") ? "\ufeff" : "";
  const [whole = mark, head = `${mark}---${line}`, front = ""] = FRONT.exec(note) ?? [];
  const changed =
    key in about ? front.replace(empty, (_, start) => `${start} ${list}`) : `${front}${key}: ${list}${line}`;
  const tagged = `${head}${changed}---${line}${note.slice(whole.length)}`;
  if (tagsOf(aboutOf(yaml, tagged, file)[key]).join("\n") === tags.join("\n")) return tagged;
  throw new DataError({ file, line: 1, found: `no place for tags under ${key}`, expected: `a line ${key}: []` });
}
