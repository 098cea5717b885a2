"""A choice of features does not depend on where rows and columns stand."""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, LinearSVC

from certifeature import (
    BSSSelector,
    LeverageScoreSelector,
    LPSVMSelector,
    RandomSelector,
    RRQRSelector,
)
from certifeature.rows import ArrayBlocks
from soak import library
from soak.verdict import Undecided, Violation

_SAME = 1e-6
# Scores this close, relative to the largest, tie.
_TIE = 1e-9


def choices_ignore_rows(rng):
    """A permutation of the rows changes neither the features nor their scales."""
    X, y = _draw_without_ties(rng)
    selector = _draw_selector(rng, X, (*_DETERMINISTIC, LeverageScoreSelector, RandomSelector))
    first = _chosen(selector, X, y)
    order = rng.permutation(len(y))
    _compare(selector, first, _chosen(selector, X[order], y[order]))


def choices_ignore_columns(rng):
    """A permutation of the columns changes neither the features nor their scales."""
    X, y = _draw_without_ties(rng)
    selector = _draw_selector(rng, X, _DETERMINISTIC)
    first = _chosen(selector, X, y)
    order = rng.permutation(X.shape[1])
    if not isinstance(getattr(selector, "order", ""), str):
        selector.set_params(order=selector.order[order])
    if getattr(selector, "fixed_features", None) is not None:
        selector.set_params(fixed_features=np.flatnonzero(np.isin(order, selector.fixed_features)))
    second = _chosen(selector, X[:, order], y)
    _compare(selector, first, {int(order[place]): scale for place, scale in second.items()})


def tied_choices_ignore_places(rng):
    """Where scores tie, neither permutations nor blocks change what is chosen without labels."""
    n, d = int(rng.integers(6, 60)), int(rng.integers(4, 60))
    X = [
        rng.standard_normal((n, d)) * 10 ** rng.uniform(-6, 6, d),
        rng.poisson(0.7, (n, d)).astype(float),
        (rng.random((n, d)) < 0.4).astype(float),
    ][rng.integers(3)]
    X[0, 0] = 1.0
    size, kind = int(rng.integers(1, d + 1)), rng.integers(3)
    selector = RRQRSelector(size, supervised=False)
    if kind < 2:
        order = ["leverage", "cover"][kind]
        selector = BSSSelector(size, supervised=False, order=order, rescale="each")
    rows, columns = rng.permutation(n), rng.permutation(d)
    # Equal columns may stand for each other.
    contents = np.unique(X, axis=1, return_inverse=True)[1].ravel()
    found = [
        _contents(selector.fit(part), contents) for part in (X, X[rows], ArrayBlocks(X, n_rows=5))
    ]
    found.append(_contents(selector.fit(X[:, columns]), contents[columns]))
    for name, other in zip(("rows", "blocks", "columns"), found[1:], strict=True):
        if other != found[0]:
            raise Violation(f"{found[0]} became {other} with other {name}: {_named(selector)}")


def _contents(selector, contents):
    return sorted(contents[selector.indices_].tolist())


_DETERMINISTIC = (BSSSelector, BSSSelector, BSSSelector, RRQRSelector, LPSVMSelector)


def _draw_without_ties(rng):
    """Return generic rows, well or badly scaled, and labels that follow from them, more or less."""
    n, d = int(rng.integers(6, 40)), int(rng.integers(2, 60))
    X = rng.standard_normal((n, d))
    kind = rng.integers(4)
    if kind == 1:
        X += 10 ** rng.uniform(0, 3)
    elif kind == 2:
        X *= 10 ** rng.uniform(-3, 3, d)
    elif kind == 3:
        X *= rng.random((n, d)) < 0.5
        X += 1e-3 * rng.standard_normal((n, d))
    n_classes = int(rng.integers(2, 4))
    scores = X @ rng.standard_normal(d) + rng.uniform(0, 1) * np.std(X) * rng.standard_normal(n)
    y = np.empty(n, dtype=int)
    y[np.argsort(scores)] = np.sort(np.arange(n) % n_classes)
    return X, y


def _draw_selector(rng, X, kinds):
    kind = kinds[rng.integers(len(kinds))]
    C = float(10 ** rng.uniform(-2, 2))
    if kind is LPSVMSelector:
        return LPSVMSelector(C)
    svms = (
        None,
        SVC(kernel="linear", C=C, max_iter=200_000),
        LinearSVC(C=C, dual=True, random_state=0),
    )
    options = {
        "supervised": bool(rng.random() < 0.7),
        "estimator": svms[rng.integers(3)],
        "rescale": ["common", "each", False][rng.integers(3)],
        "random_state": 0,
    }
    if kind is BSSSelector:
        orders = list(library.ORDERS) if options["supervised"] else ["cover", "leverage"]
        number = rng.integers(len(orders) + 1)
        own = rng.standard_normal(X.shape[1])
        options["order"] = own if number == len(orders) else orders[number]
        if rng.random() < 0.3:
            options["fixed_features"] = [int(rng.integers(X.shape[1]))]
    size = "certified" if rng.random() < 0.3 else int(rng.integers(1, X.shape[1] + 1))
    return kind(size, **options)


def _chosen(selector, X, y):
    """Return the chosen features and their scales, unless features tie or the SVM has a doubt."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", ConvergenceWarning)
            selector.fit(X, y)
    except ConvergenceWarning as doubt:
        raise Undecided("the SVM says that it did not reach its optimum") from doubt
    if isinstance(selector, BSSSelector):
        for scores in (selector.scores_, selector.trusted_scores_):
            finite = np.sort(scores[np.isfinite(scores)])
            if len(finite) > 1 and np.diff(finite).min() <= _TIE * np.abs(finite).max():
                raise Undecided("features tie")
    scales = getattr(selector, "scales_", np.ones(len(selector.indices_)))
    return dict(zip(selector.indices_.tolist(), scales.tolist(), strict=True))


def _compare(selector, first, second):
    if set(first) != set(second):
        gone, come = sorted(set(first) - set(second)), sorted(set(second) - set(first))
        raise Violation(f"{gone} of {len(first)} gave way to {come}: {_named(selector)}")
    worst = max((abs(first[j] / second[j] - 1) for j in first), default=0.0)
    if worst > _SAME:
        raise Violation(f"scales differ by {worst:.1e}: {_named(selector)}")


def _named(selector):
    return " ".join(repr(selector).split())
