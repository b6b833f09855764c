"""Suspicious labels by one-vs-rest logistic regression with cross-validation, as cleanlab finds them: audit.py ROWS OUT.

Each pair of a row and a label is ranked by its self-confidence: the probability that models which have not seen the row give to what
the data say of the pair. Five folds, C = 10. OUT gets `row label self-confidence` of the pairs below 1/2, least first."""

import sys

import numpy as np
from honest import read
from joblib import Parallel, delayed
from sklearn.linear_model import LogisticRegression


def column(x, y, folds):
    said = np.zeros(x.shape[0])
    for fold in range(5):
        held = folds == fold
        own = y[~held]
        if own.min() == own.max():
            said[held] = own[0]
            continue
        model = LogisticRegression(C=10, solver="liblinear").fit(x[~held], own)
        said[held] = model.predict_proba(x[held])[:, 1]
    return said


x, y = read(sys.argv[1])
folds = np.random.default_rng(0).integers(0, 5, x.shape[0])
columns = [y[:, k].toarray().ravel() for k in range(y.shape[1])]
said = np.array(Parallel(n_jobs=2)(delayed(column)(x, own, folds) for own in columns)).T
given = np.array(columns).T
confidence = np.where(given > 0, said, 1 - said)
rows, labels = np.nonzero(confidence < 0.5)
order = np.argsort(confidence[rows, labels], kind="stable")
with open(sys.argv[2], "w") as out:
    for i in order:
        out.write(f"{rows[i]} {labels[i]} {confidence[rows[i], labels[i]]}\n")
