// One page of Markdown for an entry of the package.

import { basename } from "node:path";
import {
  commentOf,
  type Declaration,
  fileOf,
  type Member,
  type Source,
  tagsOf,
  topComment,
} from "./source.ts";
import { callableOf, TypeWriter } from "./types.ts";

export interface Entry {
  /** As people import it. */
  name: string;
  file: string;
  /** Where the page is. */
  page: string;
  /** Headings, by the folder or by the file of a declaration. */
  group(file: string): { title: string; text: string };
  /** Titles in the order they have on the page; without it they are sorted. */
  order?: readonly string[];
}

const code = (text: string): string => `\`\`\`ts\n${text}\n\`\`\`\n`;
/** Inside a table a bar ends the cell, also in code. */
const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll(/\s*\n\s*/g, " ");
const slug = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(" ", "-")
    .replaceAll(/[^\w-]/g, "");
const FURTHER = "Types they refer to";

interface Group {
  title: string;
  text: string;
  names: string[];
}

/** Own and seen by others. Overridden properties (`name` of an error) say nothing new. */
const isPublic = ({ accessibility, isOverride, name }: Member): boolean =>
  accessibility !== "private" && accessibility !== "protected" && !isOverride && !name.startsWith("#");

const membersOf = ({ def }: Declaration): Member[] =>
  [...(def.properties ?? []), ...(def.methods ?? [])].filter(isPublic);

/** What people see of a declaration, to look for types in. */
const visible = (found: Declaration): unknown => (found.kind === "class" ? membersOf(found) : found.def);

export class Page {
  readonly #source: Source;
  readonly #entry: Entry;
  /** Exported, by name. */
  readonly #exported = new Map<string, Declaration[]>();
  /** Not exported, but named by what is. */
  readonly #further = new Map<string, Declaration[]>();
  readonly #groups: Group[];
  readonly #anchors = new Map<string, string>();

