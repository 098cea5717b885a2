"""Makers of random and adversarial data."""

from dataclasses import dataclass, replace
from math import fsum

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.svm import SVC, LinearSVC, LinearSVR

_DAY = 86_400
_NOW = 1_700_000_000


@dataclass(frozen=True)
class Case:
    """Data, labels, and what is known of them.

    ``plain`` data are well scaled and hold no surprise. ``rounded`` ones have columns or rows that
    would depend on others, were it not for rounding.
    """

    X: np.ndarray
    y: np.ndarray
    plain: bool = True
    rounded: bool = False


def draw_case(rng, n_rows, n_features, n_classes=(2, 2)):
    """Return a case; one in five is plain. Ranges are inclusive."""
    n, d = _between(rng, n_rows), _between(rng, n_features)
    X = _MAKERS[rng.integers(len(_MAKERS))](rng, n, d)
    case = Case(X, draw_labels(rng, X, _between(rng, n_classes)))
    if rng.random() < 0.2:
        return case
    for number in rng.permutation(len(_DISTURBANCES)):
        disturb, chance = _DISTURBANCES[number]
        if rng.random() < chance:
            case = replace(disturb(rng, case), plain=False)
    return case


def draw_labels(rng, X, n_classes):
    """Return labels: of a rare class, at random, or of classes apart by some margin."""
    n = len(X)
    n_classes = min(n_classes, n)
    kind = rng.integers(4)
    if kind == 0:
        y = np.zeros(n, dtype=int)
        y[:n_classes] = np.arange(n_classes)
    elif kind == 1:
        y = rng.integers(n_classes, size=n)
    else:
        scores = X @ rng.standard_normal(X.shape[1])
        y = np.empty(n, dtype=int)
        y[np.argsort(scores, kind="stable")] = np.sort(np.arange(n) % n_classes)
        if kind == 3:
            # Apart by a large margin: rows move along one column.
            X[:, 0] += 10 * y
    y[rng.permutation(n)[:n_classes]] = np.arange(n_classes)
    names = [np.arange(6), np.array([-1, 1, 2, 3, 4, 5]), np.array(list("fcebda"))]
    return names[rng.integers(3)][y]


def draw_svm(rng, labels, *, wild=False):
    """Return an unfitted linear SVM of any loss, cost, intercept and weights of classes."""
    exponent = rng.uniform(-160, 12) if wild and rng.random() < 0.2 else rng.uniform(-3, 3)
    options = {"C": float(10**exponent), "class_weight": draw_class_weight(rng, labels, wild)}
    if rng.random() < 0.4:
        return SVC(kernel="linear", max_iter=200_000, **options)
    return LinearSVC(
        loss=["squared_hinge", "hinge"][int(rng.random() < 0.3)],
        dual=True,
        fit_intercept=bool(rng.random() < 0.7),
        intercept_scaling=_draw_scaling(rng),
        random_state=0,
        **options,
    )


def draw_model(rng, labels, *, wild=False):
    """Return any model that is accepted, unfitted, and targets for it."""
    kind = rng.integers(7)
    if kind < 3:
        return draw_svm(rng, labels, wild=wild), labels
    exponent = rng.uniform(-12, 12) if wild and rng.random() < 0.2 else rng.uniform(-3, 3)
    C, fit_intercept = float(10**exponent), bool(rng.random() < 0.7)
    if kind >= 5:
        targets = draw_numbers(rng, labels)
        if kind == 5:
            return Ridge(alpha=1 / C, fit_intercept=fit_intercept), targets
        epsilon = float(np.std(targets) * rng.choice([0.0, 0.01, 0.5]))
        return _draw_tube(rng, C, epsilon, fit_intercept), targets
    weights = draw_class_weight(rng, labels, wild=False)
    options = {"class_weight": weights, "fit_intercept": fit_intercept}
    if kind == 3:
        return RidgeClassifier(alpha=1 / C, **options), labels
    if len(np.unique(labels)) == 2 and rng.random() < 0.3:
        options |= {"solver": "liblinear", "intercept_scaling": _draw_scaling(rng)}
    return LogisticRegression(C=C, random_state=0, **options), labels


def draw_numbers(rng, labels):
    """Return real targets that follow labels, more or less, at any scale."""
    _, places = np.unique(labels, return_inverse=True)
    noise = rng.standard_normal(len(labels)) * rng.choice([0.0, 0.1, 1.0])
    return (places + noise + rng.choice([0.0, 10.0])) * 10 ** rng.uniform(-2, 2)


def _draw_tube(rng, C, epsilon, fit_intercept):
    return LinearSVR(
        loss="squared_epsilon_insensitive",
        C=C,
        epsilon=epsilon,
        dual=True,
        fit_intercept=fit_intercept,
        intercept_scaling=_draw_scaling(rng),
        random_state=0,
    )


def _draw_scaling(rng):
    return float(10 ** rng.uniform(-1, 2)) if rng.random() < 0.5 else 1.0


def draw_class_weight(rng, labels, wild):
    """Return None, "balanced" or a dict; wild ones may weigh a class nothing."""
    kind = rng.random()
    if kind < 0.5:
        return None
    if kind < 0.65:
        return "balanced"
    weights = {label: float(10 ** rng.uniform(-2, 2)) for label in np.unique(labels).tolist()}
    if wild and kind > 0.9:
        weights[next(iter(weights))] = 0.0
    return weights


