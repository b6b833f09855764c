// The squared exponential of the kernel, from inner products: |x - z|^2 / l^2, and v exp(-|x - z|^2 / 2 l^2).

const LINEAR = 1u;
const SQUARED_EXPONENTIAL = 2u;

/** |x - z|^2 / l^2, never negative. */
fn scaledDistance(rowSquare: f32, columnSquare: f32, product: f32, logLength: f32) -> f32 {
  let length = exp(logLength);
  return max(rowSquare + columnSquare - 2.0 * product, 0.0) / (length * length);
}

fn squaredExponential(distance: f32, logVariance: f32) -> f32 {
  return exp(logVariance - 0.5 * distance);
}
