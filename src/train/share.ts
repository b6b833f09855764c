// A training that several processes compute: each has the rows of Phi and b, and their moments, of its own labels. What is
// written down or measured has those of all labels, so that it says nothing of how many processes there were.

import type { Backend, Tensor } from "../backend/backend.ts";
import type { RealArray } from "../core/matrix.ts";
import type { LabelSets } from "../data/dataset.ts";
import { bytesOf, labelsWithin } from "../model/ranked.ts";
import type { ModelShape } from "../model/shape.ts";
import type { LabelShare } from "../ranks/share.ts";
import type { SavedTensor, TrainingState } from "./checkpoint.ts";

/** Tensors with a row (Phi) or a number (b) for each label, by the end of their names. */
const OF_LABELS = /\.(phi|bias)$/;
const isPhi = (name: string): boolean => name.endsWith(".phi");

export const ownShape = (shape: ModelShape, { own }: LabelShare): ModelShape => ({
  ...shape,
  labels: own.to - own.from,
});

/** The labels of this process, counted from its first. */
export const ownLabels = (sets: LabelSets, { own }: LabelShare): LabelSets => ({
  rows: sets.rows,
  labels: own.to - own.from,
  ...labelsWithin(sets, own),
});

/** Numbers of all labels, from those of the labels of each process, `each` for a label. */
export function gatheredNumbers(own: RealArray, each: number, { ranks, ranges }: LabelShare): RealArray {
  const bytes = own.BYTES_PER_ELEMENT * each;
  const all = ranks.allgather(
    bytesOf(own),
    ranges.map(({ from, to }) => (to - from) * bytes),
  );
  // A copy begins at a multiple of eight.
  const { buffer } = all.slice();
  return own instanceof Float32Array ? new Float32Array(buffer) : new Float64Array(buffer);
}

/** Phi and b of all labels, on the device. */
export async function gatheredTensors(
  backend: Backend,
  { phi, bias }: { phi: Tensor; bias: Tensor },
  share: LabelShare,
): Promise<{ phi: Tensor; bias: Tensor }> {
  const rows = gatheredNumbers(await backend.read(phi), phi.columns, share);
  const numbers = gatheredNumbers(await backend.read(bias), 1, share);
  return {
    phi: backend.tensor(share.labels, phi.columns, rows),
    bias: backend.tensor(1, share.labels, numbers),
  };
}

/** The state of all processes together; all of them must ask for it at the same step. */
export function gatheredState(state: TrainingState, share: LabelShare): TrainingState {
  const { labels } = share;
  return changed(state, (name, { rows, columns, values }) =>
    isPhi(name)
      ? { rows: labels, columns, values: gatheredNumbers(values, columns, share) }
      : { rows, columns: labels, values: gatheredNumbers(values, 1, share) },
  );
}

/** What a state has of this process's labels. */
export function ownState(state: TrainingState, { own: { from, to } }: LabelShare): TrainingState {
  return changed(state, (name, { rows, columns, values }) =>
    isPhi(name)
      ? { rows: Math.min(rows, to) - from, columns, values: values.slice(from * columns, to * columns) }
      : { rows, columns: Math.min(columns, to) - from, values: values.slice(from, to) },
  );
}

/** The same state with other tensors of labels. */
function changed(
  state: TrainingState,
  change: (name: string, saved: SavedTensor) => SavedTensor,
): TrainingState {
  const tensors = [...state.tensors].map(([name, saved]): [string, SavedTensor] => [
    name,
    OF_LABELS.test(name) ? change(name, saved) : saved,
  ]);
  return { ...state, tensors: new Map(tensors) };
}
