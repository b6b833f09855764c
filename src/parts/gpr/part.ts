// Exact GP regression (conjugate): every training point carries the mean, s(x) = k(x,X) a + mu.

import type { Family } from "../part.ts";
import { canBeExact, kernelCost } from "../regression/cost.ts";
import { choiceOf } from "../regression/kernel.ts";
import { kernelFamily } from "../regression/kernelpart.ts";
import { fitGpr } from "./fit.ts";
import { exactLearner } from "./learn.ts";
import type { GprPart } from "./posterior.ts";

export const gpr: Family<GprPart> = {
  ...kernelFamily("gpr"),
  name: "gpr",
  title: "exact GP regression",
  loo: true,
  defaultKernel: "se",
  obstacle: ({ features: { rows }, labels: { labels } }) =>
    canBeExact(rows, labels) ? undefined : `${rows.toLocaleString("en")} rows are too many for exact GP regression`,
  cost: ({ features: { rows }, labels: { labels } }, dense) => kernelCost(rows, labels, dense),
  fit: fitGpr,
  learning: {
    plan: ({ kernel, hyper, noise, views }, { features }) => ({
      about: { family: "gpr", kernel, hyper, noise, ...(views && { views }) },
      features: 0,
      columns: features,
      arrays: [],
    }),
    open: (part, schema, core, { inverse }) => exactLearner(core, choiceOf(part), schema, inverse),
  },
};
