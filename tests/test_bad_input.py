"""Every bad input gives the right answer or an error that says what to do."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from certifeature import BSSSelector, LeverageScoreSelector, RandomSelector, RRQRSelector

SELECTORS = [BSSSelector, LeverageScoreSelector, RRQRSelector, RandomSelector]


@pytest.fixture
def data():
    return make_classification(30, 120, n_informative=10, random_state=0)


@pytest.mark.parametrize("selector", SELECTORS)
class TestErrors:
    def test_values_that_are_not_finite(self, selector, data):
        X, y = data
        for value in (np.nan, np.inf):
            X[3, 4] = value
            for form in (np.asarray, sparse.csr_array):
                with pytest.raises(ValueError, match=r"NaN|infinity"):
                    selector(20).fit(form(X), y)

    def test_one_class(self, selector, data):
        with pytest.raises(ValueError, match=r"one class only.*supervised=False"):
            selector(20).fit(data[0], np.ones(30))

    def test_one_class_after_zero_weights(self, selector, data):
        X, y = data
        with pytest.raises(ValueError, match="one class only"):
            selector(20).fit(X, y, sample_weight=(y == 1).astype(float))

    def test_missing_labels(self, selector, data):
        with pytest.raises(ValueError, match=r"requires y to be passed.*supervised=False"):
            selector(20).fit(data[0])

    def test_labels_that_are_no_classes(self, selector, data):
        with pytest.raises(ValueError, match="continuous"):
            selector(20).fit(data[0], np.linspace(0, 1, 30))

    def test_labels_of_another_length(self, selector, data):
        with pytest.raises(ValueError, match="inconsistent"):
            selector(20).fit(data[0], data[1][:-1])

    @pytest.mark.parametrize("supervised", [True, False])
    def test_data_of_zeros(self, selector, supervised, data):
        with pytest.raises(ValueError, match="zero everywhere"):
            selector(20, supervised=supervised).fit(np.zeros((30, 120)), data[1])

    def test_huge_values_for_an_svm(self, selector, data):
        X, y = data
        for factor in (1e18, 1e152, 1e300):
            for form in (np.asarray, sparse.csr_array):
                with pytest.raises(ValueError, match=r"norm up to \de\+\d+.*MaxAbsScaler"):
                    selector(20).fit(form(X * factor), y)

    @pytest.mark.parametrize("size", [0, -3, 0.0, 1.5, -0.5, "many", None, True, np.nan])
    def test_sizes_that_are_none(self, selector, size, data):
        with pytest.raises(ValueError, match="n_features_to_select must be a positive integer"):
            selector(size).fit(*data)

    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"epsilon": 0}, "epsilon.*between 0 and 1; got 0"),
            ({"epsilon": 1.0}, "epsilon.*between 0 and 1"),
            ({"epsilon": "half"}, "epsilon.*between 0 and 1"),
            ({"supervised": "yes"}, "supervised must be one of True, False"),
            ({"basis": "qr"}, "basis must be one of 'auto', 'exact'"),
            ({"n_components": 0}, "n_components must be a positive integer"),
            ({"basis": "exact", "n_components": 5}, "use basis='truncated'"),
            ({"basis": "truncated"}, "needs n_components"),
        ],
    )
    def test_parameters(self, selector, parameters, message, data):
        with pytest.raises(ValueError, match=message):
            selector(20, **parameters).fit(*data)

    @pytest.mark.parametrize("model", [LogisticRegression(), KNeighborsClassifier(), Perceptron()])
    def test_estimators_without_support_vectors(self, selector, model, data):
        with pytest.raises(ValueError, match=r"tells no support vectors.*LinearSVC"):
            selector(20, estimator=model).fit(*data)

    @pytest.mark.parametrize(
        "weights", [np.ones(29), -np.ones(30), np.full(30, np.nan), np.zeros(30), np.ones((30, 2))]
    )
    def test_weights(self, selector, weights, data):
        with pytest.raises(ValueError, match="sample_weight"):
            selector(20).fit(*data, sample_weight=weights)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"order": "alphabet"}, "order must be one of 'auto', 'coef'"),
        ({"order": "rfe", "supervised": False}, "needs supervised=True"),
        ({"order": "coef", "supervised": False}, "needs supervised=True"),
        ({"order": np.ones(7)}, "order must give one score for each of the 120 features"),
        ({"order": np.full(120, np.nan)}, "order gives no usable scores"),
        ({"order": lambda X, y: np.full(120, np.nan)}, "order gives no usable scores"),
        ({"order": lambda X, y: np.ones(3)}, "each of the 120 features"),
        ({"rescale": 2}, "rescale must be one of"),
        ({"n_components": 20}, "20"),
        ({"basis": "sketch", "n_components": 25}, "n_features_to_select=20"),
    ],
)
def test_parameters_of_bss(parameters, message, data):
    with pytest.raises(ValueError, match=message):
        BSSSelector(20, **parameters).fit(*data)


def test_an_svm_that_takes_no_weights_is_named(data):
    class Unweighted(SVC):
        def fit(self, X, y):
            return super().fit(X, y)

    with pytest.raises(ValueError, match="Unweighted takes no sample_weight"):
        BSSSelector(20, estimator=Unweighted(kernel="linear")).fit(*data, sample_weight=np.ones(30))


@pytest.mark.parametrize("selector", SELECTORS)
class TestRightAnswers:
    def test_rank_one(self, selector, rng):
        X = np.outer(rng.standard_normal(20), rng.standard_normal(50))
        fitted = selector(10, supervised=False, random_state=0).fit(X)
        assert fitted.basis_.rank == 1
        assert 1 <= len(fitted.indices_) <= 10

    def test_one_row(self, selector, rng):
        X = rng.standard_normal((1, 50))
        fitted = selector(10, supervised=False, random_state=0).fit(X)
        assert fitted.basis_.rank == 1
        assert fitted.transform(X).shape[1] == len(fitted.indices_)

    def test_constant_and_duplicate_columns_and_rows(self, selector, data):
        X, y = data
        X[:, 0] = 1.0
        X[:, 1] = 0.0
        X[:, 2] = X[:, 3]
        X[4] = X[5]
        y[4] = y[5]
        fitted = selector(60, random_state=0).fit(X, y)
        if selector in (BSSSelector, LeverageScoreSelector):
            assert 1 not in fitted.indices_
        assert len(fitted.indices_) == len(set(fitted.indices_.tolist()))

    def test_columns_of_extreme_scales(self, selector, data):
        """What is negligible beside the rest is not chosen by methods that look at the data."""
        X, _ = data
        X[:, 7] *= 1e150
        X[:, 8] *= 1e-150
        fitted = selector(20, supervised=False, random_state=0).fit(X)
        assert np.isfinite(fitted.weights_).all()
        if selector in (BSSSelector, LeverageScoreSelector):
            assert fitted.indices_.tolist() == [7]
        elif selector is RRQRSelector:
            assert fitted.indices_[0] == 7

    def test_tiny_values_are_no_problem_for_an_svm(self, selector, data):
        X, y = data
        fitted = selector(60, random_state=0).fit(X * 1e-150, y)
        assert np.isfinite(fitted.transform(X)).all()

    def test_small_integers_do_not_overflow(self, selector, rng):
        X = rng.integers(-127, 128, size=(20, 80)).astype(np.int8)
        y = np.arange(20) % 2
        fits = [
            selector(40, random_state=0).fit(form, y)
            for form in (X, X.astype(float), sparse.csr_array(X))
        ]
        for fitted in fits[1:]:
            np.testing.assert_array_equal(fitted.indices_, fits[0].indices_)
        np.testing.assert_allclose(fits[0].transform(X), fits[1].transform(X.astype(float)))

    def test_memory_maps_are_read_and_left_alone(self, selector, data, tmp_path):
        X, y = data
        np.save(tmp_path / "X.npy", X)
        mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
        fitted = selector(20, random_state=0).fit(mapped, y)
        np.testing.assert_array_equal(
            fitted.indices_, selector(20, random_state=0).fit(X, y).indices_
        )

    def test_untidy_sparse_data(self, selector, data):
        """Halves of entries in reverse order, explicit zeros, 64-bit indices, an empty row."""
        X, y = data
        X = np.where(np.abs(X) > 0.7, X, 0.0)
        X[6] = 0.0
        rows, columns = np.nonzero(X)
        values = X[rows, columns]
        order = np.argsort(-(rows * 1000 + columns))
        rows, columns, values = rows[order], columns[order], values[order]
        sorter = np.argsort(np.r_[rows, rows, [0]], kind="stable")
        untidy = sparse.csr_array(
            (
                np.r_[values / 2, values / 2, [0.0]][sorter],
                np.r_[columns, columns, [5]][sorter].astype(np.int64),
                np.r_[0, np.cumsum(np.bincount(np.r_[rows, rows, [0]], minlength=30))].astype(
                    np.int64
                ),
            ),
            shape=X.shape,
        )
        untidy.indices, untidy.indptr = (
            untidy.indices.astype(np.int64),
            untidy.indptr.astype(np.int64),
        )
        before = [a.copy() for a in (untidy.data, untidy.indices, untidy.indptr)]
        np.testing.assert_allclose(untidy.toarray(), X)
        fitted = selector(60, random_state=0).fit(untidy, y)
        np.testing.assert_array_equal(
            fitted.indices_, selector(60, random_state=0).fit(X, y).indices_
        )
        for array, copy in zip((untidy.data, untidy.indices, untidy.indptr), before, strict=True):
            np.testing.assert_array_equal(array, copy)
            assert array.dtype == copy.dtype
