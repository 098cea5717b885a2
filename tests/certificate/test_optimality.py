"""How close a selection is to the best of its size, as `certify` says it."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import dask.array as da
import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_selection import RFE, SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.svm import SVC, LinearSVC, LinearSVR

from certifeature import BestSubsetSelector, BSSSelector, Certificate, at_scale, certify
from certifeature.datasets import make_relevant_features
from certifeature.models import default_model, hard_margin, support
from certifeature.rows import ArrayBlocks

MODELS = {
    "default": None,
    "hinge": SVC(kernel="linear", C=0.5),
    "logistic": LogisticRegression(C=0.3),
    "ridge": RidgeClassifier(alpha=40.0),
    "penalised intercept": LinearSVC(C=0.2),
}
FREE = {"dual": False, "intercept_scaling": np.inf}
TUBE = LinearSVR(loss="squared_epsilon_insensitive", C=0.2, epsilon=0.1)


@pytest.fixture(scope="module")
def binary():
    return make_relevant_features(60, 200, 15, random_state=0)


def small(seed=0, n_classes=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((30, 8))
    y = np.digitize(X[:, :4].sum(axis=1) + rng.standard_normal(30), np.arange(1, n_classes) - 1.0)
    return X, y


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_marks_and_bound_hold_for_every_other_selection(name, n_classes):
    X, y = small(n_classes=n_classes)
    model = at_scale(X[:, :3]) if MODELS[name] is None else MODELS[name]
    others = {
        chosen: certify(X, y, list(chosen), estimator=model, realised=False).optimality
        for chosen in combinations(range(8), 3)
    }
    least = min(o.objective for o in others.values())
    for own in list(others.values())[::5]:
        assert own.lower_bound <= least * (1 + 1e-6)
        assert 0 < own.ratio <= 1
        for chosen, other in others.items():
            if other.objective <= own.objective * (1 - 1e-6):
                inside = np.isin(np.arange(8), chosen)
                assert inside[own.always].all()
                assert not inside[own.never].any()


@pytest.mark.parametrize("name", MODELS)
def test_no_selector_beats_the_bound(name, binary):
    X, y = binary
    model = MODELS[name]
    best = BestSubsetSelector(20, estimator=model).fit(X, y)
    rivals = [
        BSSSelector(20, estimator=model).fit(X, y),
        RFE(LinearSVC(), n_features_to_select=20).fit(X, y),
        SelectKBest(f_classif, k=20).fit(X, y),
        np.random.default_rng(0).choice(200, 20, replace=False),
    ]
    # One C for all of them.
    fixed = at_scale(X[:, best.indices_]) if model is None else model
    own = certify(X, y, best.indices_, estimator=fixed, realised=False).optimality
    assert own.ratio > 0.9
    for rival in rivals:
        chosen = getattr(rival, "indices_", rival)
        other = certify(X, y, chosen, estimator=fixed, realised=False).optimality
        assert other.objective >= own.lower_bound
        assert other.ratio <= own.ratio + 1e-3


@pytest.mark.parametrize("model", [Ridge(alpha=2.0), TUBE])
def test_numbers_are_predicted_too(model):
    X, _ = small()
    y = X[:, :3].sum(axis=1)
    closeness = certify(X, y, [0, 1, 2], estimator=model).optimality
    assert closeness.ratio > 0.8
    assert closeness.margin is None


def test_the_layer_is_said_left_out_and_stored(binary):
    X, y = binary
    selector = BestSubsetSelector(20).fit(X, y)
    certificate = certify(X, y, selector)
    closeness = certificate.optimality
    assert closeness.size == 20
    assert "o other 20 features can have a training objective" in str(certificate)
    assert certify(X, y, selector, optimality=False).optimality is None
    assert certify(selector).optimality.ratio > 0.9
    assert selector.certificate_.optimality is None
    assert Certificate.from_dict(certificate.to_dict()) == certificate
    assert replace(certificate, optimality=None) != certificate
    assert closeness.fewest <= 20
    assert not (closeness.always & closeness.never).any()
    assert not closeness.always[~selector.support_].any()
    assert not closeness.never[selector.support_].any()


def test_a_hard_model_chooses_for_the_margin():
    X, y = make_relevant_features(40, 300, 20, random_state=1)
    by_name = {
        name: BestSubsetSelector(40, estimator=LinearSVC(C=name, **FREE)).fit(X, y)
        for name in ("soft", "scale", "hard")
    }
    margins = {
        name: certify(X, y, selector.indices_).optimality.margin
        for name, selector in by_name.items()
    }
    assert margins["hard"] > margins["scale"] > margins["soft"]
    soft = certify(X, y, by_name["soft"]).optimality
    assert soft.ratio > certify(X, y, by_name["hard"]).optimality.ratio > 0.5
    assert soft.ratio > 0.99


def test_margins_of_separable_classes_are_bounded():
    X, y = make_relevant_features(40, 300, 20, random_state=1)
    closeness = certify(X, y, BestSubsetSelector(40).fit(X, y)).optimality
    assert 0 < closeness.margin <= closeness.widest_margin
    worse = certify(X, y, np.arange(100, 140)).optimality
    assert worse.margin is None or worse.margin <= closeness.widest_margin
    assert worse.margin_ratio is None or worse.margin_ratio < closeness.margin_ratio
    assert "widest margin" in str(closeness)
    # Classes that overlap by all features have no margin.
    assert certify(*small(), [0, 1]).optimality.margin is None


@pytest.mark.parametrize("cost", [0.01, 0.3, 7.0])
def test_the_objective_is_enclosed_from_above_and_the_bound_from_below(cost):
    X, y = np.array([[1.0], [-1.0]]), [1, 0]
    closeness = certify(X, y, [0], estimator=LinearSVC(C=cost, fit_intercept=False)).optimality
    exact = 2 * Fraction(cost) / (1 + 4 * Fraction(cost))
    assert Fraction(closeness.lower_bound) <= exact <= Fraction(closeness.objective)
    assert closeness.ratio > 1 - 1e-9


def test_c_is_that_of_the_chosen_columns():
    X, y = small()
    X *= np.arange(1, 9)
    model = at_scale(X[:, [0, 1]])
    closeness = certify(X, y, [0, 1], realised=False).optimality
    assert f"C={model.C:.4g}" in closeness.model
    fixed = certify(X, y, [0, 1], estimator=model, realised=False).optimality
    assert closeness.objective == pytest.approx(fixed.objective, rel=1e-3)


def test_no_set_has_a_wider_margin_than_the_bound():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((10, 7)), np.arange(10) % 2
    margins = {s: hard_margin(X[:, s], 2.0 * y - 1) for s in combinations(range(7), 5)}
    separating = [s for s, margin in margins.items() if margin is not None]
    widest = max(margins[s].lower for s in separating)
    for chosen in separating:
        closeness = certify(X, y, list(chosen), realised=False).optimality
        assert closeness.margin <= margins[chosen].upper
        assert widest <= closeness.widest_margin <= 2 * widest


@pytest.mark.parametrize("factor", [1e-100, 1e-3, 1e3, 1e15])
def test_units_do_not_matter(factor, binary):
    X, y = binary
    plain, scaled = (
        certify(Z, y, np.arange(20), realised=False).optimality for Z in (X, X * factor)
    )
    assert scaled.ratio == pytest.approx(plain.ratio, rel=1e-6)
    np.testing.assert_array_equal(scaled.always, plain.always)


def test_a_point_far_from_the_origin_does_not_matter(binary):
    X, y = binary
    both = [certify(Z, y, np.arange(20), realised=False) for Z in (X, X + 1e4)]
    plain, moved = (certificate.optimality for certificate in both)
    assert moved.ratio == pytest.approx(plain.ratio, rel=1e-5)


def test_sparse_rows_and_blocks_are_bounded_as_dense_ones():
    X, y = make_relevant_features(1500, 60, 8, random_state=0)
    X[np.abs(X) < 0.8] = 0.0
    model, chosen = LinearSVC(C=0.01), np.arange(10)
    dense = certify(X, y, chosen, estimator=model, realised=False).optimality
    for Z, labels in (
        (sparse.csr_array(X), y),
        (ArrayBlocks(X, y, n_rows=400), None),
        (da.from_array(X, chunks=(400, -1)), da.from_array(y, chunks=400)),
    ):
        other = certify(Z, labels, chosen, estimator=model, realised=False).optimality
        # Blocks gather the support vectors of all features, and other rows have a loss, too.
        assert dense.objective <= other.objective * (1 + 1e-6)
        assert other.objective == pytest.approx(dense.objective, rel=0.02)
        assert other.ratio == pytest.approx(dense.ratio, rel=0.05)
        assert other.lower_bound <= dense.objective


def test_rows_of_blocks_that_were_not_gathered_have_no_margin(monkeypatch):
    monkeypatch.setattr(support, "FEW_ROWS", 0)
    y = np.tile([0, 1], 100)
    signs = 2.0 * y - 1
    # The second feature separates the rows near the edge only, and only these are gathered.
    near = np.arange(200) % 50 < 2
    X = np.column_stack([np.where(near, 1.0, 5.0) * signs, np.where(near, 1.0, -1.0) * signs])
    blocks = ArrayBlocks(X, y, n_rows=50)
    model = LinearSVC(C=1.0, dual=False)
    assert certify(X, y, [1], estimator=model).optimality.margin is None
    closeness = certify(blocks, None, [1], estimator=model, realised=False).optimality
    assert closeness.n_rows < 200
    assert closeness.margin is None


@pytest.mark.filterwarnings("ignore:the features have standard deviations")
@pytest.mark.parametrize(
    "parameters",
    [
        {"fixed_features": [45]},
        {"feature_groups": np.repeat(np.arange(25), 2)},
        {"estimator": LinearSVC(C=1e-4)},
    ],
)
def test_blocks_of_support_vectors_have_the_best_subset_of_all_rows(parameters, monkeypatch):
    monkeypatch.setattr(support, "FEW_ROWS", 0)
    X, y = make_relevant_features(150, 50, 10, random_state=0)
    y[::5] = -y[::5]
    expected = BestSubsetSelector(8, **parameters).fit(X, y)
    assert len(expected.support_rows_) == 150
    for Z, labels in (
        (ArrayBlocks(X, y, n_rows=40), None),
        (ArrayBlocks(sparse.csr_array(X), y, n_rows=40), None),
        (da.from_array(X, chunks=(60, -1)), da.from_array(y, chunks=60)),
    ):
        selector = BestSubsetSelector(8, **parameters).fit(Z, labels)
        np.testing.assert_array_equal(selector.indices_, expected.indices_)
        np.testing.assert_allclose(selector.scales_, expected.scales_)
        own, other = (
            certify(*rows, chosen, realised=False).optimality
            for rows, chosen in (((Z, labels), selector), ((X, y), expected))
        )
        assert own.ratio == pytest.approx(other.ratio, rel=1e-4)


def test_support_rows_of_one_class_have_no_margin():
    X = np.array([[9.5, -1.0], [10.0, -0.5], [10.5, 0.5], [0.0, 1.3], [-0.2, 1.1], [-0.2, -1.1]])
    y = np.array([0, 0, 0, 1, 1, 1])
    selector = BestSubsetSelector(1, estimator=LinearSVC(C=50.0, intercept_scaling=0.2)).fit(X, y)
    assert len(np.unique(y[selector.fit_result_.support.rows.places])) == 1
    assert selector.fit_result_.support.rows.n_rows > 1
    assert certify(selector, realised=False).optimality.margin is None


def test_groups_and_always_included_features_count():
    X, y = make_relevant_features(50, 40, 6, random_state=0)
    groups = np.repeat(np.arange(20), 2)
    selector = BestSubsetSelector(5, feature_groups=groups, fixed_features=[39]).fit(X, y)
    assert {38, 39} <= set(selector.indices_.tolist())
    closeness = certify(X, y, selector).optimality
    assert closeness.size == 5
    assert "no other 5 groups with the 1 fixed among them can have" in str(closeness).lower()
    # It is in all sets that are compared, which proves nothing about it.
    assert not closeness.always[[38, 39]].any()
    model = at_scale(X[:, selector.indices_])
    rng = np.random.default_rng(0)
    for _ in range(30):
        other = np.flatnonzero(np.isin(groups, [19, *rng.choice(19, 4, replace=False)]))
        tried = certify(X, y, other, estimator=model, realised=False).optimality
        assert tried.objective >= closeness.lower_bound


def test_weights_of_classes_count(binary):
    X, y = binary
    rare = np.concatenate([np.flatnonzero(y == y[0])[:6], np.flatnonzero(y != y[0])])
    weighted = LinearSVC(C=0.1, class_weight="balanced", dual=False)
    selector = BestSubsetSelector(15, estimator=weighted).fit(X[rare], y[rare])
    assert certify(X[rare], y[rare], selector).optimality.ratio > 0.85


def test_without_labels_nothing_is_compared():
    X, _ = small()
    assert certify(X, None, [0, 1], rows="all").optimality is None
    assert default_model().C == "scale"
