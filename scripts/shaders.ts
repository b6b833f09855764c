// Makes src/generated/shaders.ts from shaders/*.wgsl: every shader as a string, so that no runtime needs a loader, with its
// bindings, parameters and sizes as data and as types. shaders/README.md says what the build adds to a shader's text.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";

const FOLDER = "shaders";
const IMPORT = /^\/\/ import (\w+)\n/gm;
const BINDING = /^@group\(0\) @binding\((\d+)\) var<storage, (read|read_write)> (\w+): [^;]+;(.*)$/gm;
const PARAMETERS = /struct Parameters \{([^}]*)\}/;
const FIELD = /^ *(\w+): (u32|f32),$/gm;
const CONSTANT = /^const (\w+) = (\d+)u;$/gm;
/** How the comment of a binding ends whose operand may be missing. */
const OPTIONAL = ", or nothing";

interface Binding {
  name: string;
  writable: boolean;
  optional: boolean;
}

interface Field {
  name: string;
  type: string;
}

interface Shader {
  source: string;
  bindings: Binding[];
  /** Parameters that a caller gives, and those that the recorder fills in. */
  given: Field[];
  filled: Field[];
  constants: [name: string, value: number][];
}

/** A shader's text with what it imports before it. */
function whole(name: string, texts: Map<string, string>, held: Set<string> = new Set()): string {
  const text = texts.get(name);
  if (text === undefined) throw new Error(`shaders: found an import of ${name}, expected ${name}.wgsl`);
  held.add(name);
  const imports = [...text.matchAll(IMPORT)].map((match) => match[1]);
  const before = imports.filter((other) => !held.has(other)).map((other) => whole(other, texts, held));
  return [...before, text.replace(IMPORT, "")].join("\n");
}

/** Comments and indentation are for readers of the files. */
const lean = (text: string): string =>
  text
    .replace(/\/\*\*[\s\S]*?\*\//g, "")
    .replace(/\/\/.*$/gm, "")
    .replace(/^\s+/gm, "");

function bindingsOf(shader: string, text: string): Binding[] {
  return [...text.matchAll(BINDING)].map(([, index, access, name, comment], i) => {
    if (Number(index) !== i + 1)
      throw new Error(`shader ${shader}: found binding ${index} for ${name}, expected ${i + 1}`);
    return {
      name: name as string,
      writable: access === "read_write",
      optional: (comment as string).endsWith(OPTIONAL),
    };
  });
}

/** The function that reads an element of an input wherever it lies: in its own buffer, or in that of an output. */
function reader(name: string, bindings: Binding[]): string {
  const derivative = `d${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  const output = bindings.some((binding) => binding.name === derivative) ? derivative : "out";
  return `fn ${name}At(i: u32) -> f32 {
  if (p.${name}IsOut == 1u) {
    return ${output}[p.${name}Offset + i];
  }
  return ${name}[p.${name}Offset + i];
}
`;
}

/** A shader with what the build adds: readers of inputs, parameters that the recorder fills in, and `p` itself. */
function completed(name: string, text: string): Shader {
  const bindings = bindingsOf(name, text);
  const parameters = PARAMETERS.exec(text)?.[1];
  if (parameters === undefined) throw new Error(`shader ${name}: found no struct Parameters, expected one`);
  const readers = bindings
    .filter((input) => text.includes(`${input.name}At(`) && !text.includes(`fn ${input.name}At(`))
    .map((input) => reader(input.name, bindings));
  const all = [text, ...readers].join("\n");
  const filled = bindings
    .flatMap((binding) => [`${binding.name}Offset`, `${binding.name}IsOut`])
    .filter((field) => new RegExp(`\\bp\\.${field}\\b`).test(all))
    .map((field) => ({ name: field, type: "u32" }));
  const fields = filled.map((field) => `  ${field.name}: ${field.type},\n`).join("");
  const source = all.replace(
    PARAMETERS,
    `struct Parameters {${parameters}${fields}}\n@group(0) @binding(0) var<uniform> p: Parameters;`,
  );
  return {
    source: lean(source),
    bindings,
    given: [...parameters.matchAll(FIELD)].map(([, field, type]) => ({
      name: field as string,
      type: type as string,
    })),
    filled,
    constants: [...text.matchAll(CONSTANT)].map(([, constant, value]) => [constant as string, Number(value)]),
  };
}

const union = (names: string[]): string =>
  names.length === 0 ? "never" : names.map((name) => `"${name}"`).join(" | ");

function typesOf(name: string, { bindings, given, constants }: Shader): string {
  const names = (optional: boolean): string =>
    union(bindings.filter((binding) => binding.optional === optional).map((binding) => binding.name));
  return `  ${name}: {
    operand: ${names(false)};
    optional: ${names(true)};
    parameter: ${union(given.map((field) => field.name))};
    constant: ${union(constants.map(([constant]) => constant))};
  };`;
}

function dataOf(name: string, { source, bindings, given, filled, constants }: Shader): string {
  const shader = {
    source,
    bindings: bindings.map((binding) => ({ name: binding.name, writable: binding.writable })),
    fields: [...given, ...filled],
    constants: Object.fromEntries(constants),
  };
  return `  ${name}: ${JSON.stringify(shader)},`;
}

export function shaderModule(texts: Map<string, string>): string {
  const shaders = [...texts]
    .filter(([, text]) => PARAMETERS.test(text))
    .map(([name]) => [name, completed(name, whole(name, texts))] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `// The shaders of shaders/, made by scripts/shaders.ts.

/** The names in each shader: operands, those of them that may be missing, parameters that a caller gives, sizes. */
export interface ShaderNames {
${shaders.map(([name, shader]) => typesOf(name, shader)).join("\n")}
}

export type ShaderName = keyof ShaderNames;

export interface Shader<Constant extends string = string> {
  source: string;
  /** In the order of their numbers, which begin with 1. */
  bindings: readonly { name: string; writable: boolean }[];
  /** Contents of the uniform buffer. */
  fields: readonly { name: string; type: "u32" | "f32" }[];
  /** Named whole numbers: sizes of workgroups and tiles. */
  constants: Readonly<Record<Constant, number>>;
}

export const shaders: { readonly [Name in ShaderName]: Shader<ShaderNames[Name]["constant"]> } = {
${shaders.map(([name, shader]) => dataOf(name, shader)).join("\n")}
};
`;
}

export function writeShaders(): void {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith(".wgsl"));
  const texts = new Map(files.map((name) => [name.replace(/\.wgsl$/, ""), readFileSync(`${FOLDER}/${name}`, "utf8")]));
  mkdirSync("src/generated", { recursive: true });
  writeFileSync("src/generated/shaders.ts", shaderModule(texts));
}
