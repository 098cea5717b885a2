"""The bound on all sets of k features, against every such set, solved without any dual value."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.svm import SVC, LinearSVC, LinearSVR

from certifeature.models import subset
from certifeature.models.enclosure import SafeRows, SubsetBound, subset_bound
from certifeature.models.losses import make_loss
from certifeature.models.problem import Problem
from certifeature.models.solver import minimise as fit
from certifeature.models.subset import SubsetProblem

FREE = {"dual": False, "intercept_scaling": np.inf}
TUBE = "squared_epsilon_insensitive"
MODELS = {
    "squared hinge, free": (2, lambda c: LinearSVC(C=c, **FREE)),
    "squared hinge, penalised": (2, lambda c: LinearSVC(C=c, intercept_scaling=2.0)),
    "squared hinge, none": (2, lambda c: LinearSVC(C=c, fit_intercept=False)),
    "squared hinge, three classes": (3, lambda c: LinearSVC(C=c, **FREE)),
    "hinge, free": (2, lambda c: SVC(kernel="linear", C=c)),
    "hinge, pairs": (3, lambda c: SVC(kernel="linear", C=c)),
    "hinge, penalised": (2, lambda c: LinearSVC(loss="hinge", C=c)),
    "logistic": (2, lambda c: LogisticRegression(C=c)),
    "logistic, none": (2, lambda c: LogisticRegression(C=c, fit_intercept=False)),
    "multinomial": (3, lambda c: LogisticRegression(C=c)),
    "ridge classes": (2, lambda c: RidgeClassifier(alpha=1 / c)),
    "ridge three classes": (3, lambda c: RidgeClassifier(alpha=1 / c)),
    "ridge": (0, lambda c: Ridge(alpha=1 / c)),
    "tube": (0, lambda c: LinearSVR(loss=TUBE, C=c, epsilon=0.3)),
    "tube, free": (0, lambda c: LinearSVR(loss=TUBE, C=c, epsilon=0.3, **FREE)),
}


def losses_of(problem, part, scores):
    """Return the loss of each row of a part, and its slopes, written as in any textbook."""
    if problem.loss == "multinomial":
        own = part.loss.targets.astype(float)
        shares = np.exp(scores - logsumexp(scores, axis=1, keepdims=True))
        return logsumexp(scores, axis=1) - (own * scores).sum(axis=1), shares - own
    target, score = part.loss.targets, scores[:, 0]
    if problem.loss == "logistic":
        margins = target * score
        values = np.logaddexp(0.0, -margins)
        return values, (-target * np.exp(-margins - values))[:, None]
    if problem.loss in ("hinge", "squared_hinge"):
        slack = np.maximum(0.0, 1 - target * score)
        return slack**2, (-2 * target * slack)[:, None]
    error = score - target
    slack = np.maximum(0.0, np.abs(error) - problem.epsilon)
    return slack**2, (2 * np.sign(error) * slack)[:, None]


def attained(problem, X):
    """Return an objective that weights of all columns of X attain, nearly the least."""
    return sum(attained_by_part(problem, part, X[part.rows]) for part in problem.parts)


def attained_by_part(problem, part, X):
    constant, costs, m = problem.intercept, part.loss.costs, part.loss.n_columns
    penalised = np.ones(X.shape[1] + 1)
    penalised[-1] = constant is not None and constant != 0
    rows = np.column_stack([X, np.full(len(X), 1.0 if constant is None else constant)])
    if problem.loss == "hinge":
        return hinge_attained(rows, part.loss.targets, costs, penalised)

    def objective(flat):
        W = flat.reshape(-1, m)
        values, slopes = losses_of(problem, part, rows @ W)
        gradient = penalised[:, None] * W + rows.T @ (costs[:, None] * slopes)
        return (penalised[:, None] * W**2).sum() / 2 + costs @ values, gradient.ravel()

    options = {"maxiter": 5000, "ftol": 1e-16, "gtol": 1e-12}
    return minimize(
        objective, np.zeros(rows.shape[1] * m), jac=True, method="L-BFGS-B", options=options
    ).fun


def hinge_attained(rows, targets, costs, penalised):
    """Return the objective of a quadratic program in weights and slacks."""
    n_weights = rows.shape[1]
    signed = targets[:, None] * rows

    def objective(v):
        return (penalised * v[:n_weights] ** 2).sum() / 2 + costs @ v[n_weights:]

    def gradient(v):
        return np.append(penalised * v[:n_weights], costs)

    met = {
        "type": "ineq",
        "fun": lambda v: signed @ v[:n_weights] + v[n_weights:] - 1,
        "jac": lambda v: np.hstack([signed, np.eye(len(rows))]),
    }
    start = np.append(np.zeros(n_weights), np.ones(len(rows)))
    found = minimize(
        objective,
        start,
        jac=gradient,
        constraints=[met],
        bounds=[(None, None)] * n_weights + [(0, None)] * len(rows),
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-14},
    ).x[:n_weights]
    slack = np.maximum(0.0, 1 - signed @ found)
    return (penalised * found**2).sum() / 2 + costs @ slack


def random_case(name, seed, n_rows=12, n_features=7):
    rng = np.random.default_rng(seed)
    n_classes, make = MODELS[name]
    X = rng.standard_normal((n_rows, n_features)) * rng.choice([0.3, 1.0, 3.0], n_features)
    if seed % 3 == 0:
        X[:, 1] = X[:, 0]
    if seed % 4 == 0:
        X = np.round(X) @ np.diag(rng.choice([0.0, 1.0], n_features, p=[0.1, 0.9]))
    weights = rng.standard_normal(n_features)
    y = X @ weights + rng.standard_normal(n_rows)
    if n_classes:
        y = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    model = make(10.0 ** rng.uniform(-2, 1))
    sample_weight = rng.uniform(0.5, 2.0, n_rows) if seed % 2 else None
    return X, Problem.of(model, y, sample_weight), rng


def check_every_set(X, problem, size, groups, fixed):
    """Hold bound, marks and the found set against every set of so many groups."""
    subsets = SubsetProblem.of(X, problem, groups, fixed)
    scale = 4.0**subsets.exponent
    others = np.setdiff1d(np.arange(groups.max() + 1), fixed)
    sets = [(*fixed, *chosen) for chosen in combinations(others, size - len(fixed))]
    values = {tuple(sorted(s)): attained(problem, X[:, np.isin(groups, s)]) for s in sets}
    least = min(values.values())
    slack = 1e-6 * max(values.values())
    relaxed = subsets.relax(size)
    start = np.lexsort((-relaxed.energies, -relaxed.shares))[:size]
    chosen, fit = subsets.splice(start)
    assert set(fixed) <= set(chosen.tolist())
    assert len(chosen) == size
    # A hinge is smoothed for the fits.
    smoothing = 1e-4 * problem.costs.sum() * (problem.loss == "hinge")
    excess = fit.value * scale - values[tuple(chosen.tolist())]
    assert -slack <= excess <= slack + smoothing
    rng = np.random.default_rng(size)
    near = [
        fit.beta + share * np.abs(fit.beta).max() * rng.standard_normal(fit.beta.shape)
        for share in (1e-3, 1e-2, 0.1)
    ]
    for beta in (relaxed.beta, fit.beta, 0.9 * fit.beta, *near):
        for upper in np.quantile(list(values.values()), [0.0, 0.1, 0.5, 1.0]):
            bound = subsets.bound(beta, upper / scale)
            assert bound.of_size(size) * scale <= least + slack
            assert bound.fewest((upper + slack) / scale) <= size
            always, never = bound.in_every_and_no_set(size, upper / scale)
            for members, value in values.items():
                if value <= upper - slack:
                    inside = np.isin(np.arange(groups.max() + 1), members)
                    assert inside[always].all()
                    assert not inside[never].any()
    worst = max(values.values()) / scale
    lowest = subsets.branched(size, worst, worst) * scale
    assert 0 < lowest <= least + slack
    # The relaxation is solved, so its bound is nearly its objective.
    assert relaxed.lower >= relaxed.upper * (1 - 2e-3)
    return relaxed, least


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("seed", range(4))
def test_no_set_is_better_than_the_bound(name, seed):
    X, problem, _ = random_case(name, seed)
    check_every_set(X, problem, 2 + seed % 3, np.arange(X.shape[1]), [])


@pytest.mark.parametrize("name", MODELS)
def test_no_set_of_groups_with_some_always_included_is_better(name):
    X, problem, _ = random_case(name, 5, n_features=9)
    check_every_set(X, problem, 3, np.array([0, 0, 1, 2, 3, 3, 3, 4, 5]), [1])


def test_marks_survive_an_energy_beside_which_others_are_rounding(rng):
    """The sum of the others is rounded when the largest energy is taken from the total."""
    energies = np.append(1e16, rng.uniform(0.5, 1.0, 300))
    loss = make_loss("squared_hinge", np.array([1.0, -1.0]), np.ones(2))
    bound = SubsetBound(loss, 1e6, 0.0, energies, np.zeros(301, dtype=bool))
    size = 200
    exact = [Fraction(e) for e in energies]
    order = sorted(range(301), key=lambda j: -exact[j])
    inside, after = order[:size], exact[order[size]]
    total = sum(exact[j] for j in inside)
    for upper in np.geomspace(1e-9, 1e12, 40):
        always, never = bound.in_every_and_no_set(size, upper)
        for j in range(301):
            rest = total - exact[j] + after if j in inside else total - exact[inside[-1]] + exact[j]
            if Fraction(10**12, 4) / rest <= Fraction(upper):
                assert not (always if j in inside else never)[j]


def test_a_relaxation_that_rounding_keeps_from_its_optimum_ends_early(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((6, 4)), np.array([0, 1, 2, 0, 1, 2])
    fits = []
    monkeypatch.setattr(subset, "minimise", lambda *given: fits.append(1) or fit(*given))
    problem = Problem.of(LinearSVC(C=1e32, **FREE), y)
    assert 0 < SubsetProblem.of(X, problem).relax(2).lower < np.inf
    assert len(fits) < 3 * 100


@pytest.mark.parametrize(("fixed", "start"), [([0], None), ([], np.array([1.0, 0.0, 0.0]))])
def test_groups_that_add_nothing_are_alike(fixed, start):
    X, y = np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]]), np.array([1, 0])
    subsets = SubsetProblem.of(X, Problem.of(SVC(kernel="linear", C=0.9), y), None, fixed)
    relaxed = subsets.relax(2, start)
    assert relaxed.lower == pytest.approx(relaxed.upper, rel=1e-3)
    assert relaxed.shares[0] == 1
    assert relaxed.shares[1] == relaxed.shares[2] <= 0.5


def test_energies_are_no_less_than_those_of_exact_arithmetic(rng):
    X, signs = rng.standard_normal((40, 12)), np.ones(40)
    beta = rng.uniform(0.1, 0.2, (40, 1))
    # Sums that cancel are no more than the rounding of their terms.
    X[-1] = 0.0
    X[-1] = -(beta.T @ X) / beta[-1]
    rows = SafeRows.of(X, 0.0)
    problem = Problem.of(LinearSVC(C=1.0, fit_intercept=False), signs, classes=np.array([-1, 1]))
    options = {"groups": np.arange(12), "fixed": np.zeros(12, dtype=bool)}
    bound = subset_bound(rows, problem.parts, beta, free=False, upper=1.0, **options)
    values, exact_beta = np.vectorize(Fraction)(rows.values), [Fraction(b) for b in beta[:, 0]]
    for energy, column in zip(bound.energies, values.T, strict=True):
        assert (
            Fraction(energy) >= sum(v * b for v, b in zip(column, exact_beta, strict=True)) ** 2 / 2
        )


@pytest.mark.parametrize("name", ["squared hinge, free", "hinge, free", "logistic", "multinomial"])
def test_multipliers_that_do_not_sum_to_zero_pay_for_a_free_intercept(name, rng):
    X, y = rng.standard_normal((14, 4)) / 100, np.array([0] * 12 + [1] * 2)
    if name == "multinomial":
        y[-1] = 2
    problem = Problem.of(MODELS[name][1](1.0), y)
    subsets = SubsetProblem.of(X, problem)
    # As at a score of 0 for all rows, where the rare classes would be as frequent.
    zeros = np.zeros((14, subsets.n_columns))
    beta = -subsets.parts[0].loss.smoothed(0.1).at(zeros).slopes
    least = min(attained(problem, X[:, chosen]) for chosen in combinations(range(4), 2))
    scale = 4.0**subsets.exponent
    assert subsets.bound(beta, least / scale).of_size(2) * scale <= least * (1 + 1e-6)


def test_marks_are_those_of_all_sets_that_energies_do_not_rule_out(rng):
    for size in range(2, 6):
        energies, fixed = rng.exponential(size=7), np.arange(7) == 2
        loss = make_loss("squared_hinge", np.ones(2), np.ones(2))
        bound = SubsetBound(loss, 3.0, 0.5, energies, fixed)
        sets = np.array([np.isin(np.arange(7), s) for s in combinations(range(7), size)])
        sets = sets[sets[:, 2]]
        lowest = bound.of_energies(sets @ (energies * ~fixed))
        for upper in rng.uniform(lowest.min(), lowest.max(), 10):
            always, never = bound.in_every_and_no_set(size, upper)
            left = sets[lowest <= upper]
            np.testing.assert_array_equal(always, left.all(axis=0))
            np.testing.assert_array_equal(never, ~left.any(axis=0))


def test_sets_that_are_enumerated_close_the_gap():
    X, problem, _ = random_case("squared hinge, free", 2)
    subsets, scale = SubsetProblem.of(X, problem), 4.0 ** SubsetProblem.of(X, problem).exponent
    least = min(attained(problem, X[:, chosen]) for chosen in combinations(range(7), 3))
    assert subsets.relax(3).lower * scale < 0.99 * least
    lowest = subsets.branched(3, least * (1 + 1e-6) / scale, least * (1 - 1e-5) / scale) * scale
    assert least * (1 - 1e-4) <= lowest <= least * (1 + 1e-6)
