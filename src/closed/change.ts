// Documents in the memory of a core, and a change of them learned into a solution.

import type { Core, Precision } from "../core/core.ts";
import { csr } from "../core/csr.ts";
import { Scope } from "../core/matrix.ts";
import { Pattern } from "../core/pattern.ts";
import type { WorkOptions } from "../core/progress.ts";
import type { Sign } from "../core/sums.ts";
import { type Change, type Documents, repeated } from "./documents.ts";
import type { LearnedRidge } from "./learn.ts";
import { Points } from "./points.ts";
import { featuresOf, type SparseFeatures } from "./sparse.ts";
import type { Subset } from "./subset.ts";

/** The documents as points with labels, K of them; yours to free. */
export function placeDocuments(
  core: Core,
  documents: Omit<Documents, "ids">,
  labels: number,
  precision: Precision,
): Subset {
  const scope = new Scope();
  try {
    const x = scope.keep(csr(core, documents.features, precision));
    return {
      points: scope.keep(new Points(x, documents.squares)),
      labels: scope.keep(new Pattern(core, labels, documents.labels)),
      free: () => scope.free(),
    };
  } catch (error) {
    scope.free();
    throw error;
  }
}

/** Forgets what goes out and learns what comes in; labels that are new are taken up. */
export async function learnChange(
  learned: LearnedRidge,
  features: SparseFeatures,
  change: Change,
  options: WorkOptions = {},
): Promise<void> {
  const { core, precision } = learned.weights;
  learned.growLabels(change.after.labels.labels);
  const steps: [Documents, Sign][] = [
    [change.in, 1],
    [change.out, -1],
  ];
  // What comes in first: then what goes out never leaves less than was there.
  for (const [documents, sign] of steps) {
    const placed = placeDocuments(core, repeated(documents), learned.totals.labels, precision);
    try {
      await learned.learn(featuresOf(features, placed.points), placed.labels, { ...options, sign });
    } finally {
      placed.free();
    }
  }
}
