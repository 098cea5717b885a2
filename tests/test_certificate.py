"""Certificates: the layers nest, and a certificate is never better than the truth."""

import json
import re
from dataclasses import asdict, replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.linalg import eigh
from sklearn.datasets import make_classification
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from certifeature import (
    BSSSelector,
    Certificate,
    LeverageScoreSelector,
    RandomSelector,
    RRQRSelector,
    certify,
)
from certifeature.certificate.certificate import beyond_labels
from certifeature.certificate.promise import sampling_promise
from certifeature.datasets import make_relevant_features
from certifeature.models import default_model
from certifeature.rows import ArrayBlocks
from certifeature.sparsify.sampling import leverage_sample

SELECTIONS = {
    "bss": BSSSelector(60),
    "bss plain": BSSSelector(60, rescale=False),
    "leverage": LeverageScoreSelector(60, random_state=0),
    "rrqr": RRQRSelector(60),
    "random": RandomSelector(60, random_state=0),
    "rfe": RFE(SVC(kernel="linear"), n_features_to_select=60, step=0.3),
    "l1": SelectFromModel(LinearSVC(penalty="l1", C=0.5, max_iter=20_000, random_state=0)),
    "univariate": SelectKBest(f_classif, k=60),
}
SVMS = {
    "hinge, free intercept": SVC(kernel="linear", C=0.5),
    "hinge, no intercept": LinearSVC(loss="hinge", fit_intercept=False, max_iter=1_000_000),
    "squared hinge": LinearSVC(C=2.0, max_iter=100_000),
    "squared hinge, no intercept": LinearSVC(fit_intercept=False, max_iter=100_000),
    "class weights": SVC(kernel="linear", class_weight="balanced"),
}


def assert_layers_nest(certificate, rtol=1e-4):
    c, slack = certificate, 1 + rtol
    assert 0 <= c.lambda_min <= c.lambda_max
    if c.a_priori is not None:
        assert c.a_priori.lambda_min <= c.lambda_min
        assert c.lambda_max <= c.a_priori.lambda_max
    assert c.regularised is None or min(1.0, c.lambda_min) <= c.regularised.lambda_min * slack
    realised = c.realised
    if realised is None:
        return
    assert realised.radius_ratio <= c.lambda_max * slack
    assert c.lambda_min <= realised.radius_ratio * slack
    if realised.margin_full is not None and c.lambda_min > 0:
        assert c.lambda_min <= realised.margin_ratio * slack
        assert realised.margin_ratio <= c.lambda_max * slack
    if realised.objective_full is not None:
        assert realised.objective_ratio * min(1.0, c.lambda_min) <= slack
        assert 1 / max(1.0, c.lambda_max) <= realised.objective_ratio * slack
        if realised.loss == "squared_hinge":
            assert realised.objective_ratio <= slack / min(1.0, c.regularised.lambda_min)


@pytest.fixture(scope="module")
def binary():
    return make_classification(70, 200, n_informative=12, flip_y=0.05, random_state=1)


@pytest.fixture(scope="module")
def multiclass():
    return make_classification(
        70, 200, n_informative=12, n_classes=3, n_clusters_per_class=1, random_state=1
    )


@pytest.mark.parametrize("rows", ["support", "all"])
@pytest.mark.parametrize("svm", sorted(SVMS))
@pytest.mark.parametrize("selection", sorted(SELECTIONS))
def test_layers_nest(selection, svm, rows, binary):
    X, y = binary
    fitted = SELECTIONS[selection].fit(X, y)
    certificate = certify(X, y, fitted, estimator=SVMS[svm], rows=rows)
    assert certificate.exact
    assert certificate.n_selected == fitted.get_support().sum()
    assert_layers_nest(certificate)


@pytest.mark.parametrize("svm", sorted(SVMS))
@pytest.mark.parametrize("selection", ["bss", "rrqr", "rfe"])
def test_layers_nest_for_several_classes(selection, svm, multiclass):
    X, y = multiclass
    assert_layers_nest(certify(X, y, SELECTIONS[selection].fit(X, y), estimator=SVMS[svm]))


