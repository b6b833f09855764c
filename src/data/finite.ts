// Whether numbers are numbers: a plain loop, which is several times as fast as `every(Number.isFinite)` where there are
// hundreds of millions.

export function areFinite(values: ArrayLike<number>): boolean {
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    if (value - value !== 0) return false;
  }
  return true;
}
