"""One-vs-rest logistic regression and fastText on rows that the bench wrote, each as it comes and with isotonic regression: honest.py
TRAIN TEST, a line of JSON for each.

Figures are computed here from the definitions, apart from ours: P@1/3/5 in percent; log loss and Brier score a point; the
calibration error of the best five labels of each point (ECE@5: 15 bins of equal width) and the bias of what is said with at
least 5 %, in percentage points; processor seconds of training. C is chosen by 3-fold cross-validation on the training rows, by the log loss
of a hundred labels. Isotonic regression is cross-fitted: one curve for all labels (as Ullah et al., arXiv:2411.04276), fitted to the
predictions of three models, each for the third of the training rows that it has not seen, and put behind the model of all rows."""

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import scipy.sparse as sparse
from joblib import Parallel, delayed
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

JOBS = int(os.environ.get("JOBS", 2))
FOLDS = 3
CHOICES = (1.0, 3.0, 10.0, 30.0)
LOOKED_AT = 100


def read(path):
    with open(path) as file:
        rows, columns, labels = map(int, file.readline().split())
        x, y = ([], [], []), ([], [])
        for i, line in enumerate(file):
            own, _, rest = line.rstrip("\n").partition(" ")
            for label in filter(None, own.split(",")):
                y[0].append(i)
                y[1].append(int(label))
            for entry in rest.split():
                j, value = entry.split(":")
                x[0].append(i)
                x[1].append(int(j))
                x[2].append(float(value))
    features = sparse.csr_matrix((x[2], (x[0], x[1])), (rows, columns))
    return features, sparse.csc_matrix((np.ones(len(y[0])), y), (rows, labels)).minimum(1)


def processor_seconds():
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def figures(who, said, truth, seconds):
    kept = np.asarray(truth.sum(1)).ravel() > 0
    said, came = said[kept], truth.tocsr()[kept].toarray()
    best = np.argsort(-said, axis=1, kind="stable")[:, :5]
    hits = np.take_along_axis(came, best, 1)
    clipped = np.clip(said, 1e-7, 1 - 1e-7)
    loss = -(came * np.log(clipped) + (1 - came) * np.log(1 - clipped)).sum(1).mean()
    p, t = np.take_along_axis(said, best, 1).ravel(), hits.ravel()
    bins = np.minimum((p * 15).astype(int), 14)
    error = sum(abs((p - t)[bins == b].sum()) for b in range(15)) / len(p)
    likely = said >= 0.05
    result = {
        "who": who,
        "P": [100 * hits[:, :k].mean() for k in (1, 3, 5)],
        "logloss": loss,
        "brier": ((said - came) ** 2).sum(1).mean(),
        "ece5": 100 * error,
        "bias": 100 * (said[likely].mean() - came[likely].mean()),
        "seconds": seconds,
    }
    print(json.dumps(result), flush=True)


def probabilities(x, present, test, c):
    if present.sum() == 0 or present.sum() == len(present):
        return np.full(test.shape[0], float(present.mean()))
    # The same optimum by either way; that of the points is the faster one where there are fewer of them.
    way = dict(dual=True, max_iter=1000) if x.shape[0] < x.shape[1] else {}
    model = LogisticRegression(C=c, solver="liblinear", **way).fit(x, present)
    return model.predict_proba(test)[:, 1]


def column(y, label):
    return np.asarray(y[:, label].todense()).ravel()


def chosen_c(x, y):
    frequent = np.argsort(-np.asarray(y.sum(0)).ravel(), kind="stable")
    frequent = frequent[: max(1, int((np.asarray(y.sum(0)).ravel() >= 3).sum()))]
    looked_at = frequent[np.linspace(0, len(frequent) - 1, min(LOOKED_AT, len(frequent))).astype(int)]
    fold = np.random.default_rng(0).integers(0, 3, x.shape[0])

    def loss(c, label):
        present, total = column(y, label), 0.0
        for part in range(3):
            inside, outside = fold != part, fold == part
            p = np.clip(probabilities(x[inside], present[inside], x[outside], c), 1e-7, 1 - 1e-7)
            total -= np.where(present[outside] > 0, np.log(p), np.log(1 - p)).sum()
        return total

    sums = {c: sum(Parallel(n_jobs=JOBS)(delayed(loss)(c, label) for label in looked_at)) for c in CHOICES}
    return min(sums, key=sums.get)


