"""The methods: everything that chooses columns of training rows."""

from functools import lru_cache
from time import process_time

import numpy as np
from scipy import sparse
from sklearn.feature_selection import f_classif
from sklearn.svm import LinearSVC, l1_min_c

from certifeature import BestSubsetSelector, BSSSelector
from decide.model import scale_free

# c, order and trust of BSSSelector. With ℓ support vectors, order "auto" is ("stable", "coef") for
# ℓ ≤ 1,000 and "coef" for more, and trust None leaves ½·min(1, r/ℓ) of r picks to BSS.
SETTINGS = {
    f"{name} {trust or 'prop'}, c={c}": (c, order, trust)
    for c, name, order, trust in [
        (0.5, "auto", "auto", None),
        (0.1, "stable+coef", ("stable", "coef"), None),
        (0.3, "stable+coef", ("stable", "coef"), None),
        (1, "stable+coef", ("stable", "coef"), None),
        (0.3, "stable+coef", ("stable", "coef"), 0.5),
        (1, "stable+coef", ("stable", "coef"), 0.5),
        (0.1, "coef", "coef", None),
        (0.3, "coef", "coef", None),
        (1, "coef", "coef", None),
        (0.3, "coef", "coef", 0.9),
        (0.3, "stable", "stable", None),
        (1, "stable", "stable", None),
    ]
}
_MANY_ROWS = 1000
SOFT = 0.3
# How LIBLINEAR starts; the selector goes on to the optimum by itself.
_ROUGHLY = {"dual": True, "tol": 1.0}
_STEP = 0.1
_PATH_RATIO, _PATH_STEPS = 1.5, 22


class Methods:
    """All methods on the same training rows."""

    def __init__(self, X, y, sizes):
        self._X, self._y, self._sizes = X, y, sorted(sizes, reverse=True)
        self._paths = {}

    def choose(self, name, r):
        """Return the chosen columns, CPU seconds, and the growth of the objective if certified."""
        if name in SETTINGS:
            return self._bss(r, *SETTINGS[name])
        if name == "best subset":
            return self._fitted(BestSubsetSelector(r))
        if name == "default":
            return self._fitted(BSSSelector(r))
        if name not in self._paths:
            self._paths[name] = _RIVALS[name](self._X, self._y, self._sizes)
        return *self._paths[name][r], None

    def _bss(self, r, c, order, trust):
        model = scale_free(self._X, c, **_ROUGHLY)
        if order == "auto":
            order = ("stable", "coef") if self._n_support_vectors(c) <= _MANY_ROWS else "coef"
        if trust is None:
            trust = 1 - 0.5 * min(1, r / self._n_support_vectors(c))
        return self._fitted(BSSSelector(r, estimator=model, order=order, trust=float(trust)))

    @lru_cache  # noqa: B019
    def _n_support_vectors(self, c):
        selector = BSSSelector(1, estimator=scale_free(self._X, c, **_ROUGHLY), order="coef")
        return len(selector.fit(self._X, self._y).support_rows_)

    def _fitted(self, selector):
        start = process_time()
        selector.fit(self._X, self._y)
        seconds = process_time() - start
        return selector.indices_, seconds, float(selector.certificate_.measured_growth)


def _ranked(scores, r):
    return np.argsort(-scores, kind="stable")[:r]


def _weights(svm, X, y):
    return np.sum(svm.fit(X, y).coef_ ** 2, axis=0)


def _all_columns(X, y, sizes):
    return {None: (np.arange(X.shape[1]), 0.0)}


def _univariate(X, y, sizes):
    start = process_time()
    scores = np.nan_to_num(f_classif(X, y)[0], nan=-1.0)
    seconds = process_time() - start
    return {r: (_ranked(scores, r), seconds) for r in sizes}


def _largest_weights(X, y, sizes):
    start = process_time()
    scores = _weights(LinearSVC(dual=True, random_state=0), X, y)
    seconds = process_time() - start
    return {r: (_ranked(scores, r), seconds) for r in sizes}


def _rfe(X, y, sizes, c=None):
    """Eliminate a tenth of all columns at a time, with C = 1 or C = c/s²; one path for all sizes.

    Until its last step, RFE of scikit-learn does not depend on the size.
    """
    start, found = process_time(), {}
    columns, scores = np.arange(X.shape[1]), None
    step = max(1, int(_STEP * len(columns)))
    for r in sizes:
        while scores is None or len(columns) - step > r:
            if scores is not None:
                columns = np.sort(columns[_ranked(scores, len(columns) - step)])
            part = X[:, columns]
            svm = scale_free(part, c, dual=False) if c else LinearSVC(dual=True, random_state=0)
            scores = _weights(svm, part, y)
        found[r] = columns[_ranked(scores, r)], process_time() - start
    return found