  constructor(source: Source, entry: Entry) {
    this.#source = source;
    this.#entry = entry;
    for (const name of source.names(entry.file)) {
      const found = source.find(entry.file, name);
      if (found.length === 0) throw new Error(`docs: found no declaration of ${name}, expected one`);
      this.#exported.set(name, found);
    }
    for (const found of this.#exported.values()) this.#follow(found);
    this.#groups = this.#grouped();
    this.#setAnchors();
  }

  /** Exports without a comment, as file:line name. */
  get bare(): string[] {
    return [...this.#exported.values()]
      .flat()
      .filter((found) => commentOf(found) === "")
      .map((found) => `${fileOf(found)}:${found.location.line + 1} ${found.name}`);
  }

  get names(): string[] {
    return [...this.#exported.keys()].sort(alphabetically);
  }

  markdown(): string {
    const parts = [`# ${this.#entry.name}\n`, `${topComment(this.#entry.file)}\n`, this.#contents()];
    for (const { title, text, names } of this.#groups) {
      parts.push(`## ${title}\n`);
      if (text !== "") parts.push(`${text}\n`);
      for (const name of names) parts.push(...this.#section(name, this.#exported.get(name) ?? []));
    }
    if (this.#further.size > 0) {
      parts.push(`## ${FURTHER}\n`, "Not exported by name.\n");
      for (const name of this.#furtherNames())
        parts.push(...this.#section(name, this.#further.get(name) ?? []));
    }
    return `${parts.join("\n").trimEnd()}\n`;
  }

  #furtherNames(): string[] {
    return [...this.#further.keys()].sort(alphabetically);
  }

  #grouped(): Group[] {
    const groups = new Map<string, Group>();
    for (const name of this.names) {
      const { title, text } = this.#entry.group(fileOf(this.#exported.get(name)?.[0] as Declaration));
      const group = groups.get(title) ?? { title, text, names: [] };
      group.names.push(name);
      groups.set(title, group);
    }
    const place = ({ title }: Group): number => this.#entry.order?.indexOf(title) ?? 0;
    return [...groups.values()].sort((a, b) => place(a) - place(b) || alphabetically(a.title, b.title));
  }

  /** Code hosts number headings that are the same but for case: `matrix`, `matrix-1`, `matrix-2`. */
  #setAnchors(): void {
    const used = new Map<string, number>();
    const next = (title: string): string => {
      const count = used.get(slug(title)) ?? 0;
      used.set(slug(title), count + 1);
      return count === 0 ? slug(title) : `${slug(title)}-${count}`;
    };
    next(this.#entry.name);
    for (const { title, names } of this.#groups) {
      next(title);
      for (const name of names) this.#anchors.set(name, next(name));
    }
    next(FURTHER);
    for (const name of this.#furtherNames()) this.#anchors.set(name, next(name));
  }

  /** Types that are not exported, but that people meet. */
  #follow(found: Declaration[]): void {
    for (const each of found) {
      for (const met of this.#source.referred(visible(each), fileOf(each))) {
        if (this.#exported.has(met.name) || this.#further.has(met.name)) continue;
        if (met.kind !== "interface" && met.kind !== "typeAlias") continue;
        this.#further.set(met.name, [met]);
        this.#follow([met]);
      }
    }
  }

  #contents(): string {
    const lines = this.#groups.map(
      ({ title, names }) => `- **${title}**: ${names.map((name) => this.#link(name)).join(", ")}`,
    );
    return `${lines.join("\n")}\n`;
  }

  #link(name: string): string {
    const anchor = this.#anchors.get(name);
    return anchor === undefined ? `\`${name}\`` : `[\`${name}\`](#${anchor})`;
  }

  #section(name: string, found: Declaration[]): string[] {
    const parts = [`### ${name}\n`];
    for (const each of found) {
      const types = new TypeWriter(this.#source, fileOf(each));
      parts.push(code(this.#signature(each, types)));
      const comment = commentOf(each);
      if (comment !== "") parts.push(`${comment}\n`);
      parts.push(...tagsOf(each));
      if (each.kind === "interface" || each.kind === "class") parts.push(...this.#members(each, types));
    }
    return parts;
  }

  #signature(found: Declaration, types: TypeWriter): string {
    const { name, kind, def } = found;
    switch (kind) {
      case "function":
        return types.callable(`function ${name}`, { ...def, params: def.params ?? [] });
      case "typeAlias":
        return `type ${name} = ${types.type(def.tsType)}`;
      case "interface":
      case "class": {
        const base =
          typeof def.extends === "string"
            ? [def.extends]
            : (def.extends ?? []).map((each) => types.type(each));
        return `${kind} ${name}${base.length > 0 ? ` extends ${base.join(", ")}` : ""}`;
      }
      case "variable":
        return `const ${name}${def.tsType ? `: ${types.type(def.tsType)}` : ""}`;
      default:
        throw new Error(`docs: found ${name} of kind ${kind}, expected a kind it knows`);
    }
  }

  /** Options, fields and methods as a table. */
  #members(found: Declaration, types: TypeWriter): string[] {
    const members = membersOf(found);
    const made = (found.def.constructors ?? []).filter((each) => isOffered(found, each));
    if (members.length + made.length === 0) return [];
    const row = (what: string, type: string, comment: string): string =>
      `| ${cell(what)} | ${cell(type)} | ${cell(comment)} |`;
    const rows = made.map((each) =>
      row(`\`new ${found.name}(${types.parameters(each.params ?? [])})\``, "", commentOf(each)),
    );
    for (const member of members) {
      const callable = member.kind === "getter" ? undefined : callableOf(member);
      if (callable) {
        const { returnType, ...rest } = callable;
        const call = types.callable(member.name, { ...rest, returnType: { kind: "keyword", repr: "" } });
        rows.push(row(`\`${call.slice(0, -2)}\``, this.#typeCell(types.type(returnType)), commentOf(member)));
      } else {
        const type = types.type(callableOf(member)?.returnType ?? member.tsType);
        rows.push(
          row(`\`${member.name}${member.optional ? "?" : ""}\``, this.#typeCell(type), commentOf(member)),
        );
      }
    }
    return [["| | type | |", "|---|---|---|", ...rows].join("\n").concat("\n")];
  }

  #typeCell(type: string): string {
    return /^\w+$/.test(type) ? this.#link(type) : `\`${type}\``;
  }
}

/** Errors are met, not made; some classes say that a function makes them. */
function isOffered(found: Declaration, made: Member): boolean {
  const byFunction = /^Use |^Made by /;
  if (String(found.def.extends ?? "").endsWith("Error")) return false;
  return !byFunction.test(commentOf(made)) && !byFunction.test(commentOf(found));
}

/** The same in every locale. */
const alphabetically = (a: string, b: string): number => {
  const [x, y] = [a.toLowerCase(), b.toLowerCase()];
  return x < y ? -1 : x > y ? 1 : a < b ? -1 : 1;
};

/** Heading from the file itself: its name and the comment at its top. */
export function byFile(file: string): { title: string; text: string } {
  return { title: basename(file, ".ts"), text: topComment(file) };
}
