// The linear form learns into its solution: as many directions of C and W change as documents come and go. The
// documents that are new to it are predicted first, and the calibrator goes on from how that went. Latent functions
// beside it stay as they are; labels that they do not know have no factors there, only how frequent they are.

import type { Calibrator } from "../calibrate/calibrator.ts";
import { learnChange } from "../closed/change.ts";
import { LearningError } from "../closed/documents.ts";
import { captureState, restoreState } from "../closed/restore.ts";
import { type LearningState, stateIdentity } from "../closed/state.ts";
import type { Core } from "../core/core.ts";
import type { WorkOptions } from "../core/progress.ts";
import type { LabelSets } from "../data/dataset.ts";
import { deterministicLog } from "../data/elementary.ts";
import type { Cut, Thresholds } from "../metrics/cut.ts";
import { frameOf, type LatentModel } from "../model/model.ts";
import { calibrateHeldOut, FEWEST } from "../train/heldOut.ts";
import { type Learning, linearRows } from "../train/linear.ts";
import { type LinearModel, learnedModel, linearState, planOf } from "../train/state.ts";
import type { LearningForm, Lesson } from "./form.ts";

export function linearForm(core: Core, start: LinearModel, from: LearningState): LearningForm {
  const restored = restoreState(core, from);
  if (restored?.learned === undefined)
    throw new LearningError("found a state without a solution, expected one that was written with a model");
  const learning: Learning = { ...restored, learned: restored.learned };
  let model = start;
  let broken = false;
  return {
    rows: (features) => linearRows(features, start, start.closed.columns),
    state: (now, documents) => linearState(now, learning, documents),
    identity: (now, documents) => stateIdentity({ ...captureState(planOf(now), learning.totals), documents }),
    async learn({ change, unseen, labelNames }, work) {
      const honest = await calibrateOn(core, model, unseen, work);
      if (broken)
        throw new LearningError("found a solution that failed in the middle of learning, expected a new one");
      broken = true;
      await learnChange(learning.learned, { linear: true }, change, work);
      broken = false;
      const learned = learnedModel(model, learning, change);
      const { latent } = model;
      model = {
        ...learned,
        ...(labelNames ? { labelNames } : {}),
        calibrator: withOffsets(honest.calibrator, learned.labels),
        ...(honest.thresholds && { thresholds: withCuts(honest.thresholds, learned.labels) }),
        ...(latent ? { latent: withLabels(latent, learned) } : {}),
      };
      return model;
    },
    free: () => restored.free(),
  };
}

/** Calibrator and thresholds that follow from documents the model has not seen; few of them leave the thresholds. */
async function calibrateOn(
  core: Core,
  model: LinearModel,
  { features, labels }: Lesson["unseen"],
  work: WorkOptions,
): Promise<Pick<LinearModel, "calibrator" | "thresholds">> {
  const { calibrator: from, thresholds } = model;
  const kept = { calibrator: from, ...(thresholds && { thresholds }) };
  if (features.rows === 0) return kept;
  const known = onlyKnown(labels, model.labels);
  const parts = { frame: frameOf(model), closed: model, latent: model.latent };
  const honest = await calibrateHeldOut(core, parts, { features, labels: known }, { ...work, from });
  const { calibrator } = honest;
  return features.rows < FEWEST ? { ...kept, calibrator } : { calibrator, thresholds: honest.thresholds };
}

/** Labels that there are scores of. */
function onlyKnown({ rows, rowStart, labelIndex }: LabelSets, count: number): LabelSets {
  const starts = new Int32Array(rows + 1);
  const kept: number[] = [];
  for (let i = 0; i < rows; i++) {
    for (const label of labelIndex.subarray(rowStart[i], rowStart[i + 1]))
      if (label < count) kept.push(label);
    starts[i + 1] = kept.length;
  }
  return { rows, labels: count, rowStart: starts, labelIndex: Int32Array.from(kept) };
}

/** Numbers of the labels with one for each label that is new. */
function grown<A extends Float32Array | Float64Array>(of: A, labels: number, value = 0): A {
  const all = (of instanceof Float32Array ? new Float32Array(labels) : new Float64Array(labels)) as A;
  all.fill(value).set(of);
  return all;
}

/** Labels that are new have no offset yet. */
function withOffsets(calibrator: Calibrator, labels: number): Calibrator {
  const { labelOffsets, labelSlopes } = calibrator;
  return {
    ...calibrator,
    labelOffsets: grown(labelOffsets, labels),
    ...(labelSlopes ? { labelSlopes: grown(labelSlopes, labels) } : {}),
  };
}

/** Labels that are new are cut where all are. */
function withCuts(thresholds: Thresholds, labels: number): Thresholds {
  const cut = ({ overall, labels: own }: Cut): Cut => ({ overall, labels: grown(own, labels, overall) });
  return {
    ...thresholds,
    f1: cut(thresholds.f1),
    precisions: thresholds.precisions.map((aim) => ({ ...aim, cut: cut(aim.cut) })),
  };
}

/** The latent functions with room for new labels: no factors, and the log odds of their frequency. */
function withLabels(
  latent: LatentModel,
  { labels, labelCounts, labelNames, summary }: LinearModel,
): LatentModel {
  const { factors, labels: known } = latent;
  if (labels === known) return latent;
  const bias = grown(latent.bias, labels);
  for (let k = known; k < labels; k++) {
    const count = (labelCounts[k] as number) + 0.5;
    bias[k] = deterministicLog(count / (summary.points + 1 - count));
  }
  return {
    ...latent,
    labels,
    labelCounts,
    ...(labelNames ? { labelNames } : {}),
    phi: grown(latent.phi, labels * factors),
    bias,
  };
}
