// Reference values made by other programs, in test/golden.

import { readFileSync } from "node:fs";

/** A file of reference values. */
export const golden = <Contents>(name: string): Contents => JSON.parse(readFileSync(`test/golden/${name}`, "utf8"));
