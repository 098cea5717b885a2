"""Rows less their mean: the same in an array, in a sparse matrix, in blocks and with Dask."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_selection import chi2
from sklearn.linear_model import LogisticRegression, RidgeClassifier

from certifeature import BSSSelector, RRQRSelector, certify
from certifeature.basis import exact_basis, sketched_basis
from certifeature.basis.span import leading_basis, truncated_basis
from certifeature.certificate.measured import bound_in_memory, measured_in_blocks
from certifeature.models import stable_scores
from certifeature.models.problem import default_model
from certifeature.models.support import at_scale
from certifeature.rows import ArrayBlocks
from certifeature.rows.blocks import stacked
from certifeature.rows.matrix import Centred, column_norms, near_origin, row_norms, times_gram
from certifeature.rows.rows import Rows
from certifeature.sparsify import ColumnChoice


def labelled_rows(rng, offset=0.0, shape=(60, 90)):
    """Return rows with many zeros, of which a sixth of the columns may be far from the origin."""
    X = rng.poisson(0.4, shape) * rng.exponential(size=shape)
    X[:, : shape[1] // 6] += offset
    scores = X[:, -4:].sum(axis=1)
    return X, (scores > np.median(scores)).astype(int)


@pytest.fixture
def forms(rng):
    """The same rows less their mean as an array and implicitly, with weights."""
    X, _ = labelled_rows(rng, offset=1e6)
    weights = rng.integers(1, 4, len(X)).astype(float)
    direct, implicit = (Rows(form, None, weights).centred().X for form in (X, sparse.csr_array(X)))
    np.testing.assert_allclose(direct, X - np.average(X, axis=0, weights=weights), atol=1e-8)
    assert isinstance(implicit, Centred)
    return direct, implicit


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-8)


def test_centred_rows_calculate_as_arrays_do(forms, rng):
    direct, implicit = forms
    left, right = rng.standard_normal((3, 60)), rng.standard_normal((90, 2))
    close(np.asarray(implicit), direct)
    close(implicit @ right, direct @ right)
    close(implicit @ right[:, 0], direct @ right[:, 0])
    close(left @ implicit, left @ direct)
    close(implicit @ implicit.T, direct @ direct.T)
    close(implicit.T @ implicit, direct.T @ direct)
    close(np.asarray(implicit[5:9, [3, 60, 88]]), direct[5:9, [3, 60, 88]])
    close(row_norms(implicit), np.linalg.norm(direct, axis=1))
    close(column_norms(implicit), np.linalg.norm(direct, axis=0))
    close(times_gram(implicit)(left.T), direct @ (direct.T @ left.T))
    close(np.asarray(stacked([implicit[:7], implicit[7:]])), direct)
    close(stacked([implicit[:7], np.asarray(implicit[7:])]), direct)


def test_only_columns_far_from_the_origin_are_written_out(rng):
    X, _ = labelled_rows(rng, offset=1e6)
    X[3, 5] = 0.0
    implicit = Rows(sparse.csr_array(X)).centred().X
    assert (implicit.stored[:, 15:] != sparse.csr_array(X[:, 15:])).nnz == 0
    size = np.linalg.norm(implicit.stored.toarray(), axis=0)
    assert (size <= np.sqrt(2) * column_norms(implicit) * (1 + 1e-12)).all()
    moved = near_origin(sparse.csr_array(X)).toarray()
    close(moved[:, :15] - moved[0, :15], X[:, :15] - X[0, :15])


def test_bases_of_centred_rows_are_those_of_arrays(forms, small_limits):
    direct, implicit = forms

    def both(make):
        first, second = (make(rows) for rows in (direct, implicit))
        np.testing.assert_allclose(first.singular_values, second.singular_values, rtol=1e-8)
        # Along V all rows look alike, whatever the signs.
        spans = [np.asarray(basis.vectors)[15:] for basis in (first, second)]
        close(*(span @ span.T for span in spans))

    both(exact_basis)
    both(lambda rows: leading_basis(rows, 20))
    both(lambda rows: sketched_basis(rows, 20))
    small_limits(MAX_GRAM=10)
    both(lambda rows: truncated_basis(rows, 12))
    small_limits(MAX_VECTORS=100, VECTORS_AT_ONCE=1000)
    both(exact_basis)


@pytest.mark.parametrize("mu", [1e-1, 1e3])
def test_bounds_by_products_hold_for_centred_rows(mu, rng):
    X, _ = labelled_rows(rng, offset=1e6)
    columns = ColumnChoice(np.arange(20, 50), np.full(30, 1.3))
    direct = X - X.mean(axis=0)
    full = direct @ direct.T + mu * np.eye(60)
    chosen = direct[:, columns.indices] * 1.3
    root = np.linalg.inv(np.linalg.cholesky(full))
    truth = np.linalg.eigvalsh(root @ (chosen @ chosen.T + mu * np.eye(60)) @ root.T)[0]
    X = sparse.csr_array(X)
    blocks = Rows(ArrayBlocks(X, n_rows=13)).centred().X
    for bound in (
        bound_in_memory(Rows(X).centred().X, columns, mu),
        measured_in_blocks(blocks, columns, mu),
    ):
        assert 0.5 * truth <= bound.lambda_min <= truth


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "selector",
    [
        BSSSelector(15),
        BSSSelector(15, order="stable", rescale="each"),
        BSSSelector(15, estimator=RidgeClassifier(alpha="scale"), order="leverage"),
        BSSSelector("certified", estimator=LogisticRegression(C="scale")),
        RRQRSelector(15),
    ],
    ids=["default", "stable", "leverage", "certified", "rrqr"],
)
def test_sparse_rows_lead_to_the_choice_of_dense_ones(selector, weighted, offset, rng):
    X, y = labelled_rows(rng, offset)
    weights = rng.integers(1, 4, len(y)).astype(float) if weighted else None
    first = selector.fit(X, y, weights)
    expected, bound = set(first.indices_), first.certificate_.measured_growth
    realised = None if weighted else certify(first).realised_growth
    second = selector.fit(sparse.csr_array(X), y, weights)
    assert set(second.indices_) == expected
    assert second.certificate_.measured_growth == pytest.approx(bound, rel=1e-7)
    assert weighted or certify(second).realised_growth == pytest.approx(realised, rel=1e-7)


@pytest.mark.parametrize("model", [None, LogisticRegression(C="scale")], ids=["svm", "logistic"])
@pytest.mark.parametrize("shape", [(60, 90), (150, 30)])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_blocks_state_the_bounds_of_memory(offset, shape, model, rng):
    da = pytest.importorskip("dask.array")
    X, y = labelled_rows(rng, offset, shape)
    columns = np.arange(shape[1] // 2)
    options = {"estimator": model, "rows": "all", "realised": False}
    expected = certify(X, y, columns, **options).measured_growth
    assert 1 < expected < np.inf
    for data in (
        (sparse.csr_array(X), y),
        (ArrayBlocks(X, y, n_rows=17), None),
        (ArrayBlocks(sparse.csr_array(X), y, n_rows=17), None),
        (da.from_array(X, chunks=(20, -1)), da.from_array(y, chunks=20)),
    ):
        found = certify(*data, columns, **options).measured_growth
        assert found == pytest.approx(expected, rel=1e-7)


def test_many_rows_are_ranked_alike_in_sparse_and_dense(rng):
    X, y = labelled_rows(rng, shape=(2100, 12))
    rows = [Rows(form).centred().X for form in (X, sparse.csr_array(X))]
    model = at_scale(X, default_model()).set_params(intercept_scaling=np.inf)
    first, second = (stable_scores(model, form, y, n_subsamples=4) for form in rows)
    np.testing.assert_allclose(first, second, rtol=1e-6)


def test_own_orders_see_the_rows_as_given(rng):
    """Scores such as those of chi2 are for counts, which are not negative."""
    X, y = labelled_rows(rng)
    first, second = (BSSSelector(9, order=chi2).fit(form, y) for form in (X, sparse.csr_array(X)))
    np.testing.assert_allclose(first.scores_, second.scores_)
    assert set(first.indices_) == set(second.indices_)
