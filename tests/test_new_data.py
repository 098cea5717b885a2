"""Errors on new data: nothing is known of the test rows, and a tie is called a tie."""

import json
import math
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse, stats
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import make_classification, make_regression
from sklearn.feature_selection import (
    RFE,
    SelectFromModel,
    SelectKBest,
    SelectorMixin,
    f_classif,
    f_regression,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Ridge
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from certifeature import BSSSelector, LPSVMSelector, SelectorCV, certify
from certifeature.certificate import Certificate
from certifeature.datasets import make_relevant_features
from certifeature.evaluation import Difference, NewData, corrected_interval, new_data_errors
from certifeature.rows import ArrayBlocks


def tuned(pipeline):
    """Return a search for the C of the last step, by the folds that tune it in this library."""
    name, model = pipeline.steps[-1]
    grid = {f"{name}__C": model.C * np.array([0.01, 0.1, 1, 10, 100])}
    return GridSearchCV(pipeline, grid, cv=StratifiedKFold(3, shuffle=True, random_state=0))


@pytest.fixture(scope="module")
def data():
    """Rows that no model tells apart without errors."""
    return make_classification(80, 150, n_informative=8, flip_y=0.1, class_sep=1.5, random_state=0)


@pytest.fixture(scope="module")
def noise():
    rng = np.random.default_rng(0)
    return rng.standard_normal((100, 3000)), np.repeat([0, 1], 50)


def near_chance(n_coins):
    """Four standard deviations around half of so many coins."""
    return pytest.approx(0.5, abs=4 * 0.5 / math.sqrt(n_coins))


class TestInterval:
    def test_by_hand(self):
        # s² = 0.00025 (mean 0.01, squares 0, 4, 1, 1, 4 times 1e-4, over 4); 1/5 + 1/4 = 0.45;
        # and the 97.5 % quantile of t with 4 degrees of freedom is 2.776445.
        low, high = corrected_interval([0.01, 0.03, 0.00, 0.02, -0.01], 1 / 4)
        half = 2.776445 * math.sqrt(0.45 * 0.00025)
        assert low == pytest.approx(0.01 - half, rel=1e-6)
        assert high == pytest.approx(0.01 + half, rel=1e-6)

    def test_wider_than_if_folds_were_independent(self, rng):
        differences = rng.standard_normal(10)
        low, high = corrected_interval(differences, 1 / 9)
        naive = stats.ttest_1samp(differences, 0).confidence_interval()
        assert (high - low) / (naive.high - naive.low) == pytest.approx(math.sqrt(1 + 10 / 9))

    def test_no_interval_from_differences_that_are_the_same(self):
        # 0.3 - 0.2 and 0.2 - 0.1 differ by rounding.
        assert corrected_interval([0.3 - 0.2, 0.2 - 0.1, 0.1], 0.5) is None

    @given(
        folds=st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=10),
        test_share=st.floats(0.01, 2),
    )
    def test_a_difference_of_shares_is_between_minus_one_and_one(self, folds, test_share):
        first, second = zip(*folds, strict=True)
        shares = Difference.of(first, second, test_share)
        unlimited = Difference.of(first, second, test_share, "1 - R2")
        assert unlimited.interval == corrected_interval(np.subtract(first, second), test_share)
        assert (shares.mean, shares.verdict) == (unlimited.mean, unlimited.verdict)
        if shares.interval is not None:
            (low, high), (least, most) = shares.interval, unlimited.interval
            assert (low, high) == (max(least, -1), min(most, 1))
            assert low <= shares.mean <= high

    def test_that_of_the_folds(self, data):
        X, y = data
        folds = RepeatedStratifiedKFold(n_splits=4, n_repeats=3, random_state=1)
        selector, model = SelectKBest(f_classif, k=3), LinearSVC(C=0.1, random_state=0)
        found = new_data_errors(X, y, selector, model=model, cv=folds)
        assert (found.n_folds, found.n_repeats, len(found.n_selected)) == (4, 3, 12)
        errors = np.empty((2, 12))
        for place, (train, test) in enumerate(folds.split(X, y)):
            for row, steps in zip(errors, ([selector], []), strict=True):
                pipeline = tuned(make_pipeline(*steps, model)).fit(X[train], y[train])
                row[place] = 1 - pipeline.score(X[test], y[test])
        d = errors[0] - errors[1]
        half = stats.t.ppf(0.975, 11) * math.sqrt((1 / 12 + 1 / 3) * d.var(ddof=1))
        assert found.against_full.interval == pytest.approx((d.mean() - half, d.mean() + half))
        assert found.against_full.mean == pytest.approx(d.mean())
        assert found.selected.error.value == pytest.approx(errors[0].mean())
        assert found.full.error.value == pytest.approx(errors[1].mean())


