"""What is chosen and certified depends on the values of X, and not on the form that holds them."""

import warnings

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, RidgeClassifier

from certifeature import BSSSelector, RRQRSelector, certify
from certifeature.rows import ArrayBlocks
from soak.verdict import Undecided, Violation

_SAME = 1e-6
_MODELS = (None, None, RidgeClassifier(alpha="scale"), LogisticRegression(C="scale"))


def sparse_is_dense(rng):
    """A sparse matrix leads to the choice and to the bounds of the same values in an array."""
    X, y = _draw_rows(rng)
    model = _MODELS[rng.integers(len(_MODELS))]
    selector = RRQRSelector(int(rng.integers(1, X.shape[1])), estimator=model)
    if rng.random() < 0.8:
        order = ["auto", "stable", "coef", "leverage", "cover"][rng.integers(5)]
        rescale = ["common", "each"][rng.integers(2)]
        size = selector.n_features_to_select
        selector = BSSSelector(size, estimator=model, order=order, rescale=rescale)
    weights = rng.integers(1, 4, len(y)).astype(float) if rng.random() < 0.3 else None
    fits = [_fitted(selector, form, y, weights) for form in (X, sparse.csr_array(X))]
    chosen = [sorted(fit.indices_.tolist()) for fit in fits]
    if chosen[0] != chosen[1]:
        raise Violation(f"{chosen[0]} became {chosen[1]}: {_named(selector)}")
    _compare([fit.certificate_.measured_growth for fit in fits], _named(selector))
    if weights is None:
        _compare([certify(fit).realised_growth for fit in fits], _named(selector))


def blocks_are_memory(rng):
    """Bounds for all rows are the same in memory and in blocks, dense or sparse."""
    X, y = _draw_rows(rng)
    model = _MODELS[rng.integers(len(_MODELS))]
    columns = rng.permutation(X.shape[1])[: int(rng.integers(1, X.shape[1]))]
    forms = (X, y), (sparse.csr_array(X), y)
    blocks = [(ArrayBlocks(*form, n_rows=7), None) for form in forms]
    options = {"estimator": model, "rows": "all", "realised": False}
    found = [certify(*form, columns, **options).measured_growth for form in (*forms, *blocks)]
    _compare(found, f"{model!r} with {len(columns)} columns")


def _draw_rows(rng):
    """Return rows with many zeros, of which a sixth of the columns may be far from the origin."""
    n, d = int(rng.integers(20, 90)), int(rng.integers(10, 150))
    X = rng.poisson(0.4, (n, d)) * rng.exponential(size=(n, d))
    kind = rng.integers(4)
    if kind in (1, 2):
        X[:, : d // 6] += 10 ** rng.uniform(0, 6)
    if kind == 2:
        X[rng.random((n, d)) < 0.1] = 0.0
    if kind == 3:
        X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-3)
    scores = X[:, -3:].sum(axis=1) + 0.3 * rng.standard_normal(n)
    return X, (scores > np.median(scores)).astype(int)


def _fitted(selector, X, y, weights):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", ConvergenceWarning)
            return clone(selector).fit(X, y, weights)
    except ConvergenceWarning as doubt:
        raise Undecided("the model says that it did not reach its optimum") from doubt


def _compare(found, name):
    for other in found[1:]:
        if not (found[0] == other or abs(found[0] / other - 1) <= _SAME):
            raise Violation(f"bounds {found}: {name}")


def _named(selector):
    return " ".join(repr(selector).split())
