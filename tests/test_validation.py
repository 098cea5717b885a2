"""Errors on new data hold: on data whose true error is known."""

import json
import math

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import stats
from scipy.stats import binomtest
from sklearn.feature_selection import SelectKBest, f_classif, f_regression
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.metrics import balanced_accuracy_score, mean_absolute_error, roc_auc_score
from sklearn.model_selection import GroupKFold, cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from certifeature import BSSSelector, SelectorCV, certify, compare
from certifeature.datasets import make_relevant_features
from certifeature.evaluation import Difference, Estimate, NewData, new_data_errors
from certifeature.evaluation.engine import Candidate, search_size
from certifeature.evaluation.engine import cross_validate as run_pipelines
from certifeature.evaluation.performance import performance, share_interval
from certifeature.evaluation.splits import Splits, splits_of
from certifeature.models import default_model


@pytest.fixture(scope="module")
def patients():
    """Three arrays of each of 34 patients, with labels drawn at random for each patient."""
    rng = np.random.default_rng(0)
    patient = rng.permutation(np.repeat(np.arange(34), 3))
    X = rng.standard_normal((34, 120))[patient] + 0.2 * rng.standard_normal((102, 120))
    return X, rng.permutation(np.repeat([0, 1], 17))[patient], patient


class TestGroups:
    def test_random_labels_of_patients_cannot_be_predicted(self, patients):
        X, y, patient = patients
        alone = certify(
            X, y, BSSSelector(20, order="coef").fit(X, y), realised=False, cv=5, n_repeats=1
        )
        assert alone.new_data.selected.error.value < 0.1
        grouped = certify(
            *(X, y, BSSSelector(20, order="coef").fit(X, y)),
            realised=False,
            cv=5,
            n_repeats=2,
            groups=patient,
        ).new_data
        assert grouped.n_groups == 34
        assert grouped.selected.error.low < 0.5 < grouped.selected.error.high
        assert not grouped.better_than_chance
        assert "2 × 5-fold cross-validation of 34 groups of rows" in str(grouped)
        # Rows of one patient are not three independent ones.
        assert grouped.selected.error.high - grouped.selected.error.low > 0.25

    def test_methods_are_compared_on_folds_of_groups(self, patients):
        X, y, patient = patients
        found = compare(X, y, [20], methods=["univariate"], groups=patient, n_repeats=1)
        assert all(c.performance.error.high > 0.5 for c in found.contenders)

    def test_names_of_groups_may_be_anything(self, patients):
        _, y, patient = patients
        names = [number if number % 2 else f"p{number}" for number in patient.tolist()]
        plain, named = (
            splits_of(y, y, 5, 0, regression=False, groups=groups) for groups in (patient, names)
        )
        for one, other in zip(plain.pairs, named.pairs, strict=True):
            np.testing.assert_array_equal(one[1], other[1])

    @pytest.mark.parametrize(
        ("groups", "message"),
        [
            ([1, 2], r"groups has shape \(2,\)"),
            ([None] + [1] * 101, "row 0 has no group"),
            ([1.0, math.nan] + [2.0] * 100, "row 1 has no group"),
            ([0, 1] * 51, "there are 2 groups only, too few for cv=5"),
        ],
    )
    def test_bad_groups(self, groups, message, patients):
        X, y, _ = patients
        with pytest.raises(ValueError, match=message):
            new_data_errors(X, y, BSSSelector(5), groups=groups)

    def test_a_search_for_the_size_keeps_groups_together(self, patients):
        X, y, patient = patients
        selector = BSSSelector(order="coef")
        plain = SelectorCV(selector, sizes=[10, 119]).fit(X, y)
        assert plain.cv_results_["mean_test_score"].min() > 0.8
        grouped = SelectorCV(selector, sizes=[10, 119]).fit(X, y, groups=patient)
        assert grouped.cv_results_["mean_test_score"].max() < 0.7
        given = SelectorCV(selector, sizes=[10, 119], cv=GroupKFold(4))
        assert "split3_test_score" in given.fit(X, y, groups=patient).cv_results_

    @pytest.mark.parametrize("in_pipeline", [False, True])
    def test_groups_reach_the_search_through_metadata_routing(self, in_pipeline, patients):
        X, y, patient = patients
        seen = []

        class Watched(SelectorCV):
            def fit(self, X, y, *, groups=None):
                seen.append(groups)
                return super().fit(X, y, groups=groups)

        search = Watched(BSSSelector(order="coef"), sizes=[10, 40], cv=3)
        steps = [StandardScaler()] if in_pipeline else []
        pipeline = make_pipeline(*steps, search, LinearSVC())
        with sklearn.config_context(enable_metadata_routing=True):
            found = cross_validate(
                pipeline, X, y, cv=GroupKFold(3), params={"groups": patient}, error_score="raise"
            )
        assert len(seen) == 3
        assert all(len(np.unique(groups)) in (22, 23) for groups in seen)
        assert found["test_score"].mean() < 0.75


