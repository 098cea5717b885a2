"""Logistic and ridge regression, and tubes: costs, optima, rows that matter, choices."""

import subprocess
import sys

import numpy as np
import pytest
from pairs import each_once, pairwise
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import (
    Lasso,
    LogisticRegression,
    LogisticRegressionCV,
    Ridge,
    RidgeClassifier,
    RidgeCV,
)
from sklearn.svm import SVR, LinearSVR

from certifeature import (
    BSSSelector,
    LeverageScoreSelector,
    RRQRSelector,
    SelectorCV,
    certify,
    compare,
)
from certifeature.certificate.all_rows import unproven_rows
from certifeature.models import feature_weights, stable_scores
from certifeature.models import solver as smooth_minimiser
from certifeature.models.problem import Problem, check_model, predicts_numbers
from certifeature.models.support import find_support, fit_model, support_rows
from certifeature.rows import ArrayBlocks
from certifeature.rows.rows import Rows
from certifeature.sparsify import ColumnChoice

TUBE = LinearSVR(loss="squared_epsilon_insensitive", epsilon=0.3, C=0.7, random_state=0)
CLASSIFIERS = [
    LogisticRegression(C=0.7),
    LogisticRegression(C=3.0, fit_intercept=False, solver="newton-cg"),
    LogisticRegression(class_weight="balanced"),
    RidgeClassifier(alpha=2.0),
    RidgeClassifier(alpha=0.5, fit_intercept=False, class_weight="balanced"),
    RidgeClassifier(alpha=2.0, class_weight={0: 3.0}, solver="lsqr", tol=1e-2),
]
LIBLINEAR = LogisticRegression(
    C=0.7, solver="liblinear", intercept_scaling=2.0, class_weight={1: 2.0}, random_state=0
)
REGRESSORS = [
    Ridge(alpha=2.0),
    Ridge(alpha=0.1, fit_intercept=False),
    Ridge(alpha=np.array([1.5]), solver="sag", tol=1e-2, random_state=0),
    TUBE,
    clone(TUBE).set_params(fit_intercept=False, epsilon=0.0),
    clone(TUBE).set_params(intercept_scaling=3.0, dual=True),
]
MODELS = [*CLASSIFIERS, LIBLINEAR, *REGRESSORS]
PROBLEMS = [*((model, 2) for model in MODELS), *((model, 3) for model in CLASSIFIERS)]

SETTINGS = [
    {},
    {"rescale": "each", "trust": 0, "order": "coef"},
    {"rescale": False, "order": "leverage", "fixed_features": [3, 70]},
    {"rescale": "each", "trust": 0, "order": "cover"},
]


def row_costs(model, y, sample_weight=None):
    return Problem.of(model, y, sample_weight).costs


def loss_of(model, n_classes):
    return Problem.of(model, np.arange(n_classes)).loss


def intercept_of(model):
    return Problem.of(model, None).intercept


def data_for(model, seed=0, shape=(60, 9), n_classes=2, as_sparse=False):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal(shape)
    signal = 2 * X[:, 0] - X[:, 1] + 0.5 * rng.standard_normal(shape[0]) + 0.4
    if predicts_numbers(model):
        y = signal + 3 * model.fit_intercept
    else:
        y = np.searchsorted(np.quantile(signal, np.arange(1, n_classes) / n_classes), signal)
    return (sparse.csr_array(np.where(np.abs(X) > 0.5, X, 0)) if as_sparse else X), y


def objective(model, X, y, costs, flat):
    """The model's objective of weights and intercepts, and its gradient, from its definition."""
    loss = loss_of(model, len(np.unique(y)))
    intercept = intercept_of(model)
    d = X.shape[1]
    weights = flat.reshape(d + 1, -1)
    constant = 1.0 if intercept is None else intercept
    scores = X @ weights[:-1] + constant * weights[-1]
    if loss == "multinomial":
        own = y[:, None] == np.unique(y)
        value = costs[:, 0] @ (logsumexp(scores, axis=1) - scores[own])
        slopes = costs * (np.exp(scores - logsumexp(scores, axis=1)[:, None]) - own)
    elif loss == "logistic":
        signs = np.where(y == y.max(), 1.0, -1.0)[:, None]
        value = (costs * np.logaddexp(0, -signs * scores)).sum()
        slopes = -costs * signs / (1 + np.exp(signs * scores))
    else:
        if predicts_numbers(model):
            targets = y[:, None]
        elif weights.shape[1] == 1:
            targets = np.where(y == y.max(), 1.0, -1.0)[:, None]
        else:
            targets = np.where(y[:, None] == np.unique(y), 1.0, -1.0)
        errors = scores - targets
        excess = np.maximum(0, np.abs(errors) - getattr(model, "epsilon", 0.0))
        value = (costs * excess**2).sum()
        slopes = 2 * costs * excess * np.sign(errors)
    penalised = weights.copy()
    if intercept is None:
        penalised[-1] = 0
    gradient = np.vstack([X.T @ slopes, constant * slopes.sum(axis=0)]) + penalised
    return value + (penalised**2).sum() / 2, gradient.ravel()


