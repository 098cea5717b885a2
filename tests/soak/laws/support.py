"""The rows that matter to a model, and those that do not."""

import warnings
from contextlib import nullcontext

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, LinearSVC, LinearSVR

from certifeature import BSSSelector, certify
from certifeature.rows import ArrayBlocks
from soak import library
from soak.data import draw_class_weight, draw_numbers, draw_selection
from soak.digits import exact
from soak.problems import problems_of, total_objective
from soak.smooth import smooth_optimum
from soak.verdict import Undecided, Violation

# What the tolerance of LIBSVM may hide of an optimum; of a hinge loss in blocks, 1 in 10,000 is
# allowed.
_SAME, _SAME_IN_BLOCKS = 1e-6, 2e-4
# A slack beyond rounding.
_CLEAR = 1e-9


def support_rows_suffice(rng):
    """The optimum on the support rows is that on all rows, and no row with a loss is left out."""
    X, y, model = _draw(rng)
    in_blocks = isinstance(model, LinearSVC) and rng.random() < 0.4
    selector = BSSSelector(X.shape[1] - 1, estimator=model, order="coef", trust=0.0)
    rows = ArrayBlocks(X, y, n_rows=int(rng.integers(2, len(y) + 1))) if in_blocks else X
    with library.without_gathering() if in_blocks else nullcontext():
        _fit(selector, rows, None if in_blocks else y)
    support = selector.support_rows_
    tolerance = _SAME_IN_BLOCKS if in_blocks else _SAME
    _check_same(model, X, y, support, tolerance, f"{model!r} on all features")
    for problem in problems_of(model, y, np.arange(len(y))):
        if problem.loss == "hinge":
            # Multipliers need not be unique; that the optimum stays is all there is to ask.
            continue
        loss = problem.smooth_loss()
        optimum = smooth_optimum(X, loss, problem.costs, problem.intercept)
        slopes = np.abs(loss.slopes(optimum.scores)[:, 0])
        # The loss is a square, so its slope is twice what a row misses.
        missed = np.flatnonzero(slopes > 2 * optimum.error + _CLEAR)
        lacking = np.setdiff1d(missed, support)
        if len(lacking):
            raise Violation(f"{model!r}: rows {lacking.tolist()} have a loss, but do not matter")


def covered_rows_change_nothing(rng):
    """Where a certificate covers all rows, the reduced optimum on these is that on the support."""
    X, y, model = _draw(rng)
    indices, weights = draw_selection(rng, X.shape[1])
    if rng.random() < 0.5:
        guarantee = ["support", "full"][rng.integers(2)]
        size = int(rng.integers(1, X.shape[1]))
        selector = BSSSelector(size, estimator=model, order="coef", guarantee=guarantee)
        selector = _fit(selector, X, y)
        indices, weights = selector.indices_, selector.scales_
        if guarantee == "full" and selector.certificate_.covers_all_rows:
            reduced = X[:, indices] * weights
            _check_same(model, reduced, y, selector.support_rows_, _SAME, f"{selector!r}")
    certificate = certify(X, y, indices, weights=weights, estimator=model)
    if not certificate.covers_all_rows:
        raise Undecided("the support does not cover all rows")
    support = library.support(clone(model), X, y)
    _check_same(model, X[:, indices] * weights, y, support, _SAME, f"{model!r} on {indices}")


def _draw(rng):
    """Return rows of well-scaled columns, of which some are far from the margin, and a model."""
    n, d = int(rng.integers(6, 16)), int(rng.integers(2, 7))
    n_classes = int(rng.integers(2, 4))
    X = rng.standard_normal((n, d))
    places = np.arange(n) % n_classes
    X[:, 0] += rng.uniform(0, 4) * places
    X *= 10 ** rng.uniform(-1, 1)
    C = float(10 ** rng.uniform(-2, 3))
    intercept = {
        "fit_intercept": bool(rng.random() < 0.7),
        "intercept_scaling": float(10 ** rng.uniform(-1, 1)),
        "random_state": 0,
        "dual": True,
    }
    kind = rng.integers(4)
    if kind == 3:
        y = draw_numbers(rng, places)
        loss = "squared_epsilon_insensitive"
        epsilon = float(np.std(y) * rng.uniform(0.01, 1))
        return X, y, LinearSVR(loss=loss, C=C, epsilon=epsilon, **intercept)
    weights = draw_class_weight(rng, places, wild=False)
    if kind == 0:
        return X, places, SVC(kernel="linear", C=C, class_weight=weights)
    loss = ["squared_hinge", "hinge"][kind - 1]
    weights = None if weights == "balanced" else weights
    return X, places, LinearSVC(loss=loss, C=C, class_weight=weights, max_iter=100_000, **intercept)


def _fit(selector, X, y):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", ConvergenceWarning)
            return selector.fit(X, y)
    except ConvergenceWarning as doubt:
        raise Undecided("the model says that it did not reach its optimum") from doubt


def _check_same(model, X, y, support, tolerance, what):
    """Raise where rows that are left out add to the optimum."""
    X, everyone = exact(X), np.arange(len(y))
    on_all = total_objective(X, problems_of(model, y, everyone))
    on_support = total_objective(X[support], problems_of(model, y, support))
    if on_support.upper < on_all.lower * (1 - tolerance):
        share = float(1 - on_support.upper / on_all.lower)
        raise Violation(f"rows left out add {share:.3g} of the optimum: {' '.join(what.split())}")
