"""What no other set of as many features can do, against every such set."""

from itertools import combinations
from types import SimpleNamespace

import numpy as np
from sklearn.base import is_classifier
from sklearn.svm import LinearSVC

from certifeature import BestSubsetSelector, BSSSelector, RandomSelector, certify
from certifeature._utils import TINY
from certifeature.models.enclosure import scaled_back
from certifeature.models.problem import Problem
from certifeature.models.subset import OutOfRangeError, SubsetProblem
from soak.data import draw_case, draw_model
from soak.laws.enclosures import LAST_DIGIT
from soak.oracles import margin_truth
from soak.problems import problems_of, total_objective
from soak.verdict import Undecided, Violation

_ROWS, _FEATURES, _CLASSES = (3, 8), (2, 6), (2, 3)
# Sets whose optimum is computed in many digits.
_MOST_SETS = 16
# Objectives of the relaxation are not enclosed.
_ROUNDING = 1e-9


def no_set_beats_the_bound(rng):
    """Bound, marks, the fewest features and margins hold against every set, for any selection."""
    case, model, y = _draw(rng)
    X, n_features = case.X, case.X.shape[1]
    size = int(rng.integers(1, n_features + 1))
    selection = rng.permutation(n_features)[:size]
    found = certify(X, y, selection, estimator=model, realised=False).optimality
    if found is None:
        return
    sets = _Sets(X, problems_of(model, y, np.arange(len(y))), np.arange(n_features), ())
    _check(rng, found, sets, selection)
    if found.margin is not None:
        signs = np.where(y == y[0], 1.0, -1.0)
        _order("margin", found.margin, margin_truth(X[:, selection], signs).upper)
        for members in _some(rng, combinations(range(n_features), size)):
            truth = margin_truth(X[:, members], signs)
            _order(f"margin by {members} and widest", truth.lower, found.widest_margin)


def no_groups_beat_the_bound(rng):
    """The same for groups, always-included features and weighted rows, of a fitted selector."""
    case, model, y = _draw(rng)
    n_features = case.X.shape[1]
    groups = np.unique(rng.integers(n_features, size=n_features), return_inverse=True)[1]
    weights = None if rng.random() < 0.5 else rng.choice([0.0, 0.5, 1.0, 3.0], len(y))
    fixed = rng.permutation(n_features)[: rng.integers(2)]
    size = int(rng.integers(1, groups.max() + 2))
    selector = BestSubsetSelector(
        size, estimator=model, feature_groups=groups, fixed_features=fixed
    ).fit(case.X, y, sample_weight=weights)
    found = certify(selector, realised=False).optimality
    if found is None:
        return
    rows = selector.fit_result_.support.rows.places
    if is_classifier(model) and set(y[rows]) < set(y):
        return
    if getattr(model, "class_weight", None) == "balanced":
        # Classes are balanced by the rows that are left, or by their weights.
        return
    problems = problems_of(model, y, rows, weights)
    if not np.isin(fixed, selector.indices_).all():
        raise Violation(f"{fixed} left out of {selector.indices_}")
    sets = _Sets(case.X[rows], problems, groups, np.unique(groups[fixed]))
    _check(rng, found, sets, np.unique(groups[selector.indices_]))


def any_multipliers_bound_every_set(rng):
    """Multipliers from anywhere give true bounds and marks, whatever the objective to beat."""
    case, model, y = _draw(rng)
    n_features = case.X.shape[1]
    size = int(rng.integers(1, n_features + 1))
    sets = _Sets(case.X, problems_of(model, y, np.arange(len(y))), np.arange(n_features), ())
    truths = {members: sets.truth(members) for members in _some(rng, sets.of_size(size))}
    try:
        subset = SubsetProblem.of(case.X, Problem.of(model, y))
    except OutOfRangeError:
        return
    beta = subset.relax(size).beta * np.exp(rng.standard_normal() * rng.choice([0.0, 0.1, 3.0]))
    beta += np.abs(beta).max() * rng.choice([0.0, 1e-3, 1.0]) * rng.standard_normal(beta.shape)
    best = min(truth.upper for truth in truths.values())
    for upper in rng.choice([truth.upper for truth in truths.values()], 3):
        # The price of multipliers holds for sets that are no worse than this one.
        upper = max(float(upper), float(best)) * (1 + LAST_DIGIT)
        scaled = max(float(np.ldexp(upper, -2 * subset.exponent)), TINY)
        bound = subset.bound(beta, scaled)
        lower = scaled_back(bound.of_size(size), scaled, subset.exponent).lower
        always, never = bound.in_every_and_no_set(size, scaled)
        found = SimpleNamespace(lower_bound=lower, always=always, never=never, objective=upper)
        for members, truth in truths.items():
            if truth.upper < upper:
                _check_member(found, members, truth)


