"""From a selection by anything to columns and scales."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import (
    RFE,
    SelectFromModel,
    SelectKBest,
    SequentialFeatureSelector,
    VarianceThreshold,
    f_classif,
)
from sklearn.linear_model import Lasso
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC

from certifeature import BSSSelector, LPSVMSelector
from certifeature.comparison import METHODS
from certifeature.datasets import make_relevant_features
from certifeature.sparsify.choice import as_column_choice


@pytest.fixture(scope="module")
def data():
    return make_relevant_features(60, 80, 8, random_state=0)


@pytest.fixture
def graded(rng):
    """Columns 1, 5 and 3 decide the class, in this order."""
    X = rng.standard_normal((2000, 8))
    return X, np.where(X @ [0, 5, 0, 1, 0, 2.5, 0, 0] > 0, 1, -1)


@pytest.mark.parametrize("name", ["rfe", "univariate", "l1"])
def test_selectors_of_scikit_learn_come_best_first(graded, name):
    selector = METHODS[name].make(3, SVC(kernel="linear"), 0).fit(*graded)
    chosen = as_column_choice(selector, 8)
    assert chosen.indices.tolist() == [1, 5, 3]
    assert chosen.scales.tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    "selector",
    [
        RFE(RandomForestClassifier(5, random_state=0), n_features_to_select=3),
        SelectFromModel(Lasso(0.01), max_features=3),
        SequentialFeatureSelector(SVC(kernel="linear"), n_features_to_select=2, cv=2),
        VarianceThreshold(0.5),
    ],
)
def test_a_selector_that_tells_no_scores_keeps_the_order_of_the_columns(graded, selector):
    X, y = graded[0][:200], graded[1][:200]
    selector.fit(X, y)
    assert (
        as_column_choice(selector, 8).indices.tolist()
        == selector.get_support(indices=True).tolist()
    )


def test_scales_that_are_given_are_in_the_order_of_the_columns(graded):
    selector = SelectKBest(f_classif, k=3).fit(*graded)
    sample = as_column_choice(selector, 8, weights=[1.0, 2.0, 3.0])
    assert dict(zip(sample.indices.tolist(), sample.scales, strict=True)) == {1: 1, 3: 2, 5: 3}


def test_ours_bring_their_order_and_scales(data):
    selector = BSSSelector(20).fit(*data)
    chosen = as_column_choice(selector, 80)
    np.testing.assert_array_equal(chosen.indices, selector.indices_)
    np.testing.assert_array_equal(chosen.scales, selector.scales_)
    np.testing.assert_array_equal(chosen.reasons, selector.reasons_)
    again = as_column_choice(selector, 80, weights=np.ones(20))
    np.testing.assert_array_equal(again.reasons, selector.reasons_)
    selector = LPSVMSelector().fit(*data)
    np.testing.assert_array_equal(as_column_choice(selector, 80).indices, selector.indices_)


def test_nothing_is_no_selection(data):
    with pytest.warns(UserWarning, match="no feature has weight"):
        selector = LPSVMSelector(C=1e-9).fit(*data)
    with pytest.raises(ValueError, match="selection is empty; select at least one"):
        as_column_choice(selector, 80)


def test_a_pipeline_is_no_selection():
    pipeline = make_pipeline(SelectKBest(k=2), LinearSVC())
    with pytest.raises(ValueError, match="a pipeline is no selection; give the selector in it"):
        as_column_choice(pipeline, 3)
