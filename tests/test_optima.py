"""Enclosures of margins and objectives: against general solvers, and honest on hostile rows."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize
from sklearn.svm import SVC, LinearSVC

from certifeature.models import enclose, enclosure, hard_margin, make_loss
from certifeature.models.enclosure import SafeRows
from certifeature.rows.matrix import near_origin


def hinge_objective(X, signs, costs, *, intercept):
    return enclose(X, make_loss("hinge", signs, costs), intercept=intercept)


def squared_hinge_objective(X, signs, costs, *, intercept):
    return enclose(X, make_loss("squared_hinge", signs, costs), intercept=intercept)


def random_problem(seed, n_rows, n_features, shift):
    rng = np.random.default_rng(seed)
    signs = np.where(np.arange(n_rows) % 2 == 0, 1.0, -1.0)
    X = rng.standard_normal((n_rows, n_features))
    X[:, 0] += shift * signs
    return X, signs, rng.uniform(0.1, 3, n_rows)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("intercept", [None, 0.0, 2.0])
def test_hinge_objective_agrees_with_a_general_solver(seed, intercept):
    X, signs, costs = random_problem(seed, 14, 3, 0.5)
    d = X.shape[1]
    constant = 1.0 if intercept is None else intercept
    price = 0.0 if intercept is None else 1.0
    # Smooth form: variables w, b and slacks, with linear constraints.
    constraints = [
        {"type": "ineq", "fun": lambda z: signs * (X @ z[:d] + z[d] * constant) - 1 + z[d + 1 :]},
        {"type": "ineq", "fun": lambda z: z[d + 1 :]},
    ]
    solution = minimize(
        lambda z: z[:d] @ z[:d] / 2 + price * z[d] ** 2 / 2 + costs @ z[d + 1 :],
        np.r_[np.zeros(d + 1), np.full(len(signs), 2.0)],
        constraints=constraints,
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 2000},
    )
    found = hinge_objective(X, signs, costs, intercept=intercept)
    assert found.lower * (1 - 1e-6) <= solution.fun <= found.upper * (1 + 1e-6)
    assert found.upper - found.lower <= 1e-5 * found.upper


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_rows=st.integers(2, 40),
    n_features=st.integers(1, 60),
    log_cost=st.sampled_from([-160, -4, 0, 4, 6, 9]),
    log_size=st.sampled_from([-70, 0, 5]),
)
@example(seed=0, n_rows=20, n_features=2, log_cost=6, log_size=0)
def test_squared_hinge_is_solved_to_rounding(seed, n_rows, n_features, log_cost, log_size):
    X, signs, costs = random_problem(seed, n_rows, n_features, 0.5)
    found = squared_hinge_objective(
        X * 10.0**log_size, signs, costs * 10.0**log_cost, intercept=0.0
    )
    assert 0 < found.lower <= found.upper
    # Beyond that, rounding of the rows times their cost is as large as the objective.
    if log_cost + 2 * log_size <= 12:
        assert found.upper - found.lower <= 1e-6 * found.upper


def test_squared_hinge_encloses_the_loss_of_overlapping_classes_at_a_large_cost():
    """Of one feature that is 0 for all rows each class loses 1, whatever the weights."""
    X, signs = np.zeros((20, 1)), np.where(np.arange(20) % 2 == 0, 1.0, -1.0)
    found = squared_hinge_objective(X, signs, np.full(20, 1e6), intercept=0.0)
    assert found.lower <= 20e6 <= found.upper
    assert found.upper <= 20e6 * (1 + 1e-9)


def test_squared_hinge_of_contradictory_rows_far_from_the_origin():
    X = np.array([[1e8, 0], [1e8, 0], [0, 1e8], [0, 1e8]])
    found = squared_hinge_objective(X, np.array([1.0, -1.0, 1.0, -1.0]), np.ones(4), intercept=1.0)
    assert found.lower <= 4 <= found.upper
    assert found.upper - found.lower <= 1e-6


def test_squared_hinge_agrees_with_liblinear():
    X, signs, _ = random_problem(0, 60, 20, 0.5)
    svm = LinearSVC(C=0.7, fit_intercept=False, tol=1e-10, max_iter=100_000).fit(X, signs)
    w = svm.coef_[0]
    value = w @ w / 2 + 0.7 * np.sum(np.maximum(0, 1 - signs * (X @ w)) ** 2)
    found = squared_hinge_objective(X, signs, np.full(60, 0.7), intercept=0.0)
    assert found.lower <= value * (1 + 1e-9)
    assert found.upper == pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize("cost", [1e-160, 1e-3, 1.0, 1e6])
def test_rows_without_cost_do_not_exist(cost):
    X, signs, costs = random_problem(3, 30, 4, 0.2)
    costs = np.where(np.arange(30) % 3 == 0, 0.0, cost * costs)
    kept = costs > 0
    for objective in (
        lambda *args: squared_hinge_objective(*args, intercept=1.0),
        lambda *args: hinge_objective(*args, intercept=None),
    ):
        expected = objective(X[kept], signs[kept], costs[kept])
        found = objective(X, signs, costs)
        assert found.lower <= expected.upper
        assert expected.lower <= found.upper
        assert found.upper - found.lower <= 0.1 * found.upper


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_rows=st.integers(2, 30),
    scale=st.sampled_from([1e-150, 1e-6, 1, 1e6, 1e150]),
    as_sparse=st.booleans(),
)
def test_hard_margin_is_enclosed(seed, n_rows, scale, as_sparse):
    X, signs, _ = random_problem(seed, n_rows, 40, 0.0)
    X = X * scale
    found = hard_margin(sparse.csr_array(X) if as_sparse else X, signs)
    assert found is not None  # More features than rows: always separable.
    assert found.lower <= found.upper
    assert found.upper - found.lower <= 1e-6 * found.upper


@settings(max_examples=100)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_rows=st.integers(2, 30),
    n_features=st.integers(1, 8),
    log_shift=st.integers(0, 8),
    gap=st.sampled_from([1e-2, 1.0, 10.0]),
    as_sparse=st.booleans(),
)
def test_hard_margin_does_not_mind_where_the_origin_is(
    seed, n_rows, n_features, log_shift, gap, as_sparse
):
    """Only by the rounding of the shifted rows themselves, which moves every row by so much."""
    rng = np.random.default_rng(seed)
    X, signs, _ = random_problem(seed, n_rows, n_features, 0.0)
    X[:, 0] = signs * (gap + np.abs(X[:, 0]))
    shift = 10.0**log_shift * rng.standard_normal(n_features)
    moved = X + shift
    rounding = np.spacing(np.abs(moved).max()) * np.sqrt(n_features)
    near, far = (
        hard_margin(X, signs),
        hard_margin(sparse.csr_array(moved) if as_sparse else moved, signs),
    )
    assert near is not None
    assert far is not None
    assert far.upper >= near.lower - 2 * rounding
    assert far.lower <= near.upper + 2 * rounding
    assert far.upper - far.lower <= 1e-5 * far.upper


def test_hard_margin_of_columns_of_very_different_size():
    """The classes differ in a small column beside one of Unix times."""
    rng = np.random.default_rng(0)
    signs = np.where(np.arange(200) % 2 == 0, 1.0, -1.0)
    X = np.c_[1.7e9 + rng.integers(0, 10**7, 200), signs]
    found = hard_margin(X, signs)
    assert found.lower <= 1.0 * (1 + 1e-9)
    assert found.upper - found.lower <= 1e-3 * found.upper
    assert found.upper == pytest.approx(1.0, rel=1e-3)


def test_hard_margin_of_known_shapes():
    X = np.array([[-2.0, 0.0], [-2.0, 5.0], [1.0, 1.0]])
    found = hard_margin(X, np.array([-1.0, -1.0, 1.0]))
    assert found.lower <= 1.5 <= found.upper
    assert found.lower == pytest.approx(1.5, rel=1e-6)


def test_overlapping_classes_have_no_hard_margin():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    assert hard_margin(X, np.array([1.0, -1.0, 1.0, -1.0])) is None
    assert hard_margin(np.zeros((2, 2)), np.array([1.0, -1.0])) is None


def test_enclosures_hold_when_the_solver_is_stopped_early(monkeypatch):
    X, signs, costs = random_problem(0, 80, 5, 0.3)
    exact = hinge_objective(X, signs, costs, intercept=None)
    monkeypatch.setattr(enclosure, "_MAX_ITERATIONS", 5)
    monkeypatch.setattr(enclosure, "_MAX_STEPS", 3)
    rough = hinge_objective(X, signs, costs, intercept=None)
    assert rough.lower <= exact.upper
    assert exact.lower <= rough.upper
    assert rough.upper - rough.lower > exact.upper - exact.lower


def test_libsvm_objective_lies_in_the_enclosure():
    X, signs, _ = random_problem(1, 50, 8, 0.4)
    svm = SVC(kernel="linear", C=2.0, tol=1e-8).fit(X, signs)
    w = svm.coef_[0]
    primal = w @ w / 2 + 2 * np.sum(np.maximum(0, 1 - signs * svm.decision_function(X)))
    found = hinge_objective(X, signs, np.full(50, 2.0), intercept=None)
    assert found.lower <= primal * (1 + 1e-9)
    assert found.upper == pytest.approx(primal, rel=1e-4)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_rows_are_moved_by_one_rounding_of_each_value(form):
    """The first row may lie anywhere: a value less a point is the nearest number, or the bounds of
    rounding errors would be wrong."""
    X = np.c_[[1e12, 0.1, 0.3, 0.7], [5.0, 5.0, 5.0, 5.0]]
    moved = near_origin(form(X))
    moved = moved.toarray() if sparse.issparse(moved) else moved
    differences = [Fraction(a) - Fraction(b) for a, b in itertools.product(X[:, 0], repeat=2)]
    found = [Fraction(a) - Fraction(b) for a, b in itertools.product(moved[:, 0], repeat=2)]
    sizes = [abs(a) + abs(b) for a, b in itertools.product(moved[:, 0], repeat=2)]
    for exact, computed, size in zip(differences, found, sizes, strict=True):
        assert abs(exact - computed) <= Fraction(size) * Fraction(2) ** -53
    assert (moved[:, 1] == 0).all()


@pytest.mark.parametrize("intercept", [0.0, 0.3])
def test_rounding_errors_of_products_are_within_their_bounds(rng, intercept):
    """Held against products in rational numbers."""
    rows = SafeRows.of(rng.standard_normal((30, 20)), intercept)
    exact = [[Fraction(value) for value in (*row, rows.constant)] for row in rows.values]
    weights, multipliers = rng.standard_normal(21), rng.standard_normal(30)
    scores, errors = rows.scores(weights)
    true = [sum(a * Fraction(w) for a, w in zip(row, weights, strict=True)) for row in exact]
    wrong = [float(abs(Fraction(s) - t)) for s, t in zip(scores, true, strict=True)]
    assert max(wrong) > 0
    assert (wrong <= errors).all()
    combined, error = rows.combination(multipliers)
    columns = zip(*exact, strict=True)
    true = [sum(a * Fraction(m) for a, m in zip(c, multipliers, strict=True)) for c in columns]
    wrong = [float(Fraction(s) - t) for s, t in zip(combined, true, strict=True)]
    assert 0 < np.linalg.norm(wrong) <= error