@pytest.mark.slow
@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_rows=st.integers(4, 25),
    n_features=st.integers(3, 60),
    share=st.floats(0.1, 1.0),
    scaled=st.booleans(),
    as_sparse=st.booleans(),
    loss=st.sampled_from(["hinge", "squared hinge, no intercept"]),
)
def test_layers_nest_for_any_columns_and_scales(
    seed, n_rows, n_features, share, scaled, as_sparse, loss
):
    rng = np.random.default_rng(seed)
    X = np.where(
        rng.random((n_rows, n_features)) < 0.5, rng.standard_normal((n_rows, n_features)), 0
    )
    X[0, 0] = 1.0
    y = np.arange(n_rows) % 2
    columns = rng.permutation(n_features)[: max(1, int(share * n_features))]
    weights = rng.lognormal(size=len(columns)) if scaled else None
    svm = SVC(kernel="linear") if loss == "hinge" else SVMS[loss]
    data = sparse.csr_array(X) if as_sparse else X
    certificate = certify(data, y, columns, weights=weights, estimator=svm, rows="all")
    assert_layers_nest(certificate)


def test_measured_eigenvalues_are_those_of_the_kernels(binary):
    X, y = binary
    selector = BSSSelector(120, supervised=False).fit(X)
    K = X @ X.T
    reduced = X[:, selector.indices_] * selector.scales_
    values = eigh(reduced @ reduced.T, K, eigvals_only=True)
    certificate = certify(X, y, selector, estimator=LinearSVC(), rows="all", realised=False)
    assert certificate.lambda_min == pytest.approx(values[0], rel=1e-7)
    assert certificate.lambda_max == pytest.approx(values[-1], rel=1e-7)
    assert certificate.lambda_min <= values[0]
    ridge = np.eye(len(K)) / 2
    values = eigh(reduced @ reduced.T + ridge, K + ridge, eigvals_only=True)
    assert certificate.regularised.lambda_min == pytest.approx(values[0], rel=1e-7)
    assert certificate.regularised.lambda_max == pytest.approx(values[-1], rel=1e-7)


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    rank=st.integers(1, 12),
    log_condition=st.floats(0, 13),
    log_scale=st.sampled_from([-150, 0, 150]),
)
def test_certificate_is_never_better_than_the_truth(seed, rank, log_condition, log_scale):
    """Rows in the span of (e₁ + e₂)/√2, (e₃ + e₄)/√2, …: M is diagonal and known exactly."""
    rng = np.random.default_rng(seed)
    left, right = (np.linalg.qr(rng.standard_normal((rank, rank)))[0] for _ in range(2))
    mixture = (left * np.logspace(0, -log_condition, rank)) @ right * 10.0**log_scale
    X = np.repeat(mixture, 2, axis=1)
    weights = rng.lognormal(size=2 * rank)
    truth = (weights.reshape(rank, 2) ** 2).mean(axis=1)
    options = {"estimator": LinearSVC(), "rows": "all", "realised": False}
    certificate = certify(X, None, np.arange(2 * rank), weights=weights, **options)
    # Directions below the rank tolerance are no part of the row space; the others all count.
    assert certificate.lambda_min <= truth.max()
    if certificate.rank == rank:
        assert certificate.lambda_min <= truth.min()
        assert certificate.lambda_max >= truth.max()


@pytest.mark.parametrize(
    "selector", [BSSSelector(120), LeverageScoreSelector(150, random_state=0), RRQRSelector(100)]
)
def test_every_selector_hands_out_its_certificate(selector, binary):
    X, y = binary
    fitted = selector.fit(X, y)
    again = certify(X, y, fitted, optimality=False)
    assert replace(again, realised=None, covers_all_rows=None) == fitted.certificate_
    assert_layers_nest(again)


