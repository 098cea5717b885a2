"""A choice does not depend on where rows and columns stand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.svm import SVC, LinearSVC

from certifeature import BSSSelector, LPSVMSelector, RRQRSelector
from certifeature.models import fit_model, support_rows

SELECTORS = [
    BSSSelector(supervised=False),
    BSSSelector(),
    BSSSelector(order="stable"),
    BSSSelector(order="leverage"),
    RRQRSelector(),
    RRQRSelector(supervised=False),
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
