// E sigmoid(f) for f ~ N(mean, variance), as the quadrature kernel of the core has it in double precision: far from zero
// a series in e^f, else the logistic function as a mixture of normal distribution functions. Only + - * / and sqrt, so
// that every runtime gives the same bits. Worst error 1e-10.

import { deterministicExp } from "../base/math.ts";

/** tau^2 and w / sqrt(2 pi) of sigmoid(f) = sum w Phi(f / tau). */
const MIXTURE: readonly number[] = [
  0.43728955071932574, 0.0001984394416984369, 0.6899023185997808, 0.00553776167814874, 1.0722421215953237,
  0.03523722498686739, 1.6806106109938537, 0.09093005288566701, 2.6670203821778418, 0.12125905773646128,
  4.255856991610666, 0.09353160922288066, 6.7388039147099095, 0.041786259839806494, 10.492727579534176,
  0.009576088875842735, 16.12295220630574, 0.0008687843879343836, 25.04236058637104, 1.7001346125632186e-5,
];
/** Mills' ratio Phi(-t) / phi(t) as a polynomial in 1 / (1 + 0.24 t) without constant term, highest power first. */
const MILLS: readonly number[] = [
  0.01664716531839759, -0.12381819225047501, 0.3836409089898856, -0.630487470190513, 0.6074825398703348,
  -0.4251752924095762, 0.23761033599543713, -0.006357351270850663, 0.13267427458617662, 0.15599462962482843,
  0.1989601551084239, 0.2261408016201097, 0.24000166694169445, 0.23999996538156979,
];
const MILLS_STEP = 0.24;
/** sigmoid(f) = e^f + sum c[k] e^{kf} in the tail, k = 2 ... 6. */
const TERMS: readonly number[] = [
  -0.9999985523012895, 0.9998756238942712, -0.9961087006454191, 0.9440919532095005, -0.6283877140481324,
];
const TAIL_SLOPE = 4;
const TAIL_BOUND = -2.8;

/** The probability of a label whose utility has this mean and variance. */
export function labelProbability(mean: number, variance: number): number {
  const away = Math.abs(mean);
  const below = TAIL_SLOPE * variance - away < TAIL_BOUND ? tail(away, variance) : mixture(away, variance);
  return mean > 0 ? 1 - below : below;
}

/** E e^{kf} = e^{-k away + k^2 v/2}: each term is the one before times a ratio that grows by e^v. */
function tail(away: number, variance: number): number {
  let term = deterministicExp(variance / 2 - away);
  // Kept finite: where it would not be, the first term is 0.
  const growth = deterministicExp(Math.min(variance, 700));
  let ratio = term * growth;
  let sum = term;
  for (const coefficient of TERMS) {
    term *= ratio;
    ratio *= growth;
    sum += coefficient * term;
  }
  return sum;
}

/** sum w Phi(-t), t = away / sqrt(v + tau^2). */
function mixture(away: number, variance: number): number {
  let sum = 0;
  for (let i = 0; i < MIXTURE.length; i += 2) {
    const square = variance + MIXTURE[i];
    const deviation = Math.sqrt(square);
    const k = deviation / (deviation + MILLS_STEP * away);
    let mills = 0;
    for (const coefficient of MILLS) mills = (mills + coefficient) * k;
    sum += MIXTURE[i + 1] * deterministicExp((-0.5 * away * away) / square) * mills;
  }
  return sum;
}
