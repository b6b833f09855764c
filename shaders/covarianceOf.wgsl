// The stationary term of a covariance, v g(t) with t = |x - z|^2 / l^2, by the numbers of src/base/kernels.ts: for each
// kernel its value and its slope -2 v g'(t).

const LINEAR = 1u;

/** |x - z|^2 / l^2, never negative. */
fn scaledDistance(rowSquare: f32, columnSquare: f32, product: f32, logLength: f32) -> f32 {
  let length = exp(logLength);
  return max(rowSquare + columnSquare - 2.0 * product, 0.0) / (length * length);
}

struct Stationary {
  value: f32,
  slope: f32,
}

fn stationary(family: u32, t: f32, logVariance: f32) -> Stationary {
  switch family {
    case 1u: {
      return squaredExponential(t, logVariance);
    }
    case 2u: {
      return matern32(t, logVariance);
    }
    default: {
      return matern52(t, logVariance);
    }
  }
}

fn squaredExponential(t: f32, logVariance: f32) -> Stationary {
  let value = exp(logVariance - 0.5 * t);
  return Stationary(value, value);
}

fn matern32(t: f32, logVariance: f32) -> Stationary {
  let u = sqrt(3.0 * t);
  let near = exp(logVariance - u);
  return Stationary((1.0 + u) * near, 3.0 * near);
}

fn matern52(t: f32, logVariance: f32) -> Stationary {
  let u = sqrt(5.0 * t);
  let near = exp(logVariance - u);
  return Stationary((1.0 + u + u * u / 3.0) * near, 5.0 / 3.0 * (1.0 + u) * near);
}