def folds_of(rows):
    return np.random.default_rng(0).integers(0, FOLDS, rows)


def isotonic(predict, x, y, test, said):
    """What was said, through a curve fitted to predictions for rows that their model has not seen."""
    fold, left_out = folds_of(x.shape[0]), np.zeros(y.shape, np.float32)
    for part in range(FOLDS):
        inside, outside = fold != part, fold == part
        left_out[outside] = predict(x[inside], y.tocsr()[inside].tocsc(), x[outside])
    curve = IsotonicRegression(out_of_bounds="clip").fit(left_out.ravel(), y.toarray().ravel())
    return curve.predict(said.ravel()).reshape(said.shape)


def compared(who, predict, x, y, test, truth, begin):
    said = predict(x, y, test)
    figures(who, said, truth, processor_seconds() - begin)
    figures(f"{who}, isotonic", isotonic(predict, x, y, test, said), truth, processor_seconds() - begin)


def one_vs_rest(x, y, test, truth):
    begin = processor_seconds()
    c = chosen_c(x, y)

    def predict(x, y, test):
        labels = Parallel(n_jobs=JOBS)(delayed(probabilities)(x, column(y, k), test, c) for k in range(y.shape[1]))
        return np.array(labels).T

    compared(f"one-vs-rest, C = {c:g}", predict, x, y, test, truth, begin)


def fast_text(x, y, test, truth):
    if shutil.which("fasttext") is None:
        print("fastText is not compared: no such command", file=sys.stderr)
        return
    begin = processor_seconds()
    # It aborts where its numbers run away (Delicious, at 0.5).
    for rate in ("0.5", "0.1", "0.02"):
        try:
            predict = lambda x, y, test: fast_text_said(x, y, test, rate)
            return compared(f"fastText, rate {rate}", predict, x, y, test, truth, begin)
        except subprocess.CalledProcessError:
            continue
    print("fastText is not compared: it aborts at every learning rate", file=sys.stderr)


def fast_text_said(x, y, test, rate):
    with tempfile.TemporaryDirectory() as folder:

        def write(name, rows, labels):
            with open(f"{folder}/{name}", "w") as file:
                for i in range(rows.shape[0]):
                    own = labels.indices[labels.indptr[i] : labels.indptr[i + 1]] if labels is not None else []
                    words = rows.indices[rows.indptr[i] : rows.indptr[i + 1]]
                    file.write(" ".join([f"__label__{k}" for k in own] + [f"w{j}" for j in words]) + "\n")

        write("train.txt", x, y.tocsr())
        write("test.txt", test, None)
        options = "-loss ova -dim 100 -epoch 30 -thread 1 -verbose 0 -minCount 1".split()
        files = ["-input", f"{folder}/train.txt", "-output", f"{folder}/model"]
        learn = ["fasttext", "supervised", *files, *options, "-lr", rate]
        subprocess.run(learn, stderr=subprocess.DEVNULL, check=True)
        asked = ["fasttext", "predict-prob", f"{folder}/model.bin", f"{folder}/test.txt", str(y.shape[1])]
        lines = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split("\n")
    said = np.zeros((test.shape[0], y.shape[1]))
    for i, line in enumerate(lines[: test.shape[0]]):
        words = line.split()
        for label, p in zip(words[::2], words[1::2]):
            said[i, int(label[len("__label__") :])] = min(1, float(p))
    return said


if __name__ == "__main__":
    (x, y), (test, truth) = read(sys.argv[1]), read(sys.argv[2])
    one_vs_rest(x, y, test, truth)
    fast_text(x, y, test, truth)
