"""Several numbers of features from one fit: nothing differs from fits of their own but the time."""

from importlib import import_module

import numpy as np
import pytest
from pairs import each_once
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.feature_selection import RFE, f_classif
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.svm import SVC, LinearSVC

from certifeature import BSSSelector, LeverageScoreSelector, RandomSelector, RRQRSelector, certify
from certifeature.certificate import realised as realise
from certifeature.certificate.certify import certificates_of
from certifeature.selectors import bss
from certifeature.selectors import fit as pipeline
from certifeature.selectors.base import fitted_to_sizes
from certifeature.selectors.fit import Fit

SIZES = [12, 40, 90]
CERTIFIER = import_module("certifeature.certificate.certify")


@pytest.fixture(scope="module")
def data():
    """Nearly all rows matter to a model."""
    return make_classification(80, 300, n_informative=8, flip_y=0.1, random_state=0)


@pytest.fixture
def leading(small_limits):
    """Let leading directions be found, a number of them that depends on the size."""
    small_limits(MAX_QUICK_GRAM=10, FEWEST_LEADING=4, MAX_LEADING=16)


@pytest.fixture
def counted(monkeypatch):
    """Return a function that counts calls of a function of a module, by its name."""

    def count(module, name):
        real, calls = getattr(module, name), []

        def counting(*args, **kwargs):
            calls.append(name)
            return real(*args, **kwargs)

        monkeypatch.setattr(module, name, counting)
        return calls

    return count


def together(selector, X, y, sizes=SIZES, *, realised=True):
    return list(certificates_of(fitted_to_sizes(selector, X, y, sizes), X, y, realised=realised))


def apart(selector, X, y, sizes=SIZES, *, realised=True):
    """Return certificates of fits that know nothing of each other."""
    certificates = []
    for size in sizes:
        fitted = clone(selector).set_params(n_features_to_select=size).fit(X, y)
        known = getattr(fitted, "fit_result_", None)
        if known is not None and known.support is not None and known.certificate.exact:
            certificates.append(certify(fitted, realised=realised, optimality=False))
        else:
            rows = "support" if getattr(fitted, "supervised", True) else "all"
            options = {"rows": rows, "realised": realised, "optimality": False}
            certificates.append(certify(X, y, fitted, **options))
    return certificates


def check_equal(selector, X, y, sizes=(12, 90), **options):
    expected = apart(selector, X, y, sizes, **options)
    found = together(selector, X, y, sizes, **options)
    assert found == expected
    assert [str(c) for c in found] == [str(c) for c in expected]


MODELS = [
    LinearSVC(dual=True, random_state=0),
    SVC(kernel="linear"),
    LogisticRegression(),
    RidgeClassifier(),
]


def name_of(value):
    return value if isinstance(value, str) else type(value).__name__


BY_LABELS = ["auto", "coef", "stable", ("stable", "cover"), ("coef", "leverage"), f_classif]


class TestCertificatesAreThoseOfSeparateFits:
    @pytest.mark.parametrize(
        ("model", "order"),
        [
            *((model, "auto") for model in MODELS),
            *each_once(MODELS, [*BY_LABELS, "leverage", "cover"])[1:],
        ],
        ids=name_of,
    )
    def test_supervised(self, data, model, order):
        check_equal(BSSSelector(order=order, estimator=model), *data)

    @pytest.mark.parametrize(
        ("model", "order"),
        each_once(MODELS, ["auto", ("coef", "leverage"), "cover", ("stable", "cover")]),
        ids=name_of,
    )
    @pytest.mark.usefixtures("leading")
    def test_with_leading_directions(self, data, model, order):
        X, y = data
        check_equal(BSSSelector(order=order, estimator=model), sparse.csr_array(X), y)

    @pytest.mark.parametrize(
        ("model", "order"),
        each_once([None, *MODELS], ["auto", "cover", np.arange(300.0)]),
        ids=name_of,
    )
    def test_unsupervised(self, data, model, order):
        X, y = data
        selector = BSSSelector(order=order, supervised=False, estimator=model)
        check_equal(selector, X, y)
        if model is None:
            check_equal(selector, X, None)

    @pytest.mark.parametrize(
        "options",
        [
            {"guarantee": "full"},
            {"rescale": "each", "trust": 0},
            {"rescale": False},
            {"fixed_features": [5, 7]},
            {"basis": "sketch", "n_components": 8},
            {"basis": "truncated", "n_components": 8},
            {"estimator": SVC(kernel="linear"), "order": "coef"},
            {"random_state": np.random.RandomState(3)},
        ],
        ids=" ".join,
    )
    def test_other_options(self, data, options):
        check_equal(BSSSelector(**options), *data)

    @pytest.mark.parametrize("supervised", [True, False])
    @pytest.mark.parametrize(
        "selector",
        [
            LeverageScoreSelector(random_state=1),
            LeverageScoreSelector(random_state=1, rescale="common"),
            RRQRSelector(random_state=1),
            RandomSelector(random_state=1),
        ],
        ids=["leverage", "leverage, common factor", "rrqr", "random"],
    )
    def test_other_selectors(self, data, selector, supervised):
        check_equal(selector.set_params(supervised=supervised), *data)

    @pytest.mark.parametrize("realised", [True, False])
    def test_selectors_of_scikit_learn(self, data, realised):
        rfe = RFE(SVC(kernel="linear"), step=0.5)
        check_equal(rfe, *data, sizes=[20, 90], realised=realised)

    def test_several_classes_and_numbers(self, data):
        X, _ = data
        check_equal(BSSSelector(), X, np.digitize(X[:, 0], [-0.7, 0.7]), sizes=[30, 90])
        check_equal(BSSSelector(estimator=Ridge()), X, X[:, 0] + X[:, 1], sizes=[30, 90])

    def test_all_features(self, data):
        with pytest.warns(UserWarning, match="all are kept"):
            check_equal(BSSSelector(), *data, sizes=[90, 300])


