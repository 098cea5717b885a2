"""What is kept, what is trusted, what covers, and what that promises."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from sklearn.svm import SVC, LinearSVC

from certifeature import BSSSelector, certify
from certifeature.basis import exact_basis
from certifeature.models import feature_weights, stable_scores
from certifeature.models.support import fit_model
from certifeature.rows import ArrayBlocks
from certifeature.selectors.bss import LABELLED
from certifeature.sparsify import bss

PAPER = {"order": "leverage", "trust": 0, "rescale": "each"}


@pytest.fixture(scope="module")
def data():
    return make_classification(60, 300, n_informative=20, flip_y=0.02, random_state=0)


class TestFixed:
    @pytest.mark.parametrize("rescale", ["common", "each", False])
    @pytest.mark.parametrize("order", ["stable", "coef", "leverage"])
    @pytest.mark.parametrize("size", [5, 30, 150])
    def test_are_in_whatever_the_data_say(self, data, size, order, rescale):
        fixed = [299, 7, 100]
        selector = BSSSelector(size, fixed_features=fixed, order=order, rescale=rescale)
        selector.fit(*data)
        assert selector.indices_[:3].tolist() == fixed
        assert selector.reasons_[:3].tolist() == ["fixed"] * 3
        assert (selector.reasons_[3:] != "fixed").all()
        assert selector.certificate_.n_fixed == 3
        assert "3 fixed" in str(selector.certificate_)

    def test_may_be_a_mask_or_names(self, data):
        X, y = data
        frame = pd.DataFrame(X, columns=[f"gene {i}" for i in range(300)])
        mask = np.isin(np.arange(300), [4, 80])
        by_index = BSSSelector(20, fixed_features=[4, 80]).fit(X, y)
        by_mask = BSSSelector(20, fixed_features=mask).fit(X, y)
        by_name = BSSSelector(20, fixed_features=["gene 4", "gene 80"]).fit(frame, y)
        np.testing.assert_array_equal(by_mask.indices_, by_index.indices_)
        np.testing.assert_array_equal(by_name.indices_, by_index.indices_)

    @pytest.mark.parametrize(
        ("fixed", "message"),
        [
            (range(21), "names 21 features, more than the 20"),
            ([300], "column 300, but X has columns 0 to 299"),
            ([3, 3], "a column twice"),
            (["gene 4"], "fixed_features gives names, but X has none"),
            ([-1], "fixed_features names column -1"),
        ],
    )
    def test_that_cannot_be(self, data, fixed, message):
        with pytest.raises(ValueError, match=message):
            BSSSelector(20, fixed_features=list(fixed)).fit(*data)

    @pytest.mark.parametrize("nothing", [[], np.zeros(300, dtype=bool)])
    def test_none_at_all_are_none(self, data, nothing):
        none = BSSSelector(20, fixed_features=nothing).fit(*data)
        np.testing.assert_array_equal(none.indices_, BSSSelector(20).fit(*data).indices_)

    def test_are_counted_where_all_features_are_kept(self, data):
        with pytest.warns(UserWarning, match="all are kept"):
            selector = BSSSelector(300, fixed_features=[3, 5]).fit(*data)
        assert np.flatnonzero(selector.reasons_ == "fixed").tolist() == [3, 5]
        assert selector.certificate_.n_fixed == 2


class TestTrust:
    def test_nothing_trusted_is_the_algorithm_of_the_paper(self, data):
        X, y = data
        selector = BSSSelector(150, estimator=SVC(kernel="linear"), **PAPER).fit(X, y)
        vectors = exact_basis(X[selector.support_rows_]).vectors
        direct = bss(vectors, 150)
        np.testing.assert_array_equal(selector.indices_, direct.indices)
        np.testing.assert_allclose(selector.scales_, direct.scales)

    @pytest.mark.parametrize("order", LABELLED)
    def test_all_trusted_is_the_top_of_the_order(self, data, order):
        selector = BSSSelector(25, order=order, trust=1).fit(*data)
        best = np.argsort(-selector.scores_, kind="stable")[:25]
        np.testing.assert_array_equal(selector.indices_, best)
        assert set(selector.reasons_) == {"trusted"}

    @pytest.mark.parametrize("trust", [0, 0.25, 0.5, 0.75, 1])
    @pytest.mark.parametrize("size", [4, 40, 120])
    def test_is_the_share_that_is_taken_from_the_top(self, data, trust, size):
        selector = BSSSelector(size, order="coef", trust=trust).fit(*data)
        assert len(selector.indices_) == size
        n_trusted = int(np.ceil(trust * size))
        best = np.argsort(-selector.scores_, kind="stable")[:n_trusted]
        np.testing.assert_array_equal(selector.indices_[:n_trusted], best)

    def test_orders_are_those_of_the_support_rows(self, data):
        X, y = data
        svm = SVC(kernel="linear")
        selector = BSSSelector(40, order=("stable", "coef"), estimator=svm).fit(X, y)
        rows = selector.support_rows_
        seed = selector._checked(X, y).seed
        expected = stable_scores(svm, X[rows], y[rows], seed=seed)
        np.testing.assert_allclose(selector.trusted_scores_, expected)
        fitted = fit_model(svm, X, y)
        np.testing.assert_allclose(selector.scores_, feature_weights(fitted))

    def test_what_covers_is_less_well_covered_by_the_top_alone(self, data):
        """Covering is worth something: the bound is tighter than that of the top."""
        covered, top = (
            BSSSelector(60, order="coef", trust=trust).fit(*data).certificate_
            for trust in (0.25, 1)
        )
        assert covered.measured_growth < top.measured_growth

    def test_a_pair_may_be_a_list(self, data):
        pairs = [BSSSelector(20, order=order) for order in (["stable", "coef"], ("stable", "coef"))]
        one, other = (selector.fit(*data).indices_ for selector in pairs)
        np.testing.assert_array_equal(one, other)

    def test_what_is_added_where_bss_comes_back_is_called_next(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((3, 30)) * np.where(np.arange(30) < 4, 100, 1e-3)
        selector = BSSSelector(20, trust=0, order="leverage", supervised=False).fit(X)
        assert len(selector.indices_) == 20
        assert set(selector.reasons_) == {"cover", "next"}
        assert selector.certificate_.n_trusted == 0

    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"trust": 1.5}, "'trust'"),
            ({"trust": "much"}, "'trust'"),
            ({"order": "cover", "trust": 0.5}, "'cover' ranks no features"),
            ({"order": ("stable",)}, "order takes a pair"),
            ({"order": ("stable", "alphabet")}, "order takes a pair"),
            ({"order": ("auto", "coef")}, "order takes a pair"),
            ({"order": ("stable", "leverage"), "supervised": False}, "needs supervised=True"),
            ({"order": (np.ones(7), "coef")}, "each of the 300 features"),
        ],
    )
    def test_bad_parameters(self, data, parameters, message):
        with pytest.raises(ValueError, match=message):
            BSSSelector(20, **parameters).fit(*data)

    def test_blocks_get_the_same_choice(self):
        X, y = make_classification(1500, 80, n_informative=10, random_state=1)
        X = X * np.where(np.arange(80) < 40, 1.0, 0.3)
        svm = LinearSVC(C=0.1, dual=True, random_state=0)
        whole = BSSSelector(20, estimator=svm).fit(X, y)
        blocks = BSSSelector(20, estimator=svm).fit(ArrayBlocks(X, y, n_rows=400))
        np.testing.assert_array_equal(blocks.indices_, whole.indices_)
        np.testing.assert_allclose(blocks.scales_, whole.scales_)
        np.testing.assert_array_equal(blocks.reasons_, whole.reasons_)


class TestScales:
    @pytest.mark.parametrize("size", [0.01, 0.9, 1.5, 100])
    def test_one_factor_brings_rows_back_to_their_size_but_not_above_1(self, data, size):
        def spread(rows):
            return np.sqrt(rows.var(axis=0).sum())

        X, y = data
        X = X * (size / spread(X))
        selector = BSSSelector(40).fit(X, y)
        assert np.ptp(selector.scales_) == 0
        expected = max(spread(X[:, selector.support_]), min(size, 1))
        assert spread(selector.transform(X)) == pytest.approx(expected)

    def test_what_is_in_anyway_keeps_its_own_scale(self, data):
        """Otherwise a certificate would grow by scales that nobody asked for."""
        selector = BSSSelector(150, fixed_features=[3], order="coef", rescale="each").fit(*data)
        anyway = selector.reasons_ != "cover"
        again = np.isin(selector.indices_, selector.fit_result_.columns.steps.picks)
        np.testing.assert_array_equal(selector.scales_[anyway & ~again], 1)
        assert (selector.scales_[anyway & again] > 1).all()

    @pytest.mark.parametrize("factor", [1e-150, 1e-3])
    def test_the_factor_is_the_same_for_all_small_data(self, data, factor):
        X = 1e-3 * data[0]
        usual = BSSSelector(40, supervised=False, order="leverage").fit(X)
        scaled = BSSSelector(40, supervised=False, order="leverage").fit(X * factor)
        np.testing.assert_array_equal(scaled.indices_, usual.indices_)
        np.testing.assert_allclose(scaled.scales_, usual.scales_)

    @pytest.mark.parametrize("order", ["stable", "leverage", "cover"])
    @pytest.mark.parametrize("rescale", ["common", "each", False])
    def test_certificates_are_those_of_certify(self, data, rescale, order):
        X, y = data
        selector = BSSSelector(150, rescale=rescale, order=order).fit(X, y)
        again = certify(X, y, selector, realised=False)
        assert again.lambda_min == pytest.approx(selector.certificate_.lambda_min)
        assert again.a_priori == selector.certificate_.a_priori


@given(
    seed=st.integers(0, 2**32 - 1), n_fixed=st.integers(0, 8), trust=st.sampled_from([0, 0.25, 0.5])
)
@settings(max_examples=40, deadline=None)
def test_what_is_kept_never_breaks_the_promise(seed, n_fixed, trust):
    """The lower bound is that of the picks of BSS, whatever else is in."""
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(2, 12))
    X = rng.standard_normal((n_rows, 90)) * np.exp(rng.standard_normal(90))
    selector = BSSSelector(
        80,
        supervised=False,
        fixed_features=rng.choice(90, n_fixed, replace=False),
        order=rng.random(90),
        trust=trust,
        rescale="each",
    ).fit(X)
    promise = selector.certificate_.a_priori
    assert promise.n_picks == 80 - n_fixed - int(np.ceil(trust * (80 - n_fixed)))
    vectors = exact_basis(X).vectors[selector.indices_] * selector.scales_[:, None]
    eigenvalues = np.linalg.eigvalsh(vectors.T @ vectors)
    assert 0 < promise.lambda_min <= eigenvalues[0] + 1e-9
    assert eigenvalues[-1] <= promise.lambda_max + 1e-9
    bound = (1 - np.sqrt(n_rows / promise.n_picks)) ** 2
    assert promise.lambda_min == pytest.approx(bound)


@pytest.mark.parametrize("basis", ["auto", "exact"])
@pytest.mark.parametrize("fixed", [None, [1, 2, 3]])
@pytest.mark.parametrize("trust", [0, 0.25, 0.5])
def test_certified_keeps_epsilon_whatever_is_kept(trust, fixed, basis, rng):
    X = rng.standard_normal((6, 2000))
    selector = BSSSelector(
        "certified",
        supervised=False,
        order=np.arange(2000.0),
        trust=trust,
        fixed_features=fixed,
        rescale="each",
        basis=basis,
    ).fit(X)
    assert selector.n_features_to_select_ < 2000
    assert selector.certificate_.lambda_min >= 0.5


def test_certified_measures_all_directions_of_a_truncated_basis(rng):
    X = rng.standard_normal((12, 150))
    selector = BSSSelector(
        "certified", supervised=False, basis="truncated", n_components=5, trust=0, rescale="each"
    )
    assert selector.fit(X).certificate_.lambda_min >= 0.5
    assert selector.n_features_to_select_ > 5 / (1 - np.sqrt(0.5)) ** 2