class TestNothingIsKnownOfTheTestRows:
    def test_choosing_on_all_rows_would_leak(self, noise):
        X, y = noise
        selector = SelectKBest(f_classif, k=20)
        chosen = selector.fit_transform(X, y)
        folds = StratifiedKFold(5, shuffle=True, random_state=0)
        naive = 1 - cross_val_score(SVC(kernel="linear"), chosen, y, cv=folds).mean()
        found = new_data_errors(X, y, selector, n_repeats=1)
        assert naive < 0.2
        assert 0.35 < found.selected.error.value < 0.65
        assert 0.35 < found.shuffled_error < 0.65
        assert found.chance_error == 0.5

    def test_shuffled_labels_give_chance(self):
        X, y = make_relevant_features(300, 100, 20, random_state=1)
        found = new_data_errors(X, y, BSSSelector(20, order="coef"), n_repeats=1)
        assert found.selected.error.value < 0.1
        assert found.shuffled_error == near_chance(300)

    def test_a_selector_sees_training_rows_only(self, data):
        seen = []

        class Watched(SelectKBest):
            def fit(self, X, y):
                seen.append((np.array(X), np.array(y)))
                return super().fit(X, y)

        X, y = data
        splits = list(StratifiedKFold(4).split(X, y))
        new_data_errors(X, y, Watched(f_classif, k=5), cv=splits)
        # Once in each of three inner folds, for the training rows, and for shuffled labels.
        assert len(seen) == 4 * 5
        for (train, _), place in zip(splits, range(0, 20, 5), strict=True):
            *inner, true, shuffled = seen[place : place + 5]
            for rows, labels in inner:
                places = [int(np.flatnonzero((row == X).all(axis=1))[0]) for row in rows]
                assert len(rows) == pytest.approx(len(train) * 2 / 3, abs=2)
                assert set(places) <= set(train.tolist())
                assert np.array_equal(labels, y[places])
            assert np.array_equal(true[0], X[train])
            assert np.array_equal(true[1], y[train])
            assert np.array_equal(shuffled[0], X[train])
            assert not np.array_equal(shuffled[1], y[train])
            assert np.array_equal(np.sort(shuffled[1]), np.sort(y[train]))

    def test_a_fitted_selector_is_left_alone(self, data):
        X, y = data
        selector = BSSSelector(20).fit(X, y)
        chosen = selector.indices_.copy()
        new_data_errors(X[::-1], y[::-1], selector, cv=2, n_repeats=1)
        assert np.array_equal(selector.indices_, chosen)

    def test_scalers_learn_from_training_rows(self, data):
        X, y = data
        scales = np.geomspace(1, 1e3, X.shape[1])
        selector = SelectKBest(f_classif, k=10)
        model = LinearSVC(C=0.1, random_state=0)
        pipeline = make_pipeline(StandardScaler(), selector)
        found = new_data_errors(X * scales, y, pipeline, model=model, n_repeats=1)
        errors = []
        for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
            search = tuned(make_pipeline(StandardScaler(), model)).fit(X[train], y[train])
            errors.append(1 - search.score(X[test], y[test]))
        assert found.full.error.value == pytest.approx(np.mean(errors))