def general_optimum(model, X, y, sample_weight):
    """Coefficients and intercepts by a general quasi-Newton method."""
    X = X.toarray() if sparse.issparse(X) else X
    costs = row_costs(model, y, sample_weight)
    n_classes = len(np.unique(y))
    many = not predicts_numbers(model) and n_classes > 2
    start = np.zeros((X.shape[1] + 1) * (n_classes if many else 1))
    found = minimize(
        lambda flat: objective(model, X, y, costs, flat),
        start,
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 50_000, "maxfun": 100_000, "ftol": 0, "gtol": 1e-9, "maxcor": 50},
    )
    weights = found.x.reshape(X.shape[1] + 1, -1)
    constant = intercept_of(model)
    intercepts = weights[-1] * (1.0 if constant is None else constant)
    return weights[:-1].T, intercepts


class TestTheOptimum:
    @pytest.mark.parametrize(
        ("problem", "shape", "as_sparse", "weighted"),
        pairwise(PROBLEMS, [(60, 9), (20, 40)], [False, True], [False, True]),
        ids=str,
    )
    def test_is_that_of_a_general_solver(self, problem, shape, as_sparse, weighted):
        model, n_classes = problem
        X, y = data_for(model, 1, shape, n_classes, as_sparse)
        weights = np.random.default_rng(2).uniform(0.2, 3, len(y)) if weighted else None
        fitted = fit_model(clone(model), X, y, weights)
        coef, intercepts = general_optimum(model, X, y, weights)
        np.testing.assert_allclose(np.atleast_2d(fitted.coef_), coef, atol=1e-6)
        # In softmax only the differences of intercepts matter.
        free = np.mean(intercepts) if loss_of(model, n_classes) == "multinomial" else 0.0
        np.testing.assert_allclose(
            np.zeros(len(coef)) + fitted.intercept_, intercepts - free, atol=1e-5
        )

    @pytest.mark.parametrize(("model", "n_classes"), PROBLEMS, ids=str)
    def test_has_no_gradient_left(self, model, n_classes):
        X, y = data_for(model, 3, n_classes=n_classes)
        fitted = fit_model(clone(model), X, y)
        constant = intercept_of(model)
        intercepts = np.zeros(len(np.atleast_2d(fitted.coef_))) + fitted.intercept_
        intercepts /= constant or 1.0
        flat = np.vstack([np.atleast_2d(fitted.coef_).T, intercepts]).ravel()
        _, gradient = objective(model, X, y, row_costs(model, y), flat)
        assert np.abs(gradient).max() <= 1e-9 * np.abs(fitted.coef_).max()

    @pytest.mark.parametrize("C", [1e-4, 1.0, 1e4])
    @pytest.mark.parametrize("shape", [(400, 30), (50, 400)], ids=str)
    @pytest.mark.parametrize("n_classes", [2, 4])
    def test_of_logistic_regression_does_not_depend_on_the_order_of_rows(self, n_classes, shape, C):
        model = LogisticRegression(C=C)
        X, y = data_for(model, 4, shape, n_classes)
        rows = np.random.default_rng(0).permutation(len(y))
        expected = fit_model(clone(model), X, y).coef_
        found = fit_model(clone(model), X[rows], y[rows]).coef_
        np.testing.assert_allclose(found, expected, atol=1e-9 * np.abs(expected).max())

    @pytest.mark.parametrize("alpha", [1e-6, 1e-2, 1e2])
    @pytest.mark.parametrize("solver", ["sparse_cg", "sag", "lsqr"])
    def test_of_ridge_regression_on_sparse_rows_is_that_of_the_normal_equations(
        self, solver, alpha
    ):
        model = Ridge(alpha=alpha, solver=solver, random_state=0, tol=1e-2)
        X, y = data_for(REGRESSORS[0], 5, (300, 20), as_sparse=True)
        fitted = fit_model(model, X, y)
        centred = X.toarray() - X.toarray().mean(axis=0)
        system = centred.T @ centred + alpha * np.eye(20)
        expected = np.linalg.solve(system, centred.T @ (y - y.mean()))
        np.testing.assert_allclose(fitted.coef_, expected, atol=1e-9)

    def test_of_many_unknowns_is_found_by_conjugate_gradients(self):
        model = LogisticRegression(C=5.0)
        X, y = data_for(model, 6, (2500, 1600), 2, as_sparse=True)
        fitted = fit_model(model, X, y)
        flat = np.append(fitted.coef_[0], fitted.intercept_)
        _, gradient = objective(model, X, y, row_costs(model, y), flat)
        assert np.linalg.norm(gradient) <= 1e-9 * np.linalg.norm(fitted.coef_)

    def test_out_of_reach_is_told(self, monkeypatch):
        monkeypatch.setattr(smooth_minimiser, "_MAX_STEPS", 1)
        X, y = data_for(CLASSIFIERS[0])
        with pytest.warns(ConvergenceWarning, match="LogisticRegression did not reach"):
            fit_model(LogisticRegression(max_iter=1), X, y)


