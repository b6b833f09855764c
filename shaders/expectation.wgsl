// Expectations under a Gaussian utility f ~ N(m, v) of a label that is absent:
//
//   value = E log(1 + e^f)     probability = d value / dm = E sigmoid(f)     slope = d value / dv = E sigmoid'(f) / 2
//
// by the rules of assembly/quadrature.ts, whose comments say where the constants come from: a mixture of normal
// distribution functions and, far from zero, a series in e^f; or Gauss-Hermite nodes. All is computed for -|m|, where
// nothing cancels.
// import math

struct Expectation {
  value: f32,
  probability: f32,
  slope: f32,
}

const LOG2_E = 1.4426950408889634;

/** The series: term k is E e^{kf} = e^{-k|m| + k^2 v / 2}. */
fn tailExpectation(a: f32, v: f32) -> Expectation {
  let growth = exp2(LOG2_E * v);
  let term1 = exp2(LOG2_E * (0.5 * v - a));
  var ratio = term1 * growth;
  let term2 = term1 * ratio;
  ratio *= growth;
  let term3 = term2 * ratio;
  ratio *= growth;
  let term4 = term3 * ratio;
  ratio *= growth;
  let term5 = term4 * ratio;
  let term6 = term5 * (ratio * growth);
  let sums = vec3f(term1)
    + term2 * vec3f(-0.49991145293516936, -0.9998229058703387, -1.9996458117406775)
    + term3 * vec3f(0.33151772055813583, 0.9945531616744074, 2.9836594850232223)
    + term4 * vec3f(-0.23481053907980853, -0.9392421563192341, -3.7569686252769365)
    + term5 * vec3f(0.13765254899440574, 0.6882627449720287, 3.4413137248601435)
    + term6 * vec3f(-0.03795686931880832, -0.2277412159128499, -1.3664472954770994);
  return Expectation(sums.x, sums.y, 0.5 * sums.z);
}

/** Mills' ratio Phi(-t) / phi(t) from k = 1 / (1 + 0.35 t). */
fn millsRatio(k: f32) -> f32 {
  return k * (0.35017199461155246 + k * (0.34538872164962303 + k * (0.34922020719078833 + k * (0.042022987631916774
    + k * (0.5077645384638483 + k * (-0.450415338861484 + k * 0.10916111716749029))))));
}

/** One normal distribution function of the mixture: parts of value + a probability, of probability and of 2 slope. */
fn component(a: f32, v: f32, square: f32, weight: f32) -> vec3f {
  let g2 = v + square;
  let g = sqrt(g2);
  let e = weight * exp2(-0.5 * LOG2_E * a * a / g2);
  return e * vec3f(g, millsRatio(g / (g + 0.35 * a)), g / g2);
}

fn mixtureExpectation(a: f32, v: f32) -> Expectation {
  let sums = component(a, v, 0.6613108253161473, 0.006276606198512388)
    + component(a, v, 1.227884523462852, 0.07031475528962572)
    + component(a, v, 2.297452966272967, 0.1619661051654344)
    + component(a, v, 4.377616123083308, 0.12568879113359005)
    + component(a, v, 8.283305035247384, 0.03301029521654115)
    + component(a, v, 15.552407966082658, 0.001685727397729006);
  return Expectation(sums.x - a * sums.y, sums.y, 0.5 * sums.z);
}

/** f = -|m| + sqrt(v) x, one node x at a time. */
fn nodeExpectation(a: f32, deviation: f32, node: f32) -> Expectation {
  let f = deviation * node - a;
  let e = exp(-abs(f));
  let larger = 1.0 / (1.0 + e);
  let smaller = e * larger;
  return Expectation(max(f, 0.0) + log1pOf(e), select(larger, smaller, f < 0.0), 0.5 * smaller * larger);
}

/** Value and derivatives at m from those at -|m|. */
fn mirrored(m: f32, below: Expectation) -> Expectation {
  if (m > 0.0) {
    return Expectation(below.value + m, 1.0 - below.probability, below.slope);
  }
  return below;
}

fn closedExpectation(m: f32, variance: f32) -> Expectation {
  let a = abs(m);
  let v = max(variance, 0.0);
  if (3.5 * v - a < -1.9) {
    return mirrored(m, tailExpectation(a, v));
  }
  return mirrored(m, mixtureExpectation(a, v));
}
