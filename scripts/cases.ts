// npm run cases: puts some of the reference values of test/golden where `mlgpf selfcheck` finds them without a file. They
// were made by other programs: the code that is checked has no part in its answers.

import { readFileSync, writeFileSync } from "node:fs";
import type { ClosedCase } from "../src/closed/selfcheck.ts";
import type { SelfcheckCase } from "../src/model/selfcheck.ts";

/** Every kernel, both forms of Z, both of the posterior, all labels and sampled ones. */
const chosen = {
  "bound.json": [
    "linear-free-shared-1",
    "sum-subspace-perFactor-1",
    "linear-subspace-perFactor-negatives-1",
    "se-free-shared-negatives-1",
  ],
  "matern.json": [
    "matern32-subspace-perFactor",
    "matern52-free-perFactor",
    "linear+matern32-free-shared",
    "linear+matern52-subspace-shared-sampled",
  ],
};

const cases = Object.entries(chosen).flatMap(([file, names]) => {
  const all: SelfcheckCase[] = JSON.parse(readFileSync(`test/golden/${file}`, "utf8"));
  return names.map((name) => {
    const found = all.find((problem) => problem.name === name);
    if (found === undefined) throw new Error(`test/golden/${file}: found no case ${name}, expected one`);
    return found;
  });
});
const closed: ClosedCase[] = JSON.parse(readFileSync("test/golden/closed-form.json", "utf8")).cases;

/** Writes a list as a module. */
function write(path: string, type: string, name: string, list: { name: string }[]): void {
  const text = JSON.stringify(JSON.stringify(list));
  writeFileSync(
    path,
    `// Problems with their answers from test/golden, put here by npm run cases.\n\nimport type { ${type} } from "./selfcheck.ts";\n\nexport const ${name}: ${type}[] = JSON.parse(\n  ${text},\n);\n`,
  );
  console.log(list.map(({ name }) => name).join("\n"));
}

write("src/model/cases.ts", "SelfcheckCase", "selfcheckCases", cases);
write("src/closed/cases.ts", "ClosedCase", "closedCases", closed.slice(0, 1));