_AT_LARGE_C = """
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, LinearSVC, LinearSVR
from certifeature import certify, compare
X, y = np.random.default_rng(0).standard_normal((10, 6)), np.arange(10) % 2
liblinear = LogisticRegression(C="scale", solver="liblinear")
assert certify(1e-60 * X, y, [0], estimator=liblinear).measured_growth >= 1
tube = {"loss": "squared_epsilon_insensitive", "dual": False}
for C in 1e10, 1e30:
    models = (
        SVC(kernel="linear", C=C),
        LinearSVC(C=C, loss="hinge"),
        LinearSVC(C=C, dual=False),
        LinearSVC(C=C, dual=False, intercept_scaling=np.inf),
        LinearSVR(C=C, **tube),
        LogisticRegression(C=C, solver="liblinear"),
    )
    for model in models:
        assert certify(X, y, [0, 1], estimator=model).realised_growth > 1
options = {"methods": ["rfe"], "estimator": models[2], "cv": 2, "n_repeats": 1, "tune": False}
compare(np.tile(X, (2, 1)), np.tile(y, 2), [2], **options)
"""


def test_fits_at_a_large_cost_end():
    """Some solvers of LIBLINEAR never do, whatever their limit of iterations is."""
    command = [sys.executable, "-W", "ignore", "-c", _AT_LARGE_C]
    assert subprocess.run(command, timeout=300).returncode == 0


