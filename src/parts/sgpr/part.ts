// Sparse GP regression: some of the training points carry the mean for all, s(x) = k(x,Z) a + mu.

import type { Family } from "../part.ts";
import { kernelCost } from "../regression/cost.ts";
import { kernelFamily } from "../regression/kernelpart.ts";
import { fitSgpr, inducingCost, type SgprPart } from "./fit.ts";
import { restoredLearner } from "./learn.ts";

export const sgpr: Family<SgprPart> = {
  ...kernelFamily("sgpr"),
  name: "sgpr",
  title: "sparse GP regression (SGPR)",
  loo: true,
  defaultKernel: "se",
  obstacle: (_, dense) => (dense ? undefined : "the features are sparse"),
  cost: ({ features: { rows }, labels: { labels } }, dense) =>
    kernelCost(rows, labels, dense, inducingCost(rows, labels)),
  fit: fitSgpr,
  learning: {
    plan: ({ kernel, hyper, noise, views, rows }, { features }) => ({
      about: { family: "sgpr", kernel, hyper, noise, ...(views && { views }) },
      features: rows.rows,
      columns: features,
      arrays: [rows.rowStart, rows.columnIndex, rows.values],
    }),
    open: restoredLearner,
  },
  // The weights of inducing points have to be exact.
  compactChoices: () => ({ allLabels: true, type: "f32" }),
};
