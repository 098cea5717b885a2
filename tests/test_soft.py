"""BSS with the effective dimension in the place of the rank: theorems, and what is measured."""

import numpy as np
import pytest
from direct import direct_bss
from hypothesis import given, settings
from hypothesis import strategies as st
from pairs import pairwise
from scipy import sparse
from scipy.linalg import eigh
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.svm import SVC, LinearSVC

from certifeature import BSSSelector, certify
from certifeature.certificate.promise import effective_dimension, ridge_cut
from certifeature.datasets import make_relevant_features
from certifeature.sparsify import bss
from tests.test_bss import SCALINGS, random_basis

COVERAGES = {
    "flat": lambda rng, n: np.ones(n),
    "falling": lambda rng, n: 1 / (1 + np.arange(n) ** 1.5 / 3),
    "random": lambda rng, n: rng.random(n) ** 3 + 1e-9,
    "tiny": lambda rng, n: 10.0 ** rng.uniform(-9, 0, n),
}
SEEDS = st.integers(0, 2**32 - 1)


def extremes(vectors, scales, coverage):
    """Return the extreme eigenvalues of W^½MW^½ + I − W."""
    chosen = vectors * np.asarray(scales)[:, None]
    roots = np.sqrt(coverage)
    matrix = roots[:, None] * (chosen.T @ chosen) * roots + np.diag(1 - coverage)
    return np.linalg.eigvalsh(matrix)[[0, -1]]


@pytest.mark.slow
@settings(max_examples=4 * settings.default.max_examples)
@given(
    seed=SEEDS,
    n_components=st.integers(1, 40),
    spare_features=st.integers(0, 200),
    spare_picks=st.one_of(st.integers(1, 3), st.integers(1, 90)),
    scaling=st.sampled_from(sorted(SCALINGS)),
    kind=st.sampled_from(sorted(COVERAGES)),
    n_chosen=st.integers(0, 6),
)
def test_eigenvalues_lie_between_the_bounds_of_the_effective_dimension(
    seed, n_components, spare_features, spare_picks, scaling, kind, n_chosen
):
    rng = np.random.default_rng(seed)
    vectors = random_basis(rng, n_components + spare_features, n_components, scaling)
    coverage = np.minimum(COVERAGES[kind](rng, n_components), 1.0)
    dimension = np.maximum(coverage, 1e-6).sum()
    n_select = int(np.ceil(dimension)) + spare_picks
    chosen = rng.choice(len(vectors), min(n_chosen, len(vectors) - 1), replace=False)
    sample = bss(
        vectors, n_select, coverage=coverage, priority=rng.random(len(vectors)), chosen=chosen
    )
    ratio = np.sqrt(dimension / n_select)
    picked = vectors[sample.indices]
    lower, upper = extremes(picked, sample.scales, coverage)
    assert (1 - ratio) ** 2 * (1 - 1e-9) <= lower
    assert upper <= (1 + ratio) ** 2 * (1 + 1e-9)
    assert len(sample.indices) <= n_select


@pytest.mark.parametrize(
    ("shape", "kind", "scaling", "n_chosen"),
    pairwise(
        [(40, 1, 3), (200, 20, 18), (200, 20, 90), (300, 60, 40), (300, 40, 160)],
        ["falling", "random", "tiny"],
        ["even", "exponential", "heavy tail"],
        [0, 7],
    ),
    ids=str,
)
def test_same_picks_as_the_direct_algorithm(shape, kind, scaling, n_chosen, rng):
    n_features, n_components, n_select = shape
    vectors = random_basis(rng, n_features, n_components, scaling)
    coverage = np.minimum(COVERAGES[kind](rng, n_components), 1.0)
    coverage *= min(1.0, 0.9 * n_select / coverage.sum())
    priority = rng.random(n_features)
    chosen = rng.choice(n_features, n_chosen, replace=False)
    sample = bss(vectors, n_select, coverage=coverage, priority=priority, chosen=chosen)
    indices, weights = direct_bss(vectors, n_select, priority, coverage, chosen)
    np.testing.assert_array_equal(sample.indices, indices)
    np.testing.assert_allclose(sample.scales, weights, rtol=1e-6)


def test_full_coverage_is_the_algorithm_for_all_directions(rng):
    vectors = random_basis(rng, 200, 20, "exponential")
    plain, covered = bss(vectors, 70), bss(vectors, 70, coverage=np.ones(20))
    np.testing.assert_array_equal(covered.indices, plain.indices)
    np.testing.assert_allclose(covered.scales, plain.scales, rtol=1e-9)


def test_cover_keeps_the_bounds_too(rng):
    vectors = random_basis(rng, 300, 30, "exponential")
    coverage = COVERAGES["falling"](rng, 30)
    dimension = coverage.sum()
    leverage, cover = (
        bss(vectors, 20, coverage=coverage, priority=priority) for priority in (None, "cover")
    )
    found = [extremes(vectors[s.indices], s.scales, coverage) for s in (leverage, cover)]
    for lower, upper in found:
        assert (1 - np.sqrt(dimension / 20)) ** 2 <= lower
        assert upper <= (1 + np.sqrt(dimension / 20)) ** 2
    assert found[1][0] > found[0][0]