def _rfe_soft(X, y, sizes):
    return _rfe(X, y, sizes, SOFT)


def _l1(X, y, sizes):
    """Follow a path of C for an L1 penalty and the squared hinge loss."""
    intercept = scale_free(X, 1).intercept_scaling
    smallest = l1_min_c(X, y, loss="squared_hinge", intercept_scaling=intercept)

    def weights(strength):
        svm = LinearSVC(
            C=smallest * strength,
            penalty="l1",
            dual=False,
            intercept_scaling=intercept,
            random_state=0,
            max_iter=200,
        )
        return _weights(svm, X, y)

    return _along_path(weights, sizes)


def _skglm(X, y, sizes):
    """Follow a path of alpha for the L1-penalised logistic regression of skglm."""
    from skglm import SparseLogisticRegression

    X = sparse.csc_array(X) if sparse.issparse(X) else np.asfortranarray(X)
    # Its first fit of a process compiles it.
    SparseLogisticRegression(alpha=1.0).fit(X[:, :2], y)
    indicators = _indicators(y)
    largest = np.max(np.abs(X.T @ (indicators - indicators.mean(axis=0)))) / len(y)

    def weights(strength):
        return _weights(SparseLogisticRegression(alpha=largest / strength), X, y)

    return _along_path(weights, sizes)


def _along_path(weights, sizes):
    """Return the r largest weights at the smallest strength of the loss with r that are not zero.

    Where no strength has so many, those at the one with most.
    """
    start, found, most = process_time(), {}, np.zeros(1)
    for number in range(1, _PATH_STEPS + 1):
        scores = weights(_PATH_RATIO**number)
        if np.count_nonzero(scores) > np.count_nonzero(most):
            most = scores
        for r in sizes:
            if r not in found and np.count_nonzero(scores) >= r:
                found[r] = _ranked(scores, r), process_time() - start
        if len(found) == len(sizes):
            break
    rest = _ranked(most, np.count_nonzero(most)), process_time() - start
    return {r: found.get(r, (rest[0][:r], rest[1])) for r in sizes}


def _fastcan(X, y, sizes):
    """Return the columns that fastcan adds, one by one; it takes dense rows only."""
    from fastcan import FastCan

    start = process_time()
    X = X.toarray() if sparse.issparse(X) else X
    varying = _varying(X)
    found = FastCan(max(sizes), verbose=0).fit(X[:, varying], _indicators(y)).indices_
    order = varying[found]
    seconds = process_time() - start
    return {r: (order[:r], seconds) for r in sizes}


def _abess(X, y, sizes):
    """Return the best subsets of abess for logistic regression, one class against the others.

    Its multinomial regression returns no columns on some microarrays.
    """
    from abess import LogisticRegression

    varying, found = _varying(X), {}
    for r in sizes:
        start = process_time()
        models = [
            LogisticRegression(support_size=r).fit(X[:, varying], indicator)
            for indicator in _indicators(y).T
        ]
        scores = np.sum([model.coef_**2 for model in models], axis=0)
        seconds = process_time() - start
        found[r] = varying[_ranked(scores, min(r, np.count_nonzero(scores)))], seconds
    return found


def _varying(X):
    """Return the columns that are not constant, which abess refuses."""
    ranges = X.max(axis=0) - X.min(axis=0)
    return np.flatnonzero(ranges.toarray() if sparse.issparse(ranges) else ranges)


def _indicators(y):
    """Return a 0/1 column for each class, one column for two."""
    classes = np.unique(y)
    return (y[:, None] == (classes if len(classes) > 2 else classes[1:])).astype(float)


# Methods of the libraries of these names (extra ``bench``).
PACKAGES = ("fastcan", "abess", "skglm")
_RIVALS = {
    "all columns": _all_columns,
    "RFE": _rfe,
    f"RFE, c={SOFT}": _rfe_soft,
    "L1": _l1,
    "largest weights": _largest_weights,
    "univariate": _univariate,
    "fastcan": _fastcan,
    "abess": _abess,
    "skglm": _skglm,
}
METHODS = (*_RIVALS, "default", "best subset", *SETTINGS)


def sizes_of(method, sizes):
    """Return the sizes that a method is measured at: None for all columns."""
    return [None] if method == "all columns" else sizes
