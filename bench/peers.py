"""The Python side of the benchmarks: a line of JSON in, the work done once, a line of JSON with its milliseconds out."""

import json
import sys
import time

import numpy as np
import scipy.linalg.lapack as lapack
import scipy.sparse as sparse
from scipy.special import expit
from sklearn.utils.extmath import randomized_svd

cache = {}


def dense(n, dtype, seed):
    key = ("dense", n, dtype, seed)
    if key not in cache:
        cache[key] = np.random.default_rng(seed).uniform(-1, 1, (n, n)).astype(dtype)
    return cache[key]


def positive(n, dtype):
    key = ("positive", n, dtype)
    if key not in cache:
        x = dense(n, dtype, 1)
        cache[key] = np.asfortranarray(x @ x.T + n * np.eye(n, dtype=dtype))
    return cache[key]


def factor(n, dtype):
    key = ("factor", n, dtype)
    if key not in cache:
        cache[key] = np.asfortranarray(np.linalg.cholesky(positive(n, dtype)))
    return cache[key]


def csr(path, rows, columns):
    if path not in cache:
        start = np.fromfile(path + ".start", dtype=np.int32)
        column = np.fromfile(path + ".column", dtype=np.int32)
        value = np.fromfile(path + ".value", dtype=np.float32)
        cache[path] = sparse.csr_matrix((value, column, start), shape=(rows, columns))
    return cache[path]


def gemm(n, dtype):
    a, b = dense(n, dtype, 1), dense(n, dtype, 2)
    return lambda: a @ b


def cholesky(n, dtype):
    a = positive(n, dtype)
    routine = lapack.spotrf if dtype == "float32" else lapack.dpotrf
    return lambda: routine(a, lower=1)


def solve(n, dtype):
    l, b = factor(n, dtype), np.asfortranarray(dense(n, dtype, 2))
    routine = lapack.strtrs if dtype == "float32" else lapack.dtrtrs
    return lambda: routine(l, b, lower=1)


def inverse(n, dtype):
    l = factor(n, dtype)
    routine = lapack.spotri if dtype == "float32" else lapack.dpotri
    return lambda: routine(l, lower=1)


def times(path, rows, columns, n):
    x, b = csr(path, rows, columns), np.ones((columns, n), dtype=np.float32)
    return lambda: x @ b


def transpose_times(path, rows, columns, n):
    x, b = csr(path, rows, columns), np.ones((rows, n), dtype=np.float32)
    return lambda: x.T @ b


def quadrature(rows, columns, nodes):
    rng = np.random.default_rng(3)
    mean = rng.normal(-3, 2, (rows, columns)).astype(np.float32)
    sd = np.sqrt(rng.uniform(0, 4, (rows, columns))).astype(np.float32)
    x, w = np.polynomial.hermite_e.hermegauss(nodes)
    w = (w / w.sum()).astype(np.float32)
    x = x.astype(np.float32)

    def work():
        value = np.zeros_like(mean)
        slope = np.zeros_like(mean)
        curve = np.zeros_like(mean)
        for node, weight in zip(x, w):
            f = mean + sd * node
            p = expit(f)
            value += weight * np.logaddexp(0, f)
            slope += weight * p
            curve += weight * p * (1 - p)
        return value, slope, curve

    return work


def svd(path, rows, columns, rank, iterations):
    x = csr(path, rows, columns)
    result = {}

    def work():
        result["v"] = randomized_svd(x, rank, n_iter=iterations, random_state=0)[2]

    def residual():
        v = result["v"]
        energy = float((x.data.astype(np.float64) ** 2).sum())
        return float(np.sqrt(max(0.0, energy - float(((x @ v.T).astype(np.float64) ** 2).sum())) / energy))

    work.residual = residual
    return work


