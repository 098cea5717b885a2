"""The growth of the objective, for every model and every way to measure it, against the truth."""

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from certifeature import BSSSelector, certify
from certifeature.rows import ArrayBlocks
from soak import library
from soak.data import draw_case, draw_model, draw_selection
from soak.digits import exact
from soak.problems import problems_of, total_objective
from soak.verdict import Violation

# Rounding of scales and weights of rows, which the truth does without.
_ROUNDING = 1e-9
_WAYS = ("basis", "products", "blocks", "selector", "weighted", "sketch", "leading")


def growth_is_bounded(rng):
    """Whichever way it was measured, the objective grows by no more than a certificate says.

    What holds with probability 0.99 is to hold always: its slack makes failures all but impossible.
    """
    case = draw_case(rng, (3, 10), (1, 8), (2, 4))
    model, y = draw_model(rng, case.y, wild=not case.plain)
    _check(_certified(rng, case.X, y, model, _WAYS[rng.integers(len(_WAYS))]))


def extreme_growth_is_bounded(rng):
    """The same for few rows, of which most of what the model needs is left out.

    Rows of two classes are opposite, or every row has columns of its own; so the optimum points the
    way in which most is lost, and bounds that have no room to spare are attained.
    """
    opposite = np.array([[1.0], [-1.0]])
    directions = opposite if rng.random() < 0.5 else np.eye(rng.integers(2, 6))
    model, y = draw_model(rng, np.arange(len(directions)))
    cost = getattr(model, "C", None) or 1 / model.alpha
    kept, lost = 10 ** rng.uniform([-2, -1], 1.5) / np.sqrt(cost)
    X = np.hstack([kept * directions, lost * directions])
    indices = np.arange(directions.shape[1])
    scales = np.full(len(indices), 10 ** rng.uniform(-1, 1) if rng.random() < 0.3 else 1.0)
    if rng.random() < 0.2:
        indices, scales = np.arange(X.shape[1]), np.resize(scales, X.shape[1])
    way = _WAYS[rng.integers(5)]
    _check(_certified(rng, X, y, model, way, (indices, scales)))


def hidden_growth_is_bounded(rng):
    """The same where the labels are told by the last digits of a column, for models that see them.

    A basis takes such a direction for rounding, and has to count what it leaves out.
    """
    n, n_others = int(rng.integers(3, 8)), int(rng.integers(3))
    signs = np.where(np.arange(n) % 2, 1.0, -1.0)
    column = rng.choice([-1.0, 1.0], n) * rng.uniform(1, 2, n)
    digits = rng.integers(1, 2 ** rng.integers(1, 6)) * np.finfo(float).eps
    X = np.column_stack([column, column + digits * signs, rng.standard_normal((n, n_others))])
    model, y = draw_model(rng, np.arange(n) % 2)
    cost = float(10 ** rng.uniform(-3, 8) / digits**2)
    name, value = ("C", cost) if hasattr(model, "C") else ("alpha", 1 / cost)
    indices = np.delete(np.arange(X.shape[1]), 1)
    scales = np.append(np.sqrt(rng.choice([1, 2])), np.ones(n_others))
    model = clone(model).set_params(**{name: value})
    _check(_certified(rng, X, y, model, "basis", (indices, scales), "all"))


def ridges_bound_curvatures(rng):
    """No loss is curved more than 1/μ, so that its dual is as strongly convex as is said."""
    case = draw_case(rng, (2, 8), (1, 3), (2, 4))
    model, y = draw_model(rng, case.y)
    certificate = certify(case.X, y, [0], estimator=model, rows="all", realised=False)
    for problem in problems_of(model, y, np.arange(len(y))):
        loss = problem.smooth_loss()
        if loss is None:
            return
        scores, steps = _draw_scores(rng, problem, loss.n_outputs)
        bent = sum(loss.values(exact(scores) + sign * exact(steps)) for sign in (1, -1))
        bent = problem.costs * (bent - 2 * loss.values(exact(scores)))
        most = (steps**2).sum(axis=1) / certificate.regularised.mu
        if (bent > most * (1 + _ROUNDING)).any():
            worst = float(max(bent / most))
            raise Violation(
                f"{model!r}: μ is {certificate.regularised.mu:.9g}, {worst:.9g} too much"
            )