class TestSizeSearch:
    def test_scalers_are_fitted_in_each_fold(self):
        rng = np.random.default_rng(0)
        X, y = rng.standard_normal((60, 200)), np.arange(60) % 2
        seen = []

        class Counted(StandardScaler):
            def fit(self, X, y=None, sample_weight=None):
                seen.append(len(X))
                return super().fit(X, y, sample_weight)

        steps = [("scale", Counted()), ("select", BSSSelector()), ("model", default_model())]
        candidate = Candidate("search", Pipeline(steps), (5, 20), tuned=True, search=True)
        found = search_size(X, y, candidate)
        # One for each of five folds, which all sizes share; never all rows.
        assert seen == [48] * 5
        assert found.errors.shape == (2, 5)
        best = found.means.argmin()
        within = found.means <= found.means[best] + found.errors[best].std(ddof=1) / math.sqrt(5)
        assert found.size == [5, 20][int(np.flatnonzero(within)[0])]

    def test_the_error_of_the_best_of_many_sizes_is_that_of_new_rows(self):
        """Labels without meaning: the search finds a size that looks good, and folds around it
        see that it is not.
        """
        rng = np.random.default_rng(3)
        X, y = rng.standard_normal((60, 300)), np.arange(60) % 2
        candidate = Candidate.of(
            "search", SelectKBest(f_classif), default_model(), sizes=(2, 5, 50, 300), search=True
        )
        splits = splits_of(y, y, 5, 0, regression=False, n_repeats=2)
        result = run_pipelines(X, y, [candidate], splits)
        error = result.performance("search").error
        assert error.low < 0.5 < error.high
        assert {len(chosen) for chosen in result.chosen("search")} <= {2, 5, 50, 300}
        assert len({len(chosen) for chosen in result.chosen("search")}) > 1


@pytest.fixture(scope="module")
def gaps():
    X, y = make_relevant_features(80, 200, 15, random_state=0)
    X[np.random.default_rng(0).random(X.shape) < 0.002] = np.nan
    return X, y


class TestMissingValues:
    def test_a_pipeline_imputes_in_folds(self, gaps):
        X, y = gaps
        seen = []

        class Watched(SimpleImputer):
            def fit(self, X, y=None):
                seen.append(len(X))
                return super().fit(X, y)

        pipeline = make_pipeline(
            Watched(strategy="median"), StandardScaler(), BSSSelector(20, order="coef")
        )
        fitted = pipeline.fit(X, y)
        certificate = certify(X, y, fitted, cv=4, n_repeats=1)
        assert certificate.n_selected == 20
        assert certificate.measured_growth == certify(fitted[-1]).measured_growth
        assert certificate.new_data.better_than_chance
        assert seen[0] == 80
        assert max(seen[1:]) == 60

    def test_methods_are_compared_behind_an_imputer(self, gaps):
        X, y = gaps
        imputer = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
        frame = pd.DataFrame(X)
        options = {"methods": ["bss", "rfe"], "cv": 3, "n_repeats": 1}
        found = compare(frame, y, [20], preprocessing=imputer, **options)
        assert all(c.performance.error.value < 0.4 for c in found.contenders)
        with pytest.raises(ValueError, match="NaN"):
            compare(X, y, [20], **options)


