// Makes src/generated/shaders.ts from shaders/*.wgsl: every shader as a string, so that no runtime needs a loader.
// A line `// import NAME` in a shader stands for shaders/NAME.wgsl, once.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";

const FOLDER = "shaders";
const IMPORT = /^\/\/ import (\w+)\n/gm;
const isShader = (text: string): boolean => text.includes("@compute");

/** A shader's text with what it imports before it. */
function whole(name: string, texts: Map<string, string>, held: Set<string> = new Set()): string {
  const text = texts.get(name);
  if (text === undefined) throw new Error(`shaders: found an import of ${name}, expected ${name}.wgsl`);
  held.add(name);
  const imports = [...text.matchAll(IMPORT)].map((match) => match[1] as string);
  const before = imports.filter((other) => !held.has(other)).map((other) => whole(other, texts, held));
  return [...before, text.replace(IMPORT, "")].join("\n");
}

/** Comments and indentation are for readers of the files. */
const lean = (text: string): string =>
  text
    .replace(/\/\*\*[\s\S]*?\*\//g, "")
    .replace(/\/\/.*$/gm, "")
    .replace(/^\s+/gm, "");

export function shaderModule(texts: Map<string, string>): string {
  const names = [...texts.keys()].filter((name) => isShader(texts.get(name) as string)).sort();
  const entries = names.map((name) => `  ${name}: ${JSON.stringify(lean(whole(name, texts)))},`);
  return `// The shaders of shaders/, made by scripts/shaders.ts.\nexport type ShaderName =\n${names
    .map((name) => `  | "${name}"`)
    .join("\n")};\n\nexport const shaders: Record<ShaderName, string> = {\n${entries.join("\n")}\n};\n`;
}

export function writeShaders(): void {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith(".wgsl"));
  const texts = new Map(
    files.map((name) => [name.replace(/\.wgsl$/, ""), readFileSync(`${FOLDER}/${name}`, "utf8")]),
  );
  mkdirSync("src/generated", { recursive: true });
  writeFileSync("src/generated/shaders.ts", shaderModule(texts));
}
