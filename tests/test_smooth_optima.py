"""Enclosures of the objectives of logistic and ridge regression and of tubes."""

from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import logsumexp

from certifeature.models import enclose, make_loss
from certifeature.models import solver as smooth_minimiser
from certifeature.models.losses import ExcessLoss
from certifeature.models.solver import minimise

INTERCEPTS = [None, 0.0, 2.0]
KINDS = ["squared_hinge", "logistic", "multinomial", "squared", "tube"]


def logistic_objective(X, signs, costs, *, intercept):
    return enclose(X, make_loss("logistic", signs, costs), intercept=intercept)


def multinomial_objective(X, own, costs, *, intercept):
    return enclose(X, make_loss("multinomial", own, costs), intercept=intercept)


def tube_objective(X, targets, costs, *, intercept, epsilon=0.0):
    loss = make_loss("squared_epsilon_insensitive", targets, costs, epsilon)
    return enclose(X, loss, intercept=intercept)


def problem(seed, n_rows, n_features, n_classes=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_features))
    places = np.arange(n_rows) % n_classes
    X[:, 0] += places
    return X, places, rng.uniform(0.1, 3, n_rows), rng.standard_normal(n_rows) + X[:, 0] + 2


def enclosed(kind, X, places, costs, targets, intercept):
    if kind == "logistic":
        return logistic_objective(X, np.where(places == 0, -1.0, 1.0), costs, intercept=intercept)
    if kind == "multinomial":
        own = places[:, None] == np.arange(places.max() + 1)
        return multinomial_objective(X, own, costs, intercept=intercept)
    if kind == "squared_hinge":
        loss = make_loss(kind, np.where(places == 0, -1.0, 1.0), costs)
        return enclose(X, loss, intercept=intercept)
    epsilon = 0.5 if kind == "tube" else 0.0
    return tube_objective(X, targets, costs, intercept=intercept, epsilon=epsilon)


def general(kind, X, places, costs, targets, intercept):
    """The optimum by a quasi-Newton method with numbers, not proofs."""
    n_columns = places.max() + 1 if kind == "multinomial" else 1
    constant, price = (1.0, 0.0) if intercept is None else (intercept, 1.0)
    A = np.column_stack([X, np.full(len(X), constant)])

    def value(flat):
        W = flat.reshape(-1, n_columns)
        F = A @ W
        if kind == "logistic":
            signs = np.where(places == 0, -1.0, 1.0)[:, None]
            loss = costs @ np.logaddexp(0, -signs * F)[:, 0]
            slopes = -costs[:, None] * signs * np.exp(-np.logaddexp(0, signs * F))
        elif kind == "multinomial":
            own = places[:, None] == np.arange(n_columns)
            loss = costs @ (logsumexp(F, axis=1) - F[own])
            slopes = costs[:, None] * (np.exp(F - logsumexp(F, axis=1, keepdims=True)) - own)
        else:
            off = F - targets[:, None]
            loss, slopes = costs @ (off**2)[:, 0], 2 * costs[:, None] * off
        penalised = W * np.append(np.ones(len(W) - 1), price)[:, None]
        return loss + (penalised * W).sum() / 2, (A.T @ slopes + penalised).ravel()

    options = {"maxiter": 20_000, "maxfun": 40_000, "ftol": 0, "gtol": 1e-10}
    if kind == "tube":
        return by_constraints(A, costs, targets, price, np.ones(len(A)), 0.5)
    if kind == "squared_hinge":
        signs = np.where(places == 0, -1.0, 1.0)
        return by_constraints(A, costs, signs, price, signs, 0.0, both_sides=False)
    flat = np.zeros(A.shape[1] * n_columns)
    return minimize(value, flat, jac=True, method="L-BFGS-B", options=options).fun


