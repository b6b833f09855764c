// The exact form fits anew: kernel, noise, vocabulary and weights of the words stay, everything else is as if all
// documents had been there from the start, calibrator and stack too.

import { countOf, LearningError, repeated } from "../closed/documents.ts";
import { stateIdentity } from "../closed/state.ts";
import type { Core } from "../core/core.ts";
import { labelFrequencies } from "../data/dataset.ts";
import { transformedRows } from "../data/transform.ts";
import { type ClosedModel, type ExactPart, frameOf } from "../model/model.ts";
import { canBeExact, fitChosen } from "../train/exact.ts";
import { exactState } from "../train/state.ts";
import type { LearningForm } from "./form.ts";

export function exactForm(core: Core, start: ClosedModel & { closed: ExactPart }): LearningForm {
  const { kernel: name, hyper, noise } = start.closed;
  const [linearVariance, variance, lengthScale] = hyper;
  const choice = { noise, kernel: { name, linearVariance, variance, lengthScale } };
  return {
    rows: (features) => transformedRows(features, start.transform, 0, features.rows),
    state: exactState,
    identity: (model, documents) => stateIdentity(exactState(model, documents)),
    async learn({ change: { after }, labelNames }, work) {
      const { labels } = after.labels;
      const documents = after.ids.length;
      if (!canBeExact(documents, labels))
        throw new LearningError(
          `found ${documents} documents with those to learn, expected fewer: this form keeps every document, and a new training will take another`,
        );
      const common = {
        labels,
        labelCounts: Int32Array.from(labelFrequencies(repeated(after).labels)),
        ...(labelNames ? { labelNames } : {}),
      };
      const points = countOf(after);
      const frame = { ...frameOf(start), ...common, points };
      const { stack: _, summary, ...kept } = start;
      const { figures, ...fitted } = await fitChosen(core, after, frame, choice, work);
      return { ...kept, ...common, ...fitted, summary: { ...summary, points, leftOut: figures } };
    },
    free: () => {},
  };
}
