// Gauss-Hermite rules for E g(x), x ~ N(0, 1), as assembly/quadrature.ts makes them.

/** Roots below x of the n-th Hermite polynomial: Sturm's count of eigenvalues of its Jacobi matrix. */
function rootsBelow(n: number, x: number): number {
  let d = -x;
  let below = d < 0 ? 1 : 0;
  for (let i = 1; i < n; i++) {
    // A pivot of 0 stands for one that is positive and tiny.
    d = -x - i / (d === 0 ? 1e-300 : d);
    if (d < 0) below++;
  }
  return below;
}

/** h_n(x) and h_{n-1}(x) of the orthonormal Hermite polynomials. */
function hermite(n: number, x: number): [number, number] {
  let [before, h] = [0, 1];
  for (let k = 1; k <= n; k++) [before, h] = [h, (x * h - Math.sqrt(k - 1) * before) / Math.sqrt(k)];
  return [h, before];
}

/** n nodes, ascending, then their n weights: bisection, Newton steps, weights 1 / (n h_{n-1}^2). */
export function hermiteRule(n: number): Float32Array {
  const out = new Float32Array(2 * n);
  for (let i = 0; i < Math.ceil(n / 2); i++) {
    // Root i from the top; the middle one of an odd rule is 0.
    const isMiddle = 2 * i + 1 === n;
    let [low, high, x] = [0, 2 * Math.sqrt(n), 0];
    for (let step = 0; step < 32 && !isMiddle; step++) {
      x = 0.5 * (low + high);
      if (rootsBelow(n, x) >= n - i) high = x;
      else low = x;
    }
    for (let step = 0; step < 3 && !isMiddle; step++) {
      const [h, before] = hermite(n, x);
      x -= h / (Math.sqrt(n) * before);
    }
    const before = hermite(n, x)[1];
    const weight = 1 / (n * before * before);
    out[n - 1 - i] = x;
    out[i] = -x;
    out[2 * n - 1 - i] = weight;
    out[n + i] = weight;
  }
  return out;
}