@pytest.mark.parametrize(
    ("selector", "subject"),
    [
        (BSSSelector(120, fixed_features=[7, 3, 5]), "features (3 fixed, 59 trusted) the"),
        (BSSSelector(120, trust=0, fixed_features=[3], rescale="each"), "features (1 fixed) the"),
        (BSSSelector(120, trust=0.5), "features (60 trusted) the"),
        (BSSSelector(120, trust=0, rescale="each"), "features the"),
        (RRQRSelector(100), "features the"),
    ],
)
def test_always_included_features_are_counted(selector, subject, binary, small_limits):
    X, y = binary
    selector.fit(X, y)
    reasons = getattr(selector, "reasons_", np.empty(0, dtype=str))
    counts = (reasons == "fixed").sum(), (reasons == "trusted").sum()
    found = [selector.certificate_, certify(selector), certify(X, y, selector)]
    small_limits(MAX_GRAM=50)
    found.append(certify(X, y, selector, rows="all"))
    assert found[-1].rank is None
    for certificate in found:
        assert (certificate.n_fixed, certificate.n_trusted) == counts
        # By what they are multiplied is another matter.
        first, *_ = str(replace(certificate, factor=1.0)).splitlines()
        assert subject in first
        assert Certificate.from_dict(json.loads(json.dumps(certificate.to_dict()))) == certificate


def test_promise_is_kept_to_the_rows_it_was_made_for(binary):
    X, y = binary
    options = {"estimator": SVC(kernel="linear"), "rescale": "each"}
    selector = BSSSelector(120, trust=0, **options).fit(X, y)
    assert certify(X, y, selector).a_priori is not None
    with pytest.warns(UserWarning, match="not what BSSSelector was fitted to"):
        assert certify(X * 1.5, y, selector).a_priori is None
    assert certify(X, y, selector, weights=np.ones(len(selector.indices_))).a_priori is None
    assert BSSSelector(30, **options).fit(X, y).certificate_.a_priori is None
    # A soft model does not need all directions, and BSS does not cover them all.
    assert BSSSelector(120, rescale="each").fit(X, y).certificate_.a_priori is None


def test_sampling_promise_holds_as_often_as_it_says(rng):
    vectors = np.linalg.qr(rng.standard_normal((2000, 5)))[0]
    promise = sampling_promise("leverage", 5, 5, 400)
    kept = 0
    for seed in range(300):
        sample = leverage_sample(vectors, 400, random_state=seed)
        chosen = vectors[sample.indices] * sample.scales[:, None]
        values = np.linalg.eigvalsh(chosen.T @ chosen)
        kept += promise.lambda_min <= values[0] and values[-1] <= promise.lambda_max
    assert kept / 300 >= promise.probability
    assert sampling_promise("leverage", 5, 5, 10) is None


def test_cut_basis_is_measured_against_the_whole_row_space(binary):
    X, y = binary
    selector = BSSSelector(20, estimator=SVC(kernel="linear")).fit(X, y)
    assert not selector.basis_.exact
    certificate = selector.certificate_
    assert certificate.exact
    assert certificate.lambda_min == 0
    assert "Promised" not in certificate.details()
    assert np.isfinite(certificate.measured_growth)
    other = BSSSelector(20, supervised=False).fit(X).certificate_
    assert np.isinf(other.measured_growth)
    assert "no bound, because 20 features cannot span" in str(other)


def test_a_sketch_of_rows_that_are_gone_proves_nothing_and_says_so(binary, small_limits):
    X, _ = binary
    small_limits(MAX_GRAM_UNASKED=5)
    options = {"basis": "sketch", "n_components": 10, "random_state": 0}
    any_model = BSSSelector(60, supervised=False, **options).fit(ArrayBlocks(X)).certificate_
    assert not any_model.exact
    assert "no bound, because the rows span more directions" in str(any_model)


def test_rows_prove_what_a_sketch_of_them_does_not(binary):
    X, y = binary
    selector = BSSSelector(60, basis="sketch", n_components=10, random_state=0).fit(X, y)
    assert not selector.basis_.exact
    assert selector.certificate_ == certify(X, y, selector, realised=False, optimality=False)
    assert selector.certificate_.measured_growth < np.inf


def test_full_guarantee_covers_all_rows():
    X, y = make_classification(120, 400, n_informative=15, flip_y=0.05, random_state=2)
    svm = SVC(kernel="linear")
    selector = BSSSelector(250, guarantee="full", estimator=svm).fit(X, y)
    certificate = selector.certificate_
    assert certificate.covers_all_rows
    assert selector.n_rounds_ >= 1
    assert len(selector.support_rows_) >= len(svm.fit(X, y).support_)
    # Theorem E, checked on all rows, although the selection saw some of them only.
    on_all = certify(X, y, selector, rows="all").realised
    assert on_all.objective_ratio * min(1.0, certificate.lambda_min) <= 1 + 1e-4
    assert on_all.margin_ratio >= certificate.lambda_min * (1 - 1e-4)


