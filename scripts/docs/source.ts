// What `deno doc --json` says about the source: declarations, their comments, and which file a type comes from.

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { printed } from "../pack.ts";

/** A type; `value` depends on the kind. */
export interface TypeNode {
  kind: string;
  repr?: string;
  value?: unknown;
}

export interface Parameter {
  kind: string;
  name?: string;
  optional?: boolean;
  tsType?: TypeNode;
  /** Of a parameter with a default. */
  left?: Parameter;
  /** Of a rest parameter. */
  arg?: Parameter;
}

export interface TypeParameter {
  name: string;
  constraint?: TypeNode;
}

export interface Callable {
  params: Parameter[];
  returnType?: TypeNode;
  typeParams?: TypeParameter[];
}

/** What stands behind an @ in a comment. */
interface Tag {
  kind: string;
  name?: string;
  doc?: string;
  value?: string;
  tsType?: { repr: string };
}

interface Comment {
  jsDoc?: { doc?: string; tags?: Tag[] };
  location: { filename: string; line: number; byteIndex: number };
}

export interface Member extends Comment {
  name: string;
  kind?: string;
  optional?: boolean;
  accessibility?: string;
  isOverride?: boolean;
  isStatic?: boolean;
  tsType?: TypeNode;
  functionDef?: Callable;
  params?: Parameter[];
  returnType?: TypeNode;
  typeParams?: TypeParameter[];
}

export interface Declaration extends Comment {
  name: string;
  kind: string;
  def: Partial<Callable> & {
    tsType?: TypeNode;
    extends?: string | TypeNode[];
    constructors?: Member[];
    properties?: Member[];
    methods?: Member[];
    target?: { filename: string; byteIndex: number };
  };
}

/** Folders whose declarations an entry may give away or refer to; what is made by the build is left out. */
const OUTSIDE = ["cli", "generated", "plots", "report", "serve"];

function sourceFiles(): string[] {
  const inside = (path: string): boolean =>
    path.endsWith(".ts") && !OUTSIDE.includes(path.split("/")[0] ?? "");
  return readdirSync("src", { recursive: true, encoding: "utf8" })
    .filter(inside)
    .sort()
    .map((path) => `src/${path}`);
}

/** Every declaration of the source, found by file and name. */
export class Source {
  readonly #files = new Map<string, Map<string, Declaration[]>>();

  static async read(): Promise<Source> {
    const source = new Source();
    const out = await printed("node_modules/.bin/deno", ["doc", "--json", "--private", ...sourceFiles()]);
    const { nodes } = JSON.parse(out) as {
      nodes: Record<string, { symbols: { name: string; declarations: Declaration[] }[] }>;
    };
    for (const [address, { symbols }] of Object.entries(nodes)) {
      const named = symbols.map(({ name, declarations }): [string, Declaration[]] => [
        name,
        declarations.map((each) => ({ ...each, name })),
      ]);
      source.#files.set(pathOf(address), new Map(named));
    }
    return source;
  }

  /** What a file declares or exports under a name, followed to where it is declared. */
  find(file: string, name: string): Declaration[] {
    return (this.#files.get(file)?.get(name) ?? []).flatMap((found) => {
      if (found.kind !== "reference") return [found];
      const { filename, byteIndex } = found.def.target ?? { filename: "", byteIndex: 0 };
      const declared = [...(this.#files.get(pathOf(filename))?.values() ?? [])].flat();
      return declared.filter(({ location }) => location.byteIndex === byteIndex);
    });
  }

  /** Names that an entry gives away. */
  names(file: string): string[] {
    return [...(this.#files.get(file)?.keys() ?? [])];
  }

  /** The declarations of the types that are named somewhere inside a value. */
  referred(inside: unknown, file: string, found: Declaration[] = []): Declaration[] {
    if (Array.isArray(inside)) for (const each of inside) this.referred(each, file, found);
    else if (typeof inside === "object" && inside !== null) {
      const { typeName, resolution } = inside as {
        typeName?: string;
        resolution?: { kind: string; specifier?: string; name?: string };
      };
      if (typeName && resolution?.kind === "local") found.push(...this.find(file, typeName));
      if (typeName && resolution?.kind === "import") {
        const from = join(dirname(file), resolution.specifier ?? "");
        found.push(...this.find(from, resolution.name ?? typeName));
      }
      for (const each of Object.values(inside)) this.referred(each, file, found);
    }
    return found;
  }
}

const root = `${pathToFileURL(resolve("."))}/`;
const pathOf = (address: string): string => address.replace(root, "");
/** Path of the file that declares something. */
export const fileOf = ({ location }: Comment): string => pathOf(location.filename);

/** The text of a comment, and the default that it names. */
export function commentOf({ jsDoc }: Comment): string {
  const standard = jsDoc?.tags?.map(({ value }) => /^@default (.*)/.exec(value ?? "")?.[1]).find(Boolean);
  return [jsDoc?.doc?.trim(), standard && `Default: ${standard}.`].filter(Boolean).join(" ");
}

/** What a comment says of parameters and errors, and its examples. */
export function tagsOf({ jsDoc }: Comment): string[] {
  const tags = (kind: string): Tag[] => jsDoc?.tags?.filter((tag) => tag.kind === kind) ?? [];
  const lines = [
    ...tags("param").map(({ name, doc }) => `- \`${name}\`: ${doc}`),
    ...tags("throws").map(({ tsType, doc }) => `- throws \`${tsType?.repr}\`: ${doc}`),
  ];
  return [
    ...(lines.length > 0 ? [`${lines.join("\n")}\n`] : []),
    ...tags("example").map(({ doc }) => `${doc}\n`),
  ];
}

/** The comment at the top of a file. */
export function topComment(file: string): string {
  const lines = readFileSync(file, "utf8").split("\n");
  const end = lines.findIndex((line) => !line.startsWith("//"));
  return lines
    .slice(0, end)
    .map((line) => line.replace(/^\/\/ ?/, ""))
    .join(" ");
}