class TestWhatShuffledLabelsCannotShow:
    """Leaks that run through the link of rows and labels, which shuffling breaks."""

    def test_the_same_patient_in_two_folds(self, rng):
        patients = np.repeat(np.arange(40), 2)
        X = rng.standard_normal((40, 500))[patients] + 0.3 * rng.standard_normal((80, 500))
        y = rng.permutation(np.repeat([0, 1], 20))[patients]
        plain = new_data_errors(X, y, BSSSelector(50), n_repeats=1)
        assert plain.selected.error.value < 0.15
        assert plain.shuffled_error == near_chance(40)
        grouped = new_data_errors(X, y, BSSSelector(50), cv=GroupKFold(5).split(X, y, patients))
        assert grouped.selected.error.value == near_chance(40)
        assert grouped.shuffled_error == near_chance(40)

    def test_features_chosen_beforehand(self, noise):
        X, y = noise
        chosen = SelectKBest(f_classif, k=100).fit_transform(X, y)
        found = new_data_errors(chosen, y, BSSSelector(50), n_repeats=1)
        assert found.selected.error.value < 0.15
        assert found.shuffled_error == near_chance(100)

    def test_a_batch_for_each_class(self, noise):
        X, y = noise
        batch = np.where(y == 1, 0.5, -0.5)
        found = new_data_errors(X + batch[:, None], y, BSSSelector(50), n_repeats=1)
        assert found.selected.error.value < 0.15
        assert found.shuffled_error == near_chance(100)


