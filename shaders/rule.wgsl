// The expectation by whichever rule was asked for: no nodes means the closed form. Needs p.nodes and `rule`.

fn expectation(m: f32, variance: f32) -> Expectation {
  if (p.nodes == 0u) {
    return closedExpectation(m, variance);
  }
  let a = abs(m);
  let deviation = sqrt(max(variance, 0.0));
  var sum = Expectation(0.0, 0.0, 0.0);
  for (var i = 0u; i < p.nodes; i++) {
    let weight = rule[p.nodes + i];
    let one = nodeExpectation(a, deviation, rule[i]);
    sum.value += weight * one.value;
    sum.probability += weight * one.probability;
    sum.slope += weight * one.slope;
  }
  return mirrored(m, sum);
}