class TestRareClasses:
    def test_folds_are_as_many_as_asked_and_rare_classes_are_named(self):
        rng = np.random.default_rng(0)
        counts = [14, 12, 10, 9, 8, 7, 6, 4, 2]
        y = np.repeat(list("abcdefghi"), counts)
        X = rng.standard_normal((len(y), 60))
        X[:, :9] += 2 * (y[:, None] == np.array(list("abcdefghi")))
        found = new_data_errors(X, y, SelectKBest(f_classif, k=20), cv=5, n_repeats=1)
        assert found.n_folds == 5
        assert "fewer rows than the 5 folds" in found.note
        assert "'h' (4 rows), 'i' (2 rows)" in found.note
        assert found.note in str(found)
        low, high = found.against_full.interval
        assert -1 <= low <= high <= 1
        for estimate in (*found.selected.recalls.values(), found.selected.balanced_error):
            assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1

    def test_what_cannot_be_split_is_refused_with_a_remedy(self):
        y = np.repeat([0, 1], [79, 1])
        with pytest.raises(ValueError, match="all of class 0; give fewer folds, or bring more"):
            splits_of(y, y, 5, 0, regression=False)


class TestPerformance:
    def test_few_rows_are_tested_often(self):
        for n_rows, n_repeats in ((50, 10), (200, 10), (500, 4), (1500, 1), (5000, 1)):
            y = np.arange(n_rows) % 2
            assert splits_of(y, y, 5, 0, regression=False, n_repeats=None).n_repeats == n_repeats
        y = np.arange(600) % 2
        groups = np.arange(600) // 6
        grouped = splits_of(y, y, 5, 0, regression=False, n_repeats=None, groups=groups)
        assert grouped.n_repeats == 10

    @pytest.mark.parametrize(("n_wrong", "n"), [(0, 20), (3, 40), (20, 20), (51, 102)])
    def test_shares_have_the_interval_of_wilson(self, n_wrong, n):
        wilson = stats.binomtest(n_wrong, n).proportion_ci(method="wilson")
        found = share_interval(n_wrong / n, n)
        assert (found.low, found.high) == pytest.approx((wilson.low, wilson.high), abs=1e-12)

    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_numbers_are_those_of_scikit_learn(self, n_classes, rng):
        y = rng.integers(n_classes, size=90)
        scores = rng.standard_normal((90, n_classes)) + (y[:, None] == np.arange(n_classes))
        if n_classes == 2:
            scores[:, 0] = -scores[:, 1]
        splits = Splits([(np.arange(0), np.arange(90))])
        found = performance(y, splits, [scores.argmax(axis=1)], [scores])
        expected = balanced_accuracy_score(y, scores.argmax(axis=1))
        assert found.balanced_error.value == pytest.approx(1 - expected)
        areas = [roc_auc_score(y == place, scores[:, place]) for place in range(n_classes)]
        assert found.auc.value == pytest.approx(np.mean(areas))
        assert found.n_wrong == (scores.argmax(axis=1) != y).sum()

    def test_only_scores_of_one_model_are_compared(self, rng):
        """Models of different folds need not have one scale."""
        y = np.arange(80) % 2
        scores = rng.standard_normal(80) + y
        tests = np.split(np.arange(80), 4)
        splits = Splits([(np.setdiff1d(np.arange(80), test), test) for test in tests])
        shift = np.array([0.0, 10.0, -100.0, 1.0])
        parts = [
            np.column_stack([-scores[test] - move, scores[test] + move])
            for test, move in zip(tests, shift, strict=True)
        ]
        found = performance(y, splits, [y[test] for test in tests], parts)
        areas = [roc_auc_score(y[test], scores[test]) for test in tests]
        assert found.auc.value == pytest.approx(np.mean(areas))

    def test_the_variance_of_an_area_is_that_of_delong(self, rng):
        y = np.arange(60) % 2
        scores = rng.standard_normal(60) + y
        splits = Splits([(np.arange(0), np.arange(60))])
        pairs = np.column_stack([-scores, scores])
        found = performance(y, splits, [y], [pairs]).auc
        wins = (scores[y == 1][:, None] > scores[y == 0]).astype(float)
        variance = wins.mean(axis=1).var() / 30 + wins.mean(axis=0).var() / 30
        area = wins.mean()
        # The interval is on the logit scale.
        half = 1.959964 * math.sqrt(variance) / (area * (1 - area))
        ends = [1 / (1 + math.exp(-(math.log(area / (1 - area)) + side))) for side in (-half, half)]
        assert (found.low, found.high) == pytest.approx(ends, rel=1e-6)

    def test_rows_of_folds_are_worth_two_thirds(self, rng):
        y = np.arange(90) % 2
        predicted = np.where(rng.random(90) < 0.2, 1 - y, y)
        folds = [(np.arange(0), np.arange(45)), (np.arange(0), np.arange(45, 90))]
        found = performance(y, Splits(folds), [predicted[:45], predicted[45:]]).error
        share = np.mean(predicted != y)
        assert found == share_interval(share, 60)
        whole = Splits([(np.arange(0), np.arange(90))])
        assert performance(y, whole, [predicted]).error == share_interval(share, 90)

    def test_repeats_do_not_narrow_an_interval_as_new_rows_would(self, rng):
        y = np.arange(100) % 2
        scores = rng.standard_normal(100) + y
        pairs = np.column_stack([-scores, scores])
        lengths = []
        for n_repeats in (1, 10):
            splits = Splits([(np.arange(0), np.arange(100))] * n_repeats, n_repeats)
            predicted = [(scores > 0.5).astype(int)] * n_repeats
            found = performance(y, splits, predicted, [pairs] * n_repeats)
            lengths.append([e.high - e.low for e in (found.error, found.balanced_error, found.auc)])
        assert lengths[0] == pytest.approx(lengths[1])

    def test_alike_rows_of_groups_count_once(self, rng):
        y = np.repeat(np.arange(40) % 2, 5)
        predicted = np.repeat(rng.integers(2, size=40), 5)
        groups = np.arange(200) // 5
        everything = [(np.arange(0), np.arange(200))]
        grouped = performance(y, Splits(everything, groups=groups), [predicted]).error
        one_each = performance(
            y[::5], Splits([(np.arange(0), np.arange(40))]), [predicted[::5]]
        ).error
        assert (grouped.low, grouped.high) == pytest.approx((one_each.low, one_each.high), rel=0.02)

    def test_targets(self, rng):
        X = rng.standard_normal((120, 30))
        y = 1e200 * (X[:, 0] + 0.5 * rng.standard_normal(120))
        found = new_data_errors(
            X, y / 1e200, SelectKBest(f_regression, k=5), model=Ridge(), n_repeats=1
        )
        assert 0.15 < found.selected.error.value < 0.3
        assert found.selected.error.ends == (found.selected.error.value,) * 2
        assert found.better_than_chance
        splits = Splits([(np.arange(0), np.arange(120))])
        guess = 1e200 * X[:, 0]
        exact = performance(y, splits, [guess], regression=True)
        left = np.mean(((guess - y) / 1e200) ** 2) / (y / 1e200).var()
        assert exact.error.value == pytest.approx(left)
        assert exact.mae == pytest.approx(mean_absolute_error(y / 1e200, guess / 1e200) * 1e200)

    def test_a_planted_signal_has_its_error_in_the_interval(self):
        """One feature tells the classes apart, with the error of a known normal distribution."""
        covered = 0
        for seed in range(20):
            rng = np.random.default_rng(seed)
            y = np.arange(120) % 2
            X = rng.standard_normal((120, 40))
            X[:, 0] += 2 * y
            candidate = Candidate.of("one", SelectKBest(f_classif, k=1), RidgeClassifier())
            splits = splits_of(y, y, 5, seed, regression=False)
            error = run_pipelines(X, y, [candidate], splits).performance("one").error
            covered += error.low <= stats.norm.cdf(-1) <= error.high
        assert covered >= 17


