"""Warnings point at the line of the user's code that led to them, and at no other."""

import inspect
import warnings
from importlib import import_module

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from certifeature import BSSSelector, LPSVMSelector, RandomSelector, certify, compare
from certifeature._utils import warn
from certifeature.datasets import make_relevant_features
from certifeature.models.support import cascade, fit_model
from certifeature.rows import ArrayBlocks
from certifeature.sparsify import lpsvm


@pytest.fixture(scope="module")
def data():
    return make_relevant_features(40, 12, 4, random_state=0)


def too_many(supervised=False):
    return BSSSelector(100, supervised=supervised, random_state=0)


def grid_search(X, y):
    pipeline = make_pipeline(too_many(True), SVC(kernel="linear"))
    GridSearchCV(pipeline, {"svc__C": [1.0]}, cv=2).fit(X, y)


PATHS = {
    "fit": lambda X, y: too_many(True).fit(X, y),
    "fit unsupervised": lambda X, y: too_many().fit(X),
    "fit_transform": lambda X, y: too_many().fit_transform(X),
    "blocks": lambda X, y: too_many().fit(ArrayBlocks(X, n_rows=15)),
    "labelled blocks": lambda X, y: too_many(True).fit(ArrayBlocks(X, y, n_rows=15)),
    "pipeline": lambda X, y: make_pipeline(too_many(True), LinearSVC()).fit(X, y),
    "grid search": grid_search,
    "no weight": lambda X, y: LPSVMSelector(1e-9).fit(X, y),
    "column of labels": lambda X, y: RandomSelector(3).fit(X, y[:, None]),
    "column of labels, LPSVM": lambda X, y: LPSVMSelector(1.0).fit(X, y[:, None]),
    "column of labels, certified": lambda X, y: certify(X, y[:, None], [0, 1]),
}


@pytest.mark.parametrize("path", PATHS)
def test_warnings_point_at_the_caller_s_line(path, data):
    call = PATHS[path]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(*data)
    assert caught
    lines, first = inspect.getsourcelines(call)
    for warning in caught:
        assert warning.filename == __file__
        assert first <= warning.lineno < first + len(lines)


SCALED = np.geomspace(1, 30, 12)
UNSCALED = {
    "selector": lambda X, y: BSSSelector(3).fit(X * SCALED, y),
    "without labels": lambda X, y: RandomSelector(3, supervised=False).fit(X * SCALED),
    "1-norm SVM": lambda X, y: LPSVMSelector().fit(X * SCALED, y),
    "certified list": lambda X, y: certify(X * SCALED, y, [0, 1]),
    "comparison": lambda X, y: compare(
        X * SCALED, y, [3], methods=["bss"], cv=2, n_repeats=1, tune=False
    ),
    "counts": lambda X, y: BSSSelector(3).fit(sparse.csr_array(X > 1), y),
}


@pytest.mark.parametrize("path", UNSCALED)
def test_columns_that_need_scaling_are_told(path, data):
    remedy = "TfidfTransformer" if path == "counts" else "StandardScaler"
    with pytest.warns(UserWarning, match=remedy) as caught:
        UNSCALED[path](*data)
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_columns_of_like_scales_and_texts_are_not(form, data):
    X, y = data
    texts = np.maximum(X - 0.5, 0) * SCALED
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for rows in (form(X * SCALED**0.6), form(np.column_stack([X, np.full(40, 1e9)]))):
            BSSSelector(3).fit(rows, y)
        BSSSelector(3).fit(sparse.csr_array(texts), y)
        compare(X * SCALED, y, [3], methods=["random"], cv=2, preprocessing=StandardScaler())


def test_a_certificate_for_other_rows_is_told(data):
    X, y = data
    fitted = make_pipeline(StandardScaler(), BSSSelector(3), LinearSVC()).fit(X * SCALED, y)
    with pytest.warns(UserWarning, match=r"not what BSSSelector was fitted to.*X, y, pipeline"):
        certify(X * SCALED, y, fitted[1])
    expected = certify(fitted[:1].transform(X * SCALED), y, fitted[1])
    assert certify(X * SCALED, y, fitted) == certify(X * SCALED, y, fitted[:-1]) == expected
    assert (
        certify(fitted[:1].transform(X * SCALED), None, fitted[1], rows="all").measured_growth > 0
    )
    sparsely = certify(sparse.csr_array(fitted[0].transform(X * SCALED)), y, fitted[1])
    assert sparsely.measured_growth == pytest.approx(expected.measured_growth)
    pair = {"cv": 3, "n_repeats": 1}
    both = (certify(X * SCALED, y, model, **pair) for model in (fitted, fitted[:-1]))
    assert next(both).new_data == next(both).new_data


def test_a_pipeline_without_a_selector_is_refused(data):
    pipeline = make_pipeline(StandardScaler(), LinearSVC()).fit(*data)
    with pytest.raises(ValueError, match=r"StandardScaler, LinearSVC\) are no selector"):
        certify(*data, pipeline)


SOLVERS = {
    "the 1-norm SVM has not converged": (
        (
            "certifeature.sparsify.lpsvm",
            "linprog",
            lambda *a, options, **b: linprog(*a, options=options | {"maxiter": 2}, **b),
        ),
        lambda X, y: lpsvm(X[::4], y[::4], 10.0),
    ),
    "did not reach its optimum": (
        ("certifeature.models.solver", "_MAX_PRODUCTS", 1),
        lambda X, y: fit_model(LinearSVC(max_iter=1, random_state=0), X, y),
    ),
    "the cascade did not settle": (
        ("certifeature.models.support", "_MAX_ROUNDS", 2),
        lambda X, y: cascade(ArrayBlocks(X, np.roll(y, 7), n_rows=10), LinearSVC(random_state=0)),
    ),
}


@pytest.mark.parametrize("message", SOLVERS)
def test_solvers_warn_at_the_caller_s_line(message, data, monkeypatch):
    (module, name, value), call = SOLVERS[message]
    monkeypatch.setattr(import_module(module), name, value)
    with pytest.warns(ConvergenceWarning, match=message) as caught:
        call(*data)
    ours = [warning for warning in caught if message in str(warning.message)]
    assert {warning.filename for warning in ours} == {__file__}


def test_a_warning_is_shown_once_a_line():
    """As those of warnings.warn are: the module keeps a register of what was shown where."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            warn("once")
        warn("once")
    assert [warning.lineno - caught[0].lineno for warning in caught] == [0, 1]