@pytest.mark.parametrize(
    ("coverage", "n_select", "message"),
    [
        ([0.5], 4, "each of the 2 directions"),
        ([0.5, 0.0], 4, "above 0"),
        ([0.5, 1.5], 4, "up to 1"),
        ([0.5, np.nan], 4, "above 0"),
        ([1.0, 1.0], 2, "more picks than directions"),
    ],
)
def test_bad_coverage_is_named(coverage, n_select, message):
    with pytest.raises(ValueError, match=message):
        bss(np.eye(4)[:, :2], n_select, coverage=coverage)


def test_the_effective_dimension_is_the_trace_of_a_smoother(rng):
    X = rng.standard_normal((20, 50))
    K = X @ X.T
    dimension = effective_dimension(np.linalg.svd(X, compute_uv=False), 7.0)
    assert dimension == pytest.approx(np.trace(np.linalg.solve(K + 7.0 * np.eye(20), K)))


@given(
    seed=SEEDS,
    n_picks=st.integers(1, 300),
    log_mu=st.floats(-12, 12),
    exponent=st.sampled_from([0, 0, 0, 150, -150]),
)
def test_no_other_ridge_limits_growth_more(seed, n_picks, log_mu, exponent):
    rng = np.random.default_rng(seed)
    values = np.sort(10.0 ** rng.uniform(-4, 2, rng.integers(1, 200)))[::-1]
    scale = 10.0**exponent
    mu = np.exp(log_mu)
    # Data and ridge in other units are the same problem.
    cut = ridge_cut(values * scale, mu * scale * scale, n_picks)
    assert cut.shares.sum() < n_picks
    assert cut.stretch >= 1

    def growth(stretch):
        dimension = effective_dimension(values, mu * stretch)
        return np.inf if dimension >= n_picks else stretch / (1 - (dimension / n_picks) ** 0.5) ** 2

    best = growth(cut.stretch)
    for other in np.exp(rng.uniform(0, 25, 50)):
        assert best <= growth(other) * (1 + 1e-3)


PROBLEMS = {
    "two classes": {},
    "several classes": {"classes": 3},
    "sparse": {"sparse": True},
    "weights": {"weights": True},
    "class weights": {"svm": {"class_weight": {1: 3.0}}},
    "no intercept": {"svm": {"fit_intercept": False}},
    "C = 100": {"svm": {"C": 100.0}},
    "C = 0.001": {"svm": {"C": 0.001}},
}
SETTINGS = [
    {},
    {"rescale": "each", "trust": 0.5},
    {"rescale": "each", "trust": 0},
    {"rescale": False, "trust": 0.25, "order": "coef"},
    {"rescale": "each", "trust": 0, "order": "cover"},
    {"fixed_features": [5, 3], "rescale": "each", "order": "leverage"},
    {"trust": 1},
]


@pytest.mark.parametrize(
    ("problem", "setting", "size"), pairwise(sorted(PROBLEMS), SETTINGS, [4, 30, 120]), ids=str
)
def test_what_is_measured_holds_of_the_kernels(problem, setting, size, rng):
    given_problem = PROBLEMS[problem]
    X, y = make_relevant_features(90, 240, 20, random_state=1)
    if "classes" in given_problem:
        y = np.argsort(np.argsort(X[:, 0])) * given_problem["classes"] // len(y)
    weights = rng.uniform(0.1, 5, len(y)) if "weights" in given_problem else None
    svm = LinearSVC(**{"dual": True, "random_state": 0, "C": 0.1} | given_problem.get("svm", {}))
    data = sparse.csr_array(X) if "sparse" in given_problem else X
    selector = BSSSelector(size, estimator=svm, **setting).fit(data, y, weights)
    certificate = selector.certificate_
    rows = X[selector.support_rows_]
    cost = svm.C * 3 if svm.class_weight else svm.C
    if weights is not None:
        rows = rows * np.sqrt(weights[selector.support_rows_])[:, None]
    ridge = np.eye(len(rows)) / (2 * cost)
    chosen = rows[:, selector.indices_] * selector.scales_
    kept = eigh(chosen @ chosen.T + ridge, rows @ rows.T + ridge, eigvals_only=True)[0]
    truth = 1 / min(kept, 1.0)
    assert 1 / certificate.measured_growth == pytest.approx(1 / truth, rel=1e-6, abs=1e-7)
    assert certificate.measured_growth >= truth * (1 - 1e-9)
    # By default, BSS may be left none of 4 features.
    if setting or size > 4:
        has_picks = not set(selector.reasons_) <= {"fixed", "trusted"}
        assert has_picks == (setting.get("trust") != 1)
    # The theorem about all directions is not about these picks.
    assert certificate.a_priori is None


