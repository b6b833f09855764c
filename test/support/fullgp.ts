// The variational bound of the full Gaussian process (the paper's appendix), without inducing inputs and with every
// inverse and determinant written out: plain loops in double precision.
//
//   q(h_p) = N(K mu_p, S_p),  S_p = (K^-1 + Lambda_p)^-1,  Lambda_p = Sigma_p^-1 diagonal
//   F = - sum_i sum_k E log(1 + exp(-y f)) - sum_p KL[q(h_p) || N(0, K)]

export type Square = number[][];

export interface FullProblem {
  /** k(X, X) [N,N] */
  K: Square;
  /** Labels present at each point. */
  labels: number[][];
  /** mu [N,P], sigma [N,P], Phi [K,P], b [K] */
  mu: number[][];
  sigma: number[][];
  Phi: number[][];
  b: number[];
}

const at = (rows: number[][], i: number, j: number): number => rows[i]?.[j];
const column = (rows: number[][], j: number): number[] => rows.map((row) => row[j]);
const dot = (a: number[], b: number[]): number => a.reduce((sum, value, i) => sum + value * b[i], 0);

/** Inverse and logarithm of the determinant by Gauss and Jordan, for a positive definite matrix. */
export function inverse(a: Square): { inverse: Square; logDeterminant: number } {
  const n = a.length;
  const work = a.map((row, i) => [...row, ...row.map((_, j) => (i === j ? 1 : 0))]);
  let logDeterminant = 0;
  for (let k = 0; k < n; k++) {
    const pivot = at(work, k, k);
    logDeterminant += Math.log(pivot);
    work[k] = work[k].map((value) => value / pivot);
    for (let i = 0; i < n; i++) {
      const factor = at(work, i, k);
      if (i !== k) work[i] = work[i].map((value, j) => value - factor * at(work, k, j));
    }
  }
  return { inverse: work.map((row) => row.slice(n)), logDeterminant };
}

/** E g(f), f ~ N(mean, variance): the trapezoidal rule, which converges exponentially here. */
export function expectation(g: (f: number) => number, mean: number, variance: number): number {
  const [steps, reach] = [600, 12];
  let sum = 0;
  for (let s = 0; s <= steps; s++) {
    const z = -reach + (2 * reach * s) / steps;
    sum += g(mean + Math.sqrt(variance) * z) * Math.exp((-z * z) / 2);
  }
  return (sum * 2 * reach) / steps / Math.sqrt(2 * Math.PI);
}

export const sigmoid = (f: number): number => 1 / (1 + Math.exp(-f));
const loss = (f: number): number => (f > 0 ? Math.log1p(Math.exp(-f)) : Math.log1p(Math.exp(f)) - f);

/** Mean and covariance of each q(h_p). */
function posteriors({ K, mu, sigma }: FullProblem): { mean: number[]; covariance: Square; log: number }[] {
  const prior = inverse(K).inverse;
  return mu[0].map((_, p) => {
    const precision = prior.map((row, i) => row.map((value, j) => value + (i === j ? 1 / at(sigma, i, p) : 0)));
    const { inverse: covariance, logDeterminant } = inverse(precision);
    return { mean: K.map((row) => dot(row, column(mu, p))), covariance, log: -logDeterminant };
  });
}

/** Mean and variance of every utility f_k at every point. */
function utilities(problem: FullProblem): { mean: number[][]; variance: number[][] } {
  const factors = posteriors(problem);
  const mean = problem.K.map((_, i) =>
    problem.Phi.map(
      (phi, k) =>
        dot(
          phi,
          factors.map((q) => q.mean[i]),
        ) + problem.b[k],
    ),
  );
  const variance = problem.K.map((_, i) =>
    problem.Phi.map((phi) =>
      dot(
        phi.map((value) => value * value),
        factors.map((q) => at(q.covariance, i, i)),
      ),
    ),
  );
  return { mean, variance };
}

export function fullBound(problem: FullProblem): number {
  const { K, labels, Phi } = problem;
  const { mean, variance } = utilities(problem);
  const prior = inverse(K);
  let bound = 0;
  for (let i = 0; i < K.length; i++) {
    for (let k = 0; k < Phi.length; k++) {
      const y = labels[i]?.includes(k) ? 1 : -1;
      bound -= expectation((f) => loss(y * f), at(mean, i, k), at(variance, i, k));
    }
  }
  for (const q of posteriors(problem)) {
    const quadratic = dot(
      q.mean,
      prior.inverse.map((row) => dot(row, q.mean)),
    );
    let trace = 0;
    prior.inverse.forEach((row, i) => {
      trace += dot(row, column(q.covariance, i));
    });
    bound -= (trace + quadratic - K.length + prior.logDeterminant - q.log) / 2;
  }
  return bound;
}

/**
 * The Sigma at which the bound is greatest: Lambda_p[i] = sum_k Phi[k,p]^2 E sigmoid(f) (1 - sigmoid(f)), the second
 * derivative of the loss, which itself depends on Sigma: repeated until it stays.
 */
export function optimalSigma(problem: FullProblem): number[][] {
  let sigma = problem.sigma;
  for (let round = 0; round < 60; round++) {
    const { mean, variance } = utilities({ ...problem, sigma });
    sigma = sigma.map((row, i) =>
      row.map((_, p) => {
        const curvature = problem.Phi.map((phi, k) => {
          const slope = (f: number): number => sigmoid(f) * sigmoid(-f);
          return phi[p] ** 2 * expectation(slope, at(mean, i, k), at(variance, i, k));
        });
        return 1 / curvature.reduce((sum, value) => sum + value, 0);
      }),
    );
  }
  return sigma;
}
