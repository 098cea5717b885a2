"""The number of features by cross-validation."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from certifeature import BestSubsetSelector, BSSSelector, SelectorCV, certify
from certifeature.rows import ArrayBlocks

pytestmark = pytest.mark.filterwarnings("ignore:n_features_to_select means")


@pytest.fixture(scope="module")
def data():
    return make_classification(90, 240, n_informative=8, n_redundant=0, random_state=3)


# An order that trains no SVMs of its own, since the checks fit hundreds of times.
QUICK = SelectorCV(BSSSelector(order="coef"), min_features_to_select=1, cv=2)


@parametrize_with_checks([QUICK])
@pytest.mark.slow
def test_sklearn_checks(estimator, check):
    check(estimator)


def test_scores_are_those_of_a_plain_loop(data):
    X, y = data
    selector, svm = BSSSelector(order="coef"), SVC(kernel="linear", C=0.1)
    selector.set_params(estimator=svm)
    folds = StratifiedKFold(3)
    search = SelectorCV(selector, sizes=[60, 5, 240], cv=folds).fit(X, y)
    results = search.cv_results_
    assert results["n_features"].tolist() == [5, 60, 240]
    for number, (train, test) in enumerate(folds.split(X, y)):
        for place, size in enumerate([5, 60, 240]):
            model = make_pipeline(
                clone(selector).set_params(n_features_to_select=size), clone(svm)
            ).fit(X[train], y[train])
            expected = model.score(X[test], y[test])
            assert results[f"split{number}_test_score"][place] == pytest.approx(expected)
    splits = np.array([results[f"split{number}_test_score"] for number in range(3)])
    np.testing.assert_allclose(results["mean_test_score"], splits.mean(axis=0))
    np.testing.assert_allclose(results["std_test_score"], splits.std(axis=0))


def test_the_smallest_size_within_one_standard_error_is_chosen(data):
    search = SelectorCV(cv=5).fit(*data)
    results = search.cv_results_
    best = np.argmax(results["mean_test_score"])
    error = results["std_test_score"][best] / np.sqrt(4)
    good = results["mean_test_score"] >= results["mean_test_score"][best] - error
    assert search.n_features_ == results["n_features"][good].min()


def test_the_best_mean_score_is_taken_if_asked_for():
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((80, 60)), np.arange(80) % 2
    X[:, :40] += 0.4 * y[:, np.newaxis]
    few, best = (
        SelectorCV(sizes=[5, 20, 40, 60], one_standard_error=given).fit(X, y)
        for given in (True, False)
    )
    scores = best.cv_results_["mean_test_score"]
    assert best.n_features_ == best.cv_results_["n_features"][np.argmax(scores)]
    assert few.n_features_ < best.n_features_


@pytest.mark.parametrize("kind", [BSSSelector, BestSubsetSelector])
def test_the_choice_is_that_of_the_selector(kind, data):
    X, y = data
    search = SelectorCV(kind(), cv=3).fit(X, y)
    alone = kind(search.n_features_).fit(X, y)
    np.testing.assert_array_equal(search.indices_, alone.indices_)
    np.testing.assert_array_equal(search.transform(X), alone.transform(X))
    np.testing.assert_array_equal(search.get_support(), alone.get_support())
    np.testing.assert_allclose(
        search.inverse_transform(search.transform(X)), alone.inverse_transform(alone.transform(X))
    )
    assert search.certificate_ == alone.certificate_
    assert certify(search, realised=False, optimality=False) == alone.certificate_
    assert certify(X, y, search, realised=False).lambda_min == alone.certificate_.lambda_min
    assert search.estimator_.score(search.transform(X), y) > 0.8


def test_labels_without_meaning_have_scores_of_chance():
    """Features are chosen without the rows that they are scored on."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((120, 400)), np.arange(120) % 2
    scores = SelectorCV(cv=5).fit(X, y).cv_results_["mean_test_score"]
    assert scores.min() > 0.3
    assert scores.max() < 0.7


def test_frames_sparse_rows_and_several_classes(data):
    X, _ = data
    y = np.digitize(X[:, 0], [-0.7, 0.7])
    frame = pd.DataFrame(X, columns=[f"gene {i}" for i in range(240)])
    for kind in (BSSSelector, BestSubsetSelector):
        fixed = kind(fixed_features=[f"gene {i}" for i in range(12)])
        search = SelectorCV(fixed, cv=2).fit(frame, y)
        assert search.cv_results_["n_features"].min() == 12
        assert {f"gene {i}" for i in range(12)} <= set(search.get_feature_names_out())
    found = SelectorCV(cv=2, scoring="f1_macro").fit(sparse.csr_array(X), y)
    np.testing.assert_array_equal(
        found.indices_, SelectorCV(cv=2, scoring="f1_macro").fit(X, y).indices_
    )


def test_nothing_is_left_of_an_earlier_fit(data):
    search = SelectorCV(sizes=[3], cv=2).fit(*data)
    assert len(search.reasons_) == 3
    search.set_params(sizes=[240]).fit(*data)
    assert len(search.reasons_) == len(search.indices_) == 240


def test_the_size_of_the_selector_is_ignored(data):
    scores = [
        SelectorCV(BSSSelector(size, trust=0, order="coef"), sizes=[60], cv=3)
        .fit(*data)
        .cv_results_["mean_test_score"]
        for size in (100, "certified")
    ]
    np.testing.assert_array_equal(*scores)


@pytest.mark.slow
@pytest.mark.ci
def test_any_number_of_workers_gives_the_same(data):
    one, two = (SelectorCV(cv=3, n_jobs=n).fit(*data) for n in (1, 2))
    np.testing.assert_array_equal(one.indices_, two.indices_)
    np.testing.assert_array_equal(
        one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"]
    )


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"selector": LinearSVC()}, "'selector'"),
        ({"min_features_to_select": 0}, "'min_features_to_select'"),
        ({"one_standard_error": "no"}, "'one_standard_error'"),
        ({"sizes": [0, 3]}, "sizes must be positive whole numbers"),
        ({"sizes": [0.5]}, "sizes must be positive whole numbers"),
        ({"sizes": []}, "sizes must be positive whole numbers"),
        ({"selector": BSSSelector(fixed_features=[1, 2]), "sizes": [1, 9]}, "2 features are fixed"),
    ],
)
def test_bad_parameters(parameters, message, data):
    with pytest.raises(ValueError, match=message):
        SelectorCV(**parameters).fit(*data)


def test_rows_in_blocks_are_refused(data):
    X, y = data
    with pytest.raises(ValueError, match="needs rows in memory"):
        SelectorCV().fit(ArrayBlocks(X, y), None)
    with pytest.raises(ValueError, match="requires y to be passed"):
        SelectorCV().fit(X, None)