def draw_selection(rng, n_features):
    """Return distinct columns and their scales."""
    size = int(rng.integers(1, n_features + 1))
    indices = rng.permutation(n_features)[:size]
    if rng.random() < 0.5:
        return indices, np.ones(size)
    return indices, 10 ** rng.uniform(-1, 1, size)


def in_other_clothes(rng, X):
    """Return the same rows as float32, integers, CSR or CSC where they fit, or as they are."""
    kind = rng.integers(5)
    if kind == 0 and np.abs(X).max() < 1e30:
        return X.astype(np.float32)
    if kind == 1 and np.abs(X).max() < 1e15:
        return np.rint(X).astype(np.int64)
    if kind == 2:
        return sparse.csr_array(X)
    if kind == 3:
        return sparse.csc_matrix(X)
    return X


def _between(rng, ends):
    return int(rng.integers(ends[0], ends[1] + 1))


def _gaussian(rng, n, d):
    return rng.standard_normal((n, d))


def _counts(rng, n, d):
    return _not_all_zero(rng.poisson(rng.uniform(0.3, 5, d), size=(n, d)).astype(float))


def _text(rng, n, d):
    """Return rows of unit length, mostly zeros."""
    X = rng.exponential(size=(n, d)) * (rng.random((n, d)) < 0.3)
    return _not_all_zero(X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-3))


def _rare(rng, n, d):
    """Return noise beside an indicator of one row."""
    X = rng.standard_normal((n, d))
    X[:, -1] = np.arange(n) == rng.integers(n)
    return X


def _not_all_zero(X):
    if not X.any():
        X[0, 0] = 1.0
    return X


def _shifted(rng, case):
    return replace(case, X=case.X + 10 ** rng.uniform(3, 8), rounded=True)


def _dates(rng, case):
    """Return dates such as 20240131 in one column."""
    days = rng.integers(20 * 365, size=len(case.X))
    dates = np.datetime64("2010-01-01") + days.astype("timedelta64[D]")
    numbers = [int(str(date).replace("-", "")) for date in dates]
    return _with_column(case, rng.integers(case.X.shape[1]), np.array(numbers, dtype=float))


def _timestamps(rng, case):
    """Return Unix times in seconds to nanoseconds, in one column or, a little later, in two."""
    unit = 1000.0 ** rng.integers(4)
    times = np.rint((_NOW + rng.integers(1000 * _DAY, size=len(case.X))) * unit)
    first, second = rng.integers(case.X.shape[1], size=2)
    case = _with_column(case, first, times)
    if first == second or rng.random() < 0.5:
        return case
    return _with_column(case, second, times + np.rint(rng.integers(1, 100, len(times)) * unit))


def _duplicated(rng, case):
    first, second = rng.integers(case.X.shape[1], size=2)
    return _with_column(case, second, case.X[:, first])


def _proportional(rng, case):
    first, second = rng.integers(case.X.shape[1], size=2)
    column = case.X[:, first] * rng.uniform(-3, 3)
    return replace(_with_column(case, second, column), rounded=True)


def _summed(rng, case):
    """Return a column that is the sum of others, correctly rounded."""
    others = rng.permutation(case.X.shape[1])
    column = np.array([fsum(row) for row in case.X[:, others[1:]].tolist()])
    return replace(_with_column(case, others[0], column), rounded=True)


def _constant(rng, case):
    value = [0.0, 1.0, 1e200][rng.choice(3, p=[0.5, 0.45, 0.05])]
    if case.X.shape[1] == 1:
        return case
    return _with_column(case, rng.integers(case.X.shape[1]), np.full(len(case.X), value))


def _twin_rows(rng, case):
    X = case.X.copy()
    X[rng.integers(len(X), size=2)] = X[rng.integers(len(X))]
    return replace(case, X=X)


def _dependent_rows(rng, case):
    X = case.X.copy()
    first, second, third = rng.integers(len(X), size=3)
    X[third] = [fsum(pair) for pair in X[[first, second]].T.tolist()]
    return replace(case, X=X, rounded=True)


def _column_scales(rng, case):
    # Powers of two, which round nothing.
    exponents = rng.integers(-30, 31, case.X.shape[1]) * (rng.random(case.X.shape[1]) < 0.5)
    return replace(case, X=np.ldexp(case.X, exponents))


def _whole_scale(rng, case):
    if np.abs(case.X).max() > 1e100:
        return case
    return replace(case, X=np.ldexp(case.X, int(rng.integers(-498, 499))))


def _single_precision(rng, case):
    if np.abs(case.X).max() > 1e30:
        return case
    return replace(case, X=case.X.astype(np.float32).astype(float))


def _with_column(case, column, values):
    X = case.X.copy()
    X[:, column] = values
    return replace(case, X=_not_all_zero(X))


_MAKERS = (_gaussian, _gaussian, _counts, _text, _rare)
_DISTURBANCES = (
    (_shifted, 0.25),
    (_dates, 0.15),
    (_timestamps, 0.2),
    (_duplicated, 0.15),
    (_proportional, 0.1),
    (_summed, 0.1),
    (_constant, 0.15),
    (_twin_rows, 0.1),
    (_dependent_rows, 0.1),
    (_column_scales, 0.2),
    (_whole_scale, 0.1),
    (_single_precision, 0.1),
)