class TestRefusals:
    @pytest.mark.parametrize(
        ("model", "message"),
        [
            (LogisticRegression(l1_ratio=1.0, solver="liblinear"), "l1_ratio=1.0.*Use l1_ratio=0"),
            (LogisticRegression(l1_ratio=0.5, solver="saga"), "l1_ratio=0.5.*LinearSVC"),
            (LogisticRegression(penalty="l1"), "l2-regularised linear models; got .*penalty='l1'"),
            (LogisticRegression(C=np.inf), "C of LogisticRegression must be a finite positive"),
            (LogisticRegressionCV(), "LogisticRegressionCV; use one of .*RidgeClassifier"),
            (Ridge(alpha=0), "alpha of Ridge must be a finite positive number; got 0"),
            (Ridge(alpha=np.array([1.0, 0.0])), "alpha of Ridge must be .* got 0.0"),
            (RidgeClassifier(alpha=np.inf), "alpha of RidgeClassifier must be a finite positive"),
            (Ridge(positive=True), "positive=True"),
            (LinearSVR(), "LinearSVR.*epsilon_insensitive.*use one of .*Ridge"),
            (clone(TUBE).set_params(epsilon=-1.0), "epsilon of LinearSVR must be"),
            (clone(TUBE).set_params(C=-1.0), "C of LinearSVR must be"),
            (RidgeClassifier(class_weight={0: -1}), "class_weight of RidgeClassifier"),
            (SVR(kernel="linear"), "cannot be chosen or certified for SVR; use one of SVC"),
            (Lasso(), "features cannot be chosen or certified for Lasso"),
            (RidgeCV(), "features cannot be chosen or certified for RidgeCV"),
        ],
        ids=lambda value: str(value)[:40],
    )
    def test_models_that_are_not_covered(self, model, message):
        with pytest.raises(ValueError, match=message):
            check_model(model)
        X, y = data_for(model)
        with pytest.raises(ValueError, match=message):
            BSSSelector(3, estimator=model).fit(X, y)
        with pytest.raises(ValueError, match=message):
            certify(X, y, [0, 1], estimator=model)

    @pytest.mark.parametrize("model", MODELS, ids=str)
    def test_of_none_that_are(self, model):
        check_model(model)

    def test_classes_are_no_numbers(self):
        X, y = data_for(CLASSIFIERS[0])
        with pytest.raises(ValueError, match=r"y must be numbers.*RidgeClassifier"):
            BSSSelector(3, estimator=Ridge()).fit(X, np.array(["a", "b"])[y])

    def test_numbers_are_no_classes(self):
        X, y = data_for(REGRESSORS[0])
        with pytest.raises(ValueError, match="Unknown label type"):
            BSSSelector(3, estimator=RidgeClassifier()).fit(X, y)

    def test_numbers_that_are_none(self):
        X, y = data_for(REGRESSORS[0])
        y[3] = np.nan
        with pytest.raises(ValueError, match=r"y contains NaN|Input y contains NaN"):
            BSSSelector(3, estimator=Ridge()).fit(X, y)
        with pytest.raises(ValueError, match="y contains NaN"):
            fit_model(Ridge(), X, y)

    def test_a_tube_that_holds_all_rows(self):
        X, y = data_for(TUBE)
        with pytest.raises(ValueError, match=r"every row to within epsilon=100.*lower epsilon"):
            BSSSelector(3, estimator=clone(TUBE).set_params(epsilon=100.0)).fit(X, y)

    def test_several_values_of_alpha_for_one_target(self):
        with pytest.raises(ValueError, match="3 values of alpha for 1 targets"):
            row_costs(Ridge(alpha=np.ones(3)), np.arange(4.0))

    @pytest.mark.parametrize("model", [LogisticRegression(), Ridge()], ids=str)
    def test_many_rows_in_blocks(self, model):
        X, y = np.random.default_rng(0).standard_normal((1200, 5)), np.arange(1200) % 2
        with pytest.raises(ValueError, match=r"all of them matter to .*supervised=False"):
            BSSSelector(3, estimator=model).fit(ArrayBlocks(X, y, n_rows=500))

    @pytest.mark.parametrize("model", [LogisticRegression(), Ridge()], ids=str)
    def test_few_rows_in_blocks_are_as_good_as_in_memory(self, model):
        X, y = data_for(model)
        found = BSSSelector(3, estimator=model).fit(ArrayBlocks(X, y, n_rows=25))
        expected = BSSSelector(3, estimator=model).fit(X, y)
        np.testing.assert_array_equal(found.indices_, expected.indices_)


def plain(columns):
    return ColumnChoice(np.array(columns), np.ones(len(columns)))


class TestRowsThatMatter:
    @pytest.mark.parametrize("model", [m for m in MODELS if not isinstance(m, LinearSVR)], ids=str)
    def test_all_of_them(self, model):
        X, y = data_for(model)
        support = find_support(Rows(X, y), model)
        np.testing.assert_array_equal(support.rows.places, np.arange(60))
        assert support.kind == "all"
        assert not unproven_rows(support, plain([0, 1]), Rows(X, y)).size

    @pytest.mark.parametrize("intercept", [False, True])
    def test_rows_outside_the_tube_suffice(self, intercept):
        model = clone(TUBE).set_params(fit_intercept=intercept, epsilon=0.5)
        X, y = data_for(model)
        whole = fit_model(clone(model), X, y)
        rows = support_rows(whole, X, y)
        assert 0 < len(rows) < len(y)
        alone = fit_model(clone(model), X[rows], y[rows])
        np.testing.assert_allclose(alone.coef_, whole.coef_, atol=1e-9)

    def test_rows_that_leave_the_tube_with_fewer_columns_are_missing(self):
        model = clone(TUBE).set_params(epsilon=0.6)
        X, y = data_for(TUBE)
        support = find_support(Rows(X, y), model)
        missing = unproven_rows(support, plain(range(1, X.shape[1])), Rows(X, y))
        assert missing.size
        assert not np.isin(missing, support.rows.places).any()

    def test_a_selection_forgets_rows_that_do_not_matter_and_still_knows_what_is_missing(self):
        """The support keeps no other rows, and must not take itself for all of them."""
        model = clone(TUBE).set_params(epsilon=0.6)
        X, y = data_for(TUBE)
        support = BSSSelector(3, estimator=model).fit(X, y).fit_result_.support
        assert unproven_rows(support, plain(range(1, X.shape[1])), Rows(X, y)).size


