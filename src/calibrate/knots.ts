// Where curves stand: knots among the frequencies of labels and the strengths of points.

/** The values that these shares of all lie below, without repetitions; 0 alone when there are no values. */
export function quantiles(values: Float64Array, shares: readonly number[]): Float64Array {
  const sorted = values.slice().sort();
  const knots: number[] = [];
  for (const share of shares) {
    const knot = sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
    if (knots.length === 0 || knot > (knots.at(-1) as number)) knots.push(knot);
  }
  return Float64Array.from(knots);
}

/** So many knots at equal distances; one alone where there is no distance. */
export function evenKnots(low: number, high: number, count: number): Float64Array {
  if (!(high > low) || count < 2) return Float64Array.from([low]);
  return Float64Array.from({ length: count }, (_, i) => low + ((high - low) * i) / (count - 1));
}