def by_constraints(A, costs, targets, price, sides, epsilon, both_sides=True):
    """The loss bends where it begins, but its slack has linear constraints."""
    d = A.shape[1]
    prices = np.append(np.ones(d - 1), price)
    signs = [sides, -sides] if both_sides else [sides]
    slopes = np.vstack([np.hstack([s[:, None] * A, np.eye(len(A))]) for s in signs])
    edges = np.concatenate([s * targets - epsilon for s in signs])
    start = np.r_[np.zeros(d), np.abs(targets)]
    found = minimize(
        lambda z: z[:d] ** 2 @ prices / 2 + costs @ z[d:] ** 2,
        start,
        jac=lambda z: np.r_[prices * z[:d], 2 * costs * z[d:]],
        constraints={"type": "ineq", "fun": lambda z: slopes @ z - edges, "jac": lambda _: slopes},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    # What little the constraints are broken by is counted.
    off = np.max([s * (targets - A @ found.x[:d]) for s in signs], axis=0) - epsilon
    return found.x[:d] ** 2 @ prices / 2 + costs @ np.maximum(0, off) ** 2


@settings(max_examples=60)
@given(
    kind=st.sampled_from(KINDS),
    seed=st.integers(0, 2**32 - 1),
    n_rows=st.integers(3, 18),
    n_features=st.integers(1, 24),
    log_cost=st.sampled_from([-3, 0, 2]),
    intercept=st.sampled_from(INTERCEPTS),
    as_sparse=st.booleans(),
)
def test_optimum_is_enclosed_narrowly(
    kind, seed, n_rows, n_features, log_cost, intercept, as_sparse
):
    X, places, costs, targets = problem(seed, n_rows, n_features, 3 if kind == "multinomial" else 2)
    costs = costs * 10.0**log_cost
    rows = sparse.csr_array(X) if as_sparse else X
    found = enclosed(kind, rows, places, costs, targets, intercept)
    expected = general(kind, X, places, costs, targets, intercept)
    assert found.lower <= expected * (1 + 1e-9)
    # The general solver may stop early, and is then too high. A tube may hold all rows but for
    # rounding.
    assert expected <= found.upper * (1 + 1e-5) + 1e-12
    assert found.upper - found.lower <= 1e-6 * found.upper + 1e-12


@settings(max_examples=100)
@given(
    kind=st.sampled_from(KINDS),
    seed=st.integers(0, 2**32 - 1),
    log_size=st.sampled_from([-160, -100, -20, 20, 100, 160]),
    log_cost=st.sampled_from([-160, -100, 0, 100, 160]),
    intercept=st.sampled_from(INTERCEPTS),
)
@example(kind="squared", seed=0, log_size=-160, log_cost=0, intercept=None)
def test_rows_of_any_size_do_not_break_the_enclosure(kind, seed, log_size, log_cost, intercept):
    """Rows times s, and costs and squared weights by 1/s², have the objective times 1/s²."""
    X, places, costs, targets = problem(seed, 12, 5, 3 if kind == "multinomial" else 2)
    scale = np.float64(2.0) ** round(log_size * np.log2(10))
    near = enclosed(kind, X, places, costs, targets, intercept)
    with np.errstate(over="ignore", under="ignore"):
        moved = costs / scale**2
    if np.isfinite(moved).all() and (moved > 1e-300).all():
        far = enclosed(
            kind,
            X * scale,
            places,
            moved,
            targets,
            None if intercept is None else intercept * scale,
        )
        with np.errstate(over="ignore", under="ignore"):
            bounds = near.lower / scale**2, near.upper / scale**2
        assert far.lower <= bounds[1]
        assert bounds[0] <= far.upper
    wild = enclosed(kind, X * scale, places, costs * 10.0**log_cost, targets, intercept)
    # No weights at all, which is the worst there is.
    with np.errstate(over="ignore", under="ignore"):
        worst = {
            "logistic": np.log(2) * costs.sum(),
            "multinomial": np.log(3) * costs.sum(),
            "squared_hinge": costs.sum(),
        }.get(kind, costs @ targets**2) * 10.0**log_cost
    assert 0 <= wild.lower <= worst * (1 + 1e-9)
    assert wild.upper > 0


@pytest.mark.parametrize("kind", ["squared", "tube"])
@pytest.mark.parametrize("log_size", [-150, -40, 40, 150])
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_targets_of_any_size(kind, log_size, intercept):
    X, _, costs, targets = problem(1, 15, 4)
    scale = 2.0 ** round(log_size * np.log2(10))
    epsilon = 0.5 if kind == "tube" else 0.0
    near = tube_objective(X, targets, costs, intercept=intercept, epsilon=epsilon)
    far = tube_objective(X, targets * scale, costs, intercept=intercept, epsilon=epsilon * scale)
    assert far.lower <= near.upper * scale**2
    assert near.lower * scale**2 <= far.upper
    assert far.upper - far.lower <= 1e-6 * far.upper


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("cost", [1e-6, 1.0, 1e6, 1e12])
def test_squared_objective_encloses_the_normal_equations_in_many_digits(seed, cost):
    """The optimum is ½tᵀ(K + I/(2c))⁻¹t, by Gaussian elimination with 60 digits."""
    X, _, _, targets = problem(seed, 6, 4)
    with localcontext() as context:
        context.prec = 60
        A = [[Decimal(v) for v in row] for row in X.tolist()]
        t = [Decimal(v) for v in targets.tolist()]
        K = [[sum(a * b for a, b in zip(r, s, strict=True)) for s in A] for r in A]
        for i in range(6):
            K[i][i] += 1 / (2 * Decimal(cost))
        right = list(t)
        for i in range(6):
            for j in range(i + 1, 6):
                factor = K[j][i] / K[i][i]
                K[j] = [b - factor * a for a, b in zip(K[i], K[j], strict=True)]
                right[j] -= factor * right[i]
        beta = [Decimal(0)] * 6
        for i in reversed(range(6)):
            known = sum(K[i][j] * beta[j] for j in range(i + 1, 6))
            beta[i] = (right[i] - known) / K[i][i]
        exact = sum(a * b for a, b in zip(t, beta, strict=True)) / 2
        found = tube_objective(X, targets, np.full(6, cost), intercept=0.0)
        assert Decimal(found.lower) <= exact <= Decimal(found.upper)
    assert found.upper - found.lower <= 1e-6 * found.upper


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_logistic_loss_is_that_of_two_classes(intercept):
    """Two columns of weights ±w/2 predict what one column w does, at half the penalty."""
    X, places, costs, _ = problem(2, 20, 5)
    signs = np.where(places == 0, -1.0, 1.0)
    one = logistic_objective(X, signs, costs, intercept=intercept)
    own = places[:, None] == np.arange(2)
    two = multinomial_objective(
        X / np.sqrt(0.5), own, costs, intercept=None if intercept is None else intercept / 0.5**0.5
    )
    # ½(‖w/2‖² + ‖w/2‖²) = ¼‖w‖², which rows longer by √2 make up for, once halved.
    half = multinomial_objective(
        X * np.sqrt(0.5), own, costs, intercept=None if intercept is None else intercept * 0.5**0.5
    )
    assert half.lower <= one.upper * (1 + 1e-12)
    assert one.lower <= half.upper * (1 + 1e-12)
    assert two.upper < one.lower


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_rows_without_cost_do_not_exist(kind, intercept):
    X, places, costs, targets = problem(3, 30, 4, 3)
    costs = np.where(np.arange(30) % 4 == 0, 0.0, costs)
    kept = costs > 0
    found = enclosed(kind, X, places, costs, targets, intercept)
    expected = enclosed(kind, X[kept], places[kept], costs[kept], targets[kept], intercept)
    assert found.lower <= expected.upper
    assert expected.lower <= found.upper
    assert found.upper - expected.lower <= 1e-6 * found.upper


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_enclosures_hold_when_the_solver_is_stopped_early(kind, intercept, monkeypatch):
    X, places, costs, targets = problem(4, 40, 6, 3 if kind == "multinomial" else 2)
    exact = enclosed(kind, X, places, costs, targets, intercept)
    monkeypatch.setattr(smooth_minimiser, "_MAX_STEPS", 2)
    monkeypatch.setattr("certifeature.models.enclosure.MAX_DIRECT", 0)
    rough = enclosed(kind, X, places, costs, targets, intercept)
    assert rough.lower <= exact.upper
    assert exact.lower <= rough.upper
    if kind in ("logistic", "multinomial"):
        assert rough.upper - rough.lower > exact.upper - exact.lower


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_rows=st.integers(3, 40),
    n_features=st.integers(1, 60),
    log_cost=st.sampled_from([-4, 0, 4]),
    shift=st.sampled_from([0.0, 100.0]),
    as_sparse=st.booleans(),
)
def test_squared_hinge_with_a_free_intercept(seed, n_rows, n_features, log_cost, shift, as_sparse):
    """The origin does not matter, which it does to an intercept that is penalised."""
    X, places, costs, _ = problem(seed, n_rows, n_features)
    loss = make_loss("squared_hinge", np.where(places == 0, -1.0, 1.0), costs * 10.0**log_cost)
    rows = sparse.csr_array(X + shift) if as_sparse else X + shift
    weights, reached = minimise(rows, loss, None)
    assert reached
    expected, _ = minimise(X, loss, None)
    size = np.abs(expected[:-1]).max()
    assert np.abs(weights[:-1] - expected[:-1]).max() <= 1e-6 * size + 1e-12
    near, far = (enclose(part, loss, intercept=None) for part in (X, rows))
    assert near.upper - near.lower <= 1e-6 * near.upper + 1e-12
    assert far.lower <= near.upper * (1 + 1e-9) + 1e-12
    assert near.lower <= far.upper * (1 + 1e-9)


