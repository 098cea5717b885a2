"""Data of other shapes: ever more columns, many rows, many classes."""

import numpy as np
from measure import Case
from sets import long_tailed
from sklearn.base import clone
from sklearn.datasets import load_digits, make_classification
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import train_test_split
from sklearn.svm import LinearSVC

from cases.task import Task
from certifeature import BSSSelector, LPSVMSelector, certify
from certifeature.rows import ArrayBlocks

# CPU seconds for a million columns, and for ten.
GROWTH = {10**6: 2.5, 10**7: 30.0}


def growth(n_features):
    """Ever more columns: 2,000 rows, three values a column."""
    rng = np.random.default_rng(0)
    X = long_tailed(rng, 2_000, n_features, max(50, 3 * n_features // 2_000))
    y = rng.integers(0, 2, 2_000)

    def work():
        BSSSelector(300).fit(X, y)
        size = (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) / 2**20
        return lambda: {"note": f"{X.nnz:,} values, {size:,.0f} MiB"}

    bar = GROWTH.get(n_features)
    bars = {f"BSS ≤ {bar:g} s": lambda s: s["BSS"] <= bar} if bar else {}
    return Case(f"growth, d = {n_features:,}, r = 300", {"BSS": work}, bars=bars)


def clicks():
    """Many short rows of very many columns, in memory and in blocks."""
    rng = np.random.default_rng(0)
    X = long_tailed(rng, 200_000, 1_000_000, 29)
    weights = np.zeros(X.shape[1])
    weights[(len(weights) * rng.random(3_000) ** 3).astype(int)] = rng.standard_normal(3_000)
    y = np.where(X @ weights + 0.5 * rng.standard_normal(len(X.indptr) - 1) > 0, 1, -1)
    blocks = ArrayBlocks(X, y, n_rows=20_000)

    def fit(estimator, *data):
        return lambda: clone(estimator).fit(*data) and None

    contenders = {
        "LinearSVC": fit(LinearSVC(random_state=0), X, y),
        "BSS": fit(BSSSelector(300), X, y),
        "BSS, in blocks": fit(BSSSelector(300), blocks),
    }
    return Case(
        "200,000 × 1,000,000 sparse, 29 values a row, r = 300",
        contenders,
        bars={
            "BSS ≤ 3 LinearSVC": lambda s: s["BSS"] <= 3 * s["LinearSVC"],
            "in blocks ≤ 6 LinearSVC": lambda s: s["BSS, in blocks"] <= 6 * s["LinearSVC"],
        },
    )


def tall():
    """Many rows of few columns."""
    X, y = make_classification(220_000, 20, n_informative=10, random_state=0)
    svm = LinearSVC(dual=False)
    task = Task(X[:200_000], y[:200_000], X[200_000:], y[200_000:], svm)
    fit = "LinearSVC(dual=False)"
    return Case(
        "tall, 200,000 × 20 dense, r = 10",
        {fit: task.fit_full, "BSS": task.select(BSSSelector(10))},
        bars={"BSS ≤ 3 fits": lambda s: s["BSS"] <= 3 * s[fit]},
    )


def digits():
    """The 1-norm SVM of ten classes, and a certificate."""
    X, X_test, y, y_test = train_test_split(*load_digits(return_X_y=True), random_state=0)
    task = Task(X, y, X_test, y_test, LinearSVC(dual=False))
    best = SelectKBest(k=20).fit(X, y)
    return Case(
        f"digits, {X.shape[0]:,} × {X.shape[1]}, ten classes",
        {
            "LinearSVC(dual=False)": task.fit_full,
            "LPSVM": task.select(LPSVMSelector()),
            "certify": lambda: certify(X, y, best) and None,
        },
        bars={
            "LPSVM ≤ 10 s": lambda s: s["LPSVM"] <= 10,
            "certify ≤ 1 s": lambda s: s["certify"] <= 1,
        },
    )
