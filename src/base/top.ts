// The best labels of each row of a score matrix, in O(K + k log k) for K labels and the k best. Labels that beat the
// k-th best so far are collected; when 2k are held, the better half is kept and its worst is the new bar.

/**
 * The k largest scores of each row of `scores` [rows, labels], as label ids in falling order; of equal scores
 * the smaller id comes first. NaN counts as -Infinity. Rows with fewer than k labels are filled up with -1.
 * Result [rows, k].
 */
export function topLabels(scores: ArrayLike<number>, rows: number, labels: number, k: number): Int32Array {
  const top = new Int32Array(rows * k).fill(-1);
  const room = Math.min(2 * k, labels);
  const keys = new Float64Array(room);
  const ids = new Int32Array(room);
  for (let row = 0; row < rows; row++) {
    const first = row * labels;
    let held = 0;
    /** Score to beat once k are held; NaN never does. */
    let bar = -Infinity;
    for (let label = 0; label < labels; label++) {
      // Most labels are nowhere near the best: four at a time are passed over.
      while (
        held >= k &&
        label + 4 <= labels &&
        !(
          scores[first + label] > bar ||
          scores[first + label + 1] > bar ||
          scores[first + label + 2] > bar ||
          scores[first + label + 3] > bar
        )
      )
        label += 4;
      if (label === labels) break;
      const score = scores[first + label];
      if (held === room) {
        arrange(keys, ids, 0, held, k, false);
        held = k;
        bar = keys[k - 1];
      }
      if (held >= k && !(score > bar)) continue;
      keys[held] = Number.isNaN(score) ? -Infinity : score;
      ids[held++] = label;
    }
    arrange(keys, ids, 0, held, k, true);
    for (let place = Math.min(held, k) - 1; place >= 0; place--) top[row * k + place] = ids[place];
  }
  return top;
}

/**
 * Brings the best `wanted` of [from, to) to the front, in falling order if `sorted`, else with only the last of them in
 * its place: quicksort that leaves alone what does not matter.
 */
function arrange(keys: Float64Array, ids: Int32Array, from: number, to: number, wanted: number, sorted: boolean): void {
  while (to - from > 1 && from < wanted) {
    const middle = (from + to) >> 1;
    const [key, id] = [keys[middle], ids[middle]];
    let [left, right] = [from, to - 1];
    while (left <= right) {
      while (keys[left] > key || (keys[left] === key && ids[left] < id)) left++;
      while (keys[right] < key || (keys[right] === key && ids[right] > id)) right--;
      if (left > right) break;
      const [otherKey, otherId] = [keys[left], ids[left]];
      keys[left] = keys[right];
      ids[left++] = ids[right];
      keys[right] = otherKey;
      ids[right--] = otherId;
    }
    if (sorted) arrange(keys, ids, from, right + 1, wanted, true);
    if (sorted || wanted > left) from = left;
    else if (wanted <= right + 1) to = right + 1;
    else return;
  }
}

/** A label with what ranks it. */
export interface RankedValue {
  readonly label: number;
  readonly value: number;
}

/** Labels, rising, with what ranks them. */
export interface Judged {
  readonly labels: ArrayLike<number>;
  readonly values: ArrayLike<number>;
}

/** The best `most` of these, best first; equals by label. */
export function bestOf({ labels, values }: Judged, most: number): RankedValue[] {
  const places = topLabels(values, 1, values.length, Math.min(most, values.length));
  return Array.from(places, (place) => ({ label: labels[place], value: values[place] }));
}

/** Puts labels, best first, among the `count` best ones of a row, which stand from `from` on; as many as before stay. */
export function insertBest(
  more: readonly RankedValue[],
  labels: Int32Array,
  values: Float32Array | Float64Array,
  from: number,
  count: number,
): void {
  for (const { label, value } of more) {
    let at = from + count;
    while (at > from && !(values[at - 1] >= value)) at--;
    if (at === from + count) return;
    labels.copyWithin(at + 1, at, from + count - 1);
    values.copyWithin(at + 1, at, from + count - 1);
    labels[at] = label;
    values[at] = value;
  }
}
