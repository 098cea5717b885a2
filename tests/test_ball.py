"""The minimum enclosing ball: known shapes, an independent solver, an honest gap."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_rows import random_rows
from scipy import sparse
from scipy.optimize import minimize

from certifeature.certificate.ball import minimum_enclosing_ball


def simplex(n):
    return np.eye(n)


def cube(n):
    return np.array(np.meshgrid(*[[-1.0, 1.0]] * n)).reshape(n, -1).T


@pytest.mark.parametrize(
    ("points", "radius"),
    [
        (simplex(2), np.sqrt(1 / 2)),
        (simplex(40), np.sqrt(39 / 40)),
        (cube(3), np.sqrt(3)),
        (np.vstack([np.eye(6), -np.eye(6)]), 1.0),
        ([[3.0, 4.0]], 0.0),
        ([[3.0, 4.0]] * 7, 0.0),
        (np.zeros((3, 2)), 0.0),
        ([[0.0, 0.0], [2.0, 0.0], [1.0, 0.9]], 1.0),
        ([[0.0], [1.0], [5.0]], 2.5),
    ],
)
@pytest.mark.parametrize("shift", [0.0, 1e4])
def test_shapes_of_known_radius(points, radius, shift):
    ball = minimum_enclosing_ball(np.asarray(points) + shift)
    assert ball.radius == pytest.approx(radius, rel=1e-6, abs=1e-3 if shift else 1e-7)
    assert ball.lower_bound <= ball.radius


@settings(max_examples=100)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_rows=st.integers(1, 60),
    n_features=st.integers(1, 30),
    kind=st.sampled_from(["normal", "integers", "sphere", "repeated"]),
    as_sparse=st.booleans(),
)
def test_ball_encloses_and_its_gap_is_honest(seed, n_rows, n_features, kind, as_sparse):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_features))
    if kind == "integers":
        X = np.round(X)
    elif kind == "sphere":
        X /= np.linalg.norm(X, axis=1)[:, None]
    elif kind == "repeated":
        X = np.repeat(X, 3, axis=0)
    ball = minimum_enclosing_ball(sparse.csr_array(X) if as_sparse else X)
    a = ball.coefficients
    assert a.min() >= 0
    assert a.sum() == pytest.approx(1)
    distances = np.linalg.norm(X - a @ X, axis=1)
    assert distances.max() <= ball.radius * (1 + 1e-12) + 1e-300
    # Weak duality, computed from scratch: the weighted spread about the centre is a lower bound.
    assert ball.lower_bound**2 <= a @ distances**2 * (1 + 1e-9) + 1e-300
    # Rows that coincide but for rounding have no ball to speak of.
    assert ball.gap <= 1e-6 or ball.radius <= 1e-7 * np.linalg.norm(X, axis=1).max()


@pytest.mark.parametrize("seed", range(5))
def test_agreement_with_a_general_solver(seed):
    X = np.random.default_rng(seed).standard_normal((12, 4))
    start = np.r_[X.mean(axis=0), 100.0]
    solution = minimize(
        lambda z: z[-1],
        start,
        constraints={"type": "ineq", "fun": lambda z: z[-1] - ((X - z[:-1]) ** 2).sum(axis=1)},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    ball = minimum_enclosing_ball(X)
    assert ball.radius**2 == pytest.approx(solution.fun, rel=1e-6)


@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("constant", [1e8, 1e100, 1e200, 1e300, -1e307])
def test_a_constant_column_does_not_matter(constant, as_sparse, rng):
    """However large: the rows differ elsewhere, and so the radius is not 0."""
    X = rng.standard_normal((30, 5))
    moved = np.insert(X, 2, constant, axis=1)
    ball = minimum_enclosing_ball(sparse.csr_array(moved) if as_sparse else moved)
    assert ball.radius == pytest.approx(minimum_enclosing_ball(X).radius, rel=1e-6)
    assert ball.gap <= 1e-6


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("value", [0.0, 0.1, 1e-320, 1e200, 1.7e308])
def test_equal_rows_have_radius_zero(value, form):
    ball = minimum_enclosing_ball(form(np.full((7, 3), value)))
    assert ball.radius == ball.lower_bound == 0


def test_a_radius_beyond_all_numbers_is_named():
    with pytest.raises(ValueError, match=r"overflow.*MaxAbsScaler"):
        minimum_enclosing_ball([[-1.7e308], [1.7e308]])


@pytest.mark.parametrize("factor", [1e-150, 1e150])
def test_scale_does_not_matter(factor, rng):
    X = rng.standard_normal((30, 5))
    scaled = minimum_enclosing_ball(X * factor)
    assert scaled.radius / factor == pytest.approx(minimum_enclosing_ball(X).radius)
    assert scaled.gap <= 1e-6


def test_thousands_of_sparse_rows(rng):
    X = random_rows((3000, 20_000), 0.002, rng)
    ball = minimum_enclosing_ball(X)
    assert ball.gap <= 1e-6


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="NaN or infinity"):
        minimum_enclosing_ball([[np.nan]])
    with pytest.raises(ValueError, match="tolerance must be a finite positive number; got 0"):
        minimum_enclosing_ball(np.eye(3), tolerance=0)
