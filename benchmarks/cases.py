"""What the benchmark measures: functions that return a `Case`."""

import subprocess
import sys
from functools import partial

import numpy as np
from direct import direct_bss
from measure import Case
from sets import data_set, directory_pairs, long_tailed
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest, chi2
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC, LinearSVC

from certifeature import BSSSelector, LeverageScoreSelector
from certifeature.sparsify import bss


def kernel(n_features, n_components, n_select, coherent):
    """BSS against Algorithm 1 as it is written, which must make the same picks."""
    rng = np.random.default_rng(0)
    scales = rng.pareto(1.2, n_features) if coherent else rng.exponential(size=n_features)
    rows = rng.standard_normal((n_features, n_components)) * scales[:, None]
    vectors = np.linalg.qr(rows)[0]
    picks = {}

    def contender(name, algorithm):
        def work():
            picks[name] = algorithm(vectors, n_select)
            return show

        def show():
            same = np.array_equal(picks[name], picks["direct"])
            return {"note": "same picks" if same else "OTHER PICKS"}

        return work

    kind = "coherent" if coherent else "incoherent"
    return Case(
        f"kernel, {kind}, d = {n_features:,}, ℓ = {n_components}, r = {n_select:,}",
        {
            "direct": contender("direct", lambda V, r: direct_bss(V, r)[0]),
            "BSS": contender("BSS", lambda V, r: bss(V, r).indices),
        },
        repeats=5,
        once=("direct",) if n_features > 20_000 else (),
    )


def large_text(folder):
    """A sketch of 22,000 stories, against one SVM fit and what users reach for today."""
    X, y = data_set(folder, "rcv1_ccat")
    svm = LinearSVC(C=10, random_state=0)
    task = Task(X[:22_000], y[:22_000], X[22_000:], y[22_000:], svm)
    r = 1024
    sketch = {"basis": "sketch", "n_components": 256, "estimator": svm, "random_state": 0}
    selectors = {
        "BSS": BSSSelector(r, **sketch),
        "BSS, order='coef'": BSSSelector(r, order="coef", **sketch),
        "leverage sampling": LeverageScoreSelector(r, **sketch),
        "RFE(step=0.1)": RFE(svm, n_features_to_select=r, step=0.1),
        "L1 LinearSVC": l1(r),
        "SelectKBest(chi2)": SelectKBest(chi2, k=r),
    }
    return Case(
        "rcv1_ccat, 22,000 × 47,236, r = 1,024",
        {"LinearSVC(C=10)": task.fit_full} | {n: task.select(s) for n, s in selectors.items()},
    )


def web_pairs(folder):
    """Two hundred pages of ten thousand words, twenty-six times."""
    svm = SVC(kernel="linear")
    r = 300
    tasks = []
    for X, y in directory_pairs(folder):
        train, test = train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=0)
        tfidf = TfidfTransformer().fit(X[train])
        parts = tfidf.transform(X[train]), y[train], tfidf.transform(X[test]), y[test]
        tasks.append(Task(*parts, svm))
    selectors = {
        "RFE(step=0.1)": RFE(svm, n_features_to_select=r, step=0.1),
        "BSS": BSSSelector(r, estimator=svm),
        "BSS, paper": BSSSelector(
            r, estimator=svm, order="leverage", trust=0, rescale="each", basis="exact"
        ),
        "leverage sampling": LeverageScoreSelector(r, estimator=svm, random_state=0),
        "L1 LinearSVC": l1(r),
        "SelectKBest(chi2)": SelectKBest(chi2, k=r),
        **others(r),
    }

    def span(axis):
        sizes = [task.X.shape[axis] for task in tasks]
        return f"{min(sizes):,}–{max(sizes):,}"

    return Case(
        f"{len(tasks)} web pairs, {span(0)} × {span(1)}, r = 300",
        {"full data": in_turn([task.fit_full for task in tasks])}
        | {n: in_turn([task.select(s) for task in tasks]) for n, s in selectors.items()},
        once=("fastcan", "abess, at most 60"),
    )


def l1(n_features):
    return SelectFromModel(
        LinearSVC(penalty="l1", C=10, random_state=0), max_features=n_features, threshold=-np.inf
    )


def others(n_features):
    """Selectors of other libraries (extra ``bench``)."""
    from abess import LogisticRegression
    from fastcan import FastCan
    from skglm import SparseLogisticRegression

    return {
        "fastcan": Dense(FastCan(n_features, verbose=0)),
        "skglm, L1 logistic": SelectFromModel(
            SparseLogisticRegression(alpha=1e-3), max_features=n_features, threshold=-np.inf
        ),
        "abess, at most 60": SelectFromModel(
            LogisticRegression(support_size=60), max_features=n_features, threshold=1e-12
        ),
    }


def many_directions():
    """An exact basis of 2,000 directions."""
    X = long_tailed(np.random.default_rng(0), 2_000, 50_000, 100)
    selector = BSSSelector(4_000, supervised=False, basis="exact", rescale="each")

    def work():
        selector.fit(X)
        return lambda: {"note": f"ℓ = {selector.basis_.n_components:,}"}

    return Case("exact, ℓ = 2,000, r = 4,000, d = 50,000 sparse", {"BSS": work}, repeats=1)


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


def import_time():
    """A new interpreter that imports the package and nothing else."""

    def work(module):
        subprocess.run([sys.executable, "-c", f"import {module}"], check=True)

    modules = "sklearn.feature_selection", "certifeature"
    return Case("import", {name: partial(work, name) for name in modules}, repeats=7)


class Task:
    """Training and test rows, and the SVM that is trained on what was selected."""

    def __init__(self, X, y, X_test, y_test, svm):
        self.X, self.y, self.X_test, self.y_test = X, y, X_test, y_test
        self.svm = svm

    def fit_full(self):
        svm = clone(self.svm).fit(self.X, self.y)
        return lambda: {"test_error": 1 - svm.score(self.X_test, self.y_test)}

    def select(self, selector):
        """Return a contender that fits the selector; its show trains and tests the SVM."""

        def work():
            fitted = clone(selector).fit(self.X, self.y)

            def show():
                svm = clone(self.svm).fit(fitted.transform(self.X), self.y)
                return {"test_error": 1 - svm.score(fitted.transform(self.X_test), self.y_test)}

            return show

        return work


def in_turn(contenders):
    """Return a contender that does the work of all and shows the mean error."""

    def work():
        shows = [contender() for contender in contenders]
        return lambda: {"test_error": float(np.mean([show()["test_error"] for show in shows]))}

    return work


class Dense:
    """A selector that takes dense data only; the copy counts."""

    def __init__(self, selector):
        self.selector = selector

    def __sklearn_clone__(self):
        return Dense(clone(self.selector))

    def fit(self, X, y):
        self.selector.fit(X.toarray(), y)
        return self

    def transform(self, X):
        return X[:, np.flatnonzero(self.selector.get_support())]


CASES = {
    "kernel-small": partial(kernel, 20_000, 150, 300, coherent=False),
    "kernel": partial(kernel, 47_236, 256, 2_048, coherent=False),
    "kernel-coherent": partial(kernel, 47_236, 256, 2_048, coherent=True),
    "rcv1": large_text,
    "pairs": web_pairs,
    "many-directions": many_directions,
    "growth-1e4": partial(growth, 10**4),
    "growth-1e5": partial(growth, 10**5),
    "growth-1e6": partial(growth, 10**6),
    "growth-1e7": partial(growth, 10**7),
    "import": import_time,
}
NEED_DATA = ("rcv1", "pairs")
