"""Nothing is stated that is not proven: which models are accepted, and what is said of all rows."""

import time
import warnings
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from random_rows import random_rows
from scipy import linalg
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import (
    LogisticRegressionCV,
    Perceptron,
    Ridge,
    RidgeClassifierCV,
    RidgeCV,
    SGDClassifier,
)
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC, NuSVC

from certifeature import (
    BSSSelector,
    LeverageScoreSelector,
    RandomSelector,
    RRQRSelector,
    SelectorCV,
    certify,
    compare,
)
from certifeature.basis import span as _lanczos
from certifeature.basis.span import _largest_ritz_value
from certifeature.certificate import APriori
from certifeature.certificate.all_rows import _have_no_loss, _regions
from certifeature.datasets import make_relevant_features
from certifeature.models import enclose, make_loss
from certifeature.models.enclosure import SafeRows
from certifeature.models.problem import Problem
from certifeature.models.solver import minimise
from certifeature.models.support import capped, fit_model
from certifeature.rows import ArrayBlocks


class LikeLinearSVC(LinearSVC):
    """A subclass may minimise anything."""


REFUSED = [
    (make_pipeline(StandardScaler(), SVC(kernel="linear")), "pass its last step as the model"),
    (make_pipeline(SVC()), "pass its last step as the model"),
    (GridSearchCV(LinearSVC(), {"C": [1, 10]}), "pass the best_estimator_"),
    (BaggingClassifier(LinearSVC()), "pass the linear model that it is made of"),
    (OneVsRestClassifier(LinearSVC()), "pass the linear model that it is made of"),
    (KNeighborsClassifier(), "use one of SVC"),
    (LinearDiscriminantAnalysis(), "use one of SVC"),
    (Perceptron(), "use one of SVC"),
    (SGDClassifier(learning_rate="pa1", penalty=None, eta0=1.0), "use one of SVC"),
    (SGDClassifier(loss="hinge"), "use one of SVC"),
    (RandomForestClassifier(), "use one of SVC"),
    (RidgeClassifierCV(), "use one of SVC"),
    (RidgeCV(), "use one of SVC"),
    (LogisticRegressionCV(), "use one of SVC"),
    (NuSVC(kernel="linear"), "use one of SVC"),
    (LikeLinearSVC(), "use one of SVC"),
    (SVC(kernel="rbf"), "Use kernel='linear'"),
]


@pytest.fixture(scope="module")
def data():
    return make_relevant_features(60, 100, 8, random_state=0)


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize(("model", "remedy"), REFUSED, ids=lambda m: type(m).__name__)
def test_models_without_a_proof_are_refused_everywhere(model, remedy, data):
    X, y = data
    calls = [
        lambda: certify(X, y, np.arange(20), estimator=model),
        lambda: certify(X, y, np.arange(20), estimator=model, rows="all"),
        lambda: certify(ArrayBlocks(X, y), None, np.arange(20), estimator=model, rows="all"),
        lambda: compare(X, y, [10], methods=["bss"], estimator=model, n_repeats=1),
        lambda: SelectorCV(BSSSelector(estimator=model), sizes=[10, 20]).fit(X, y),
        lambda: fit_model(model, X, y),
        *(
            lambda kind=kind, supervised=supervised: kind(
                20, estimator=model, supervised=supervised
            ).fit(X, y)
            for kind in (BSSSelector, LeverageScoreSelector, RandomSelector, RRQRSelector)
            for supervised in (True, False)
        ),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=remedy):
            call()


# What is said of all rows ----------------------------------------------------------------------


