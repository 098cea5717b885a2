"""What ONNX Runtime computes is what the selector computes."""

import importlib
import sys

import numpy as np
import onnxruntime
import pytest
import skl2onnx
from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import certifeature
import certifeature.onnx
from certifeature import (
    BestSubsetSelector,
    BSSSelector,
    LeverageScoreSelector,
    LPSVMSelector,
    RandomSelector,
    RRQRSelector,
    SelectorCV,
)
from certifeature.datasets import make_relevant_features

pytestmark = pytest.mark.ci

SIZED = [BSSSelector, LeverageScoreSelector, RandomSelector, RRQRSelector]
SELECTORS = [
    *(
        pytest.param(selector(30, rescale=rescale), id=f"{selector.__name__}-{rescale}")
        for selector in SIZED
        for rescale in ("each", "common", False)
    ),
    *(
        pytest.param(
            SelectorCV(BSSSelector(rescale=rescale), sizes=[20, 30], cv=2),
            id=f"SelectorCV-{rescale}",
        )
        for rescale in ("common", False)
    ),
    pytest.param(LPSVMSelector(), id="LPSVMSelector"),
    *(
        pytest.param(BestSubsetSelector(30, rescale=rescale), id=f"BestSubsetSelector-{rescale}")
        for rescale in ("common", False)
    ),
]
TYPES = [np.float32, np.float64, np.int64, np.int32, np.bool_]


@pytest.fixture(scope="module")
def data():
    X, y = make_relevant_features(60, 200, 20, random_state=0)
    return 10 * X, y


def computed(model, X, **options):
    """Return what ONNX Runtime makes of X with a converted model."""
    graph = skl2onnx.to_onnx(model, X[:1], **options).SerializeToString()
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    return session.run(None, {"X": X})


def test_every_public_selector_is_tried():
    public = {name for name in certifeature.__all__ if "Selector" in name}
    assert {type(parameter.values[0]).__name__ for parameter in SELECTORS} == public


@pytest.mark.parametrize("selector", SELECTORS)
def test_round_trip_gives_the_values_and_the_type_of_transform(selector, data):
    X, y = data
    selector.fit(X, y)
    for dtype in TYPES:
        given = X.astype(dtype)
        expected = selector.transform(given)
        (found,) = computed(selector, given)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


def test_old_opsets_are_served(data):
    X, y = data
    selector = BSSSelector(30).fit(X, y)
    (found,) = computed(selector, X.astype(np.int64), target_opset=12)
    np.testing.assert_array_equal(found, selector.transform(X.astype(np.int64)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rescale", ["common", "each", False])
def test_a_pipeline_gives_the_same_scores_and_classes(rescale, dtype, data):
    X, y = data
    X = X.astype(dtype)
    selector = BSSSelector(30, rescale=rescale)
    model = make_pipeline(StandardScaler(), selector, LinearSVC(random_state=0)).fit(X, y)
    classes, scores = computed(model, X, options={LinearSVC: {"raw_scores": True}})
    np.testing.assert_array_equal(classes, model.predict(X))
    np.testing.assert_allclose(scores[:, 1], model.decision_function(X), rtol=1e-3, atol=1e-4)
    model = make_pipeline(StandardScaler(), selector, LogisticRegression()).fit(X, y)
    classes, chances = computed(model, X, options={LogisticRegression: {"zipmap": False}})
    np.testing.assert_array_equal(classes, model.predict(X))
    np.testing.assert_allclose(chances, model.predict_proba(X), atol=1e-5)


def test_columns_that_come_apart_are_put_together_before(data):
    X, y = data
    selector = BSSSelector(30).fit(X, y)
    apart = [("left", FloatTensorType([None, 100])), ("right", FloatTensorType([None, 100]))]
    with pytest.raises(RuntimeError, match="given 2 inputs and needs one that holds all columns"):
        skl2onnx.convert_sklearn(selector, initial_types=apart)
    scaled = make_column_transformer((StandardScaler(), slice(0, 100)), remainder="passthrough")
    model = make_pipeline(scaled, selector).fit(X, y)
    (found,) = computed(model, X.astype(np.float32))
    np.testing.assert_allclose(found, model.transform(X), rtol=1e-4, atol=1e-4)


def test_another_number_of_columns_is_refused(data):
    X, y = data
    selector = BSSSelector(30).fit(X, y)
    with pytest.raises(RuntimeError, match="201 columns, but BSSSelector was fitted to 200"):
        skl2onnx.convert_sklearn(selector, initial_types=[("X", DoubleTensorType([None, 201]))])


def test_nothing_chosen_is_refused(data):
    X, y = data
    with pytest.warns(UserWarning, match="none is chosen"):
        selector = LPSVMSelector(C=1e-9).fit(X, y)
    with pytest.raises(RuntimeError, match="LPSVMSelector chose no features"):
        skl2onnx.to_onnx(selector, X[:1])


def test_without_skl2onnx_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "skl2onnx", None)
    monkeypatch.delitem(sys.modules, "certifeature.onnx")
    with pytest.raises(ImportError, match=r"needs skl2onnx: pip install 'certifeature\[onnx\]'"):
        importlib.import_module("certifeature.onnx")