class TestErrorsOfFolds:
    def test_errors_of_each_class(self, data):
        X, y = data
        labels = np.where(y > 0, "sick", "well")
        selector, folds = SelectKBest(f_classif, k=9), StratifiedKFold(4)
        svm = SVC(kernel="linear")
        found = new_data_errors(X, labels, selector, model=svm, cv=folds)
        pipeline = tuned(make_pipeline(selector, svm))
        predicted = cross_val_predict(pipeline, X, labels, cv=folds)
        confusion = confusion_matrix(labels, predicted, labels=["sick", "well"])
        assert found.selected.n_of_class == {"sick": confusion[0].sum(), "well": confusion[1].sum()}
        shares = confusion.diagonal() / confusion.sum(axis=1)
        recalls = found.selected.recalls
        assert [recalls["sick"].value, recalls["well"].value] == pytest.approx(shares)
        assert found.selected.balanced_error.value == pytest.approx(1 - shares.mean())
        assert found.selected.n_wrong == confusion[0, 1] + confusion[1, 0]
        assert NewData.from_dict(json.loads(json.dumps(found.to_dict()))) == found

    @pytest.mark.parametrize(
        "selector",
        [
            BSSSelector(20, rescale="each"),
            RFE(SVC(kernel="linear"), n_features_to_select=20, step=0.2),
            SelectFromModel(LinearSVC(penalty="l1", C=0.1, random_state=0)),
        ],
    )
    def test_by_scikit_learn(self, selector, data):
        X, y = data
        model = LinearSVC(C=0.1, random_state=0)
        found = new_data_errors(X, y, selector, model=model, cv=StratifiedKFold(3))
        errors = []
        for fold, (train, test) in enumerate(StratifiedKFold(3).split(X, y)):
            # Features are chosen anew in inner folds, and get the scales of the selector.
            search = tuned(make_pipeline(clone(selector), model)).fit(X[train], y[train])
            full = tuned(make_pipeline(model)).fit(X[train], y[train])
            errors.append([1 - fitted.score(X[test], y[test]) for fitted in (search, full)])
            assert found.n_selected[fold] == search.best_estimator_[0].get_support().sum()
        n_tested = [len(test) for _, test in StratifiedKFold(3).split(X, y)]
        expected = np.average(errors, axis=0, weights=n_tested)
        assert [found.selected.error.value, found.full.error.value] == pytest.approx(expected)

    def test_a_search_for_the_size_is_repeated(self, data):
        search = SelectorCV(BSSSelector(order="coef"), sizes=[2, 40], cv=3)
        found = new_data_errors(*data, search, cv=3, n_repeats=1)
        assert set(found.n_selected) <= {2, 40}

    def test_no_feature_at_all_is_a_guess(self, data):
        X, y = data
        X, y = X[:60], np.repeat([0, 1, 2], [30, 20, 10])
        with pytest.warns(UserWarning, match="no feature"):
            selector = LPSVMSelector(C=1e-9).fit(X, y)
        found = new_data_errors(X, y, selector, cv=StratifiedKFold(5))
        assert found.n_selected == (0,) * 5
        assert found.selected.error.value == found.chance_error == found.shuffled_error == 0.5
        assert not found.better_than_chance

    @pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_matrix, pd.DataFrame])
    def test_the_kind_of_data_does_not_matter(self, kind, data):
        X, y = data
        X = np.where(np.abs(X) > 1, X, 0)
        # By default dense rows are centred, which sparse ones are not.
        svm = LinearSVC(random_state=0)
        selector = BSSSelector(15, order="coef", estimator=svm)
        found = new_data_errors(kind(X), y, selector, model=svm, cv=3, n_repeats=1)
        expected = new_data_errors(X, y, selector, model=svm, cv=3, n_repeats=1)
        assert found.selected == expected.selected

    def test_names_are_known_in_folds(self, data):
        X, y = data
        frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(X.shape[1])])
        by_name = BSSSelector(10, order="coef", fixed_features=["gene 7", "gene 100"])
        by_place = BSSSelector(10, order="coef", fixed_features=[7, 100])
        labels = pd.Series(np.where(y > 0, "ill", "well"), index=range(100, 180))
        found = new_data_errors(frame, labels, by_name, cv=3, n_repeats=1)
        assert found == new_data_errors(X, labels.to_numpy(), by_place, cv=3, n_repeats=1)

    def test_the_same_again_with_any_number_of_processes(self, data):
        selector = BSSSelector(12)
        once = new_data_errors(*data, selector, cv=3, n_repeats=1)
        assert once == new_data_errors(*data, selector, cv=3, n_repeats=1, n_jobs=2)
        assert once != new_data_errors(*data, selector, cv=3, n_repeats=1, random_state=1)

    def test_real_valued_targets(self):
        X, y = make_regression(120, 60, n_informative=5, noise=1.0, random_state=0)
        selector = SelectKBest(f_regression, k=10)
        found = new_data_errors(X, y, selector, model=Ridge(), cv=4, n_repeats=1)
        assert found.measure == "1 - R2"
        assert found.selected.error.value < 0.3 < 0.9 < found.shuffled_error
        assert found.chance_error == 1
        assert (found.selected.auc, found.selected.recalls) == (None, {})
        assert found.better_than_chance
        r2 = 1 - found.selected.error.value
        assert f"with 10 features, R² {r2:.3g}; always the mean has 0." in str(found)
        assert f"difference {-found.against_full.mean:+.3g}." in str(found)
        assert not re.search("%|interval|of five", str(found))
        assert NewData.from_dict(json.loads(json.dumps(found.to_dict()))) == found
        noise = np.random.default_rng(0).permutation(y)
        found = new_data_errors(X, noise, selector, model=Ridge(), cv=4, n_repeats=1)
        assert not found.better_than_chance

    def test_groups_are_given_as_splits(self, data):
        X, y = data
        splits = GroupKFold(4).split(X, y, groups=np.arange(len(y)) // 4)
        assert new_data_errors(X, y, SelectKBest(k=5), cv=splits).n_folds == 4

    def test_splits_may_be_masks(self, data):
        X, y = data
        masks, places = [], []
        for train, test in StratifiedKFold(3).split(X, y):
            masks.append((np.isin(np.arange(80), train), np.isin(np.arange(80), test)))
            places.append((train, test))
        selector = SelectKBest(k=5)
        found = new_data_errors(X, y, selector, cv=masks)
        assert found == new_data_errors(X, y, selector, cv=places)


class NotASelector(BaseEstimator):
    pass


class Uncloneable(SelectorMixin):
    """A selector without ``get_params``."""

    def fit(self, X, y):
        return self

    def _get_support_mask(self):
        return np.ones(150, dtype=bool)


class TestErrorsOfUsers:
    @pytest.mark.parametrize(
        "selection", [[0, 1], np.arange(150) < 5, NotASelector(), Uncloneable()]
    )
    def test_a_choice_that_cannot_be_repeated(self, selection, data):
        with pytest.raises(ValueError, match=r"chosen anew in every fold.*too good.*leave cv out"):
            new_data_errors(*data, selection)

    def test_names_cannot_be_repeated_by_certify(self, data):
        with pytest.raises(ValueError, match="chosen anew"):
            certify(*data, [0, 1, 2], cv=5)

    def test_a_model_fitted_beforehand(self, data):
        fitted = LinearSVC().fit(*data)
        for selector in (
            SelectFromModel(fitted, prefit=True),
            SelectFromModel(FrozenEstimator(fitted)),
        ):
            with pytest.raises(ValueError, match="fitted beforehand"):
                new_data_errors(*data, selector)

    @pytest.mark.parametrize(
        ("cv", "message"),
        [
            (1, "at least 2"),
            (-3, "at least 2"),
            (True, "ask for at least 2"),
            ("five", "cv"),
            (2.5, "cv"),
            (50, "the largest class has 42 rows only.*at most 42 folds"),
            (ShuffleSplit(1, random_state=0), "two splits"),
            (
                [(range(70), range(60, 80)), (range(70), range(70, 80))],
                "fold 1 .*10 of them in both",
            ),
            ([(range(70), range(70, 80)), (range(70), [])], "fold 2 .*0 rows for tests"),
        ],
    )
    def test_folds(self, cv, message, data):
        with pytest.raises(ValueError, match=message):
            new_data_errors(*data, SelectKBest(k=5), cv=cv)

    def test_one_class(self, data):
        with pytest.raises(ValueError, match="one class only, 1;"):
            new_data_errors(data[0], np.ones(80, dtype=int), SelectKBest(k=5))

    def test_targets_without_a_variance(self, data):
        with pytest.raises(ValueError, match="all targets are 1, so there is no R²"):
            new_data_errors(data[0], np.ones(80), SelectKBest(f_regression, k=5), model=Ridge())

    def test_no_labels(self, data):
        with pytest.raises(ValueError, match="y is None"):
            new_data_errors(data[0], None, SelectKBest(k=5))

    def test_rows_in_blocks(self, data):
        with pytest.raises(ValueError, match="rows in memory"):
            new_data_errors(ArrayBlocks(*data), None, BSSSelector(5))

    def test_certify_needs_the_rows_and_no_scales(self, data):
        selector = BSSSelector(20).fit(*data)
        with pytest.raises(ValueError, match=r"give certify\(X, y, selector\)"):
            certify(selector, cv=5)
        with pytest.raises(ValueError, match="without weights"):
            certify(*data, selector, weights=np.ones(20), cv=5)


class TestCertificate:
    def test_it_brings_the_errors_along(self, data):
        selector = BSSSelector(30, estimator=LinearSVC(C=0.01, random_state=0)).fit(*data)
        certificate = certify(*data, selector, cv=3, n_repeats=1)
        expected = new_data_errors(*data, selector, model=selector.estimator, cv=3, n_repeats=1)
        assert certificate.new_data == expected
        *proven, training, estimated, realised, measured = str(certificate).splitlines()
        assert estimated == str(expected)
        assert training.endswith("All this is about the training rows, not about new data.")
        plain = certify(*data, selector)
        assert plain.new_data is None
        *first, training, _, _ = str(plain).splitlines()
        assert (first, str(plain).splitlines()[-2:]) == (proven, [realised, measured])
        assert training.endswith("cross-validation estimates the error on new data.")

    def test_the_estimator_of_certify_counts(self, data):
        model = LinearSVC(C=1e-4, random_state=0)
        rfe = RFE(SVC(kernel="linear"), n_features_to_select=20, step=0.5).fit(*data)
        found = certify(*data, rfe, estimator=model, realised=False, cv=3, n_repeats=1).new_data
        assert found == new_data_errors(*data, rfe, model=model, cv=3, n_repeats=1)

    def test_a_search_is_repeated_as_a_search(self, data):
        search = SelectorCV(BSSSelector(order="coef"), sizes=[2, 60], cv=3).fit(*data)
        found = certify(*data, search, realised=False, cv=3, n_repeats=1).new_data
        assert found == new_data_errors(*data, search, cv=3, n_repeats=1)

    def test_all_rows_without_support(self, data):
        selector = BSSSelector(20, supervised=False, random_state=0).fit(data[0])
        certificate = certify(*data, selector, rows="all", realised=False, cv=2, n_repeats=1)
        assert certificate.new_data.n_selected == (20, 20)

    def test_round_trip(self, data):
        certificate = certify(
            *data, SelectKBest(k=30).fit(*data), realised=False, cv=3, n_repeats=1
        )
        assert Certificate.from_dict(certificate.to_dict()) == certificate
        assert Certificate.from_dict(json.loads(json.dumps(certificate.to_dict()))) == certificate
