"""Methods beside each other: the same folds, the same rows, and what is told of them."""

import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_selection import SelectFdr, SelectKBest, f_regression
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import r2_score
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC, LinearSVR

from certifeature import BSSSelector, Comparison, certify, compare
from certifeature import comparison as fold_module
from certifeature.basis import sketched_basis
from certifeature.comparison import METHODS, Contender, Method, TrainedFold
from certifeature.datasets import make_relevant_features
from certifeature.evaluation import new_data_errors
from certifeature.evaluation.splits import splits_of
from certifeature.models import default_model, fit_model
from certifeature.sparsify import ColumnChoice
from certifeature.sparsify.choice import as_column_choice


@pytest.fixture(scope="module")
def data():
    return make_relevant_features(60, 80, 8, random_state=0)


def stratified_split(y, fold, n_folds):
    return splits_of(y, y, n_folds, 0, regression=False)[0][fold]


def plain_split(y, fold, n_folds):
    return splits_of(y, y, n_folds, 0, regression=True)[0][fold]


def fold_of_all(svm, X, y):
    """Return a fold that is trained on all rows, and tested on the first."""
    return TrainedFold(svm, X, y, (np.arange(len(y)), np.arange(1)), "none", 0)


class TestRows:
    @pytest.mark.slow
    def test_choices_are_certified_for_the_rows_that_they_were_made_for(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((2000, 300))
        y = np.where(X[:, 0] + 0.3 * rng.standard_normal(2000) > 0, 1, -1)
        svm = LinearSVC(C=10.0, dual=True, random_state=0)
        fold = fold_of_all(svm, X, y)
        selector = BSSSelector(100, estimator=svm, random_state=0).fit(X, y)
        np.testing.assert_array_equal(fold.support, selector.support_rows_)
        sample = as_column_choice(selector, 300)
        assert fold.eigenvalues(sample, "support")[0] == selector.certificate_.lambda_min
        assert fold.growth(sample) == selector.certificate_.measured_growth

    def test_the_model_that_is_tested_is_trained_to_its_optimum(self):
        rng = np.random.default_rng(1)
        X = rng.standard_normal((400, 60))
        y = np.where(X[:, 0] + 2 * rng.standard_normal(400) > 0, 1, -1)
        split = (np.arange(300), np.arange(300, 400))
        coarse = TrainedFold(LinearSVC(C=10.0, tol=10.0, random_state=0), X, y, split, "none", 0)
        fine = TrainedFold(LinearSVC(C=10.0, tol=1e-8, max_iter=10**6), X, y, split, "none", 0)
        sample = ColumnChoice(np.arange(40), np.ones(40))
        assert coarse.error(sample) == fine.error(sample)

    def test_nothing_is_claimed_where_rows_span_too_much_to_measure(self, data, monkeypatch):
        def sketch(rows, *_):
            return sketched_basis(rows.X, 5, random_state=0), None

        monkeypatch.setattr(fold_module, "span", sketch)
        monkeypatch.setattr("certifeature._resources.MAX_GRAM", 5)
        X, y = data
        fold = fold_of_all(LinearSVC(multi_class="crammer_singer", random_state=0), X, y)
        sample = ColumnChoice(np.arange(70), np.full(70, 1.5))
        everything = ColumnChoice(np.arange(80), np.ones(80))
        assert fold.eigenvalues(sample, "support") == (0.0, 1.5**2)
        assert fold.growth(sample) == np.inf
        assert fold.eigenvalues(everything, "support") == (1.0, 1.0)
        assert fold.growth(everything) == 1
        # A soft model has a bound that needs products with the rows only.
        soft = LinearSVC(C=0.1, dual=True, random_state=0)
        exact = certify(X, y, sample.indices, weights=sample.scales, estimator=soft)
        assert exact.measured_growth <= fold_of_all(soft, X, y).growth(sample) < np.inf

    @pytest.mark.parametrize(
        ("model", "size"),
        [
            (SVC(kernel="linear"), 40),
            (LinearSVC(dual=True, random_state=0), 5),
            (LogisticRegression(C=0.1), 40),
        ],
        ids=str,
    )
    def test_growth_is_that_of_certify(self, size, model, data):
        X, y = data
        methods = ["bss", "rfe", "univariate"]
        options = {"estimator": model, "n_folds": 3, "n_jobs": 1}
        full, *contenders = compare(X, y, [size], methods=methods, **options).contenders
        assert full.growth == 1
        for contender in contenders:
            found = []
            for fold in range(3):
                train, _ = stratified_split(y, fold, 3)
                make = METHODS[contender.method].make
                selector = make(size, clone(model), 0).fit(X[train], y[train])
                chosen = as_column_choice(selector, X.shape[1])
                given = {"weights": chosen.scales, "estimator": model, "realised": False}
                certificate = certify(X[train], y[train], chosen.indices, **given)
                found.append(certificate.measured_growth)
            assert contender.growth == pytest.approx(np.median(found), rel=1e-9)
            assert np.isfinite(contender.growth)


class TestNumbers:
    @pytest.mark.parametrize(
        "model",
        [
            Ridge(alpha=2.0),
            LinearSVR(loss="squared_epsilon_insensitive", C=0.5, random_state=0, max_iter=10**5),
        ],
        ids=lambda model: type(model).__name__,
    )
    def test_the_error_is_the_variance_that_is_left(self, model, data):
        X = data[0]
        y = X[:, 0] - 2 * X[:, 1] + np.random.default_rng(0).standard_normal(60)
        methods = ["bss", "univariate"]
        found = compare(X, y, [12], methods=methods, estimator=model, n_folds=3, n_jobs=1)
        assert found.measure == "1 - R2"
        assert "1 - R²" in str(found)
        for fold in range(3):
            train, test = plain_split(y, fold, 3)
            selectors = (
                SelectKBest(f_regression, k="all"),
                BSSSelector(12, estimator=model, random_state=0),
                SelectKBest(f_regression, k=12),
            )
            for contender, selector in zip(found.contenders, selectors, strict=True):
                known = selector.fit(X[train], y[train]).transform(X[train])
                predicted = clone(model).fit(known, y[train]).predict(selector.transform(X[test]))
                # Solvers of scikit-learn stop before the optimum.
                left = 1 - r2_score(y[test], predicted)
                assert contender.errors[fold] == pytest.approx(left, rel=1e-2)
        assert all(1 <= contender.growth < np.inf for contender in found.contenders)

    def test_folds_are_a_partition(self):
        y = np.linspace(0, 1, 11)
        tests = [plain_split(y, fold, 4)[1] for fold in range(4)]
        np.testing.assert_array_equal(np.sort(np.concatenate(tests)), np.arange(11))
        assert any(np.diff(rows).max() > 1 for rows in tests)

    def test_without_features_the_mean_is_predicted(self, data):
        X, y = data[0], data[0][:, 0] + 3
        fold = TrainedFold(Ridge(), X, y, plain_split(y, 0, 3), "none", 0)
        train, test = plain_split(y, 0, 3)
        expected = 1 - r2_score(y[test], np.full(len(test), y[train].mean()))
        nothing = ColumnChoice(np.empty(0, dtype=np.intp), np.empty(0))
        assert fold.error(nothing) == pytest.approx(expected)
        assert fold.growth(nothing) == np.inf

    def test_classifiers_are_left_out(self, data):
        X, y = data[0], data[0][:, 0]
        found = compare(X, y, [10], estimator=Ridge(), n_folds=2, n_jobs=1)
        methods = [contender.method for contender in found.contenders]
        assert methods == ["full data", "bss", "leverage", "rrqr", "rfe", "univariate", "random"]
        for name in ("bss-paper", "lpsvm", "l1"):
            message = (
                f"{name} tells classes apart, and Ridge predicts numbers; choose from bss, lev"
            )
            with pytest.raises(ValueError, match=message):
                compare(X, y, [10], methods=["bss", name], estimator=Ridge())

    def test_too_many_folds(self, data):
        with pytest.raises(ValueError, match="60 rows only, too few for cv=31 folds"):
            compare(*data, [10], estimator=Ridge(), n_folds=31)


class TestCompare:
    @pytest.mark.slow
    def test_any_number_of_workers_gives_the_same(self, data):
        def untimed(n_jobs):
            found = compare(*data, [10, 30], methods=["bss", "random"], n_folds=3, n_jobs=n_jobs)
            return [row | {"seconds": 0} for row in found.to_records()]

        assert untimed(1) == untimed(2)

    def test_errors_are_those_of_a_plain_loop(self, data):
        X, y = data
        contender = compare(X, y, [10], methods=["bss"], n_folds=3, n_jobs=1).contenders[1]
        for fold, error in enumerate(contender.errors):
            train, test = stratified_split(y, fold, 3)
            selector = BSSSelector(10).fit(X[train], y[train])
            svm = fit_model(default_model(0), selector.transform(X[train]), y[train])
            assert error == pytest.approx(1 - svm.score(selector.transform(X[test]), y[test]))

    @pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
    def test_scaling_is_learnt_from_the_training_rows(self, kind, data):
        y = data[1]
        X = kind(1000 + 50 * data[0])
        svm = SVC(kernel="linear")
        full = compare(X, y, [6], methods=[], estimator=svm, scaling="standard", n_jobs=1)
        for fold, error in enumerate(full.contenders[0].errors):
            train, test = stratified_split(y, fold, 5)
            scaler = StandardScaler(with_mean=kind is np.asarray).fit(X[train])
            svm.fit(scaler.transform(X[train]), y[train])
            assert error == pytest.approx(1 - svm.score(scaler.transform(X[test]), y[test]))

    def test_frames_and_text_labels(self, data):
        X, y = data
        options = {"methods": ["bss", "lpsvm"], "n_folds": 3, "n_jobs": 1}
        plain = compare(X, y, [10], **options)
        named = compare(pd.DataFrame(X), np.where(y > 0, "yes", "no"), [10], **options)
        assert [c.errors for c in named.contenders] == [c.errors for c in plain.contenders]

    def test_methods_and_sizes_given_twice_count_once(self, data):
        found = compare(*data, [9, 9], methods=["random", "random"], n_folds=2, n_jobs=1)
        assert [(c.method, c.size) for c in found.contenders] == [
            ("full data", None),
            ("random", 9),
        ]

    def test_all_methods_by_default(self, data):
        found = compare(*data, [10], n_folds=2, n_jobs=1)
        assert [c.method for c in found.contenders] == ["full data", *METHODS]

    @pytest.mark.parametrize(
        ("sizes", "options", "message"),
        [
            ([80], {}, "80 features cannot be chosen from 80; ask for 1 to 79"),
            ([0], {}, "0 features cannot be chosen"),
            ([5], {"methods": ["magic"]}, "method 'magic' is unknown; choose from bss, bss-paper"),
            ([5], {"methods": "bss"}, "methods='bss' is one name; give a list"),
            ([5], {"methods": [SelectFdr()]}, "SelectFdr has no parameter n_features_to_select"),
            (5, {}, "sizes=5 is one number; give a list"),
            ([5], {"scaling": "robust"}, "scaling='robust' is unknown; choose from none"),
            ([5], {"n_folds": 50}, "too few for cv=50 folds; ask for at most"),
        ],
    )
    def test_bad_input_is_named_before_any_work(self, sizes, options, message, data):
        with pytest.raises(ValueError, match=message):
            compare(*data, sizes, **options)


class TestTuning:
    @pytest.mark.parametrize(
        ("model", "at"),
        [
            (LinearSVC(C=0.5, dual=True, random_state=0), lambda C: {"C": C}),
            (Ridge(alpha=2.0), lambda C: {"alpha": 1 / (2 * C)}),
        ],
        ids=["classes", "numbers"],
    )
    def test_errors_are_those_of_a_plain_loop(self, model, at, data):
        X, y = data
        split_of = stratified_split
        if isinstance(model, Ridge):
            y, split_of = X[:, 0] + np.random.default_rng(0).standard_normal(60), plain_split
        options = {"methods": ["univariate"], "estimator": model, "n_folds": 3, "n_jobs": 1}
        contender = compare(X, y, [10], **options).contenders[1]
        make = METHODS["univariate"].make
        costs = [C * (model.C if hasattr(model, "C") else 1 / 4) for C in (0.01, 0.1, 1, 10, 100)]

        def error(train, test, C):
            selector = make(10, model, 0).fit(X[train], y[train])
            fitted = fit_model(
                clone(model).set_params(**at(C)), selector.transform(X[train]), y[train]
            )
            return 1 - fitted.score(selector.transform(X[test]), y[test])

        for fold, found in enumerate(contender.tuned_errors):
            train, test = split_of(y, fold, 3)
            inner = [split_of(y[train], place, 3) for place in range(3)]
            means = [np.mean([error(train[a], train[b], C) for a, b in inner]) for C in costs]
            assert found == pytest.approx(error(train, test, costs[int(np.argmin(means))]))

    def test_it_is_left_out_where_it_cannot_be(self, data):
        X, y = data
        rare = np.where(np.arange(60) < 4, 2, y)
        options = {"methods": ["univariate"], "n_folds": 2, "n_jobs": 1, "tune": "auto"}
        assert not compare(X, rare, [10], **options).tuned
        assert compare(X, y, [10], **options).tuned

    def test_it_can_be_left_out(self, data):
        found = compare(*data, [10], methods=["univariate"], n_folds=2, n_jobs=1, tune=False)
        assert not found.tuned
        assert "C tuned" not in str(found)
        assert found.contenders[0].tuned_errors == ()
        assert np.isnan(found.to_frame()["tuned_error"]).all()

    def test_what_cannot_be_tuned_is_named(self, data):
        X, y = data
        rare = np.where(np.arange(60) < 5, 2, y)
        with pytest.raises(ValueError, match="but there the class 2 has 2 rows only, too few"):
            compare(X, rare, [10], n_folds=2)


def test_only_draws_of_lots_differ_from_fold_to_fold(data):
    X, y = data
    options = {"n_folds": 2, "n_jobs": 1, "tune": False}
    _, drawn = compare(X, y, [5], methods=["random"], **options).contenders
    assert drawn.chosen[0] != drawn.chosen[1]
    # The same rows give the same choice as the default of the selector does.
    _, bss = compare(X, y, [5], methods=["bss"], **options).contenders
    for fold, chosen in enumerate(bss.chosen):
        train, _ = stratified_split(y, fold, 2)
        assert list(chosen) == BSSSelector(5).fit(X[train], y[train]).indices_.tolist()


def test_a_comparison_is_short_to_look_at(data):
    found = compare(*data, [20], methods=["bss", "rfe"], n_folds=2, n_jobs=1, tune=False)
    assert len(repr(found)) < 1500


def test_a_method_of_ones_own(data):
    X, y = data
    first = Method(
        "first", "all", lambda size, _, __: SelectKBest(lambda X, y: -np.arange(80.0), k=size)
    )
    found = compare(X, y, [3], methods=["univariate", first], n_folds=2, n_jobs=1)
    full, univariate, own = found.contenders
    assert own.method == "first"
    assert [sorted(chosen) for chosen in own.chosen] == [[0, 1, 2]] * 2
    assert len(univariate.chosen[0]) == 3
    assert full.chosen == ()


@pytest.mark.parametrize("seed", [0, 5])
def test_the_folds_are_those_of_certify(seed, data):
    X, y = data
    selector = BSSSelector(10, random_state=0)
    full, found = compare(X, y, [10], methods=[selector], n_folds=3, seed=seed, n_jobs=1).contenders
    alone = new_data_errors(X, y, selector, cv=3, seed=seed)
    assert found.errors == alone.errors_selected
    assert full.errors == alone.errors_full


def test_a_choice_of_nothing_is_empty(data):
    X, y = data
    with pytest.warns(UserWarning, match="no feature has weight"):
        sample = fold_of_all(SVC(kernel="linear", C=1e-9), X, y).choose(METHODS["lpsvm"], None, 0)
    assert not sample.indices.size


class TestResult:
    COMPARISON = Comparison(
        (
            Contender("full data", None, 2000.0, (0.0, 0.5), 0.0, 1.0),
            Contender("bss", 20, 20.0, (0.25, 0.25), 1.234, 12.345),
            Contender("random", 20, 20.0, (0.25, 0.25), 0.0, np.inf),
        ),
        1,
        2,
        0,
    )

    def test_text(self):
        assert str(self.COMPARISON).splitlines() == [
            "1 × 2-fold cross-validation",
            "method     asked  features          error  seconds  growth",
            "full data             2000  0.250 ± 0.354     0.00       1",
            "bss           20        20  0.250 ± 0.000     1.23    12.4",
            "random        20        20  0.250 ± 0.000     0.00       ∞",
            "growth: on the rows that matter to it, the training objective is at most so many "
            "times that with all features, with probability 0.99 or more; median of the folds",
        ]

    def test_frame(self):
        frame = self.COMPARISON.to_frame()
        assert frame["method"].tolist() == ["full data", "bss", "random"]
        assert frame["size"].isna().tolist() == [True, False, False]
        assert frame["size"][1] == 20
        assert frame["error"].tolist() == [0.25, 0.25, 0.25]
        assert frame["growth"].tolist() == [1.0, 12.345, np.inf]

    def test_frame_without_pandas(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "pandas", None)
        with pytest.raises(ImportError, match="to_frame needs pandas: pip install pandas"):
            self.COMPARISON.to_frame()
