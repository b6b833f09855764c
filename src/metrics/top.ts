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
    /** What a score must beat once k are held; NaN never does. */
    let bar = Number.NEGATIVE_INFINITY;
    for (let label = 0; label < labels; label++) {
      // Most labels are nowhere near the best: four at a time are passed over.
      while (
        held >= k &&
        label + 4 <= labels &&
        !(
          (scores[first + label] as number) > bar ||
          (scores[first + label + 1] as number) > bar ||
          (scores[first + label + 2] as number) > bar ||
          (scores[first + label + 3] as number) > bar
        )
      )
        label += 4;
      if (label === labels) break;
      const score = scores[first + label] as number;
      if (held === room) {
        arrange(keys, ids, 0, held, k, false);
        held = k;
        bar = keys[k - 1] as number;
      }
      if (held >= k && !(score > bar)) continue;
      keys[held] = Number.isNaN(score) ? Number.NEGATIVE_INFINITY : score;
      ids[held++] = label;
    }
    arrange(keys, ids, 0, held, k, true);
    for (let place = Math.min(held, k) - 1; place >= 0; place--) top[row * k + place] = ids[place] as number;
  }
  return top;
}

/**
 * Brings the best `wanted` of [from, to) to the front, in falling order if `sorted`, else with only the last of them in
 * its place: quicksort that leaves alone what does not matter.
 */
function arrange(
  keys: Float64Array,
  ids: Int32Array,
  from: number,
  to: number,
  wanted: number,
  sorted: boolean,
): void {
  while (to - from > 1 && from < wanted) {
    const middle = (from + to) >> 1;
    const [key, id] = [keys[middle] as number, ids[middle] as number];
    let [left, right] = [from, to - 1];
    while (left <= right) {
      while ((keys[left] as number) > key || (keys[left] === key && (ids[left] as number) < id)) left++;
      while ((keys[right] as number) < key || (keys[right] === key && (ids[right] as number) > id)) right--;
      if (left > right) break;
      const [otherKey, otherId] = [keys[left] as number, ids[left] as number];
      keys[left] = keys[right] as number;
      ids[left++] = ids[right] as number;
      keys[right] = otherKey;
      ids[right--] = otherId;
    }
    if (sorted) arrange(keys, ids, from, right + 1, wanted, true);
    if (sorted || wanted > left) from = left;
    else if (wanted <= right + 1) to = right + 1;
    else return;
  }
}