def test_full_guarantee_that_stops_early_says_so(small_limits):
    X, y = make_classification(120, 400, n_informative=15, flip_y=0.05, random_state=2)
    small_limits(MAX_ROUNDS=1)
    with pytest.warns(UserWarning, match="was not reached in 1 rounds"):
        selector = BSSSelector(
            150, estimator=LinearSVC(), guarantee="full", order="coef", rescale="each"
        ).fit(X, y)
    assert selector.certificate_.covers_all_rows is False
    assert "so all this holds for these rows only" in str(selector.certificate_)


@pytest.mark.slow
# Columns of sizes 10 and 0.001: LIBSVM cannot tell the support for certain, and says so.
@pytest.mark.filterwarnings("ignore:the SVM did not reach its optimum")
def test_careless_selection_is_caught():
    """Two columns that matter by their difference: either alone loses the margin."""
    rng = np.random.default_rng(0)
    common = 10 * rng.standard_normal(40)
    y = np.where(rng.random(40) < 0.5, 1, -1)
    X = np.c_[common + y, common - y, rng.standard_normal((40, 300)) * 1e-3]
    svm = LinearSVC(dual=True, random_state=0)
    careless = certify(X, y, [0, 2, 3, 4, 5], estimator=svm)
    careful = certify(X, y, BSSSelector(100, estimator=svm).fit(X, y))
    assert careless.lambda_min == 0
    assert careless.realised.margin_ratio is None or careless.realised.margin_ratio < 0.01
    assert careless.measured_growth >= careless.realised_growth > 100
    assert careful.lambda_min > 0
    assert careful.realised.margin_ratio >= careful.lambda_min


def test_faint_direction_is_not_certified_beyond_rounding():
    """A direction kept with a scale at the edge of rounding counts as lost."""
    X, weights = np.c_[np.eye(3), np.ones(3)], [1.0, 1.0, 1e-12]
    options = {"weights": weights, "rows": "all", "estimator": LinearSVC()}
    assert certify(X, None, [0, 1, 2], **options).lambda_min == 0
    # All columns together lose nothing, so that there is no doubt.
    assert certify(X[:, :3], None, [0, 1, 2], **options).lambda_min == 1e-24


@pytest.mark.parametrize(("C", "is_stated"), [(1e5, True), (1e7, False)])
def test_a_bound_beyond_a_million_is_not_stated(C, is_stated):
    """A column that only one row has is left out, so that its objective grows by 1 + 2C."""
    certificate = certify(np.eye(2), [0, 1], [0], estimator=LinearSVC(C=C, fit_intercept=False))
    assert certificate.measured_growth == pytest.approx(1 + 2 * C if is_stated else np.inf)
    assert ("no bound" in certificate.details()) != is_stated


def test_overlapping_classes_have_no_hard_margin():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200, 5)), rng.integers(0, 2, 200)
    certificate = certify(X, y, [0, 1, 2, 3, 4])
    assert certificate.realised.margin_full is None
    assert "hard margin" not in certificate.details().splitlines()[0]
    assert certificate.realised.objective_ratio == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize(
    "model", [LogisticRegression(), SVC(kernel="linear"), Ridge(), default_model()]
)
def test_scaled_columns_far_from_the_origin_cost_what_they_do_near_it(model):
    """A free intercept takes in the offset, which is exact here; only scaling first rounds it."""
    rng = np.random.default_rng(0)
    X, y = np.ldexp(rng.integers(-999, 1000, (30, 6)), -10), np.arange(30) % 2
    X[:, 0] += 2 * y
    options = {"weights": [1 / 3, 1 / 7, 1.3], "estimator": model, "rows": "all"}
    near, far = (
        asdict(certify(X + offset, y, [0, 1, 2], **options).realised) for offset in (0.0, 2.0**41)
    )
    names = "objective_full", "objective_selected", "margin_selected", "radius_selected"
    for name in names:
        assert far[name] == near[name] or far[name] == pytest.approx(near[name], rel=1e-9)


