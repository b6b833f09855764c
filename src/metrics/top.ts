// The best labels of each row of a score matrix.

/**
 * The k largest scores of each row of `scores` [rows, labels], as label ids in falling order; of equal scores
 * the smaller id comes first. NaN counts as -Infinity. Rows with fewer than k labels are filled up with -1.
 * Result [rows, k].
 */
export function topLabels(scores: ArrayLike<number>, rows: number, labels: number, k: number): Int32Array {
  const top = new Int32Array(rows * k).fill(-1);
  const best = new Float64Array(k); // scores of the labels in `top`, for the row at hand
  for (let row = 0; row < rows; row++) {
    const base = row * k;
    const first = row * labels;
    let held = 0;
    /** What a score must beat to be looked at; NaN never does once the places are taken. */
    let bar = Number.NEGATIVE_INFINITY;
    for (let label = 0; label < labels; label++) {
      // Most labels are nowhere near the best: four at a time are passed over.
      while (
        held === k &&
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
      if (held === k && !(score > bar)) continue;
      const key = Number.isNaN(score) ? Number.NEGATIVE_INFINITY : score;
      let place = held < k ? held++ : k - 1;
      for (; place > 0 && key > (best[place - 1] as number); place--) {
        best[place] = best[place - 1] as number;
        top[base + place] = top[base + place - 1] as number;
      }
      best[place] = key;
      top[base + place] = label;
      bar = best[k - 1] as number;
    }
  }
  return top;
}
