"""What is asked of an SVM: support rows and weights."""

import warnings

import numpy as np
import pytest
from random_rows import random_rows
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import RFE
from sklearn.svm import SVC, SVR, LinearSVC, OneClassSVM

from certifeature.models import default_model, feature_weights
from certifeature.models import solver as newton
from certifeature.models.problem import Problem, with_scale
from certifeature.models.support import fit_model, support_rows


@pytest.fixture
def two_classes():
    return make_classification(120, 30, n_informative=6, flip_y=0.05, random_state=0)


@pytest.fixture
def four_classes():
    return make_classification(
        160, 30, n_informative=8, n_classes=4, n_clusters_per_class=1, random_state=0
    )


def test_the_default_has_a_loss_whose_growth_is_bounded():
    assert Problem.of(with_scale(default_model(), 1.0), None).loss == "squared_hinge"


@pytest.mark.parametrize("data", ["two_classes", "four_classes"])
@pytest.mark.parametrize(
    "svm",
    [
        SVC(kernel="linear"),
        LinearSVC(random_state=0, max_iter=100_000),
        LinearSVC(loss="hinge", random_state=0, max_iter=1_000_000, tol=1e-8),
    ],
)
def test_support_rows_suffice(svm, data, request):
    """Training on the support rows alone gives the same classifier: they are a sufficient set."""
    X, y = request.getfixturevalue(data)
    rows = support_rows(svm.fit(X, y), X, y)
    assert 0 < len(rows) < len(y)
    whole = svm.coef_.copy()
    alone = type(svm)(**svm.get_params()).fit(X[rows], y[rows])
    np.testing.assert_allclose(alone.coef_, whole, atol=0.02 * np.abs(whole).max())


def test_libsvm_and_liblinear_hinge_agree_on_the_support():
    """On mirrored data the best intercept is zero, so that both solve the same problem."""
    X, y = make_classification(60, 80, random_state=3)
    X, y = np.vstack([X, -X]), np.r_[y, 1 - y]
    libsvm = SVC(kernel="linear", tol=1e-6).fit(X, y)
    liblinear = LinearSVC(loss="hinge", fit_intercept=False, tol=1e-9, max_iter=1_000_000)
    # A row and its mirror image share one multiplier, which a solver may put on either.
    found = (support_rows(svm, X, y) % 60 for svm in (libsvm, liblinear.fit(X, y)))
    np.testing.assert_array_equal(*(np.unique(rows) for rows in found))


def test_rows_equal_to_a_support_row_are_support(two_classes):
    X, y = two_classes
    once = support_rows(SVC(kernel="linear").fit(X, y), X, y)
    twice_X, twice_y = np.vstack([X, X]), np.r_[y, y]
    for form in (np.asarray, sparse.csr_array):
        svm = SVC(kernel="linear", C=0.5).fit(twice_X, twice_y)
        rows = support_rows(svm, form(twice_X), twice_y)
        np.testing.assert_array_equal(rows, np.r_[once, once + len(y)])


def test_labels_may_be_strings(four_classes):
    X, y = four_classes
    names = np.array(["ash", "birch", "cedar", "date"])[y]
    for svm in (SVC(kernel="linear"), LinearSVC(random_state=0, max_iter=100_000)):
        np.testing.assert_array_equal(
            support_rows(svm.fit(X, y), X, y), support_rows(svm.fit(X, names), X, names)
        )


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (SVC(kernel="rbf"), "kernel='rbf'"),
        (RFE(SVC(kernel="linear")), "cannot be chosen or certified for RFE"),
    ],
)
def test_models_without_support_vectors_are_refused(model, message, two_classes):
    X, y = two_classes
    with pytest.raises(ValueError, match=message):
        support_rows(model.fit(X, y), X, y)


