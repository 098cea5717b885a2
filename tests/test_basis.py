"""Bases of the row space: orthonormal, of the right rank, the same for every form of the input."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_rows import random_rows
from scipy import sparse
from sklearn.base import clone

from certifeature import BSSSelector, LeverageScoreSelector, RandomSelector, RRQRSelector
from certifeature.basis import exact_basis, sketched_basis
from certifeature.basis.basis import ImplicitVectors, condensed_rows, squared_norms
from certifeature.basis.span import truncated_basis


def projector(vectors):
    return vectors @ vectors.T


def assert_orthonormal(vectors, tolerance=1e-10):
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(vectors.shape[1]), atol=tolerance)


@settings(max_examples=150)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_rows=st.integers(1, 30),
    n_features=st.integers(1, 30),
    rank=st.integers(1, 30),
    condition=st.sampled_from([1.0, 1e3, 1e6, 1e9]),
    as_sparse=st.booleans(),
)
def test_exact_basis_spans_the_rows(seed, n_rows, n_features, rank, condition, as_sparse):
    rng = np.random.default_rng(seed)
    rank = min(rank, n_rows, n_features)
    left = np.linalg.qr(rng.standard_normal((n_rows, rank)))[0]
    right = np.linalg.qr(rng.standard_normal((n_features, rank)))[0]
    spectrum = np.geomspace(1, 1 / condition, rank)
    X = (left * spectrum) @ right.T
    basis = exact_basis(sparse.csr_array(X) if as_sparse else X)
    assert basis.rank == rank == basis.n_components
    assert basis.exact
    assert_orthonormal(basis.vectors)
    np.testing.assert_allclose(basis.singular_values, spectrum, rtol=1e-15 * condition + 1e-9)
    np.testing.assert_allclose(X - X @ projector(basis.vectors), 0, atol=1e-12)


@pytest.mark.parametrize("factor", [1e-300, 1e-150, 1.0, 1e150, 1e300])
def test_scale_of_the_data_does_not_matter(factor, rng):
    X = rng.standard_normal((12, 40))
    basis = exact_basis(X * factor)
    assert basis.rank == 12
    np.testing.assert_allclose(
        projector(basis.vectors), projector(exact_basis(X).vectors), atol=1e-10
    )
    np.testing.assert_allclose(
        basis.singular_values / factor, np.linalg.svd(X, compute_uv=False), rtol=1e-10
    )


def test_directions_far_below_the_largest_are_found(rng):
    X = rng.standard_normal((15, 60))
    X[:, 7] *= 1e9
    basis = exact_basis(X)
    assert basis.rank == 15
    assert_orthonormal(basis.vectors)


FORMS = {
    "fortran": np.asfortranarray,
    "list": lambda X: X.tolist(),
    "csr matrix": sparse.csr_matrix,
    "csc matrix": sparse.csc_matrix,
    "csr array": sparse.csr_array,
    "csc array": sparse.csc_array,
    "coo array": sparse.coo_array,
    "64-bit indices": lambda X: with_long_indices(sparse.csr_array(X)),
    "unsorted with duplicates and zeros": lambda X: with_untidy_entries(sparse.csr_array(X)),
}


def with_long_indices(X):
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def with_untidy_entries(X):
    """Write every entry as two halves, in reverse order, and add explicit zeros."""
    data, indices, indptr = [], [], [0]
    for row in range(X.shape[0]):
        span = slice(X.indptr[row], X.indptr[row + 1])
        values, columns = X.data[span][::-1], X.indices[span][::-1]
        data += [*(values / 2), 0.0, *(values / 2)]
        indices += [*columns, 0, *columns]
        indptr.append(len(data))
    return sparse.csr_array((np.array(data), np.array(indices), np.array(indptr)), shape=X.shape)


@pytest.fixture
def counts(rng):
    X = rng.poisson(0.4, size=(20, 50))
    X[3] = 0
    X[:, 5] = 0
    X[7] = X[8]
    return X.astype(float)


@pytest.mark.parametrize("form", sorted(FORMS))
@pytest.mark.parametrize("kind", ["exact", "truncated", "sketch"])
def test_every_form_of_the_input_gives_the_same_basis(form, kind, counts):
    make = {
        "exact": exact_basis,
        "truncated": lambda X: truncated_basis(X, 6),
        "sketch": lambda X: sketched_basis(X, 6, random_state=3),
    }[kind]
    expected, basis = make(counts), make(FORMS[form](counts))
    assert basis.rank == expected.rank
    np.testing.assert_allclose(projector(basis.vectors), projector(expected.vectors), atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.int64, np.uint8, bool])
def test_every_number_type_counts_in_double_precision(dtype, rng):
    X = rng.integers(0, 2 if dtype is bool else 127, size=(9, 30)).astype(dtype)
    for form in (np.asarray, sparse.csr_array):
        basis = exact_basis(form(X))
        assert basis.vectors.dtype == np.float64
        np.testing.assert_allclose(
            basis.singular_values, np.linalg.svd(X.astype(float), compute_uv=False), rtol=1e-9
        )


@pytest.mark.parametrize("form", sorted(FORMS))
def test_input_is_left_alone(form, counts):
    X = FORMS[form](counts)
    if sparse.issparse(X) and X.format != "coo":
        before = [a.copy() for a in (X.data, X.indices, X.indptr)]
        for array in (X.data, X.indices, X.indptr):
            array.flags.writeable = False
        exact_basis(X)
        sketched_basis(X, 4)
        for array, copy in zip((X.data, X.indices, X.indptr), before, strict=True):
            np.testing.assert_array_equal(array, copy)
    else:
        exact_basis(X)
        np.testing.assert_array_equal(np.asarray(X.toarray() if sparse.issparse(X) else X), counts)


def test_truncation_keeps_the_largest_directions(rng):
    X = rng.standard_normal((10, 40))
    _, singular_values, right = np.linalg.svd(X, full_matrices=False)
    basis = truncated_basis(X, 4)
    assert (basis.rank, basis.exact) == (10, False)
    # What the whole basis leaves out is not all that a part of it does.
    assert basis.left_out is None
    np.testing.assert_allclose(basis.singular_values, singular_values[:4])
    np.testing.assert_allclose(projector(basis.vectors), projector(right[:4].T), atol=1e-10)
    assert truncated_basis(X, 10).exact
    assert truncated_basis(X, 99).n_components == 10


def test_lanczos_agrees_with_the_full_decomposition(rng, small_limits):
    X = random_rows((60, 90), 0.2, rng)
    expected = truncated_basis(X, 5)
    small_limits(MAX_GRAM=50)
    basis = truncated_basis(X, 5)
    assert (basis.rank, basis.exact) == (None, False)
    np.testing.assert_allclose(basis.singular_values, expected.singular_values, rtol=1e-8)
    np.testing.assert_allclose(projector(basis.vectors), projector(expected.vectors), atol=1e-6)


def test_lanczos_finds_the_rank_when_it_is_small(rng, small_limits):
    X = rng.standard_normal((60, 3)) @ rng.standard_normal((3, 90))
    small_limits(MAX_GRAM=50)
    basis = truncated_basis(X, 5)
    assert (basis.rank, basis.exact, basis.n_components) == (3, True, 3)


def test_sketch_lies_in_the_row_space_and_follows_its_seed(rng):
    X = rng.standard_normal((40, 100))
    basis = sketched_basis(X, 7, random_state=5)
    assert basis.vectors.shape == (100, 7)
    assert_orthonormal(basis.vectors)
    rows = exact_basis(X).vectors
    np.testing.assert_allclose(projector(rows) @ basis.vectors, basis.vectors, atol=1e-10)
    again = sketched_basis(X, 7, random_state=5)
    np.testing.assert_array_equal(basis.vectors, again.vectors)
    other = sketched_basis(X, 7, random_state=6)
    assert np.abs(projector(basis.vectors) - projector(other.vectors)).max() > 0.01


@pytest.mark.parametrize("density", [1.0, 0.2, 0.0005])
def test_sketch_does_not_depend_on_how_values_are_grouped(density, rng, small_limits):
    X = random_rows((1500, 60), density, rng)
    X = X.toarray() if density == 1 else X
    whole = sketched_basis(X, 5, random_state=1)
    small_limits(NUMBERS_AT_ONCE=1, COLUMNS_AT_ONCE=7)
    np.testing.assert_allclose(
        sketched_basis(X, 5, random_state=1).vectors, whole.vectors, atol=1e-10
    )


def test_sketch_of_few_or_dependent_rows_is_exact(rng):
    X = rng.standard_normal((5, 30))
    assert sketched_basis(X, 5).exact
    low_rank = rng.standard_normal((50, 3)) @ rng.standard_normal((3, 30))
    basis = sketched_basis(low_rank, 8)
    assert (basis.rank, basis.exact) == (3, True)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros((3, 4)), "zero everywhere"),
        (sparse.csr_array((3, 4)), "zero everywhere"),
        ([[1.0, np.nan]], "NaN or infinity"),
        (sparse.csr_array([[1.0, np.inf]]), "NaN or infinity"),
        ([1.0, 2.0], "two dimensions"),
    ],
)
def test_bad_data_is_named(X, message):
    with pytest.raises(ValueError, match=message):
        exact_basis(X)


@pytest.mark.parametrize("size", [0, -1, True, 2.0])
@pytest.mark.parametrize("make", [truncated_basis, sketched_basis])
def test_bad_size_is_named(make, size):
    with pytest.raises(ValueError, match=rf"n_components must be a positive integer; got {size!r}"):
        make(np.eye(3), size)


class TestImplicitVectors:
    """Above a size that the tests lower, V is made row by row, and nothing else changes."""

    @pytest.fixture
    def make_all_implicit(self, small_limits):
        small_limits(MAX_VECTORS=0)

    @pytest.fixture
    def rows(self, rng):
        X = rng.standard_normal((30, 400)) * (rng.random((30, 400)) < 0.1)
        X[-4:] = X[:4]
        return X

    @pytest.mark.parametrize(
        "make",
        [
            exact_basis,
            lambda X: truncated_basis(X, 5),
            lambda X: sketched_basis(X, 12, random_state=3),
        ],
        ids=["exact", "truncated", "sketch"],
    )
    @pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
    @pytest.mark.parametrize("scale", [1.0, 1e150, 1e-150])
    def test_the_basis_is_the_same(self, make, kind, scale, rows, small_limits):
        X = kind(rows * scale)
        explicit = make(X)
        small_limits(MAX_VECTORS=0)
        implicit = make(X)
        V, W = explicit.vectors, implicit.vectors
        assert isinstance(W, ImplicitVectors)
        assert (explicit.exact, explicit.n_components) == (implicit.exact, implicit.n_components)
        np.testing.assert_allclose(implicit.singular_values, explicit.singular_values, rtol=1e-9)
        whole = np.asarray(W)
        np.testing.assert_allclose(whole.T @ whole, np.eye(W.shape[1]), atol=1e-10)
        np.testing.assert_allclose(V @ (V.T @ whole), whole, atol=1e-9)

    def test_it_does_what_the_array_does(self, rows, rng, make_all_implicit):
        V = exact_basis(sparse.csr_array(rows)).vectors
        whole = np.asarray(V)
        assert V.shape == whole.shape
        assert len(V) == 400
        chosen = [7, 3, 399]
        left, right = rng.random((2, 400)), rng.random((26, 3))
        np.testing.assert_allclose(V[chosen], whole[chosen])
        np.testing.assert_allclose(np.asarray(V[:, :4]), whole[:, :4], atol=1e-14)
        np.testing.assert_allclose(left @ V, left @ whole)
        np.testing.assert_allclose(V @ right, whole @ right)
        np.testing.assert_allclose(squared_norms(V), (whole**2).sum(axis=1))
        with pytest.raises(IndexError, match="takes rows"):
            V[chosen, :2]

    def test_directions_of_too_different_sizes_are_an_error(self, rng, make_all_implicit):
        left = np.linalg.qr(rng.standard_normal((20, 20)))[0]
        right = np.linalg.qr(rng.standard_normal((300, 20)))[0]
        exact_basis((left * np.logspace(0, -6, 20)) @ right.T)
        too_wild = (left * np.logspace(0, -11, 20)) @ right.T
        with pytest.raises(ValueError, match="too different sizes"):
            exact_basis(too_wild)
        assert truncated_basis(too_wild, 5).n_components == 5

    @pytest.mark.parametrize(
        "selector",
        [
            BSSSelector(40),
            BSSSelector(8),
            BSSSelector(1),
            BSSSelector(40, supervised=False, basis="sketch", n_components=10, random_state=0),
            LeverageScoreSelector(40, random_state=0),
            RRQRSelector(20),
            RandomSelector(20, random_state=0),
        ],
        ids=repr,
    )
    def test_selectors_choose_the_same(self, selector, rows, small_limits):
        y = np.arange(30) % 2
        y[-4:] = y[:4]
        expected = clone(selector).fit(rows, y)
        small_limits(MAX_VECTORS=0)
        found = clone(selector).fit(rows, y)
        np.testing.assert_array_equal(found.indices_, expected.indices_)
        np.testing.assert_allclose(found.scales_, expected.scales_, rtol=1e-7)
        assert found.certificate_.lambda_min == pytest.approx(expected.certificate_.lambda_min)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    ("size", "kept"), [(1e-130, True), (1e-200, True), (1e-300, False), (1e-315, False)]
)
def test_columns_that_are_tiny_beside_others_are_not_lost(rng, size, kept, make, small_limits):
    """Their squares are zero beside a huge column, and below some size so are their last digits."""
    X = rng.standard_normal((5, 7))
    X[:, 1:] *= size
    basis = exact_basis(make(X))
    assert basis.exact == kept
    assert not kept or basis.rank == 5
    # Where V is made row by row, they are not found, and that is known.
    small_limits(MAX_VECTORS=0)
    assert not exact_basis(make(X)).exact


def test_a_basis_is_not_exact_where_values_underflow_beside_huge_ones(rng):
    X = 1e-136 * rng.standard_normal((6, 6))
    X[:, 2] = 1e200
    assert not exact_basis(X).exact
    assert exact_basis(X[:, [0, 1, 3]]).exact


@pytest.mark.parametrize("limit", [{}, {"MAX_VECTORS": 1}], ids=["in memory", "implicit"])
def test_rounding_hides_nothing_of_what_is_left_out(limit, small_limits):
    """Two columns differ in their last digits, where a computation may see no difference."""
    small_limits(**limit)
    for seed in range(60):
        rng = np.random.default_rng(seed)
        column = rng.choice([-1.0, 1.0], 3) * rng.uniform(1, 2, 3)
        other = column + np.finfo(float).eps * rng.integers(-2, 3, 3)
        X = np.column_stack([column, other, rng.standard_normal(3)])
        basis = exact_basis(X)
        exact, V = (np.vectorize(Fraction)(part) for part in (X, np.asarray(basis.vectors)))
        outside = exact - exact @ V @ V.T
        if basis.rank < 3:
            assert (outside**2).sum() <= Fraction(basis.left_out) ** 2
            assert basis.left_out <= 1e-12
        else:
            assert basis.left_out == 0


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_condensed_rows_keep_all_inner_products(kind, rng, small_limits):
    X = rng.standard_normal((400, 6))
    small_limits(ROWS_AT_ONCE=60)
    factor = condensed_rows(kind(X))
    assert len(factor) <= 12
    np.testing.assert_allclose(factor.T @ factor, X.T @ X)