def random_problem(rng):
    """Return rows of two or three classes, some overlapping, at any scale, and a C."""
    n, d = int(rng.integers(20, 80)), int(rng.integers(5, 40))
    X = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-2, 2)
    scores = X @ rng.standard_normal(d)
    scores = scores + rng.choice([0, 0.5, 3]) * scores.std() * rng.standard_normal(n)
    y = np.argsort(np.argsort(scores)) * int(rng.choice([2, 2, 3])) // n
    chosen = rng.choice(d, int(rng.integers((d + 1) // 2, d)), replace=False)
    return X, y, np.sort(chosen), 10.0 ** rng.uniform(-3, 3)


def models(C):
    return [
        SVC(kernel="linear", C=C),
        SVC(kernel="linear", C=C, max_iter=1),
        LinearSVC(C=C, random_state=0),
        LinearSVC(C=C, fit_intercept=False, random_state=0),
        LinearSVC(loss="hinge", C=C, random_state=0),
        LinearSVC(loss="hinge", C=C, max_iter=3, intercept_scaling=5.0, random_state=0),
    ]


def least_objective(model, X, y, classes, side):
    """Return a bound of the sum of the optimal objectives of all binary problems."""
    total, pairs = 0.0, isinstance(model, SVC) or len(classes) == 2
    problems = combinations(classes, 2) if pairs else ((label, None) for label in classes)
    for first, second in problems:
        own = np.isin(y, [first, second]) if pairs else np.ones(len(y), dtype=bool)
        signs = np.where(y[own] == first, 1.0, -1.0)
        loss = make_loss(getattr(model, "loss", "hinge"), signs, np.full(len(signs), model.C))
        bounds = enclose(X[own], loss, intercept=Problem.of(model, None).intercept)
        total += getattr(bounds, side)
    return total


@pytest.mark.parametrize(
    ("loss", "intercept"),
    [("hinge", None), ("squared_hinge", None), ("squared_hinge", 0.0), ("squared_hinge", 1.0)],
)
@pytest.mark.parametrize("seed", range(8))
def test_rows_said_to_have_no_loss_have_none_at_the_optimum(seed, loss, intercept):
    """Whether the intercept is penalised or free; and all that are clear are said to."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((80, 6)) + rng.choice([0.0, 3.0])
    y = (X[:, 0] - X[:, 0].mean() + rng.standard_normal(80) * 0.4 > 0).astype(int)
    C = 10.0 ** rng.uniform(-2, 2)
    problem = Problem(loss, intercept, y, np.arange(2), np.full((80, 1), C))
    rows = SafeRows.of(X, intercept)
    beyond = _have_no_loss(problem, _regions(problem, rows), rows)
    if loss == "hinge":
        scores = fit_model(SVC(kernel="linear", C=C), X, y).decision_function(X)
    else:
        weights, reached = minimise(X, problem.parts[0].loss, intercept)
        assert reached
        scores = X @ weights[:-1, 0] + (1.0 if intercept is None else intercept) * weights[-1, 0]
    margins = np.where(y == 1, 1.0, -1.0) * scores
    assert (margins[beyond] >= 1 - 1e-6).all()
    assert beyond[margins > 1 + 1e-3].all()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("seed", range(12))
def test_what_holds_for_all_rows_is_proven_whatever_the_solver_did(seed):
    """Then the optimum on all rows is that on the rows of the certificate."""
    rng = np.random.default_rng(seed)
    X, y, chosen, C = random_problem(rng)
    for model in models(C):
        selector = RandomSelector(len(chosen), estimator=model, rescale=False).fit(X, y)
        certificate = certify(X, y, selector)
        part, rows = X[:, selector.indices_], selector.support_rows_
        if certificate.covers_all_rows:
            on_all = least_objective(model, part, y, np.unique(y), "lower")
            on_some = least_objective(model, part[rows], y[rows], np.unique(y), "upper")
            assert on_all <= on_some
            assert "is proven to have no other support vectors" in str(certificate)
        else:
            assert "It was not shown that the optimal reduced model" in str(certificate)


def test_rows_that_matter_to_the_reduced_model_alone_are_noticed():
    """The third row is far from the margin with both features, and on its wrong side with one."""
    X = np.array([[1.0, 1.0], [-1.0, -1.0], [-1.5, 9.0], [1.5, -9.0]])
    y = np.array([1, 0, 1, 0])
    for model in (SVC(kernel="linear"), LinearSVC(random_state=0)):
        certificate = certify(X, y, [0], estimator=model)
        assert certificate.n_rows == 2
        assert certificate.covers_all_rows is False
        assert certify(X, y, [1], estimator=model).covers_all_rows


def test_a_model_that_has_not_converged_is_called_so(data):
    X, y = data
    model = LinearSVC(loss="hinge", C=1e3, max_iter=2, random_state=0)
    with pytest.warns(ConvergenceWarning, match="LinearSVC did not reach its optimum"):
        selector = BSSSelector(20, estimator=model, order="coef").fit(X, y)
    assert not selector.certificate_.converged
    assert "may not be all of its support vectors" in str(selector.certificate_)
    assert BSSSelector(20).fit(X, y).certificate_.converged


@pytest.mark.parametrize("model", [SVC(kernel="linear", C=1e5), SVC(kernel="linear", C=1e12)])
def test_every_fit_ends(model):
    """Cauchy data of overlapping classes kept LIBSVM busy for many minutes."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_cauchy((33, 27)), rng.integers(0, 2, 33)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fit_model(clone(model), X, y)
    assert time.process_time() - start < 60


def test_fits_are_capped_and_parameters_are_left_alone():
    model = SVC(kernel="linear", max_iter=-1)
    assert capped(model).max_iter > 0
    assert capped(LinearSVC(max_iter=10**12)).max_iter < 10**6
    assert capped(SVC(kernel="linear", max_iter=7)).max_iter == 7
    X, y = make_relevant_features(30, 20, 3, random_state=0)
    assert fit_model(model, X, y).max_iter == -1


# Bounds that hold with a probability ------------------------------------------------------------


def against_start(start, n_rows):
    """Return rows whose strongest direction is at right angles to the start of Lanczos' method."""
    hidden = np.linalg.svd(start.T)[2][-1]
    return np.outer(hidden, [0.0, 1.0]) * 3 + 1e-3 * np.eye(n_rows, 2)


def test_no_data_can_be_built_against_the_start_of_lanczos(monkeypatch, small_limits):
    """Hiding a direction from the start of some data changes the start."""
    starts = []

    def spy(operator, start, n_steps):
        starts.append(start)
        return _largest_ritz_value(operator, start, n_steps)

    monkeypatch.setattr(_lanczos, "_largest_ritz_value", spy)
    small_limits(MAX_QUICK_GRAM=1)
    n_rows, ridge = 300, Ridge(alpha=1.0)
    X, kept = np.random.default_rng(0).standard_normal((n_rows, 2)), [0]
    for _ in range(5):
        before = len(starts)
        growth = certify(X, np.zeros(n_rows), kept, estimator=ridge, realised=False).measured_growth
        K, L = X @ X.T + np.eye(n_rows), X[:, kept] @ X[:, kept].T + np.eye(n_rows)
        assert growth >= linalg.eigvalsh(K, L)[-1]
        certify(X, np.zeros(n_rows), kept, estimator=ridge, realised=False)
        np.testing.assert_array_equal(starts[before], starts[-1])
        X = against_start(starts[-1][len(kept) :], n_rows)
    assert len({start.tobytes() for start in starts}) == 5


def test_a_probable_bound_that_is_exceeded_is_withdrawn(data, monkeypatch):
    X, y = data
    svm = LinearSVC(dual=True, random_state=0)
    certificate = certify(X, y, np.arange(30), estimator=svm, realised=False)
    realised = certify(X, y, np.arange(30), estimator=svm).realised
    ratio = realised.objective_ratio
    for probability, growth, stays in ((0.99, 0.9, False), (1.0, 0.9, True), (0.99, 1.1, True)):
        kept = 1 / (growth * ratio)
        bound = replace(certificate.regularised, lambda_min=kept, probability=probability)
        probable = replace(certificate, regularised=bound)
        if stays:
            assert not probable.with_realised(realised).withdrawn
            continue
        with pytest.warns(UserWarning, match="bound is withdrawn"):
            found = probable.with_realised(realised)
        assert found.withdrawn
        assert np.isinf(found.measured_growth)
        assert "exceeded, and withdrawn" in str(found)


def test_a_random_promise_that_is_not_kept_gives_way_to_what_is_measured(data):
    X, y = data
    certificate = certify(X, y, np.arange(30), rows="all")
    promise = APriori("uniform sampling", 30, 3, 0.99, 1.01, 0.99)
    assert certificate.measured_growth > 1 / 0.99
    assert replace(certificate, a_priori=promise).promised_growth == certificate.measured_growth


# Names of classes -------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    ("shape", "seed"), [*product([(60, 300), (400, 60)], range(2)), ((1200, 1500), 0)], ids=str
)
def test_names_of_classes_change_nothing(n_classes, shape, seed):
    rng = np.random.default_rng(seed)
    X = random_rows(shape, 0.1, rng)
    X = X.toarray() if shape[0] < 1000 else X
    scores = X @ rng.standard_normal(shape[1])
    y = np.argsort(np.argsort(scores + 0.3 * rng.standard_normal(shape[0]))) * n_classes // shape[0]
    expected = BSSSelector(20).fit(X, y)
    for names in (["z", "b", "a"], ["m", "a", "x"]):
        found = BSSSelector(20).fit(X, np.array(names)[y])
        np.testing.assert_array_equal(found.indices_, expected.indices_)
        assert found.certificate_.measured_growth == pytest.approx(
            expected.certificate_.measured_growth
        )
