"""Data of other shapes: ever more columns, many rows, many classes."""

import numpy as np
from measure import Case
from sets import long_tailed
from sklearn.datasets import load_digits, make_classification
from sklearn.model_selection import train_test_split
from sklearn.svm import LinearSVC

from cases.task import Task
from certifeature import BSSSelector, LPSVMSelector


def growth(n_features):
    """Ever more columns: 2,000 rows, three values a column."""
    rng = np.random.default_rng(0)
    X = long_tailed(rng, 2_000, n_features, max(50, 3 * n_features // 2_000))
    y = rng.integers(0, 2, 2_000)
    svm = LinearSVC(random_state=0)
    sketch = BSSSelector(1_024, basis="sketch", n_components=128, estimator=svm, random_state=0)

    def work():
        sketch.fit(X, y)
        size = (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) / 2**20
        return lambda: {"note": f"{X.nnz:,} values, {size:,.0f} MiB"}

    return Case(f"growth, d = {n_features:,}, t = 128, r = 1,024", {"BSS": work})


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
    """The 1-norm SVM of ten classes."""
    X, X_test, y, y_test = train_test_split(*load_digits(return_X_y=True), random_state=0)
    task = Task(X, y, X_test, y_test, LinearSVC(dual=False))
    return Case(
        f"digits, {X.shape[0]:,} × {X.shape[1]}, ten classes",
        {"LinearSVC(dual=False)": task.fit_full, "LPSVM": task.select(LPSVMSelector())},
        bars={"LPSVM ≤ 10 s": lambda s: s["LPSVM"] <= 10},
    )
