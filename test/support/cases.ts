// Problems with known answers, those that come with the package.

import shipped from "../../golden/selfcheck.json" with { type: "json" };
import type { BoundCase, ExactCase } from "../../src/cli/selfcheck.ts";

const all = shipped as unknown as (BoundCase | ExactCase)[];

export const boundCases: BoundCase[] = all.filter((problem): problem is BoundCase => "parameters" in problem);
export const exactCases: ExactCase[] = all.filter((problem): problem is ExactCase => !("parameters" in problem));
