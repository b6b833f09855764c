// Numbers to test with: a small generator of its own, and matrices of a known condition.

/** Uniform numbers in [0, 1) from a seed (mulberry32). */
export function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** n numbers in [-1, 1), exact in single precision. */
export function randomNumbers(n: number, seed: number): Float64Array {
  const next = generator(seed);
  return Float64Array.from({ length: n }, () => Math.fround(2 * next() - 1));
}

/** A symmetric matrix with eigenvalues from 1 down to 1/condition (or the given ones), turned by random reflections. */
export function symmetricMatrix(
  n: number,
  condition: number,
  seed: number,
  eigenvalues?: ArrayLike<number>,
): Float64Array {
  const a = new Float64Array(n * n);
  // No powers: the host's power function is not the same everywhere.
  for (let i = 0; i < n; i++) a[i * n + i] = eigenvalues?.[i] ?? 1 / (1 + ((condition - 1) * i) / Math.max(1, n - 1));
  for (let turn = 0; turn < 3; turn++) reflect(a, n, randomNumbers(n, seed + turn));
  for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) a[j * n + i] = a[i * n + j];
  return a;
}

/** A becomes H A H with H = I - 2 v v' / v'v. */
function reflect(a: Float64Array, n: number, v: Float64Array): void {
  const length = v.reduce((sum, x) => sum + x * x, 0);
  if (length === 0) return;
  const w = new Float64Array(n);
  for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) w[i] += (a[i * n + j] * v[j] * 2) / length;
  const inner = v.reduce((sum, x, i) => sum + x * w[i], 0) / length;
  for (let i = 0; i < n; i++) w[i] -= inner * v[i];
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      a[i * n + j] -= v[i] * w[j] + w[i] * v[j];
    }
  }
}