def few_more_columns_reach_the_relaxation(rng):
    """Some set of k + r − 1 columns, r the rank of the rows, is as good as the relaxation for k."""
    n_rows = int(rng.integers(2, 5))
    X = rng.standard_normal((n_rows, int(rng.integers(n_rows + 1, 8))))
    labels = rng.permutation(np.arange(n_rows) % 2)
    model, y = _drawn_model(rng, labels)
    problem = Problem.of(model, y)
    rank = n_rows - (problem.intercept is None)
    size = int(rng.integers(1, X.shape[1] - rank + 2))
    subset, problems = SubsetProblem.of(X, problem), problems_of(model, y, np.arange(n_rows))
    most = np.ldexp(subset.relax(size).upper, 2 * subset.exponent) * (1 + _ROUNDING)
    least = min(
        total_objective(X[:, members], problems).lower
        for members in combinations(range(X.shape[1]), size + rank - 1)
    )
    _order(f"{size + rank - 1} columns, and the relaxation for {size}", least, most)


def no_rival_beats_the_bound(rng):
    """No other selector, exchange or splicing from any start beats the bound, or the marks."""
    n_rows, n_features = int(rng.integers(20, 80)), int(rng.integers(20, 200))
    X = rng.standard_normal((n_rows, n_features)) * 10 ** rng.uniform(-1, 1, n_features)
    X[rng.random(X.shape) < rng.choice([0.0, 0.7])] = 0.0
    y = (X @ rng.standard_normal(n_features) > 0).astype(int)
    y[:2] = 0, 1
    model, y = _drawn_model(rng, y)
    size = int(rng.integers(1, n_features // 2))
    best = BestSubsetSelector(size, estimator=model).fit(X, y).indices_
    others = np.setdiff1d(np.arange(n_features), best)
    start = rng.permutation(n_features)[:size]
    rivals = [
        start,
        SubsetProblem.of(X, Problem.of(model, y)).splice(start)[0],
        BSSSelector(size, estimator=model).fit(X, y).indices_,
        RandomSelector(size, estimator=model, random_state=0).fit(X, y).indices_,
        *(np.append(rng.permutation(best)[1:], rng.choice(others)) for _ in range(5)),
    ]
    closeness = [
        certify(X, y, np.unique(rival), estimator=model, realised=False).optimality
        for rival in (best, *rivals)
    ]
    for own in closeness:
        for members, other in zip((best, *rivals), closeness, strict=True):
            if own is not None and own.size == other.size:
                truth = SimpleNamespace(lower=other.lower_bound, upper=other.objective)
                _check_member(own, np.unique(members), truth)


class _Sets:
    """Sets of groups of features, and the optimal objective with any of them."""

    def __init__(self, X, problems, groups, fixed):
        self._X, self._problems, self._groups = X, problems, groups
        self._fixed, self._truths = tuple(fixed), {}

    def of_size(self, size):
        others = np.setdiff1d(self._groups, self._fixed)
        if size < len(self._fixed):
            return []
        return [(*self._fixed, *more) for more in combinations(others, size - len(self._fixed))]

    def columns(self, members):
        return np.flatnonzero(np.isin(self._groups, members))

    def truth(self, members):
        key = tuple(sorted(members))
        if key not in self._truths:
            X = self._X[:, self.columns(members)]
            self._truths[key] = total_objective(X, self._problems)
            if np.isnan(float(self._truths[key].upper)):
                raise Undecided("the optimum is not known")
        return self._truths[key]


def _check(rng, found, sets, selection):
    """Hold a layer against all sets, or some of them."""
    _order("objective", sets.truth(selection).lower, found.objective)
    for members in _some(rng, sets.of_size(found.size)):
        _check_member(found, sets.columns(members), sets.truth(members))
    for members in _some(rng, sets.of_size(found.fewest - 1)):
        if sets.truth(members).upper * (1 + LAST_DIGIT) < found.objective:
            raise Violation(f"{members} are enough, and fewest is {found.fewest}")


def _check_member(found, columns, truth):
    """Hold bound and marks against one set."""
    _order("lower bound", found.lower_bound, truth.upper)
    if truth.upper * (1 + LAST_DIGIT) < found.objective:
        inside = np.isin(np.arange(len(found.always)), columns)
        if not inside[found.always].all() or inside[found.never].any():
            raise Violation(f"{columns} contradict {found.always} or {found.never}")


def _draw(rng):
    case = draw_case(rng, _ROWS, _FEATURES, _CLASSES)
    model, y = _drawn_model(rng, case.y, wild=not case.plain)
    return case, model, y


def _drawn_model(rng, labels, *, wild=False):
    model, y = draw_model(rng, labels, wild=wild)
    if isinstance(model, LinearSVC) and model.loss == "squared_hinge" and rng.random() < 0.5:
        model.set_params(intercept_scaling=np.inf, fit_intercept=True, dual=False)
    return model, y


def _some(rng, sets):
    sets = list(sets)
    return [sets[place] for place in rng.permutation(len(sets))[:_MOST_SETS]]


def _order(what, smaller, larger):
    if not smaller * (1 - LAST_DIGIT) <= larger * (1 + LAST_DIGIT):
        raise Violation(f"{what}: {float(smaller):.12g} is not below {float(larger):.12g}")
