// npm run cases: puts some of the reference values of test/golden where `mlgpf selfcheck` finds them without a file. They
// were made by other programs: the code that is checked has no part in its answers.

import { readFileSync, writeFileSync } from "node:fs";
import { flatCase, type SelfcheckCase } from "../test/support/boundcheck.ts";
import { type ClosedCase, exactCase } from "../test/support/closedcheck.ts";

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

writeFileSync(
  "golden/selfcheck.json",
  `${JSON.stringify([...cases.map(flatCase), ...closed.slice(0, 1).map(exactCase)])}\n`,
);
console.log(cases.map(({ name }) => name).join("\n"));
