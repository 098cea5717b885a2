"""Enclosures of margins and objectives: against general solvers, and honest when cut short."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.svm import SVC, LinearSVC

from certifeature.svm import bounds, hard_margin, hinge_objective, squared_hinge_objective


def random_problem(seed, n_rows, n_features, shift):
    rng = np.random.default_rng(seed)
    signs = np.where(np.arange(n_rows) % 2 == 0, 1.0, -1.0)
    X = rng.standard_normal((n_rows, n_features))
    X[:, 0] += shift * signs
    return X, signs, rng.uniform(0.1, 3, n_rows)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("free_intercept", [True, False])
def test_hinge_objective_agrees_with_a_general_solver(seed, free_intercept):
    X, signs, costs = random_problem(seed, 14, 3, 0.5)
    d = X.shape[1]
    # Smooth form: variables w, b and slacks, with linear constraints.
    constraints = [
        {
            "type": "ineq",
            "fun": lambda z: signs * (X @ z[:d] + z[d] * free_intercept) - 1 + z[d + 1 :],
        },
        {"type": "ineq", "fun": lambda z: z[d + 1 :]},
    ]
    solution = minimize(
        lambda z: z[:d] @ z[:d] / 2 + costs @ z[d + 1 :],
        np.r_[np.zeros(d + 1), np.full(len(signs), 2.0)],
        constraints=constraints,
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 2000},
    )
    found = hinge_objective(X @ X.T, signs, costs, free_intercept=free_intercept)
    assert found.lower * (1 - 1e-6) <= solution.fun <= found.upper * (1 + 1e-6)
    assert found.upper - found.lower <= 1e-4 * found.upper


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_rows=st.integers(2, 40),
    n_features=st.integers(1, 60),
    log_cost=st.floats(-4, 4),
)
def test_squared_hinge_is_solved_to_rounding(seed, n_rows, n_features, log_cost):
    X, signs, costs = random_problem(seed, n_rows, n_features, 0.5)
    found = squared_hinge_objective(X @ X.T, signs, costs * 10**log_cost)
    assert 0 <= found.lower <= found.upper
    assert found.upper - found.lower <= 1e-8 * found.upper


def test_squared_hinge_agrees_with_liblinear():
    X, signs, _ = random_problem(0, 60, 20, 0.5)
    svm = LinearSVC(C=0.7, fit_intercept=False, tol=1e-10, max_iter=100_000).fit(X, signs)
    w = svm.coef_[0]
    value = w @ w / 2 + 0.7 * np.sum(np.maximum(0, 1 - signs * (X @ w)) ** 2)
    found = squared_hinge_objective(X @ X.T, signs, np.full(60, 0.7))
    assert found.lower <= value * (1 + 1e-9)
    assert found.upper == pytest.approx(value, rel=1e-6)


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1), n_rows=st.integers(2, 30), scale=st.sampled_from([1e-6, 1, 1e6])
)
def test_hard_margin_is_enclosed(seed, n_rows, scale):
    X, signs, _ = random_problem(seed, n_rows, 40, 0.0)
    found = hard_margin(X @ X.T * scale**2, signs)
    assert found is not None  # More features than rows: always separable.
    assert found.lower <= found.upper
    assert found.upper - found.lower <= 1e-3 * found.upper


def test_hard_margin_of_known_shapes():
    X = np.array([[-2.0, 0.0], [-2.0, 5.0], [1.0, 1.0]])
    found = hard_margin(X @ X.T, np.array([-1.0, -1.0, 1.0]))
    assert found.lower == pytest.approx(1.5, rel=1e-5)
    assert found.upper == pytest.approx(1.5, rel=1e-5)


def test_overlapping_classes_have_no_hard_margin():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    assert hard_margin(X @ X.T, np.array([1.0, -1.0, 1.0, -1.0])) is None
    assert hard_margin(np.zeros((2, 2)), np.array([1.0, -1.0])) is None


def test_enclosures_hold_when_the_solver_is_stopped_early(monkeypatch):
    X, signs, costs = random_problem(0, 80, 5, 0.3)
    exact = hinge_objective(X @ X.T, signs, costs, free_intercept=True)
    monkeypatch.setattr(bounds, "_MOST_ITERATIONS", 5)
    rough = hinge_objective(X @ X.T, signs, costs, free_intercept=True)
    assert rough.lower <= exact.upper
    assert exact.lower <= rough.upper
    assert rough.upper - rough.lower > exact.upper - exact.lower


def test_libsvm_objective_lies_in_the_enclosure():
    X, signs, _ = random_problem(1, 50, 8, 0.4)
    svm = SVC(kernel="linear", C=2.0, tol=1e-8).fit(X, signs)
    w = svm.coef_[0]
    primal = w @ w / 2 + 2 * np.sum(np.maximum(0, 1 - signs * svm.decision_function(X)))
    found = hinge_objective(X @ X.T, signs, np.full(50, 2.0), free_intercept=True)
    assert found.lower <= primal * (1 + 1e-9)
    assert found.upper == pytest.approx(primal, rel=1e-4)
