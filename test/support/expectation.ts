// Expectations under a Gaussian by a fine trapezoid rule, which shares nothing with kernels or shaders.

const softplus = (x: number): number => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
const sigmoid = (x: number): number => (x >= 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x)));

export interface Expected {
  value: number;
  slope: number;
  curve: number;
}

/** E log(1 + e^f), E sigmoid(f), E sigmoid'(f) / 2: a trapezoid of 4,000 steps over 12 deviations is exact to 1e-14. */
export function expectation(mean: number, deviation: number): Expected {
  const out = { value: 0, slope: 0, curve: 0 };
  const [steps, reach] = [4000, 12];
  let total = 0;
  for (let i = 0; i <= steps; i++) {
    const t = -reach + (2 * reach * i) / steps;
    const weight = Math.exp((-t * t) / 2);
    const f = mean + deviation * t;
    const p = sigmoid(f);
    out.value += weight * softplus(f);
    out.slope += weight * p;
    out.curve += (weight * p * sigmoid(-f)) / 2;
    total += weight;
  }
  return { value: out.value / total, slope: out.slope / total, curve: out.curve / total };
}