class TestVerdict:
    def test_noise_is_not_to_be_relied_on(self):
        rng = np.random.default_rng(1)
        X, y = rng.standard_normal((60, 100)), np.arange(60) % 2
        found = new_data_errors(X, y, SelectKBest(f_classif, k=10), n_repeats=2)
        assert not found.better_than_chance
        assert "Not shown to be better than chance, so do not rely on this choice" in str(found)
        plain = json.loads(json.dumps(found.to_dict()))
        assert plain["verdict"]["better_than_chance"] is False
        assert plain["verdict"]["sentences"] == found.sentences()
        assert NewData.from_dict(plain) == found

    def test_predictions_worse_than_the_mean_are_no_tie_with_chance(self):
        rng = np.random.default_rng(1)
        X, y = rng.standard_normal((30, 100)), rng.standard_normal(30)
        found = new_data_errors(X, y, SelectKBest(k=25), model=Ridge(alpha=1e-3), n_repeats=2)
        assert found.selected.error.value > 1
        assert not found.better_than_chance

    @pytest.mark.parametrize(
        ("mean", "interval", "verdict"),
        [
            (0.02, (0.01, 0.03), "higher"),
            (-0.02, (-0.03, -0.01), "lower"),
            (0.0, (-0.05, 0.019), "at par"),
            (0.02, (-0.01, 0.05), "not shown"),
            (0.0, None, "at par"),
            (0.02, None, "not shown"),
            (math.nan, (-1.0, 1.0), "not shown"),
        ],
    )
    def test_what_is_shown_of_a_difference(self, mean, interval, verdict):
        assert Difference(mean, interval).verdict == verdict

    def test_the_difference_that_can_be_seen_is_seen_four_times_of_five(self):
        rng = np.random.default_rng(0)
        typical = np.repeat([-1, 1], 10) * 0.05 * math.sqrt(19 / 20)
        visible = Difference.of(typical, np.zeros(20), 0.0).visible
        seen = sum(
            Difference.of(rng.normal(visible, 0.05, 20), np.zeros(20), 0.0).verdict == "higher"
            for _ in range(400)
        )
        assert 0.74 < seen / 400 < 0.88

    def test_the_words_are_those_of_the_numbers(self):
        assert Estimate(0.049, 0.02, 0.11).shown("error") == "4.9 % (2.0 to 11.0 %)"
        assert Estimate(5.44).shown("1 - R2") == "-4.44"


