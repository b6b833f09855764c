// `npm run lint`: the linter over everything. TypeScript knows no decorators of functions, so that assembly/ is linted as a
// copy, outside of the repository, in which its decorators are comments; its formatting is its own.

import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bin, type Job, runAll } from "./run.ts";

const biome = bin("biome");
const DECORATOR = /^( *)(@\w+)$/gm;

/** The linter's rules for AssemblyScript: the recommended ones less those that cannot hold there. */
const rules = {
  preset: "recommended",
  correctness: {
    noUnusedImports: "error",
    noUnusedVariables: "error",
    noPrecisionLoss: "off", // constants have the digits of their sources
    noUnreachable: "off", // asc wants a return after a loop without an end
  },
  style: { useImportType: "off" }, // there are no imports of types
  suspicious: {
    noApproximativeNumericConstant: "off", // high and low parts of logarithms
    noDoubleEquals: "off", // values have one type
    noSelfCompare: "off", // NaN is tested so
    noTsIgnore: "off", // for editors, which stumble over the decorators too
  },
};

function copyOfAssembly(): string {
  const folder = mkdtempSync(join(tmpdir(), "mlgpf-lint-"));
  cpSync("assembly", folder, { recursive: true });
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    const path = join(folder, name);
    if (name.endsWith(".ts")) writeFileSync(path, readFileSync(path, "utf8").replace(DECORATOR, "$1// $2"));
  }
  writeFileSync(join(folder, "biome.json"), JSON.stringify({ linter: { rules }, formatter: { enabled: false } }));
  return folder;
}

const folder = copyOfAssembly();
process.on("exit", () => rmSync(folder, { recursive: true }));
const jobs: Job[] = [
  { name: "the linter", command: biome, args: ["ci", "--error-on-warnings"] },
  {
    name: "the linter over assembly",
    command: biome,
    args: ["lint", "--error-on-warnings", `--config-path=${folder}`, folder],
  },
];
await runAll(jobs, jobs.length);
