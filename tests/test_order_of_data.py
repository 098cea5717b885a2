"""A choice does not depend on where rows and columns stand."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.svm import SVC, LinearSVC

from certifeature import BestSubsetSelector, BSSSelector, LPSVMSelector, RRQRSelector
from certifeature.basis import exact_basis
from certifeature.models.support import fit_model, support_rows
from certifeature.rows import ArrayBlocks
from certifeature.rows.rows import Rows, Spread

SELECTORS = [
    BSSSelector(supervised=False),
    BSSSelector(),
    BSSSelector(order="stable"),
    BSSSelector(order="leverage"),
    RRQRSelector(),
    RRQRSelector(supervised=False),
    BestSubsetSelector(),
]


@pytest.mark.parametrize("n_select", [2, 3, 7, 20])
def test_features_that_the_cut_basis_hardly_sees_are_ranked_as_well(n_select):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 100))
    y = (X[:, 70] > 0).astype(int)
    chosen = BSSSelector(n_select).fit(X, y).indices_
    backwards = BSSSelector(n_select).fit(X[:, ::-1], y).indices_
    assert set(99 - backwards) == set(chosen)


@pytest.mark.slow
@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_rows=st.integers(10, 60),
    n_features=st.integers(5, 80),
    share=st.floats(0.05, 0.9),
    n_classes=st.integers(2, 3),
    selector=st.sampled_from(SELECTORS),
)
def test_permutations_change_nothing(seed, n_rows, n_features, share, n_classes, selector):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((n_rows, n_features)), np.arange(n_rows) % n_classes
    n_select = max(1, int(share * n_features))
    selector = clone(selector).set_params(n_features_to_select=n_select)
    expected = clone(selector).fit(X, y)
    columns, rows = rng.permutation(n_features), rng.permutation(n_rows)
    found = clone(selector).fit(X[np.ix_(rows, columns)], y[rows])
    assert set(columns[found.indices_]) == set(expected.indices_)
    np.testing.assert_allclose(np.sort(found.scales_), np.sort(expected.scales_), rtol=1e-5, atol=0)


@pytest.mark.parametrize("kind", ["scales", "binary"])
@pytest.mark.parametrize(
    "selector",
    [
        BSSSelector(supervised=False),
        BSSSelector(supervised=False, order="cover", rescale="each"),
        RRQRSelector(supervised=False),
    ],
    ids=["leverage", "cover", "rrqr"],
)
def test_ties_are_settled_by_content(kind, selector, rng):
    """All directions are spanned, so that all features have the same leverage."""
    X = rng.standard_normal((40, 12)) * 10.0 ** np.arange(-6, 6)
    if kind == "binary":
        X = (rng.random((40, 12)) < 0.4).astype(float)
        X[:, 11] = X[:, 3]
    selector = clone(selector).set_params(n_features_to_select=5)
    twin = np.arange(12) if kind == "scales" else np.append(np.arange(11), 3)
    expected = sorted(twin[selector.fit(X).indices_])
    for n_rows in (7, 40):
        assert sorted(twin[selector.fit(ArrayBlocks(X, n_rows=n_rows)).indices_]) == expected
    for _ in range(5):
        rows, columns = rng.permutation(40), rng.permutation(12)
        permuted = X[np.ix_(rows, columns)]
        for form in (permuted, sparse.csr_array(permuted)):
            assert sorted(twin[columns[selector.fit(form).indices_]]) == expected


def test_columns_are_told_apart_by_the_columns_beside_them():
    """Each row has two ones, side by side; the middle column has no neighbour at the edge."""
    X = np.eye(4, 5) + np.eye(4, 5, 1)
    expected = Rows(X).column_ranks
    assert expected[0] == expected[4] != expected[1] == expected[3] != expected[2]
    assert (Rows(ArrayBlocks(X, n_rows=2)).column_ranks == expected).all()
    for columns in permutations(range(5)):
        assert (Rows(X[::-1, columns]).column_ranks == expected[list(columns)]).all()


@pytest.mark.parametrize("offset", [1e3, 1e6])
def test_rows_less_their_mean_have_a_direction_less(offset, rng):
    for _ in range(20):
        X = rng.standard_normal((21, 46)) + offset
        assert exact_basis(Rows(X).centred().X).rank == 20


def test_lpsvm_does_not_mind_the_order():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 40)), np.arange(60) % 2
    expected = LPSVMSelector(C=1.0).fit(X, y).indices_
    columns, rows = rng.permutation(40), rng.permutation(60)
    found = LPSVMSelector(C=1.0).fit(X[np.ix_(rows, columns)], y[rows])
    assert set(columns[found.indices_]) == set(expected)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("svm", [SVC(kernel="linear"), LinearSVC(random_state=0)], ids=str)
def test_support_rows_do_not_depend_on_the_order_of_rows(svm, n_classes):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((80, 12)).round(1)
        X[40:44] = X[:4]
        y = np.arange(80) % n_classes
        y[40:44] = y[:4]
        rows = rng.permutation(80)
        expected = support_rows(fit_model(clone(svm), X, y), X, y)
        found = support_rows(fit_model(clone(svm), X[rows], y[rows]), X[rows], y[rows])
        assert set(rows[found]) == set(expected)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_support_vector_of_libsvm_is_a_support_row(n_classes):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((90, 6)), np.arange(90) % n_classes
    svm = fit_model(SVC(kernel="linear"), X, y)
    rows = support_rows(svm, X, y)
    assert set(svm.support_) <= set(rows)
    assert svm.tol == 1e-3


def test_constant_sparse_columns_with_weights_vary_by_nothing():
    rng = np.random.default_rng(2)
    X = np.column_stack([rng.standard_normal(10), np.full(10, -0.5227484414807474)])
    for _ in range(20):
        spread = Spread.of(sparse.csr_array(X), rng.uniform(0.1, 3, 10))
        assert (spread.deviations >= 0).all()
        assert spread.deviations[1] < 1e-15