def step(m, b, r, p, k, shared, nodes):
    """One bound with all gradients and Adam, as a careful numpy user would write it; nodes = 0 leaves the quadrature out."""
    rng = np.random.default_rng(5)
    f32 = np.float32
    normal = lambda *shape: (rng.uniform(-1, 1, shape) / 20).astype(f32)
    params = {"A": normal(m, r), "mu": normal(m, p), "phi": normal(k, p), "bias": np.full(k, -5, f32)}
    params["log_sigma"] = np.zeros((1 if shared else p, m), f32)
    first = {name: np.zeros_like(value) for name, value in params.items()}
    second = {name: np.zeros_like(value) for name, value in params.items()}
    proj = (rng.uniform(-1, 1, (b, r)) / np.sqrt(r)).astype(f32)
    rows = np.repeat(np.arange(b), 5)
    columns = (np.arange(5 * b) * 7) % k
    node, weight = np.polynomial.hermite_e.hermegauss(max(nodes, 1))
    node, weight = node.astype(f32), (weight / weight.sum()).astype(f32)
    groups = 1 if shared else p
    share = p / groups

    def likelihood(f, v):
        g, h = np.zeros_like(f), np.zeros_like(f)
        if nodes == 0:
            return g + f32(0.01), h + f32(0.01)
        sd = np.sqrt(v)
        for x, w in zip(node, weight):
            q = expit(f + sd * x)
            g += w * q
            h += (w / 2) * q * (1 - q)
        g[rows, columns] -= 1
        return g, h

    def work():
        a, mu, phi = params["A"], params["mu"], params["phi"]
        kz, kx = a @ a.T, proj @ a.T
        kxx = np.ones(b, f32)
        sigma = np.exp(params["log_sigma"]) + f32(1e-6)
        inverses, ws, s = [], [], np.empty((groups, b), f32)
        for q in range(groups):
            c = kz.copy()
            c[np.diag_indices(m)] += sigma[q]
            l, _ = lapack.spotrf(c, lower=1)
            inverse, _ = lapack.spotri(l, lower=1)
            inverse = np.tril(inverse) + np.tril(inverse, -1).T
            w = kx @ inverse
            s[q] = kxx - (kx * w).sum(1)
            inverses.append(inverse)
            ws.append(w)
        mean = kx @ mu
        f = mean @ phi.T + params["bias"]
        square = phi * phi
        v = np.outer(s[0], square.sum(1)) if shared else s.T @ square.T
        g, h = likelihood(f, np.maximum(v, 0))
        g *= f32(-20)
        h *= f32(-20)
        grad = {"bias": g.sum(0), "phi": g.T @ mean}
        big_g = g @ phi
        if shared:
            grad["phi"] += 2 * phi * (h.T @ s[0])[:, None]
            big_h = (h @ square.sum(1))[None]
        else:
            grad["phi"] += 2 * phi * (h.T @ s.T)
            big_h = square.T @ h.T
        grad["mu"] = kx.T @ big_g - kz @ mu
        dkz = f32(-0.5) * (mu @ mu.T)
        dkx = big_g @ mu.T
        grad["log_sigma"] = np.empty_like(sigma)
        for q in range(groups):
            w, inverse = ws[q], inverses[q]
            hw = w * big_h[q][:, None]
            dkx -= 2 * hw
            t = w.T @ hw
            qq = (inverse * sigma[q]) @ inverse
            grad["log_sigma"][q] = sigma[q] * (np.diag(t) + share * (0.5 * np.diag(qq) - np.diag(inverse) + 0.5 / sigma[q]))
            dkz += t + f32(share / 2) * (qq - inverse)
        grad["A"] = 2 * dkz @ a + dkx.T @ proj
        for name, value in params.items():
            first[name] += f32(0.1) * (grad[name] - first[name])
            second[name] += f32(0.001) * (grad[name] ** 2 - second[name])
            value += f32(1e-3) * first[name] / (np.sqrt(second[name]) + f32(1e-8))

    return work


def some_labels(rows, labels):
    """Five labels a row, as bench/closed.ts has them."""
    i = np.arange(rows)[:, None]
    y = np.zeros((rows, labels), np.float32)
    y[i, (31 * i + 97 * np.arange(5) ** 2 + i // 8) % labels] = 1
    return y


def exact(path, rows, columns, labels, noise):
    """The exact Gaussian process with the SE kernel: dual weights and leave-one-out scores, in place where LAPACK can."""
    x, y = csr(path, rows, columns), some_labels(rows, labels)

    def work():
        k = np.asfortranarray((x @ x.T.toarray()).T)
        k -= np.float32(1)
        np.exp(k, out=k)
        k[np.diag_indices(rows)] += np.float32(noise)
        factor, _ = lapack.spotrf(k, lower=1, overwrite_a=1)
        centred = np.asfortranarray(y - y.mean(0))
        dual, _ = lapack.spotrs(factor, centred, lower=1, overwrite_b=1)
        inverse, _ = lapack.spotri(factor, lower=1, overwrite_c=1)
        return y - dual / inverse.diagonal()[:, None]

    return work


def inducing_points(path, rows, columns, labels, inducing, noise):
    """Features of inducing points: sums in double precision over blocks in single, then one solve."""
    x, y = csr(path, rows, columns), some_labels(rows, labels)

    def work():
        z = x[:inducing].toarray()
        kz = np.exp(z @ z.T - 1).astype(np.float64)
        kz[np.diag_indices(inducing)] += 1e-6
        whitening = np.linalg.inv(np.linalg.cholesky(kz)).astype(np.float32)
        gram, cross = np.zeros((inducing, inducing)), np.zeros((inducing, labels))
        for start in range(0, rows, 1024):
            f = np.exp(x[start : start + 1024] @ z.T - np.float32(1)) @ whitening.T
            gram += f.T @ f
            cross += f.T @ y[start : start + 1024]
        gram[np.diag_indices(inducing)] += noise
        factor, _ = lapack.dpotrf(gram, lower=1)
        return lapack.dpotrs(factor, cross, lower=1)

    return work


works = {f.__name__: f for f in (gemm, cholesky, solve, inverse, times, transpose_times, quadrature, svd, step, exact, inducing_points)}
prepared = {}

for line in sys.stdin:
    request = json.loads(line)
    try:
        if line not in prepared:
            prepared[line] = works[request.pop("work")](**request)
        work = prepared[line]
        begin = time.perf_counter()
        work()
        answer = {"milliseconds": 1000 * (time.perf_counter() - begin)}
        if hasattr(work, "residual"):
            answer["residual"] = work.residual()
    except Exception as error:
        answer = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(answer), flush=True)
