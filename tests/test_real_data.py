"""The promises on real data, where it is at hand."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from certifeature import BSSSelector
from certifeature.basis import exact_basis

pytestmark = pytest.mark.slow
# Its intercept is penalised, so that rows are not centred.
SVM = LinearSVC(dual=True, random_state=0)


def load(folder):
    return sparse.load_npz(folder / "X.npz").tocsr(), np.load(folder / "y.npy")


def assert_promise_holds(selector, X):
    basis = exact_basis(X[selector.support_rows_])
    assert selector.basis_.exact
    assert selector.basis_.rank == basis.rank
    chosen = basis.vectors[selector.indices_] * selector.scales_[:, None]
    spectrum = np.linalg.eigvalsh(chosen.T @ chosen)
    ratio = np.sqrt(basis.rank / selector.n_features_to_select_)
    assert (1 - ratio) ** 2 <= spectrum[0]
    assert spectrum[-1] <= (1 + ratio) ** 2


@pytest.mark.parametrize("order", ["coef", "stable", "leverage"])
@pytest.mark.parametrize("name", ["alon", "golub", "gravier", "shipp"])
def test_microarrays(real_data, name, order):
    X, y = load(real_data / f"microarray_{name}")
    X = StandardScaler().fit_transform(X.toarray())
    assert_promise_holds(
        BSSSelector(0.2, order=order, trust=0, rescale="each", estimator=SVM).fit(X, y), X
    )


@pytest.mark.parametrize("order", ["coef", "leverage"])
def test_word_counts_that_force_repeats(real_data, order):
    counts = sparse.load_npz(real_data / "20newsgroups" / "X.npz").tocsr()
    y = np.load(real_data / "20newsgroups" / "y_multi.npy")
    rows = np.flatnonzero((y == 1) | (y == 8))[::15]
    X = TfidfTransformer().fit_transform(counts[rows].astype(float))
    selector = BSSSelector(500, order=order, trust=0, rescale="each", estimator=SVM).fit(X, y[rows])
    assert_promise_holds(selector, X)


def test_more_than_two_classes(real_data):
    X = sparse.load_npz(real_data / "microarray_khan" / "X.npz").toarray()
    y = np.load(real_data / "microarray_khan" / "y_multi.npy")
    X = StandardScaler().fit_transform(X)
    selector = BSSSelector(300, trust=0, rescale="each", estimator=SVM).fit(X, y)
    assert len(np.unique(y[selector.support_rows_])) == 4
    assert_promise_holds(selector, X)
