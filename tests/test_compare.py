"""Methods beside each other: the same folds, the same rows, and what is told of them."""

import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from certifeature import BSSSelector, Comparison, certify, compare
from certifeature.basis import sketched_basis
from certifeature.certificate.selection import as_sample
from certifeature.compare import METHODS, Contender
from certifeature.compare import fold as fold_module
from certifeature.compare.fold import TrainedFold, draw_seed, stratified_split
from certifeature.datasets import make_relevant_features
from certifeature.sparsify import Sample


@pytest.fixture(scope="module")
def data():
    return make_relevant_features(60, 80, 8, random_state=0)


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
        lambda_min, _ = fold.eigenvalues(as_sample(selector, 300), "support")
        assert lambda_min == selector.certificate_.lambda_min

    def test_the_model_that_is_tested_is_trained_to_its_optimum(self):
        rng = np.random.default_rng(1)
        X = rng.standard_normal((400, 60))
        y = np.where(X[:, 0] + 2 * rng.standard_normal(400) > 0, 1, -1)
        split = (np.arange(300), np.arange(300, 400))
        coarse = TrainedFold(LinearSVC(C=10.0, tol=10.0, random_state=0), X, y, split, "none", 0)
        fine = TrainedFold(LinearSVC(C=10.0, tol=1e-8, max_iter=10**6), X, y, split, "none", 0)
        sample = Sample(np.arange(40), np.ones(40))
        assert coarse.error(sample) == fine.error(sample)

    def test_nothing_is_claimed_where_rows_span_too_much_to_measure(self, data, monkeypatch):
        def sketch(rows, *_):
            return sketched_basis(rows.X, 5, random_state=0), None

        monkeypatch.setattr(fold_module, "span", sketch)
        X, y = data
        fold = fold_of_all(SVC(kernel="linear"), X, y)
        sample = Sample(np.arange(70), np.full(70, 1.5))
        assert fold.eigenvalues(sample, "support") == (0.0, 1.5**2)
        assert fold.eigenvalues(Sample(np.arange(80), np.ones(80)), "support") == (1.0, 1.0)

    def test_certificates_are_those_of_certify(self, data):
        X, y = data
        svm = SVC(kernel="linear")
        (_, bss, rfe) = compare(
            X, y, [40], methods=["bss", "rfe"], estimator=svm, n_folds=2, n_jobs=1
        ).contenders
        for contender, name in ((bss, "bss"), (rfe, "rfe")):
            found = []
            for fold in range(2):
                train, _ = stratified_split(y, 0, fold, 2, 0)
                seed = draw_seed(0, 0, fold)
                selector = METHODS[name].make(40, clone(svm), seed).fit(X[train], y[train])
                chosen = as_sample(selector, X.shape[1])
                found.append(
                    certify(
                        X[train], y[train], chosen.indices, weights=chosen.weights, estimator=svm
                    ).lambda_min
                )
            assert contender.lambda_min == pytest.approx(np.median(found), rel=1e-9, abs=1e-12)


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
            train, test = stratified_split(y, 0, fold, 3, 0)
            selector = BSSSelector(10, estimator=SVC(kernel="linear")).fit(X[train], y[train])
            svm = SVC(kernel="linear").fit(selector.transform(X[train]), y[train])
            assert error == pytest.approx(1 - svm.score(selector.transform(X[test]), y[test]))

    @pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
    def test_scaling_is_learnt_from_the_training_rows(self, kind, data):
        y = data[1]
        X = kind(1000 + 50 * data[0])
        svm = SVC(kernel="linear")
        full = compare(X, y, [6], methods=[], estimator=svm, scaling="standard", n_jobs=1)
        for fold, error in enumerate(full.contenders[0].errors):
            train, test = stratified_split(y, 0, fold, 5, 0)
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
            ([5], {"scaling": "robust"}, "scaling='robust' is unknown; choose from none"),
            ([5], {"n_folds": 50}, "too few for 50 folds; ask for at most"),
        ],
    )
    def test_bad_input_is_named_before_any_work(self, sizes, options, message, data):
        with pytest.raises(ValueError, match=message):
            compare(*data, sizes, **options)


def test_a_choice_of_nothing_is_empty(data):
    X, y = data
    with pytest.warns(UserWarning, match="no feature has weight"):
        sample = fold_of_all(SVC(kernel="linear", C=1e-9), X, y).choose(METHODS["lpsvm"], None, 0)
    assert not sample.indices.size


class TestResult:
    COMPARISON = Comparison(
        (
            Contender("full data", None, 2000.0, (0.0, 0.5), 0.0, 1.0, 1.0),
            Contender("bss", 20, 20.0, (0.25, 0.25), 1.234, 0.0, np.inf),
        ),
        1,
        2,
        0,
    )

    def test_text(self):
        assert str(self.COMPARISON).splitlines() == [
            "1 × 2-fold cross-validation",
            "method     asked  features          error  seconds  λ    κ",
            "full data             2000  0.250 ± 0.354     0.00  1    1",
            "bss           20        20  0.250 ± 0.000     1.23  0  inf",
        ]

    def test_frame(self):
        frame = self.COMPARISON.to_frame()
        assert frame["method"].tolist() == ["full data", "bss"]
        assert frame["size"].isna().tolist() == [True, False]
        assert frame["size"][1] == 20
        assert frame["error"].tolist() == [0.25, 0.25]
        assert frame["condition"].tolist() == [1.0, np.inf]

    def test_frame_without_pandas(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "pandas", None)
        with pytest.raises(ImportError, match="to_frame needs pandas: pip install pandas"):
            self.COMPARISON.to_frame()