def test_all_features_cost_nothing(binary):
    X, y = binary
    certificate = certify(X, y, np.arange(X.shape[1]))
    assert certificate.lambda_min == pytest.approx(1, abs=1e-9)
    assert certificate.condition == pytest.approx(1, abs=1e-9)
    assert certificate.realised.margin_ratio == pytest.approx(1, abs=1e-4)


def test_selections_may_be_described_in_any_way(binary):
    X, y = binary
    columns = np.array([5, 3, 60, 7])
    mask = np.zeros(200, dtype=bool)
    mask[columns] = True
    frame = pd.DataFrame(X, columns=[f"gene {i}" for i in range(200)])
    expected = certify(X, y, columns)
    for data, selection in [
        (X, columns.tolist()),
        (X, mask),
        (frame, [f"gene {i}" for i in columns]),
        (frame, mask),
        (sparse.csr_matrix(X), columns),
    ]:
        certificate = certify(data, y, selection)
        assert certificate.n_selected == 4
        assert certificate.lambda_max == pytest.approx(expected.lambda_max)


def test_repr_is_one_line_with_the_numbers_of_the_headline(binary):
    X, y = binary
    unproven = BSSSelector(2, supervised=False)
    for selector in (BSSSelector(60), BSSSelector(60, guarantee="full"), unproven):
        fitted = selector.fit(X, y)
        for certificate in (fitted.certificate_, certify(X, y, fitted)):
            shown = repr(certificate)
            others = beyond_labels(certificate).partition("Promised")[0].partition(" (as many")[0]
            headline = f"{str(certificate).splitlines()[0]} {others}"
            assert len(shown.splitlines()) == 1
            assert shown.startswith("<Certificate: ")
            bounds, in_headline = (re.findall(r"[\d.,]+ times", text) for text in (shown, headline))
            assert bounds == in_headline
            only_support = re.search(r" on (its|the) [\d,]+ support vectors", headline)
            assert (" on the support vectors" in shown) == bool(only_support)
            for words in ("useful bound", "at most", f"{X.shape[1]}"):
                assert (words in shown) == (words in headline), words


def test_repr_names_the_probability_of_a_bound_that_may_fail(binary):
    X, y = binary
    certificate = BSSSelector(60).fit(X, y).certificate_
    regularised = replace(certificate.regularised, lambda_min=0.5, probability=0.99)
    assert repr(replace(certificate, regularised=regularised)).endswith(
        "times with probability 0.99>"
    )


def test_json_round_trip_and_html(binary):
    X, y = binary
    selector = BSSSelector(120, estimator=SVC(kernel="linear"), order="cover", rescale="each")
    for certificate in (certify(X, y, selector.fit(X, y)), certify(X, None, [1, 2], rows="all")):
        text = json.dumps(certificate.to_dict(), allow_nan=False)
        assert Certificate.from_dict(json.loads(text)) == certificate
        html = certificate._repr_html_()
        assert html.startswith("<div>")
        shown, folded = html.split("<details>")
        assert "training objective" in shown
        assert ("Promised beforehand by theorem" in folded) == (certificate.n_selected > 2)


@pytest.mark.parametrize(
    ("selection", "keywords", "message"),
    [
        ([], {}, "selection is empty"),
        (np.zeros(200, dtype=bool), {}, "selection is empty"),
        (np.ones(7, dtype=bool), {}, "made for 7 features, but X has 200"),
        ([0, 200], {}, "column 200, but X has columns 0 to 199"),
        ([-1], {}, "column -1"),
        ([1, 1], {}, "twice"),
        ([0.5], {}, "float64"),
        ([[1, 2]], {}, "shape"),
        (["gene 1"], {}, "X has none"),
        ([1, 2], {"weights": [1.0]}, "each of the 2 selected"),
        ([1, 2], {"weights": [1.0, 0.0]}, "finite and positive"),
        ([1, 2], {"weights": [1.0, -1.0]}, "finite and positive"),
        ([1, 2], {"weights": [1.0, np.nan]}, "finite and positive"),
        ([1, 2], {"rows": "some"}, "rows must be"),
    ],
)
def test_bad_selections_are_named(selection, keywords, message, binary):
    with pytest.raises(ValueError, match=message):
        certify(*binary, selection, **keywords)


