// How step lengths and the weight of the KL change over a training.

/** cos(x) for x in [0, pi] by its series: the host's cosine is not the same everywhere. */
function cosine(x: number): number {
  // cos x = 1 - 2 sin^2(x / 2), with x / 2 in [0, pi / 2]
  const half = x / 2;
  const square = half * half;
  let term = half;
  let sine = half;
  for (let k = 1; k <= 12; k++) {
    term *= -square / (2 * k * (2 * k + 1));
    sine += term;
  }
  return 1 - 2 * sine * sine;
}

/** From 1 at the first step down to 0 after the last, along half a cosine. */
export function cosineDecay(step: number, steps: number): number {
  return (1 + cosine((Math.PI * step) / steps)) / 2;
}

/** From `start` to `end`, rising linearly over the first `part` of the steps. */
export function warmUp(step: number, steps: number, start: number, end: number, part: number): number {
  const length = part * steps;
  if (length <= 0 || step >= length) return end;
  return start + ((end - start) * step) / length;
}