class TestReuse:
    def test_the_model_on_all_features_is_trained_once(self, data, monkeypatch):
        widths, fit = [], SVC.fit

        def counting(self, X, y, sample_weight=None):
            widths.append(X.shape[1])
            return fit(self, X, y, sample_weight)

        monkeypatch.setattr(SVC, "fit", counting)
        selector = BSSSelector(order="coef", estimator=SVC(kernel="linear"))
        together(selector, *data)
        assert widths.count(300) == 1
        apart(selector, *data)
        assert widths.count(300) == 1 + len(SIZES)

    def test_rows_are_examined_once(self, data, counted):
        supports = counted(pipeline, "find_support")
        bases = counted(import_module("certifeature.selectors.fit"), "span")
        rankings = counted(bss, "stable_scores")
        balls = counted(realise, "minimum_enclosing_ball")
        margins = counted(realise, "hard_margin")
        together(BSSSelector(), *data)
        assert len(supports) == len(bases) == len(rankings) == 1
        # Of all features, and of each selection.
        assert len(balls) == len(margins) == 1 + len(SIZES)

    @pytest.mark.usefixtures("leading")
    def test_leading_directions_are_found_for_each_number_of_them(self, data, counted):
        bases = counted(import_module("certifeature.basis.span"), "leading_basis")
        rankings = counted(bss, "stable_scores")
        # With 6, 20, 45 and 50 picks of BSS: 4, 10 and 16 directions, and 16 again.
        together(BSSSelector(), *data, sizes=[*SIZES, 100])
        assert len(bases) == 3
        assert len(rankings) == 1

    @pytest.mark.usefixtures("leading")
    def test_an_exact_basis_to_measure_by_is_found_once(self, data, counted):
        bases = counted(import_module("certifeature.certificate.measured"), "exact_basis")
        sizes = [20, 100, 120, 140]
        for selector in (BSSSelector(), RFE(SVC(kernel="linear"), step=0.5)):
            together(selector, *data, sizes=sizes, realised=False)
            assert len(bases) == 1
            bases.clear()

    @pytest.mark.parametrize(
        ("selector", "n_fits"),
        [
            (RFE(SVC(kernel="linear"), step=0.5), 1),
            (BSSSelector(basis="sketch", n_components=8), 0),
            (BSSSelector(supervised=False), 0),
        ],
        ids=["RFE", "sketch", "unsupervised"],
    )
    def test_selections_that_know_no_model_are_certified_with_one(
        self, data, counted, selector, n_fits
    ):
        supports = counted(CERTIFIER, "find_support")
        balls = counted(realise, "minimum_enclosing_ball")
        together(selector, *data)
        assert len(supports) == n_fits
        assert len(balls) == 1 + len(SIZES)

    def test_a_subclass_with_a_fit_of_its_own_is_fitted(self, data):
        class Own(BSSSelector):
            def fit(self, X, y):
                super().fit(X, y)
                self.seen_ = self.n_features_to_select
                return self

        assert [fitted.seen_ for fitted in fitted_to_sizes(Own(), *data, SIZES)] == SIZES


@pytest.mark.usefixtures("leading")
def test_choices_are_those_of_separate_fits(data):
    X, y = data
    selector = BSSSelector(SIZES[0]).fit(X, y)
    fit = Fit.of(selector._checked(X, y))
    for size in SIZES:
        sample = fit.columns(size)
        alone = BSSSelector(size).fit(X, y)
        np.testing.assert_array_equal(sample.indices, alone.indices_)
        np.testing.assert_array_equal(sample.scales, alone.scales_)


def test_copies_are_fitted_like_others(data):
    pandas = pytest.importorskip("pandas")
    X, y = pandas.DataFrame(data[0], columns=[f"gene {i}" for i in range(300)]), data[1]
    unfitted = BSSSelector(3)
    for size, fitted in zip(SIZES, fitted_to_sizes(unfitted, X, y, SIZES), strict=True):
        alone = BSSSelector(size).fit(X, y)
        assert fitted.get_params() == alone.get_params()
        np.testing.assert_array_equal(fitted.get_feature_names_out(), alone.get_feature_names_out())
        np.testing.assert_array_equal(fitted.transform(X), alone.transform(X))
        np.testing.assert_array_equal(fitted.reasons_, alone.reasons_)
        np.testing.assert_array_equal(fitted.scores_, alone.scores_)
        assert fitted.basis_ == alone.basis_
    assert not hasattr(unfitted, "indices_")