def test_a_name_that_two_columns_have_is_no_choice(binary):
    X, y = binary
    blocks = ArrayBlocks(X[:, :3], y)
    blocks.feature_names = np.array(["a", "b", "a"])
    assert certify(blocks, None, ["b"]).n_selected == 1
    with pytest.raises(ValueError, match=r"several features named a; give indices"):
        certify(blocks, None, ["b", "a"])


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_columns_times_scales_that_overflow_are_named(form, binary):
    X = binary[0] / np.abs(binary[0]).max() * 1e305
    options = {"rows": "all", "estimator": LinearSVC()}
    assert certify(form(X), None, [0, 1], **options).realised.radius_full > 1e304
    with pytest.raises(ValueError, match=r"multiples of them overflow\. Scale X"):
        certify(form(X), None, [0, 1], weights=[1e5, 1e5], **options)
    with pytest.raises(ValueError, match=r"is out of range\. Scale X first"):
        certify(form(X), None, [0, 1], rows="all")


def test_bad_data_are_named(binary):
    X, y = binary
    with pytest.raises(ValueError, match="one class only"):
        certify(X, np.ones(70), [1, 2])
    with pytest.raises(ValueError, match="y is None"):
        certify(X, None, [1, 2])
    with pytest.raises(ValueError, match="zero everywhere"):
        certify(np.zeros((5, 200)), None, [1, 2], rows="all")
    frame = pd.DataFrame(X, columns=[f"gene {i}" for i in range(200)])
    with pytest.raises(ValueError, match="no feature named gene x"):
        certify(frame, y, ["gene 1", "gene x"])
    with pytest.raises(ValueError, match="made for 200 features, but X has 150"):
        certify(X[:, :150], y, BSSSelector(50).fit(X, y))


@pytest.mark.parametrize("name", ["alon", "golub", "shipp"])
def test_layers_nest_on_microarrays(real_data, name):
    folder = real_data / f"microarray_{name}"
    X = StandardScaler().fit_transform(sparse.load_npz(folder / "X.npz").toarray())
    y = np.load(folder / "y.npy")
    for selector in (
        BSSSelector(150),
        RFE(SVC(kernel="linear"), n_features_to_select=150, step=0.2),
    ):
        assert_layers_nest(certify(X, y, selector.fit(X, y)))


def test_layers_nest_on_the_paper_s_synthetic_data():
    X, y = make_relevant_features(200, 1000, 40, random_state=0)
    certificate = certify(X, y, BSSSelector(30, estimator=SVC(kernel="linear"), trust=0).fit(X, y))
    assert certificate.lambda_min > 0
    assert_layers_nest(certificate)


def test_a_fitted_selector_is_certified_without_training_again(binary, monkeypatch):
    X, y = binary
    selector = BSSSelector(120).fit(X, y)
    expected = certify(X, y, selector, optimality=False)
    monkeypatch.setattr("certifeature.models.support.fit_converges", None)
    certificate = certify(selector, optimality=False)
    assert certificate == replace(expected, covers_all_rows=None)
    assert certify(selector, realised=False, optimality=False) == selector.certificate_
    assert certify(BSSSelector(120, supervised=False).fit(X)).realised.radius_ratio > 0
    with pytest.raises(ValueError, match="no fitted selector"):
        certify(X)
    weighted = BSSSelector(120, supervised=False).fit(X, sample_weight=np.arange(1, 71))
    with pytest.raises(ValueError, match="weighted rows"):
        certify(weighted)


