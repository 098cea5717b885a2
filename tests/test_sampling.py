"""Leverage-score, uniform and pivoted-QR kernels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_rows import random_rows
from scipy import linalg, sparse

from certifeature.sparsify import leverage_scores
from certifeature.sparsify.rrqr import rrqr
from certifeature.sparsify.sampling import leverage_sample, uniform


@pytest.fixture
def vectors(rng):
    return np.linalg.qr(rng.standard_normal((60, 4)) * rng.exponential(size=(60, 1)))[0]


def sparsified(vectors, sample):
    chosen = vectors[sample.indices] * sample.scales[:, None]
    return chosen.T @ chosen


def test_leverage_scores_are_the_diagonal_of_the_projector(vectors):
    scores = leverage_scores(vectors)
    np.testing.assert_allclose(scores, np.diag(vectors @ vectors.T))
    np.testing.assert_allclose(scores.sum(), 4)


def test_leverage_sampling_is_unbiased(vectors):
    matrices = np.array(
        [
            sparsified(vectors, leverage_sample(vectors, 30, random_state=seed))
            for seed in range(4000)
        ]
    )
    # Six standard errors of the mean, entry by entry.
    bound = 6 * matrices.std(axis=0) / np.sqrt(len(matrices))
    assert (np.abs(matrices.mean(axis=0) - np.eye(4)) <= bound).all()


def test_leverage_sampling_error_falls_with_the_root_of_the_draws(rng):
    vectors = np.linalg.qr(rng.standard_normal((4000, 4)))[0]

    def mean_error(n_select):
        return np.mean(
            [
                np.linalg.norm(
                    sparsified(vectors, leverage_sample(vectors, n_select, random_state=seed))
                    - np.eye(4)
                )
                for seed in range(300)
            ]
        )

    assert mean_error(50) / mean_error(800) == pytest.approx(4, rel=0.2)


def test_draws_count_with_their_multiplicity(vectors):
    sample = leverage_sample(vectors, 500, random_state=0)
    assert len(sample.indices) < 500
    assert len(np.unique(sample.indices)) == len(sample.indices)
    probabilities = leverage_scores(vectors)[sample.indices] / 4
    counts = sample.scales**2 * 500 * probabilities
    np.testing.assert_allclose(counts, np.round(counts))
    assert counts.sum() == pytest.approx(500)


def test_order_is_that_of_the_first_draw(vectors):
    few, more = (leverage_sample(vectors, n, random_state=7).indices for n in (5, 50))
    assert more[: len(few)].tolist() == few.tolist()


def test_features_without_leverage_are_never_drawn(vectors):
    vectors = np.vstack([np.zeros((2, 4)), vectors])
    assert leverage_sample(vectors, 300, random_state=0).indices.min() >= 2


def test_seed_decides_the_sample(vectors):
    draws = [leverage_sample(vectors, 9, random_state=seed).indices.tolist() for seed in (1, 1, 2)]
    assert draws[0] == draws[1] != draws[2]


def test_uniform_draws_distinct_features_and_nests():
    sample = uniform(50, 20, random_state=0)
    assert len(set(sample.indices.tolist())) == 20
    assert set(uniform(50, 50, random_state=1).indices.tolist()) == set(range(50))
    np.testing.assert_array_equal(uniform(50, 7, random_state=0).indices, sample.indices[:7])


def test_uniform_sampling_is_unbiased(vectors):
    matrices = np.array([sparsified(vectors, uniform(60, 20, seed)) for seed in range(4000)])
    bound = 6 * matrices.std(axis=0) / np.sqrt(len(matrices))
    assert (np.abs(matrices.mean(axis=0) - np.eye(4)) <= bound).all()


@settings(max_examples=150)
@given(
    seed=st.integers(0, 2**32 - 1),
    shape=st.tuples(st.integers(1, 25), st.integers(1, 60)),
    scale=st.sampled_from([1.0, 1e-150, 1e150]),
)
def test_rrqr_agrees_with_lapack_up_to_the_rank(seed, shape, scale):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal(shape) * rng.exponential(size=shape[1])
    size = min(shape)
    expected = linalg.qr(X, pivoting=True, mode="r")[1][:size]
    np.testing.assert_array_equal(rrqr(X * scale, size).indices, expected)


@pytest.mark.parametrize("condition", [1e4, 1e8, 1e12])
def test_rrqr_agrees_with_lapack_on_ill_conditioned_data(condition, rng):
    left, right = (np.linalg.qr(rng.standard_normal((n, 20)))[0] for n in (20, 90))
    X = (left * np.geomspace(1, 1 / condition, 20)) @ right.T
    expected = linalg.qr(X, pivoting=True, mode="r")[1][:20]
    np.testing.assert_array_equal(rrqr(X, 20).indices, expected)
    np.testing.assert_array_equal(rrqr(sparse.csc_matrix(X), 20).indices, expected)


def test_rrqr_deflates_beyond_the_rank(rng):
    X = rng.standard_normal((6, 20))
    chosen = rrqr(X, 20).indices
    assert sorted(chosen.tolist()) == list(range(20))
    rest = np.setdiff1d(np.arange(20), chosen[:6])
    second = linalg.qr(X[:, rest], pivoting=True, mode="r")[1][:6]
    np.testing.assert_array_equal(chosen[6:12], rest[second])
    np.testing.assert_array_equal(rrqr(X, 9).indices, chosen[:9])


def test_rrqr_serves_zero_and_duplicate_columns_last(rng):
    X = np.zeros((4, 7))
    X[:, 2] = X[:, 4] = rng.standard_normal(4)
    assert rrqr(X, 7).indices.tolist() == [2, 4, 0, 1, 3, 5, 6]


@pytest.mark.parametrize("seed", range(16))
def test_rrqr_gives_ties_to_the_lower_index(seed):
    """Columns that are as far from the span, but for rounding: copies and mirrored ones."""
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(3, 60))
    few = rng.standard_normal((n_rows, int(rng.integers(2, 60))))
    X = np.hstack([few, -few, few])
    n_distinct = few.shape[1]
    order = rrqr(few, n_distinct).indices
    for form in (np.asarray, np.asfortranarray, sparse.csr_array, sparse.csc_array):
        found = rrqr(form(X), X.shape[1]).indices
        first = found[: min(n_rows, n_distinct)]
        np.testing.assert_array_equal(first, order[: len(first)])
        np.testing.assert_array_equal(found, rrqr(X, X.shape[1]).indices)
        np.testing.assert_array_equal(found, rrqr(X[rng.permutation(n_rows)], X.shape[1]).indices)


def test_rrqr_sees_the_same_in_sparse_and_dense(rng):
    X = random_rows((30, 80), 0.15, rng)
    np.testing.assert_array_equal(rrqr(X, 70).indices, rrqr(X.toarray(), 70).indices)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rrqr(np.ones((2, 3)), 4), "up to 3, the number of features"),
        (lambda: rrqr(np.ones((2, 3)), 0), "positive integer"),
        (lambda: rrqr(np.zeros((2, 3)), 1), "zero everywhere"),
        (lambda: rrqr([[np.nan, 1.0]], 1), "NaN or infinity"),
        (lambda: uniform(3, 4), "up to 3, the number of features"),
        (lambda: uniform(3, -1), "positive integer"),
        (lambda: leverage_scores(np.ones((3, 2))), "not orthonormal"),
        (lambda: leverage_sample(np.eye(3), 0), "positive integer"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