def test_an_unsupervised_choice_is_for_the_model_that_is_named():
    X, _ = make_relevant_features(100, 300, 20, random_state=0)
    any_model = BSSSelector(60, supervised=False).fit(X).certificate_
    soft = BSSSelector(60, supervised=False, estimator=LinearSVC(C=1e-3)).fit(X).certificate_
    assert np.isinf(any_model.measured_growth)
    assert any_model.model is None
    assert np.isfinite(soft.measured_growth)
    assert soft.model == "LinearSVC(C=0.001)"


class TestNothingFalse:
    """Cases in which a bound once was too good."""

    def test_what_a_basis_leaves_out_counts(self):
        """Time stamps within microseconds of each other: all directions but one are rounding."""
        rng = np.random.default_rng(0)
        X = 1.7e15 + np.round(20 * rng.standard_normal((40, 30)))
        numbers = (X - 1.7e15)[:, :8].sum(axis=1) / 20
        selector = BSSSelector(5, estimator=Ridge(alpha=1.0)).fit(X, numbers)
        certificate = selector.certificate_
        # The objective grows 3,474 times, computed with 80 digits.
        assert certificate.measured_growth > 3474

    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    def test_one_huge_row_does_not_hide_the_others(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((40, 60))
        y = (X[:, 1:6].sum(axis=1) > 0).astype(int)
        X[0] = 1e16 * np.r_[1, np.full(59, 0.05)]
        ridge = RidgeClassifier(alpha=1.0, fit_intercept=False)
        assert certify(X, y, [0], estimator=ridge).measured_growth > 27.7

    @pytest.mark.parametrize(("large", "C"), [(1e294, 1.0), (1e150, 1e288)])
    def test_a_ridge_is_not_raised(self, large, C):
        X = np.array([[large, 0.0], [0.0, 1.0 if C == 1 else 1e-144]])
        svm = LinearSVC(C=C, fit_intercept=False)
        found = certify(X, None, [0], rows="all", estimator=svm, realised=False)
        assert found.measured_growth >= 3

    def test_several_alphas_need_no_labels(self):
        X, _ = make_relevant_features(40, 100, 10, random_state=0)
        ridge = RidgeClassifier(alpha=np.array([1.0, 2.0, 3.0]))
        selector = BSSSelector(30, supervised=False, estimator=ridge).fit(X)
        assert selector.certificate_.regularised.mu == 1.0

    def test_tiny_scales_can_be_told(self):
        X, _ = make_relevant_features(20, 5, 5, random_state=0)
        given = {"weights": np.full(5, 3e-162), "rows": "all"}
        tiny = certify(X, None, np.arange(5), estimator=LinearSVC(random_state=0), **given)
        # The default model has the same optimum at any scale.
        assert certify(X, None, np.arange(5), **given).lambda_min == pytest.approx(1)
        assert "the squared hard margin is at least 0 times as large" in str(tiny)

    def test_certified_holds_for_a_sketch_too(self):
        X, y = make_relevant_features(150, 300, 20, random_state=0)
        options = {"basis": "sketch", "n_components": 30, "random_state": 0}
        logistic = LogisticRegression(C=1e-3)
        selector = BSSSelector("certified", estimator=logistic, **options).fit(X, y)
        assert selector.certificate_.measured_growth <= 2

    def test_a_hinge_keeps_what_all_directions_keep(self):
        X, y = make_relevant_features(60, 400, 20, random_state=0)
        selector = BSSSelector(200, estimator=SVC(kernel="linear"), rescale="each").fit(X, y)
        certificate = selector.certificate_
        assert certificate.measured_growth == pytest.approx(
            (1 / min(1.0, certificate.lambda_min)), rel=1e-5
        )
        assert certificate.measured_growth >= (1 / min(1.0, certificate.lambda_min))


class TestHingeProposition:
    """With λ = (K̃ + N)/(K + N) and N = 1/(2C), the growth is at most 2/(λ(1 + λ))."""

    @staticmethod
    def growth_and_factor(kernel, reduced, cost, intercept):
        """Return the growth of one row of the class +1, by its dual, and the bound."""

        def optimum(k):
            margin = 1 - intercept
            alpha = np.clip(margin / k, 0, cost)
            return alpha * margin - alpha**2 * k / 2

        kept = (reduced + 1 / (2 * cost)) / (kernel + 1 / (2 * cost))
        return optimum(reduced) / optimum(kernel), 2 / (kept * (1 + kept))

    @given(kernel=st.floats(1e-3, 1e3), share=st.floats(1e-3, 1), cost=st.floats(1e-3, 1e3))
    def test_holds_without_an_intercept(self, kernel, share, cost):
        growth, factor = self.growth_and_factor(kernel, share * kernel, cost, 0.0)
        assert growth <= factor * (1 + 1e-12)

    def test_fails_for_a_fixed_intercept(self):
        growth, factor = self.growth_and_factor(1.0, 0.01, 1.0, 0.99)
        assert growth == pytest.approx(100)
        assert factor == pytest.approx(4.4, abs=0.05)
