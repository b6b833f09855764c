// Writes dist/types/: the declarations that the package's entries reach, and one for the WASM modules.

import { readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { bin, runAll } from "./run.ts";

const FOLDER = "dist/types";

/** The type of `import wasm from "mlgpf/edge.wasm"` in workers and with bundlers that know WASM. */
const WASM = `// A compiled module: mlgpf/edge.wasm for load() of mlgpf/edge, mlgpf/core.wasm for createCore() of mlgpf/core.
declare const module: WebAssembly.Module;
export default module;
`;

/** Names of the runtimes that TypeScript knows only with its library "dom"; where it knows them these add nothing. */
const GLOBALS = `interface GPUDevice {}
interface SymbolConstructor {
  readonly dispose: unique symbol;
}
declare namespace WebAssembly {
  interface Instance {}
  interface Memory {}
  interface Module {}
}
`;

/** Files of src/ whose declarations are entries of the package, as package.json's exports name them. */
function declarationEntries(): string[] {
  const { exports } = JSON.parse(readFileSync("package.json", "utf8")) as {
    exports: Record<string, string | { types?: string }>;
  };
  const named = Object.values(exports).flatMap((entry) => (typeof entry === "object" ? (entry.types ?? []) : []));
  return [...new Set(named.map((path) => join(path)))];
}

/** Between two files of dist/types; tsc leaves the ending of the source in declarations. */
const RELATIVE = /(\b(?:from|import\()\s*"\.[^"]+)\.ts"/g;
const IMPORTED = /\b(?:from|import\()\s*"(\.[^"]+)\.js"/g;

/** Gives a declaration's imports the ending that packages have, and goes on to what it imports. */
function reach(file: string, found: Set<string>): void {
  if (found.has(file)) return;
  found.add(file);
  const text = readFileSync(file, "utf8").replace(RELATIVE, '$1.js"');
  writeFileSync(file, text);
  for (const [, path] of text.matchAll(IMPORTED)) reach(join(dirname(file), `${path}.d.ts`), found);
}

/** Removes what is not in `kept`; says whether anything is left. */
function prune(folder: string, kept: Set<string>): boolean {
  let left = false;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) left = prune(path, kept) || left;
    else if (kept.has(path)) left = true;
    else rmSync(path);
  }
  if (!left) rmdirSync(folder);
  return left;
}

export async function buildTypes(): Promise<void> {
  await runAll([{ name: "tsc", command: bin("tsc"), args: ["-p", "tsconfig.build.json"] }], 1);
  writeFileSync(join(FOLDER, "wasm.d.ts"), WASM);
  const kept = new Set<string>();
  const globals = join(FOLDER, "globals.d.ts");
  writeFileSync(globals, GLOBALS);
  kept.add(globals);
  for (const entry of declarationEntries()) {
    reach(entry, kept);
    const path = `${relative(dirname(entry), FOLDER).replaceAll("\\", "/") || "."}/globals.d.ts`;
    writeFileSync(entry, `/// <reference path="${path}" />\n${readFileSync(entry, "utf8")}`);
  }
  prune(FOLDER, kept);
}