@dataclass(frozen=True)
class _Certified:
    """A certificate, and what it is about."""

    X: np.ndarray
    y: np.ndarray
    model: Any
    sample_weight: np.ndarray | None
    rows: np.ndarray
    indices: np.ndarray
    scales: np.ndarray
    certificate: Any
    way: str


def _certified(rng, X, y, model, way, selection=None, which=None):
    """Return the certificate of a selection that is given, random, or a selector's own."""
    if way not in _WAYS[:3]:
        return _selected(rng, X, y, model, way)
    indices, scales = draw_selection(rng, X.shape[1]) if selection is None else selection
    which = which or ("all" if way == "blocks" else ["support", "all"][rng.integers(2)])
    options = {"weights": scales, "estimator": model, "rows": which, "realised": False}
    with nullcontext() if way == "basis" else library.without_bases():
        if way == "blocks":
            blocks = ArrayBlocks(X, y, n_rows=int(rng.integers(1, len(y) + 1)))
            certificate = certify(blocks, None, indices, **options)
        else:
            certificate = certify(X, y, indices, **options)
    rows = np.arange(len(y)) if which == "all" else library.support(clone(model), X, y)
    return _Certified(X, y, model, None, rows, indices, scales, certificate, way)


def _selected(rng, X, y, model, way):
    options = {"order": ["coef", "leverage", "cover"][rng.integers(3)], "trust": 0.0}
    if way == "sketch":
        options |= {"basis": "sketch", "n_components": int(rng.integers(1, 6))}
    sample_weight = None
    if way == "weighted":
        sample_weight = 10 ** rng.uniform(-1, 1, len(y))
        if getattr(model, "class_weight", None) == "balanced":
            # Whether weights of rows count for the balance, models do not agree on.
            model = clone(model).set_params(class_weight=None)
    selector = BSSSelector(
        int(rng.integers(1, X.shape[1] + 1)),
        estimator=model,
        rescale=["common", "each", False][rng.integers(3)],
        **options,
    )
    with library.with_leading_directions(1) if way == "leading" else nullcontext():
        selector.fit(X, y, sample_weight)
    certificate = selector.certificate_
    rows, indices, scales = selector.support_rows_, selector.indices_, selector.scales_
    return _Certified(X, y, model, sample_weight, rows, indices, scales, certificate, way)


def _check(found):
    most = found.certificate.measured_growth
    if found.certificate.n_rows != len(found.rows):
        raise Violation(
            f"{found.certificate.n_rows} rows are certified, and {len(found.rows)} known"
        )
    if not np.isfinite(most):
        return
    X = exact(found.X[found.rows])
    problems = problems_of(found.model, found.y, found.rows, found.sample_weight)
    full = total_objective(X, problems)
    selected = total_objective(X[:, found.indices] * exact(found.scales), problems)
    if selected.lower > full.upper * most * (1 + _ROUNDING):
        growth = float(selected.lower / full.upper)
        raise Violation(f"{found.way}: P grows {growth:.9g} times, not {most:.9g}; {found.model!r}")


def _draw_scores(rng, problem, n_outputs):
    """Return scores where some outputs compete, and steps between two of them or in any way."""
    shape = len(problem.costs), n_outputs
    scores = rng.choice([0.0, -20.0], shape) + rng.uniform(-1, 1) * rng.standard_normal(shape)
    steps = rng.standard_normal(shape)
    if n_outputs > 1 and rng.random() < 0.7:
        first, second = rng.permutation(n_outputs)[:2]
        steps[:] = 0.0
        steps[:, first], steps[:, second], scores[:, second] = 1.0, -1.0, scores[:, first]
    return scores, 10 ** rng.uniform(-3, 0) * steps
