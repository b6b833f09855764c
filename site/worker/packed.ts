// A learning state small enough to be fetched with a page. Nearly all of a state is the posterior covariance C of the weights: it is kept
// as its diagonal and correlations in steps of 1/127, most of which are zero and vanish when the file is gzipped. Lessons move probabilities
// as with the whole state, to two digits.

import { readSafetensors, type Tensor, writeSafetensors } from "../../src/base/safetensors.ts";
import { contentChecksum, withChecksum } from "../../src/base/tensors.ts";
import { type LearningState, stateFromBytes, stateToBytes } from "../../src/parts/regression/state.ts";

const CORRELATIONS = "packed.correlations";
const DIAGONAL = "packed.diagonal";
const STEPS = 127;

/** Calls with the place of each entry of a packed lower triangle, its row and its column. */
function forEachEntry(rows: number, visit: (at: number, row: number, column: number) => void): void {
  for (let row = 0, at = 0; row < rows; row++)
    for (let column = 0; column <= row; column++, at++) visit(at, row, column);
}

export function packState(state: LearningState): Uint8Array<ArrayBuffer> {
  const { plan } = state;
  if (state.solution === undefined)
    throw new Error("found a state without a solution, expected that of a linear model");
  const { pending, ...solution } = state.solution;
  const inverse = Float64Array.from(solution.inverse);
  // C may be behind by some directions: C = inverse - sum of sign f f'.
  for (const { factors, sign } of pending)
    for (let from = 0; from < factors.length; from += plan.features) {
      const factor = factors.subarray(from, from + plan.features);
      forEachEntry(plan.features, (at, row, column) => {
        inverse[at] -= sign * factor[row] * factor[column];
      });
    }
  const diagonal = new Float32Array(plan.features);
  forEachEntry(plan.features, (at, row, column) => {
    if (row === column) diagonal[row] = inverse[at];
  });
  const correlations = new Int8Array(inverse.length);
  forEachEntry(plan.features, (at, row, column) => {
    if (row === column) return;
    const value = inverse[at] / Math.sqrt(diagonal[row] * diagonal[column]);
    correlations[at] = Math.round(STEPS * Math.max(-1, Math.min(1, value)));
  });
  // The rest of the state as its own file has it, with a covariance of nothing.
  const none = { ...solution, inverse: new Float32Array(1), pending: [] };
  const bare = readSafetensors(stateToBytes({ ...state, solution: none }));
  const tensors = new Map<string, Tensor>(bare.tensors);
  tensors.delete("solution.inverse");
  tensors.set(CORRELATIONS, { dtype: "I8", shape: [correlations.length], data: correlations });
  tensors.set(DIAGONAL, { dtype: "F32", shape: [diagonal.length], data: diagonal });
  return writeSafetensors(withChecksum({ tensors, metadata: bare.metadata }));
}

export function unpackState(bytes: Uint8Array, file: string): LearningState {
  const packed = readSafetensors(bytes, file);
  const { tensors, metadata } = packed;
  if (metadata.checksum !== contentChecksum(packed))
    throw new Error(`${file}: found another checksum than was written, expected an undamaged file`);
  const [correlations, diagonal] = [tensors.get(CORRELATIONS), tensors.get(DIAGONAL)];
  if (correlations?.dtype !== "I8" || diagonal?.dtype !== "F32")
    throw new Error(`${file}: found no packed covariance, expected a state packed for the page`);
  const roots = diagonal.data.map(Math.sqrt);
  const inverse = new Float32Array(correlations.data.length);
  forEachEntry(roots.length, (at, row, column) => {
    inverse[at] = row === column ? diagonal.data[row] : (correlations.data[at] / STEPS) * roots[row] * roots[column];
  });
  const whole = new Map([...tensors].filter(([name]) => !name.startsWith("packed.")));
  whole.set("solution.inverse", { dtype: "F32", shape: [inverse.length], data: inverse });
  return stateFromBytes(writeSafetensors(withChecksum({ tensors: whole, metadata })), file);
}