def test_a_class_without_rows_costs_nothing_with_a_free_intercept():
    X, places, costs, _ = problem(5, 20, 3, 3)
    own = places[:, None] == np.arange(3)
    more = np.column_stack([own, np.zeros(20, dtype=bool)])
    assert multinomial_objective(X, more, costs, intercept=None) == multinomial_objective(
        X, own, costs, intercept=None
    )
    with_it, without = (multinomial_objective(X, o, costs, intercept=0.0) for o in (more, own))
    assert with_it.lower > without.upper


def test_one_class_and_no_numbers_cost_nothing():
    X, costs = np.ones((4, 2)), np.ones(4)
    own = np.ones((4, 1), dtype=bool)
    assert multinomial_objective(X, own, costs, intercept=None).upper == 0
    assert logistic_objective(X, np.ones(4), costs, intercept=None).lower == 0
    constant = tube_objective(X, np.full(4, 3.0), costs, intercept=None)
    assert constant.lower == 0
    assert constant.upper <= 1e-300
    inside = tube_objective(X, np.full(4, 0.3), costs, intercept=0.0, epsilon=1.0)
    assert inside.upper <= 1e-300


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("log_cost", [-160, -150])
def test_costs_that_vanish_at_the_scale_of_the_rows_prove_nothing(loss, log_cost):
    """Tiny rows can do nothing about the loss, so the optimum is the sum of the costs."""
    X, places, costs, _ = problem(6, 10, 3)
    costs = costs * 10.0**log_cost
    signs = np.where(places == 0, -1.0, 1.0)
    found = enclose(X * 1e-100, make_loss(loss, signs, costs), intercept=0.0)
    assert found.lower <= costs.sum() <= found.upper


def test_a_search_that_gets_no_further_ends_soon():
    rng, n_looks = np.random.default_rng(49), 0
    X = rng.standard_normal((10, 6))
    X *= 10.0 ** rng.uniform(-320, 0, X.shape)

    class Watched(ExcessLoss):
        def at(self, scores):
            nonlocal n_looks
            n_looks += 1
            return super().at(scores)

    loss = Watched(np.arange(10) % 2 * 1.0, np.full(10, 1e62))
    assert not minimise(X, loss, 1.0)[1]
    assert n_looks < 5000