def test_a_model_that_is_no_svm_solution_is_refused():
    overshot = LinearSVC().fit([[-1.0], [1.0]], [0, 1])
    overshot.coef_ *= 100
    with pytest.raises(ValueError, match="every row beyond its margin"):
        support_rows(overshot, [[-1.0], [1.0]], [0, 1])


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csr_array])
def test_weights_join_the_classes(form, four_classes):
    X, y = four_classes
    svm = SVC(kernel="linear").fit(form(X), y)
    coef = svm.coef_.toarray() if sparse.issparse(svm.coef_) else svm.coef_
    assert len(coef) == 6
    np.testing.assert_allclose(feature_weights(svm), np.linalg.norm(coef, axis=0))


@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_weights_neither_over_nor_underflow(factor):
    class Model:
        coef_ = np.array([[3.0, 0.0], [4.0, 0.0]]) * factor

    np.testing.assert_allclose(feature_weights(Model()) / factor, [5.0, 0.0])


def test_equal_weights_tie_in_spite_of_rounding():
    class Model:
        coef_ = np.array([[0.3, 0.1 + 0.2, 7.0]])

    weights = feature_weights(Model())
    assert 0.1 + 0.2 != 0.3
    assert weights[0] == weights[1]


@pytest.mark.parametrize("model", [SVR(kernel="linear"), OneClassSVM(kernel="linear")])
def test_models_that_nothing_is_known_of_are_refused(model, two_classes):
    X, y = two_classes
    with pytest.raises(ValueError, match="features cannot be chosen or certified for"):
        support_rows(model.fit(X, y), X, y)


def test_a_model_without_weights_is_refused():
    with pytest.raises(ValueError, match="no coef_"):
        feature_weights(object())


def gradient_size(svm, X, signs, costs, scale):
    """Return the norm of the gradient of LIBLINEAR's objective, to that of the weights."""
    weights = np.append(svm.coef_[0], svm.intercept_ / scale if scale else 0.0)
    A = np.column_stack([X, np.full(len(X), scale)])
    slack = np.maximum(0, 1 - signs * (A @ weights))
    gradient = weights - 2 * A.T @ (costs * signs * slack)
    return np.linalg.norm(gradient) / np.linalg.norm(weights)


