"""Repeated reweighting as an order of all features."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.svm import SVC, LinearSVC

from certifeature.models import fit_model
from certifeature.models.ranking import arom_scores

LIBSVM = SVC(kernel="linear")
LIBLINEAR = LinearSVC(random_state=0)


def data(n_classes=2, n_rows=80, n_features=60):
    return make_classification(
        n_rows,
        n_features,
        n_informative=6,
        n_classes=n_classes,
        n_clusters_per_class=1,
        random_state=0,
    )


def textbook(svm, X, y):
    """z after four rounds, as the paper has it."""
    z = np.ones(X.shape[1])
    for _ in range(4):
        z = z * np.linalg.norm(fit_model(clone(svm), X * z, y).coef_, axis=0)
        z = z / z.max()
    return z


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("svm", [LIBSVM, LIBLINEAR])
def test_ranks_are_those_of_the_textbook_down_to_where_features_are_left_out(svm, n_classes):
    X, y = data(n_classes)
    z, scores = textbook(svm, X, y), arom_scores(svm, X, y)
    # What is left out before the last round has z below 1e-10, and its square after that.
    n_clear = int((z > 1e-19).sum())
    assert n_clear > 10
    np.testing.assert_array_equal(np.argsort(-scores)[:n_clear], np.argsort(-z)[:n_clear])


def test_what_fades_is_ranked_all_the_same():
    X, y = data()
    X = X * np.logspace(0, -9, X.shape[1])
    scores = arom_scores(LIBLINEAR, X, y)
    assert (textbook(LIBLINEAR, X, y) < 1e-100).sum() > 10
    assert len(np.unique(scores)) == X.shape[1]


def test_the_template_is_left_alone():
    svm = clone(LIBSVM)
    arom_scores(svm, *data())
    assert not hasattr(svm, "classes_")


@pytest.mark.parametrize("svm", [LIBSVM, LIBLINEAR])
def test_equal_columns_tie_and_columns_of_no_use_are_last(svm):
    X, y = data()
    X = np.hstack([X, X[:, ::-1], np.zeros((len(y), 2))])
    scores = arom_scores(svm, X, y)
    np.testing.assert_array_equal(scores[:60], scores[60:120][::-1])
    np.testing.assert_array_equal(scores[120:], 0)
    assert scores[:60].min() > 0


def test_an_svm_without_weights_ranks_nothing():
    """Rows of both classes at the same places."""
    X, y = np.array([[1.0, 2.0], [1.0, 2.0]]), np.array([0, 1])
    np.testing.assert_array_equal(arom_scores(LIBSVM, X, y), 0)


@pytest.mark.parametrize("svm", [LIBSVM, LIBLINEAR])
def test_weights_equal_repeated_rows(svm):
    X, y = data()
    times = np.arange(len(y)) % 3
    weighted = arom_scores(svm, X, y, times.astype(float))
    np.testing.assert_array_equal(weighted, arom_scores(svm, X.repeat(times, 0), y.repeat(times)))
    assert (weighted != arom_scores(svm, X, y)).any()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("svm", [LIBSVM, LIBLINEAR])
@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array])
def test_sparse_is_dense(svm, form, n_classes):
    X, y = data(n_classes)
    X = np.where(np.abs(X) > 0.8, X, 0)
    dense, found = arom_scores(svm, X, y), arom_scores(svm, form(X), y)
    np.testing.assert_array_equal(np.argsort(found)[-30:], np.argsort(dense)[-30:])


@settings(max_examples=25)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_rows=st.integers(4, 40),
    n_features=st.integers(1, 40),
    n_classes=st.integers(2, 3),
)
def test_the_order_of_rows_and_columns_changes_nothing(seed, n_rows, n_features, n_classes):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((n_rows, n_features)), np.arange(n_rows) % n_classes
    rows, columns = rng.permutation(n_rows), rng.permutation(n_features)
    scores = arom_scores(LIBLINEAR, X, y)
    found = arom_scores(LIBLINEAR, X[np.ix_(rows, columns)], y[rows])
    np.testing.assert_array_equal(found, scores[columns])


@pytest.mark.parametrize("factor", [2.0**-8, 2.0**5])
def test_a_scale_is_a_change_of_c(factor):
    X, y = data()
    scaled = arom_scores(SVC(kernel="linear", C=0.5), factor * X, y)
    np.testing.assert_array_equal(
        scaled, arom_scores(SVC(kernel="linear", C=0.5 * factor**2), X, y)
    )


@pytest.mark.parametrize("svm", [LIBSVM, LIBLINEAR])
def test_tiny_values_are_ranked_and_huge_ones_refused(svm):
    X, y = data()
    tiny = arom_scores(svm, 1e-100 * X, y)
    assert len(np.unique(tiny)) == X.shape[1]
    with pytest.raises(ValueError, match="Scale X first"):
        arom_scores(svm, 1e100 * X, y)


def test_two_planted_features_come_first():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 200))
    y = (X[:, 70] + X[:, 30] > 0).astype(int)
    assert set(np.argsort(-arom_scores(LIBLINEAR, X, y))[:2]) == {30, 70}


def test_two_rows_are_enough():
    X, y = np.array([[-2.0, 0.1, -1.0], [2.0, 0.1, 1.0]]), np.array(["a", "b"])
    np.testing.assert_array_equal(arom_scores(LIBSVM, X, y), [2, 0, 1])
