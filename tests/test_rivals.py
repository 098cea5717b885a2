"""The methods of the literature that the benchmark compares with do what their authors say."""

import numpy as np
import pytest
from rivals import dual_set, forward, played, regret, removal
from scipy.optimize import brentq


@pytest.fixture
def vectors(rng):
    """A basis whose rows differ much in norm."""
    return np.linalg.qr(rng.standard_normal((120, 6)) * rng.pareto(1.5, (120, 1)))[0]


def gram(vectors, chosen, squared_scales=1.0):
    rows = vectors[chosen]
    return (rows.T * squared_scales) @ rows


def test_dual_set_bounds_the_spectrum_from_below_and_every_scale_from_above(vectors):
    chosen, squared_scales = dual_set(vectors, 15)
    lowest = np.linalg.eigvalsh(gram(vectors, chosen, squared_scales))[0]
    assert len(chosen) <= 15
    assert lowest >= (1 - np.sqrt(6 / 15)) ** 2
    assert squared_scales.max() <= (1 + np.sqrt(120 / 15)) ** 2


def test_dual_set_of_frobenius_type_does_not_raise_the_sum_of_squares(vectors, rng):
    squared_norms = rng.pareto(1.5, 120)
    chosen, squared_scales = dual_set(vectors, 15, squared_norms)
    lowest = np.linalg.eigvalsh(gram(vectors, chosen, squared_scales))[0]
    assert lowest >= (1 - np.sqrt(6 / 15)) ** 2
    assert squared_scales @ squared_norms[chosen] <= squared_norms.sum() * (1 + 1e-12)


def test_removal_is_the_greedy_choice_written_directly(vectors):
    def trace_without(left, out):
        return np.trace(np.linalg.inv(gram(vectors, np.setdiff1d(left, out))))

    left = np.arange(120)
    while len(left) > 9:
        left = np.setdiff1d(left, min(left, key=lambda out: trace_without(left, out)))
    np.testing.assert_array_equal(removal(vectors, 9)[0], left)


def test_forward_is_the_greedy_choice_written_directly(vectors):
    def trace_with(chosen, new):
        return np.trace(np.linalg.inv(gram(vectors, [*chosen, new]) + 1e-5 * np.eye(6)))

    chosen = []
    for _ in range(60):
        rest = np.setdiff1d(np.arange(120), chosen)
        chosen.append(min(rest, key=lambda new: trace_with(chosen, new)))
    np.testing.assert_array_equal(forward(vectors, 60)[0], np.sort(chosen))


def test_regret_plays_a_matrix_of_trace_one(vectors):
    chosen, rate = vectors[:20], 7.0
    # The rows of I come back as the diagonals of A and of its root.
    root_trace = played(np.eye(6), chosen, rate)[1].sum()
    assert played(np.eye(6), chosen, rate)[0].sum() == pytest.approx(1)
    values, axes = np.linalg.eigh(rate * chosen.T @ chosen)
    c = brentq(lambda c: np.sum(1 / (c + values)) - root_trace, 1e-9 - values[0], 10)
    root = axes @ np.diag(1 / (c + values)) @ axes.T
    squares, shares = played(vectors, chosen, rate)
    np.testing.assert_allclose(shares, np.sum(vectors @ root * vectors, axis=1))
    np.testing.assert_allclose(squares, np.sum((vectors @ root) ** 2, axis=1))


def test_regret_swaps_from_a_bad_start_keep_most_of_an_even_share(rng):
    vectors = np.linalg.qr(rng.standard_normal((2_000, 2)))[0]
    r, epsilon = 400, 1 / 6
    worst = np.argsort(np.abs(vectors[:, 0]))[:r]
    chosen, squared_scales = regret(vectors, r, epsilon, worst)
    assert len(np.unique(chosen)) == r
    np.testing.assert_array_equal(squared_scales, 1)
    share = np.linalg.eigvalsh(gram(vectors, chosen))[0] * 2_000 / r
    assert share >= 1 - 3 * epsilon > np.linalg.eigvalsh(gram(vectors, worst))[0] * 2_000 / r
