"""Many squared-hinge SVMs at once are the same as one by one."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from certifeature.models import make_loss
from certifeature.models.solver import minimise, squared_hinge_duals


def problems(seed, n_rows, n_features, n_problems, cost, shift=0.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_features)) + shift
    signs = rng.choice([-1.0, 1.0], (n_rows, n_problems))
    costs = cost * rng.uniform(0.5, 2, (n_rows, n_problems))
    costs[rng.random((n_rows, n_problems)) < 0.4] = 0
    return X, signs, costs


def one_by_one(X, scale, signs, costs):
    found = [
        minimise(X, make_loss("squared_hinge", s, c), scale)
        for s, c in zip(signs.T, costs.T, strict=True)
    ]
    assert all(reached for _, reached in found)
    return np.hstack([weights for weights, _ in found])


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_rows=st.integers(1, 40),
    n_features=st.integers(1, 60),
    n_problems=st.integers(1, 5),
    cost=st.sampled_from([1e-6, 1e-2, 1.0, 100.0]),
    scale=st.sampled_from([0.0, 1.0, 3.0]),
    shift=st.sampled_from([0.0, 5.0]),
)
def test_same_weights_as_one_by_one(seed, n_rows, n_features, n_problems, cost, scale, shift):
    X, signs, costs = problems(seed, n_rows, n_features, n_problems, cost, shift)
    expected = one_by_one(X, scale, signs, costs)
    rows = np.column_stack([X, np.full(n_rows, scale)])
    duals = squared_hinge_duals(rows @ rows.T, signs, costs)
    found = rows.T @ duals
    assert np.abs(found - expected).max() <= 1e-6 * max(np.abs(expected).max(), 1e-12)
    assert (duals[costs == 0] == 0).all()


def test_rows_far_from_the_origin(rng):
    X, signs, costs = problems(0, 60, 100, 4, 10.0, shift=1e3)
    expected = one_by_one(X, 1.0, signs, costs)
    rows = np.column_stack([X, np.ones(60)])
    found = rows.T @ squared_hinge_duals(rows @ rows.T, signs, costs)
    assert np.abs(found - expected).max() <= 1e-5 * np.abs(expected).max()