class TestReuse:
    """What a fit knows serves the same data and the same model, and no others."""

    ridge, hard = RidgeClassifier(alpha=30.0), SVC(kernel="linear")

    def fitted(self, binary, estimator, **options):
        return BSSSelector(100, estimator=estimator, trust=0, **options).fit(*binary)

    def check(self, X, y, selector, **options):
        """A selector is certified as its columns and scales are."""
        found = certify(X, y, selector, **options)
        options = {"estimator": selector.estimator, "weights": selector.scales_, **options}
        fresh = certify(X, y, selector.indices_, **options)
        assert fresh.a_priori is None
        assert found.model == fresh.model
        assert found.n_rows == fresh.n_rows
        assert found.covers_all_rows == fresh.covers_all_rows
        for name in ("measured_growth", "lambda_min", "lambda_max"):
            assert getattr(found, name) == pytest.approx(getattr(fresh, name), rel=1e-6)
        if options.get("realised", True):
            assert found.realised_growth == pytest.approx(fresh.realised_growth, rel=1e-6)
        return found

    @pytest.mark.parametrize(
        "estimator", [None, ridge, hard], ids=["squared hinge", "ridge", "hinge"]
    )
    def test_the_same_data(self, estimator, binary):
        selector = self.fitted(binary, estimator, rescale="each")
        promise = selector.certificate_.a_priori
        assert (promise is None) == (estimator is not self.hard)
        assert self.check(*binary, selector).a_priori == promise

    def test_nothing_is_trained_again_for_the_same_data(self, binary, monkeypatch):
        selectors = [self.fitted(binary, None), self.fitted(binary, self.ridge)]
        monkeypatch.setattr("certifeature.models.support.fit_converges", None)
        for selector in selectors:
            assert certify(*binary, selector).realised_growth > 0

    @pytest.mark.parametrize("estimator", [ridge, hard], ids=["ridge", "hinge"])
    def test_other_values(self, estimator, binary, rng):
        X, y = binary
        selector = self.fitted(binary, estimator, rescale="each")
        with pytest.warns(UserWarning, match="not what BSSSelector was fitted to"):
            assert self.check(rng.standard_normal(X.shape), y, selector).a_priori is None

    def test_other_labels(self, binary, rng):
        X, y = binary
        selector = self.fitted(binary, None)
        self.check(X, rng.permutation(y), selector)

    @pytest.mark.parametrize("model", [ridge, hard], ids=["ridge", "hinge"])
    @pytest.mark.parametrize("other", [RidgeClassifier(alpha=3.0), LinearSVC(C=0.01)])
    def test_other_models(self, model, other, binary):
        selector = self.fitted(binary, model, rescale="each")
        found = self.check(*binary, selector, estimator=other)
        assert found.a_priori is None

    def test_other_scales(self, binary):
        selector = self.fitted(binary, self.hard, rescale="each")
        scales = np.full(len(selector.indices_), 0.1)
        assert self.check(*binary, selector, weights=scales).a_priori is None

    def test_a_model_that_was_exchanged_after_the_fit(self, binary):
        selector = self.fitted(binary, LinearSVC(C=1.0, random_state=0))
        selector.set_params(estimator=LinearSVC(C=0.01, random_state=0))
        assert self.check(*binary, selector).model == "LinearSVC(C=0.01)"

    def test_models_that_differ_in_the_last_of_many_classes(self, rng):
        """Scikit-learn prints the first 30 weights of classes only."""
        X, y = rng.standard_normal((64, 10)), np.arange(64) % 32
        light = dict.fromkeys(range(32), 0.1)
        fitted, other = (
            LinearSVC(C=0.01, class_weight=weights, random_state=0)
            for weights in (light, {**light, 31: 1000.0})
        )
        assert str(fitted) == str(other)
        selector = BSSSelector(5, estimator=fitted).fit(X, y)
        self.check(X, y, selector, estimator=other, realised=False)


def test_random_columns_are_drawn_wherever_columns_stand(binary, rng):
    X, y = binary
    chosen, order = np.arange(40), rng.permutation(X.shape[1])
    model = default_model()
    growth = certify(X, y, chosen, estimator=model).random_growth
    drawn = [
        certify(X, y, rng.permutation(X.shape[1])[:40], estimator=model).measured_growth
        for _ in range(20)
    ]
    assert min(drawn) * 0.98 < growth < max(drawn) * 1.02
    rows, places = rng.permutation(len(X)), np.argsort(order)[chosen]
    moved = certify(X[rows][:, order], y[rows], places, estimator=model)
    assert moved.random_growth == pytest.approx(growth, rel=1e-9)
    written = certify(sparse.csr_array(X), y, chosen, estimator=model).random_growth
    assert written == pytest.approx(growth, rel=1e-9)
    fitted = BSSSelector(40, estimator=model).fit(sparse.csr_array(np.where(abs(X) > 1, X, 0)), y)
    assert min(drawn) * 0.5 < certify(fitted).random_growth < max(drawn) * 2
    assert certify(X, y, chosen, optimality=False).random_growth is None
    assert certify(X, y, chosen, realised=False).random_growth is None
    assert certify(X, y, np.arange(X.shape[1])).random_growth is None
