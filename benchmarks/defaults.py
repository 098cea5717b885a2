"""Measure the rankings and scalings of BSSSelector on real data, beside the baselines.

Usage: ``python benchmarks/defaults.py FOLDER`` (the README says what FOLDER holds). Prints a
Markdown table of mean test errors over five stratified folds of every task, with C = 1 everywhere.
"""

import sys
import warnings
from pathlib import Path
from time import perf_counter

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sets import data_set, directory_pairs
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.feature_selection import RFE
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

from certifeature import BSSSelector, LeverageScoreSelector, RandomSelector, RRQRSelector

GENES = ("microarray_alon", "microarray_golub", "microarray_gravier", "microarray_shipp")
TEXTS = ("PCMAC", "BASEHOCK", "movie_reviews", "farm_ads")


def groups(folder):
    """Yield name, tasks, preprocessing, SVM and number of features of each group of tasks."""
    pairs = list(directory_pairs(folder))
    svm = SVC(kernel="linear")
    yield f"{len(pairs)} web pairs, r = 300", pairs, TfidfTransformer(), svm, 300
    yield f"{len(pairs)} web pairs, r = 100", pairs, TfidfTransformer(), svm, 100
    genes = [data_set(folder, name) for name in GENES]
    dense = make_pipeline(FunctionTransformer(sparse.csr_matrix.toarray), StandardScaler())
    for size in (200, 50):
        yield f"{len(genes)} microarrays, r = {size}", genes, dense, svm, size
    texts = [data_set(folder, name) for name in TEXTS]
    liblinear = LinearSVC(random_state=0)
    yield f"{len(texts)} larger texts, r = 300", texts, TfidfTransformer(), liblinear, 300


def methods(svm, size):
    yield "full data", None
    yield "RFE(step=0.1)", RFE(svm, n_features_to_select=size, step=0.1)
    for rescale in (True, False):
        for order in ("coef", "rfe", "leverage"):
            name = f"BSS, {order}, {'scaled' if rescale else 'plain'}"
            yield name, BSSSelector(size, order=order, rescale=rescale, estimator=svm)
    yield "BSS, unsupervised, scaled", BSSSelector(size, supervised=False)
    yield "leverage sampling, scaled", LeverageScoreSelector(size, estimator=svm)
    yield "RRQR, plain", RRQRSelector(size, estimator=svm, rescale=False)
    yield "random, scaled", RandomSelector(size, estimator=svm)


def evaluate(X, y, preprocessing, svm, size):
    """Return the errors (method → one for each fold) and selection times of one task."""
    warnings.simplefilter("ignore")  # LIBLINEAR's convergence, the same for every method.
    errors, seconds = {}, {}
    with threadpool_limits(1):
        for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
            X_train = preprocessing.fit_transform(X[train])
            X_test = preprocessing.transform(X[test])
            for name, selector in methods(svm, size):
                rows, unseen = X_train, X_test
                start = perf_counter()
                if selector is not None:
                    if "random_state" in selector.get_params():
                        selector.set_params(random_state=0)
                    rows = selector.fit_transform(X_train, y[train])
                    unseen = selector.transform(X_test)
                seconds.setdefault(name, []).append(perf_counter() - start)
                error = 1 - svm.fit(rows, y[train]).score(unseen, y[test])
                errors.setdefault(name, []).append(error)
    return errors, seconds


def main(folder):
    columns = {}
    for title, tasks, *setting in groups(Path(folder)):
        results = Parallel(-1)(delayed(evaluate)(X, y, *setting) for X, y in tasks)
        columns[title] = {
            name: (
                np.mean([errors[name] for errors, _ in results]),
                np.mean([seconds[name] for _, seconds in results]),
            )
            for name in results[0][0]
        }
        print(f"{title}: done", file=sys.stderr, flush=True)
    print("| method | " + " | ".join(columns) + " |")
    print("|---" * (len(columns) + 1) + "|")
    for name in next(iter(columns.values())):
        cells = (
            f"{error:.3f} ({time:.2f} s)" for error, time in (c[name] for c in columns.values())
        )
        print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main(sys.argv[1])