class TestOrders:
    @pytest.mark.parametrize("model", MODELS, ids=str)
    @pytest.mark.parametrize("order", ["coef", "stable"])
    def test_put_the_columns_that_count_first(self, model, order):
        X, y = data_for(model, shape=(80, 30))
        fitted = fit_model(clone(model), X, y)
        scores = {
            "coef": lambda: feature_weights(fitted),
            "stable": lambda: stable_scores(clone(model), X, y, n_subsamples=8),
        }[order]()
        assert set(np.argsort(-scores)[:2]) == {0, 1}

    @pytest.mark.parametrize("model", [Ridge(), TUBE, LogisticRegression()], ids=str)
    def test_stable_ones_do_not_depend_on_the_order_of_rows_or_columns(self, model):
        X, y = data_for(TUBE if model is TUBE else model, shape=(50, 70))
        rng = np.random.default_rng(0)
        rows, columns = rng.permutation(50), rng.permutation(70)
        expected = stable_scores(clone(model), X, y)
        found = stable_scores(clone(model), X[np.ix_(rows, columns)], y[rows])
        np.testing.assert_allclose(found, expected[columns], rtol=1e-6)

    @pytest.mark.parametrize(("model", "as_sparse"), each_once(MODELS, [False, True]), ids=str)
    def test_a_choice_does_not_depend_on_where_rows_and_columns_stand(self, model, as_sparse):
        X, y = data_for(model, 7, (60, 40), as_sparse=as_sparse)
        rng = np.random.default_rng(1)
        rows, columns = rng.permutation(60), rng.permutation(40)
        expected = BSSSelector(12, estimator=model).fit(X, y)
        found = BSSSelector(12, estimator=model).fit(X[rows][:, columns], y[rows])
        assert set(columns[found.indices_]) == set(expected.indices_)


class TestSelectors:
    @pytest.mark.parametrize(
        ("model", "selector"),
        [
            *((model, BSSSelector(12)) for model in MODELS),
            *each_once(MODELS, [LeverageScoreSelector(12, random_state=0), RRQRSelector(12)]),
        ],
        ids=str,
    )
    def test_choose_for_every_model(self, selector, model):
        X, y = data_for(model, shape=(60, 40))
        found = clone(selector).set_params(estimator=model).fit(X, y)
        assert found.transform(X).shape[1] <= 12

    @pytest.mark.parametrize("model", MODELS, ids=str)
    def test_bounds_can_hold_for_all_rows(self, model):
        X, y = data_for(model, shape=(60, 40))
        found = BSSSelector(12, estimator=model, guarantee="full").fit(X, y)
        assert found.certificate_.covers_all_rows

    @pytest.mark.parametrize("model", [Ridge(), TUBE, LogisticRegression()], ids=str)
    def test_find_a_size_by_cross_validation(self, model):
        X, y = data_for(model, shape=(80, 30))
        search = SelectorCV(BSSSelector(estimator=model), sizes=[2, 5, 30], cv=3).fit(X, y)
        assert search.n_features_ in (2, 5)
        assert search.cv_results_["mean_test_score"].min() > 0.6

    @pytest.mark.parametrize("weight", [1.0, 2.0])
    @pytest.mark.parametrize("model", [Ridge(), LogisticRegression()], ids=str)
    def test_a_row_of_weight_two_counts_like_two_rows(self, model, weight):
        X, y = data_for(model, 8, (40, 30))
        weights = np.where(np.arange(40) < 10, weight, 1.0)
        repeats = weights.astype(int)
        found = BSSSelector(8, estimator=model).fit(X, y, sample_weight=weights)
        expected = BSSSelector(8, estimator=model).fit(
            np.repeat(X, repeats, 0), np.repeat(y, repeats)
        )
        assert set(found.indices_) == set(expected.indices_)