class TestOptimum:
    """`fit_model` takes squared-hinge SVMs to their optimum, whatever LIBLINEAR left undone."""

    @pytest.mark.parametrize("scale", [0.0, 1.0, 7.0])
    @pytest.mark.parametrize("C", [1e-3, 1.0, 100.0])
    @pytest.mark.parametrize("shape", [(300, 40), (60, 1100)])
    def test_the_gradient_vanishes(self, shape, C, scale, rng):
        X = rng.standard_normal(shape)
        y = np.where(X[:, 0] + rng.standard_normal(len(X)) > 0, 1, -1)
        row_weights = rng.uniform(0.5, 2, len(X))
        svm = LinearSVC(
            C=C,
            fit_intercept=scale > 0,
            intercept_scaling=scale or 1.0,
            class_weight={1: 3.0},
            max_iter=2,
            random_state=0,
        )
        fit_model(svm, X, y, row_weights)
        costs = C * row_weights * np.where(y == 1, 3.0, 1.0)
        assert gradient_size(svm, X, y, costs, scale) < 1e-9

    def test_many_rows_and_features(self, rng):
        X = random_rows((2500, 2200), 0.02, rng)
        y = np.where(X @ rng.standard_normal(2200) > 0, 1, -1)
        svm = fit_model(LinearSVC(max_iter=2, random_state=0), X, y)
        assert gradient_size(svm, X.toarray(), y, np.ones(2500), 1.0) < 1e-9

    @pytest.mark.parametrize("class_weight", [None, "balanced", {0: 3.0, 2: 0.5}])
    def test_several_classes_as_liblinear_weighs_them(self, class_weight, four_classes):
        X, y = four_classes
        svm = LinearSVC(
            dual=False, tol=1e-12, max_iter=100_000, class_weight=class_weight, random_state=0
        )
        expected = svm.fit(X, y).coef_
        found = fit_model(LinearSVC(class_weight=class_weight, random_state=0, tol=0.5), X, y)
        np.testing.assert_allclose(found.coef_, expected, atol=1e-5)

    def test_seeds_and_solvers_agree(self, two_classes):
        X, y = two_classes
        first = fit_model(LinearSVC(dual=True, random_state=0), X, y).coef_
        for dual, seed in [(True, 1), (False, 0)]:
            found = fit_model(LinearSVC(dual=dual, random_state=seed), X, y)
            np.testing.assert_allclose(found.coef_, first, rtol=1e-9, atol=1e-11)

    def test_out_of_reach(self, monkeypatch, two_classes):
        monkeypatch.setattr(newton, "_MAX_PRODUCTS", 1)
        with pytest.warns(ConvergenceWarning, match="did not reach its optimum"):
            fit_model(LinearSVC(max_iter=1, random_state=0), *two_classes)

    @pytest.mark.parametrize("shape", [(100, 2000), (100, 1001), (300, 60)])
    @pytest.mark.parametrize("C", [1e3, 1e5])
    def test_hardly_any_slack(self, shape, C, rng):
        # The gradient is all rounding here; but the optimum is one, whatever the start.
        X = np.round(100 * rng.standard_normal(shape))
        y = np.where(X @ rng.standard_normal(shape[1]) > 0, 1, -1)
        expected = fit_model(LinearSVC(C=C, random_state=0), X, y).coef_
        for options in ({"max_iter": 2}, {"dual": False}, {"random_state": 1}):
            found = fit_model(LinearSVC(C=C, **{"random_state": 0, **options}), X, y).coef_
            assert np.abs(found - expected).max() < 1e-9 * np.abs(expected).max()

    @pytest.mark.parametrize("shape", [(300, 5), (100, 1500)])
    def test_equal_columns_and_rows_of_large_values(self, shape, rng):
        X = 1e9 * rng.standard_normal(shape)
        X = np.vstack([np.hstack([X, X])] * 2)
        y = np.where(X[:, 0] > 0, 1, -1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            assert np.isfinite(fit_model(LinearSVC(random_state=0, max_iter=50), X, y).coef_).all()

    def test_small_integers(self, rng):
        X = rng.integers(0, 255, (100, 1500)).astype(np.uint8)
        y = np.where(X[:, 0] > 128, 1, -1)
        expected = fit_model(LinearSVC(random_state=0), X.astype(float), y)
        np.testing.assert_allclose(
            fit_model(LinearSVC(random_state=0), X, y).coef_, expected.coef_, rtol=1e-6, atol=1e-12
        )

    @pytest.mark.parametrize("n_features", [20, 1500])
    def test_rows_without_cost(self, n_features, rng):
        X = rng.standard_normal((100, n_features))
        y = np.where(X[:, 0] > 0, 1, -1)
        weights = np.where(np.arange(100) < 60, 1.0, 0.0)
        found = fit_model(LinearSVC(random_state=0), X, y, weights)
        expected = fit_model(LinearSVC(random_state=0), X[:60], y[:60])
        np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-8, atol=1e-11)


def test_libsvm_that_cannot_settle_says_so(rng):
    X = np.c_[1e6 * rng.standard_normal((60, 2)), rng.standard_normal((60, 2))]
    y = (X[:, 2] > 0).astype(int)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit_model(SVC(kernel="linear", max_iter=100_000), X, y)
    assert any("support rows are uncertain" in str(warning.message) for warning in caught)


def test_tall_rows_take_the_quicker_way_to_the_same_optimum(rng):
    X = rng.standard_normal((3000, 10))
    y = (X[:, 0] + rng.standard_normal(3000) > 0).astype(int)
    fitted = [fit_model(LinearSVC(dual=dual, random_state=0), X, y) for dual in (True, False)]
    np.testing.assert_allclose(fitted[0].coef_, fitted[1].coef_, rtol=1e-9)
    assert [svm.dual for svm in fitted] == [True, False]
