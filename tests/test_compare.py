"""Methods beside each other: the same folds, the same rows, and what is told of them."""

import sys
from dataclasses import replace
from functools import partial

import estimates
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_selection import (
    SelectFdr,
    SelectFromModel,
    SelectKBest,
    f_classif,
    f_regression,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC, LinearSVR

from certifeature import BestSubsetSelector, BSSSelector, certify
from certifeature import compare as compare_repeatedly
from certifeature.basis import sketched_basis
from certifeature.comparison import METHODS, SelectionMethod, growth_for
from certifeature.datasets import make_relevant_features
from certifeature.evaluation import new_data_errors
from certifeature.evaluation.engine import ALL_FEATURES, Candidate, cross_validate
from certifeature.evaluation.splits import Splits, splits_of
from certifeature.models import at_scale, default_model
from certifeature.models.support import fit_model
from certifeature.rows.rows import Rows
from certifeature.selectors import fit as fit_module
from certifeature.sparsify import ColumnChoice
from certifeature.sparsify.choice import as_column_choice
from paper import trial
from paper.trial import TrainedFold

compare = partial(compare_repeatedly, n_repeats=1)


@pytest.fixture(scope="module")
def data():
    return make_relevant_features(60, 80, 8, random_state=0)


def stratified_split(y, fold, n_folds):
    return splits_of(y, y, n_folds, 0, regression=False).pairs[fold]


def plain_split(y, fold, n_folds):
    return splits_of(y, y, n_folds, 0, regression=True).pairs[fold]


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
        growth = growth_for(svm)(Rows(X, y))
        assert growth(sample) == selector.certificate_.measured_growth

    def test_the_model_that_is_tested_is_trained_to_its_optimum(self):
        rng = np.random.default_rng(1)
        X = rng.standard_normal((400, 60))
        y = np.where(X[:, 0] + 2 * rng.standard_normal(400) > 0, 1, -1)
        options = {"methods": ["univariate"], "tune": False, "cv": 2}
        coarse, fine = (
            compare(X, y, [40], estimator=LinearSVC(C=10.0, **solver), **options)
            for solver in ({"tol": 10.0, "random_state": 0}, {"tol": 1e-8, "max_iter": 10**6})
        )
        assert [c.errors for c in coarse.contenders] == [c.errors for c in fine.contenders]

    def test_nothing_is_claimed_where_rows_span_too_much_to_measure(self, data, monkeypatch):
        def sketch(rows, *_):
            return sketched_basis(rows.X, 5, random_state=0), None

        monkeypatch.setattr(trial, "span", sketch)
        monkeypatch.setattr("certifeature._utils.MAX_GRAM", 5)
        X, y = data
        hard = SVC(kernel="linear")
        fold, growth = fold_of_all(hard, X, y), growth_for(hard)(Rows(X, y))
        sample = ColumnChoice(np.arange(70), np.full(70, 1.5))
        everything = ColumnChoice(np.arange(80), np.ones(80))
        assert fold.eigenvalues(sample, "support") == (0.0, 1.5**2)
        assert fold.eigenvalues(everything, "support") == (1.0, 1.0)
        assert growth(everything) == 1
        # A soft model has a bound that needs products with the rows only.
        soft = LinearSVC(C=0.1, dual=True, random_state=0)
        exact = certify(X, y, sample.indices, weights=sample.scales, estimator=soft)
        assert exact.measured_growth <= growth_for(soft)(Rows(X, y))(sample) < np.inf

    @pytest.mark.parametrize(
        "model",
        [SVC(kernel="linear"), LinearSVC(dual=True, random_state=0), LogisticRegression(C=0.1)],
        ids=lambda model: type(model).__name__,
    )
    @pytest.mark.parametrize("size", [40, 5])
    @pytest.mark.ci
    def test_growth_is_that_of_certify(self, size, model, data):
        X, y = data
        methods = ["bss", "rfe", "univariate"]
        options = {"estimator": model, "cv": 3}
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
        found = compare(X, y, [12], methods=methods, estimator=model, cv=3, tune=False)
        assert found.measure == "1 - R2"
        head, full = str(found).splitlines()[1:3]
        assert head.split()[3:5] == ["R²", "stability"]
        assert float(full.split()[3]) == pytest.approx(1 - found.full.error, rel=1e-2)
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
                left = np.mean((predicted - y[test]) ** 2) / y.var()
                assert contender.errors[fold] == pytest.approx(left, rel=1e-2)
        assert all(1 <= contender.growth < np.inf for contender in found.contenders)

    def test_folds_are_a_partition(self):
        y = np.linspace(0, 1, 11)
        tests = [plain_split(y, fold, 4)[1] for fold in range(4)]
        np.testing.assert_array_equal(np.sort(np.concatenate(tests)), np.arange(11))
        assert any(np.diff(rows).max() > 1 for rows in tests)

    def test_without_features_the_mean_is_predicted(self, data):
        X, y = data[0], data[0][:, 0] + 3
        nothing = SelectFromModel(Ridge(), threshold=1e9)
        pipeline = Pipeline([("select", nothing), ("model", Ridge())])
        splits = splits_of(X, y, 3, 0, regression=True)
        found = cross_validate(
            X, y, [Candidate("nothing", pipeline)], splits, growth=growth_for(Ridge())
        )
        for (train, test), outcome in zip(
            splits.pairs, found.outcomes["nothing", None], strict=True
        ):
            expected = np.mean((y[test] - y[train].mean()) ** 2) / y.var()
            assert outcome.error == pytest.approx(expected)
            assert outcome.growth == np.inf
            assert not outcome.chosen.size

    def test_classifiers_are_left_out(self, data):
        X, y = data[0], data[0][:, 0]
        found = compare(X, y, [10], estimator=Ridge(), cv=2)
        methods = [contender.method for contender in found.contenders]
        others = ["leverage", "rrqr", "rfe", "univariate", "random"]
        assert methods == ["full data", "bss", "subset", *others]
        for name in ("bss-paper", "lpsvm", "l1"):
            message = (
                f"{name} tells classes apart, and Ridge predicts numbers; choose from bss, sub"
            )
            with pytest.raises(ValueError, match=message):
                compare(X, y, [10], methods=["bss", name], estimator=Ridge())

    def test_too_many_folds(self, data):
        with pytest.raises(ValueError, match="60 rows only, too few for cv=61 folds"):
            compare(*data, [10], estimator=Ridge(), cv=61)


class TestCompare:
    @pytest.mark.slow
    def test_any_number_of_workers_gives_the_same(self, data):
        def untimed(n_jobs):
            found = compare(*data, [10, 30], methods=["bss", "random"], cv=3, n_jobs=n_jobs)
            # All features are not compared with other sets, which gives NaN.
            return [str(row | {"seconds": 0}) for row in found.to_records()]

        assert untimed(1) == untimed(2)

    def test_errors_are_those_of_a_plain_loop(self, data):
        X, y = data
        contender = compare(X, y, [10], methods=["bss"], cv=3, tune=False).contenders[1]
        for fold, error in enumerate(contender.errors):
            train, test = stratified_split(y, fold, 3)
            selector = BSSSelector(10).fit(X[train], y[train])
            reduced = selector.transform(X[train])
            svm = at_scale(reduced).fit(reduced, y[train])
            assert error == pytest.approx(1 - svm.score(selector.transform(X[test]), y[test]))

    @pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
    def test_scaling_is_learnt_from_the_training_rows(self, kind, data):
        y = data[1]
        X = kind(1000 + 50 * data[0])
        svm = SVC(kernel="linear")
        scaler = StandardScaler(with_mean=kind is np.asarray)
        full = compare(X, y, [6], methods=[], estimator=svm, preprocessing=scaler, tune=False)
        for fold, error in enumerate(full.contenders[0].errors):
            train, test = stratified_split(y, fold, 5)
            scaler = StandardScaler(with_mean=kind is np.asarray).fit(X[train])
            svm.fit(scaler.transform(X[train]), y[train])
            assert error == pytest.approx(1 - svm.score(scaler.transform(X[test]), y[test]))

    def test_frames_and_text_labels(self, data):
        X, y = data
        options = {"methods": ["bss", "lpsvm"], "cv": 3}
        plain = compare(X, y, [10], **options)
        named = compare(pd.DataFrame(X), np.where(y > 0, "yes", "no"), [10], **options)
        assert [c.errors for c in named.contenders] == [c.errors for c in plain.contenders]

    def test_methods_and_sizes_given_twice_count_once(self, data):
        found = compare(*data, [9, 9], methods=["random", "random"], cv=2)
        assert [(c.method, c.size) for c in found.contenders] == [
            ("full data", None),
            ("random", 9),
        ]

    def test_selectors_of_one_class_are_told_apart(self, data):
        selectors = [BSSSelector(trust=0), BSSSelector(trust=1)]
        _, *found = compare(*data, [9], methods=selectors, cv=2, tune=False).contenders
        assert [c.method for c in found] == ["BSSSelector", "BSSSelector (2)"]
        for contender, selector in zip(found, selectors, strict=True):
            alone = compare(*data, [9], methods=[selector], cv=2, tune=False).contenders[1]
            assert contender.chosen == alone.chosen

    def test_all_methods_by_default(self, data):
        found = compare(*data, [10], cv=2)
        assert [c.method for c in found.contenders] == ["full data", *METHODS]

    @pytest.mark.parametrize(
        ("sizes", "options", "message"),
        [
            ([80], {}, "80 features cannot be chosen from 80; ask for 1 to 79"),
            ([0], {}, "0 features cannot be chosen"),
            ([5], {"methods": ["magic"]}, "method 'magic' is unknown; choose from bss, subset"),
            ([5], {"methods": "bss"}, "methods='bss' is one name; give a list"),
            ([5], {"methods": [SelectFdr()]}, "SelectFdr has no parameter n_features_to_select"),
            (5, {}, "sizes=5 is one number; give a list"),
            ([5], {"cv": 50}, "too few for cv=50 folds; ask for at most"),
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
        options = {"methods": ["univariate"], "estimator": model, "cv": 3}
        found = compare(X, y, [10], **options)
        assert found.tuned
        make = METHODS["univariate"].make
        costs = [C * (model.C if hasattr(model, "C") else 1 / 4) for C in (0.01, 0.1, 1, 10, 100)]

        def error(train, test, C, size):
            selector = make(size, model, 0).fit(X[train], y[train])
            fitted = fit_model(
                clone(model).set_params(**at(C)), selector.transform(X[train]), y[train]
            )
            predicted = fitted.predict(selector.transform(X[test]))
            if isinstance(model, Ridge):
                return np.mean((predicted - y[test]) ** 2) / y.var()
            return np.mean(predicted != y[test])

        # Full data is tuned by the same rule.
        for contender, size in zip(found.contenders, (80, 10), strict=True):
            for fold, measured in enumerate(contender.errors):
                train, test = split_of(y, fold, 3)
                inner = [split_of(y[train], place, 3) for place in range(3)]
                means = [
                    np.mean([error(train[a], train[b], C, size) for a, b in inner]) for C in costs
                ]
                best = costs[int(np.argmin(means))]
                assert measured == pytest.approx(error(train, test, best, size))

    def test_it_is_left_out_where_it_cannot_be(self, data):
        X, y = data
        halves = np.arange(60) % 4
        options = {"methods": ["univariate"], "cv": 2, "groups": halves}
        found = compare(X, y, [10], **options)
        assert not found.tuned
        assert "C is not tuned, for lack of 3 inner folds" in found.note
        assert "there are 2 groups only, too few" in str(found)
        plain = compare(X, y, [10], tune=False, **options)
        assert [c.errors for c in found.contenders] == [c.errors for c in plain.contenders]
        assert compare(X, y, [10], methods=["univariate"], cv=2).tuned

    def test_it_can_be_left_out(self, data):
        found = compare(*data, [10], methods=["univariate"], cv=2, tune=False)
        assert not found.tuned
        assert not found.note
        assert "cross-validation, at the C of the model" in str(found)


def test_only_draws_of_lots_differ_from_fold_to_fold(data):
    X, y = data
    options = {"cv": 2, "tune": False}
    _, drawn = compare(X, y, [5], methods=["random"], **options).contenders
    assert drawn.chosen[0] != drawn.chosen[1]
    # The same rows give the same choice as the default of the selector does.
    _, bss = compare(X, y, [5], methods=["bss"], **options).contenders
    for fold, chosen in enumerate(bss.chosen):
        train, _ = stratified_split(y, fold, 2)
        assert list(chosen) == BSSSelector(5).fit(X[train], y[train]).indices_.tolist()


def test_a_comparison_is_short_to_look_at(data):
    found = compare(*data, [20], methods=["bss", "rfe"], cv=2, tune=False)
    assert len(repr(found)) < 1500


def test_a_method_of_ones_own(data):
    X, y = data
    first = SelectionMethod(
        "first", lambda size, _, __: SelectKBest(lambda X, y: -np.arange(80.0), k=size)
    )
    found = compare(X, y, [3], methods=["univariate", first], cv=2)
    full, univariate, own = found.contenders
    assert own.method == "first"
    assert [sorted(chosen) for chosen in own.chosen] == [[0, 1, 2]] * 2
    assert len(univariate.chosen[0]) == 3
    assert full.chosen == ()


@pytest.mark.parametrize("seed", [0, 5])
def test_the_folds_are_those_of_certify(seed, data):
    X, y = data
    selector = BSSSelector(10, random_state=0)
    options = {"cv": 3, "random_state": seed}
    full, found = compare(X, y, [10], methods=[selector], **options).contenders
    alone = new_data_errors(X, y, selector, n_repeats=1, **options)
    assert found.performance == alone.selected
    assert full.performance == alone.full


class TestEngine:
    """Whole pipelines, each fitted once to the training rows of each fold."""

    def test_predictions_are_those_of_the_pipeline(self, data):
        X, y = data[0].copy(), data[1]
        X[::7, ::3] = np.nan
        pipeline = make_pipeline(
            SimpleImputer(), StandardScaler(), SelectKBest(f_classif, k=9), SVC(kernel="linear")
        )
        splits = splits_of(y, y, 3, 0, regression=False)
        found = cross_validate(X, y, [Candidate("whole", pipeline)], splits)
        for (train, test), outcome in zip(splits.pairs, found.outcomes["whole", None], strict=True):
            alone = clone(pipeline).fit(X[train], y[train])
            np.testing.assert_array_equal(outcome.predicted, alone.predict(X[test]))
            assert sorted(outcome.chosen) == alone[2].get_support(indices=True).tolist()
        assert found.errors("whole") == tuple(o.error for o in found.outcomes["whole", None])

    def test_sizes_share_a_fit_and_pipelines_their_first_steps(self, data, monkeypatch):
        X, y = data
        fitted, supports = [], []

        class Counted(StandardScaler):
            def fit(self, X, y=None, sample_weight=None):
                fitted.append(len(X))
                return super().fit(X, y, sample_weight)

        real = fit_module.find_support
        monkeypatch.setattr(
            fit_module, "find_support", lambda *args: supports.append(1) or real(*args)
        )
        scaler, svm = Counted(), default_model()
        pipelines = [
            Pipeline([("scale", scaler), ("select", selector), ("model", svm)])
            for selector in (ALL_FEATURES, BSSSelector(), SelectKBest(f_classif))
        ]
        sizes = (5, 20, 40)
        candidates = [
            Candidate("full", pipelines[0]),
            Candidate("bss", pipelines[1], sizes),
            Candidate("univariate", pipelines[2], sizes),
        ]
        splits = splits_of(y, y, 3, 0, regression=False)
        found = cross_validate(X, y, candidates, splits)
        assert len(fitted) == len(supports) == 3
        train, _ = splits.pairs[0]
        Z = StandardScaler().fit_transform(X[train])
        for size in sizes:
            alone = BSSSelector(size).fit(Z, y[train])
            assert found.chosen("bss", size)[0] == tuple(alone.indices_)

    @pytest.mark.parametrize("paired", [False, True])
    def test_groups_stay_together(self, paired):
        rng = np.random.default_rng(0)
        patients = np.repeat(np.arange(40), 2)
        X = rng.standard_normal((40, 300))[patients] + 0.3 * rng.standard_normal((80, 300))
        y = np.tile([0, 1], 40) if paired else rng.permutation(np.repeat([0, 1], 20))[patients]
        if paired:
            X[:, :5] += 10 * y[:, None]
        splits = splits_of(y, y, 5, 0, regression=False, groups=patients)
        for train, test in splits.pairs:
            assert not np.intersect1d(patients[train], patients[test]).size
        found = new_data_errors(X, y, BSSSelector(20), groups=patients, n_repeats=1)
        compared = compare(X, y, [20], methods=["bss"], groups=patients).contenders[1]
        assert found.selected == compared.performance
        # Labels were drawn for each patient, or there is a signal within patients.
        error = found.selected.error.value
        assert error < 0.2 if paired else error > 0.3
        assert found.shuffled_error > 0.3

    def test_shuffled_labels_of_groups(self):
        patients = np.repeat(np.arange(30), 3)
        y = np.arange(30)[patients] % 2
        splits = splits_of(y, y, 3, 0, regression=False, groups=patients)
        seen = []

        class Watched(SelectKBest):
            def fit(self, X, y):
                seen.append(np.array(y))
                return super().fit(X, y)

        pipeline = Pipeline([("select", Watched(f_classif, k=2)), ("model", ALL_FEATURES)])
        X = np.random.default_rng(0).standard_normal((90, 5))
        cross_validate(X, y, [Candidate("control", pipeline, shuffled=True)], splits)
        for (train, _), labels in zip(splits.pairs, seen, strict=True):
            assert not np.array_equal(labels, y[train])
            for patient in np.unique(patients[train]):
                assert len(set(labels[patients[train] == patient])) == 1

    def test_c_is_tuned_without_the_test_rows(self, data):
        X, y = data
        pipeline = Pipeline([("select", SelectKBest(f_classif)), ("model", SVC(kernel="linear"))])
        candidate = Candidate("univariate", pipeline, (5, 20), tuned=True)
        train, test = splits_of(y, y, 3, 0, regression=False).pairs[0]
        splits = Splits([(train, test)] * 2)
        found = cross_validate(X, y, [candidate], splits)
        hidden = y.copy()
        hidden[test] = hidden[test][::-1]
        again = cross_validate(X, hidden, [candidate], splits)
        for key, outcomes in found.outcomes.items():
            for one, other in zip(outcomes, again.outcomes[key], strict=True):
                np.testing.assert_array_equal(one.predicted, other.predicted)

    @pytest.mark.parametrize("model", [None, LogisticRegression(C=0.1)])
    def test_choices_are_as_close_to_the_best_as_certify_says_at_one_c(self, data, model):
        X, y = data
        options = {"methods": ["bss", "subset", "univariate", "lpsvm"], "cv": 2, "tune": False}
        found = compare(X, y, [10], estimator=model, preprocessing=StandardScaler(), **options)
        X = StandardScaler().fit_transform(X)
        best = BestSubsetSelector(10, estimator=model).fit(X, y)
        one = at_scale(X[:, best.indices_]) if model is None else model
        assert np.isnan(found.contenders[0].optimality)
        contenders = {contender.method: contender for contender in found.contenders}
        for method in ("bss", "univariate", "subset"):
            contender = contenders[method]
            selector = METHODS[method].make(10, default_model() if model is None else model, 0)
            expected = certify(X, y, selector.fit(X, y), estimator=one).optimality.ratio
            # certify splits the sets of so few rows, and proves more.
            assert 0.95 * expected <= contender.optimality <= expected * (1 + 1e-6)
            assert 0.5 < contender.optimality <= contenders["subset"].optimality * (1 + 1e-12)
        assert 0 < contenders["lpsvm"].optimality <= 1

    def test_repeats_are_of_a_number_of_folds(self, data):
        X, y = data
        found = compare(X, y, [5], methods=["univariate"], cv=3, n_repeats=2, tune=False)
        assert (found.n_repeats, found.n_folds, len(found.contenders[1].errors)) == (2, 3, 6)
        folds = StratifiedKFold(3)
        with pytest.raises(ValueError, match="n_repeats=2 repeats a number of folds"):
            compare(X, y, [5], cv=folds, n_repeats=2)
        given = compare(X, y, [5], methods=[], cv=folds, tune=False)
        assert (given.n_folds, given.splits.test_share) == (3, pytest.approx(1 / 2))


class TestResult:
    COMPARISON = estimates.comparison(
        estimates.contender("full data", None, 2000.0, (0.0, 0.5), 0.0, 1.0),
        replace(
            estimates.contender("bss", 20, 20.0, (0.25, 0.25), 1.234, 12.345),
            stability=0.5,
            optimality=0.9499,
        ),
        estimates.contender("random", 20, 20.0, (0.25, 0.25), 0.0, np.inf),
    )

    def test_text(self):
        assert str(self.COMPARISON).splitlines() == [
            "1 × 2-fold cross-validation, at the C of the model",
            "method     asked  features    error (95 % interval)  stability  seconds  optimality  "
            "growth",
            "full data             2000  25.0 % (17.5 to 34.3 %)                0.00              "
            "     1",
            "bss           20        20  25.0 % (17.5 to 34.3 %)       0.50     1.23       0.949  "
            "  > 10",
            "random        20        20  25.0 % (17.5 to 34.3 %)                0.00              "
            "  > 10",
            "stability: agreement of the folds on the features: 0 for random ones, 1 for the same",
            "optimality: the training objective of any as many features is at least this share of "
            "that of those chosen on all rows, for one C for each number of features",
            "growth: upper bound on the ratio of training objectives (chosen over all features) "
            "for any labels of the rows that determine the model, with probability 0.99 or more; "
            "median of the folds; > 10: no useful bound",
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