class TestCertificates:
    @pytest.mark.parametrize("rows", ["support", "all"])
    @pytest.mark.parametrize(("model", "n_classes"), PROBLEMS, ids=str)
    def test_enclose_the_objectives_of_the_model(self, model, n_classes, rows):
        X, y = data_for(model, 9, (50, 30), n_classes)
        chosen = np.arange(25)
        found = certify(X, y, chosen, estimator=model, rows=rows)
        realised = found.realised
        assert realised.loss == loss_of(model, n_classes)
        assert np.max(getattr(model, "alpha", getattr(model, "C", None))) == realised.C
        values = []
        for part in (X, X[:, chosen]):
            fitted = fit_model(clone(model), part, y)
            intercepts = np.zeros(len(np.atleast_2d(fitted.coef_))) + fitted.intercept_
            intercepts /= intercept_of(model) or 1.0
            flat = np.vstack([np.atleast_2d(fitted.coef_).T, intercepts]).ravel()
            values.append(objective(model, part, y, row_costs(model, y), flat)[0])
        assert realised.objective_full == pytest.approx(values[0], rel=1e-6)
        assert realised.objective_full <= values[0] * (1 + 1e-12)
        if rows == "all" or found.covers_all_rows:
            assert realised.objective_selected == pytest.approx(values[1], rel=1e-6)
            assert realised.objective_selected >= values[1] * (1 - 1e-12)
        if predicts_numbers(model):
            assert realised.margin_full is None
        if not isinstance(model, LinearSVR):
            assert found.n_rows == 50
            assert found.rows == "all" or found.covers_all_rows

    @pytest.mark.parametrize(("model", "n_classes"), PROBLEMS, ids=str)
    def test_nest(self, model, n_classes):
        """With more features than rows λ > 0, which bounds the growth for every model."""
        X, y = data_for(model, 10, (20, 200), n_classes)
        selector = BSSSelector(100, estimator=model, rescale="each", trust=0).fit(X, y)
        found = certify(selector)
        assert found.lambda_min > 0
        assert 0 < found.realised.objective_ratio <= (1 / min(1.0, found.lambda_min))
        assert certify(X, y, selector).realised.objective_ratio == pytest.approx(
            found.realised.objective_ratio
        )

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("problem", "setting", "size"),
        [*each_once(PROBLEMS, SETTINGS, [8]), *each_once(PROBLEMS, SETTINGS[::-1], [60])],
        ids=str,
    )
    def test_nest_above_what_an_independent_solver_finds(self, problem, setting, size):
        model, n_classes = problem
        X, y = data_for(model, 11, (40, 120), n_classes)
        # By default, BSS would be left no pick of 8 features.
        setting = setting or {"trust": 0.5}
        selector = BSSSelector(size, estimator=model, **setting).fit(X, y)
        found = certify(selector)
        assert np.inf > found.measured_growth >= found.realised_growth > 0
        rows = selector.support_rows_
        costs = row_costs(model, y)[rows]
        chosen = X[:, selector.indices_] * selector.scales_
        n_outputs = n_classes if n_classes > 2 else 1
        full, selected = (
            minimize(
                lambda flat, part=part: objective(model, part, y[rows], costs, flat),
                np.zeros((part.shape[1] + 1) * n_outputs),
                jac=True,
                method="L-BFGS-B",
                options={"maxiter": 20_000, "maxfun": 50_000, "ftol": 1e-15, "gtol": 1e-9},
            ).fun
            for part in (X[rows], chosen[rows])
        )
        assert selected / full <= found.measured_growth * (1 + 1e-4)
        assert found.realised_growth == pytest.approx(selected / full, rel=1e-3)


class TestComparisons:
    @pytest.mark.parametrize(
        ("model", "methods"),
        [
            (LogisticRegression(), ["bss", "univariate"]),
            (RidgeClassifier(), ["bss", "rfe", "lpsvm", "l1"]),
        ],
        ids=str,
    )
    @pytest.mark.ci
    def test_are_made_for_classifiers(self, model, methods):
        X, y = data_for(model, shape=(60, 30))
        found = compare(X, y, [5], methods=methods, estimator=model, cv=2, n_repeats=1)
        assert all(contender.error < 0.4 for contender in found.contenders)

    def test_are_not_made_for_other_models(self):
        X, y = data_for(CLASSIFIERS[0])
        with pytest.raises(ValueError, match="l1_ratio=0"):
            compare(X, y, [5], estimator=LogisticRegression(l1_ratio=1.0, solver="saga"))
