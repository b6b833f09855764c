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


works = {f.__name__: f for f in (gemm, cholesky, solve, inverse, times, transpose_times, quadrature, svd)}
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
