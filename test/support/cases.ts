// Problems with known answers: those that come with the package, and one of the closed form with all its answers.

import shipped from "../../golden/selfcheck.json" with { type: "json" };
import type { BoundCase, ExactCase } from "../../src/cli/selfcheck.ts";
import closedForm from "../golden/closed-form.json" with { type: "json" };
import type { ClosedCase } from "./closedcheck.ts";

const all = shipped as unknown as (BoundCase | ExactCase)[];

export const boundCases: BoundCase[] = all.filter((problem): problem is BoundCase => "parameters" in problem);
export const exactCases: ExactCase[] = all.filter((problem): problem is ExactCase => !("parameters" in problem));
export const closedCases: ClosedCase[] = closedForm.cases.slice(0, 1) as unknown as ClosedCase[];