def test_features_of_random_labels_are_not_reproducible():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 500)), np.arange(60) % 2
    X[:, :5] += 3 * y[:, None]
    found = new_data_errors(X, y, SelectKBest(f_classif, k=20), n_repeats=2)
    n_choices = len(found.n_selected)
    assert n_choices == 10
    assert sum(found.times_chosen.values()) == 10 * 20
    often = {feature for feature, times in found.times_chosen.items() if 2 * times >= n_choices}
    assert set(range(5)) <= often
    assert len(often) < 20
    assert 0 < found.stability < 1


class TestHeldOutRows:
    """Of one split, every test row is independent."""

    def test_intervals_are_those_of_independent_rows(self):
        y = np.repeat([0, 1], 100)
        selected, everything = y.copy(), y.copy()
        selected[:10], everything[5:8] = 1, 1
        found = NewData.held_out(
            y, (selected, None), (everything, None), n_features=9, n_selected=3
        )
        expected = binomtest(10, 200).proportion_ci(method="wilson")
        assert (found.selected.error.low, found.selected.error.high) == pytest.approx(expected)
        assert found.against_full.mean == pytest.approx(7 / 200)
        assert found.design == "200 held-out rows"
        assert NewData.from_dict(json.loads(json.dumps(found.to_dict()))) == found

    def test_a_difference_of_pairs_is_covered(self, rng):
        chances, n_rows, n_times = (0.06, 0.03), 300, 4000
        covered = 0
        for ups, downs, _ in rng.multinomial(n_rows, [*chances, 1 - sum(chances)], n_times):
            first, second = np.zeros(n_rows), np.zeros(n_rows)
            first[:ups], second[ups : ups + downs] = 1, 1
            low, high = Difference.of_rows(first, second).interval
            covered += low <= chances[0] - chances[1] <= high
        assert 0.94 <= covered / n_times <= 0.965

    def test_rows_of_groups_are_no_independent_pairs(self, rng):
        groups = np.repeat(np.arange(40), 5)
        first = np.repeat(rng.random(40) < 0.3, 5).astype(float)
        alone = Difference.of_rows(first, np.zeros(200)).interval
        grouped = Difference.of_rows(first, np.zeros(200), groups).interval
        assert np.ptp(grouped) > 1.8 * np.ptp(alone)
