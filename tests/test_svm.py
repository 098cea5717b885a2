"""What is asked of an SVM: support rows, weights, elimination order."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.feature_selection import RFE
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.svm import SVC, SVR, LinearSVC, NuSVC, OneClassSVM

from certifeature.svm import default_svm, elimination_order, feature_weights, support_rows


@pytest.fixture
def two_classes():
    return make_classification(120, 30, n_informative=6, flip_y=0.05, random_state=0)


@pytest.fixture
def four_classes():
    return make_classification(
        160, 30, n_informative=8, n_classes=4, n_clusters_per_class=1, random_state=0
    )


def test_default_svm_is_libsvm_for_few_rows_and_liblinear_for_many():
    assert isinstance(default_svm(100, 0), SVC)
    assert isinstance(default_svm(100_000, 0), LinearSVC)


@pytest.mark.parametrize("data", ["two_classes", "four_classes"])
@pytest.mark.parametrize(
    "svm",
    [
        SVC(kernel="linear"),
        NuSVC(kernel="linear", nu=0.2),
        LinearSVC(random_state=0, max_iter=100_000),
        LinearSVC(loss="hinge", random_state=0, max_iter=1_000_000, tol=1e-8),
        LinearSVC(multi_class="crammer_singer", random_state=0, max_iter=100_000),
    ],
)
def test_support_rows_suffice(svm, data, request):
    """Training on the support rows alone gives the same classifier: they are a sufficient set."""
    X, y = request.getfixturevalue(data)
    rows = support_rows(svm.fit(X, y), X, y)
    assert 0 < len(rows) < len(y)
    whole = svm.coef_.copy()
    if not isinstance(svm, NuSVC):  # nu is a share of the rows, so it changes with their number.
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


def test_sgd_with_hinge_loss_is_an_svm(two_classes):
    X, y = two_classes
    rows = support_rows(SGDClassifier(loss="hinge", random_state=0).fit(X, y), X, y)
    assert 0 < len(rows) < len(y)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (SVC(kernel="rbf"), "kernel='rbf'"),
        (LogisticRegression(), "LogisticRegression tells no support vectors"),
        (SGDClassifier(loss="log_loss"), "SGDClassifier tells no support vectors"),
        (RFE(SVC(kernel="linear")), "support_ of RFE"),
    ],
)
def test_models_without_support_vectors_are_refused(model, message, two_classes):
    X, y = two_classes
    with pytest.raises(ValueError, match=message):
        support_rows(model.fit(X, y), X, y)


def test_a_model_that_is_no_svm_solution_is_refused():
    class Overshot:
        loss = "hinge"
        classes_ = (0, 1)

        def decision_function(self, X):
            return np.asarray(X)[:, 0] * 100

    with pytest.raises(ValueError, match="every row beyond its margin"):
        support_rows(Overshot(), [[-1.0], [1.0]], [0, 1])


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
def test_models_that_are_no_classifiers_are_refused(model, two_classes):
    X, y = two_classes
    with pytest.raises(ValueError, match="is not a classifier"):
        support_rows(model.fit(X, y), X, y)


def test_a_model_without_weights_is_refused():
    with pytest.raises(ValueError, match="no coef_"):
        feature_weights(object())


def test_elimination_is_rfe_in_halving_steps(two_classes):
    """Equal to scikit-learn's RFE, run for one halving after the other."""
    X, y = two_classes
    X, y = X[:, :16], y
    order = elimination_order(SVC(kernel="linear").fit(X, y), X, y)
    assert sorted(order.tolist()) == list(range(1, 17))
    columns = np.arange(16)
    for size in (8, 4, 2, 1):
        rfe = RFE(SVC(kernel="linear"), n_features_to_select=size, step=size)
        columns = columns[rfe.fit(X[:, columns], y).support_]
        np.testing.assert_array_equal(np.sort(np.argsort(-order)[:size]), columns)


def test_elimination_sees_the_same_in_sparse_and_dense(four_classes):
    X, y = four_classes
    orders = [
        elimination_order(SVC(kernel="linear").fit(form(X), y), form(X), y)
        for form in (np.asarray, sparse.csr_array)
    ]
    np.testing.assert_array_equal(*orders)
