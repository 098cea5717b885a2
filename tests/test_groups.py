"""Features in groups: each is chosen as a whole, and what is proven stays proven."""

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC

from certifeature import BSSSelector, LeverageScoreSelector, RandomSelector, SelectorCV, certify
from certifeature.certificate import Certificate
from certifeature.certificate.promise import sampling_promise
from certifeature.comparison import compare
from certifeature.datasets import make_relevant_features
from certifeature.rows.blocks import ArrayBlocks
from certifeature.sparsify.choice import as_column_choice, as_groups
from certifeature.sparsify.sampling import leverage_sample

KINDS = [BSSSelector, LeverageScoreSelector, RandomSelector]


@pytest.fixture(scope="module")
def data():
    X, y = make_relevant_features(120, 400, 30, random_state=0)
    return X, y


@pytest.fixture(scope="module")
def labels():
    """Groups of 1 to 9 features, which lie anywhere."""
    rng = np.random.default_rng(1)
    return rng.permutation(np.repeat(np.arange(400), rng.integers(1, 10, 400))[:400])


def before(name):
    """Return the name of a feature without what follows the last underscore."""
    return name.rpartition("_")[0]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"order": "coef", "rescale": "each", "estimator": SVC(kernel="linear"), "trust": 0.3},
        {"order": ("stable", "cover"), "estimator": LogisticRegression()},
        {"order": "leverage", "supervised": False, "fixed_features": [7, 3]},
        {"n_features_to_select": "certified"},
        {"n_features_to_select": 0.1, "guarantee": "full"},
    ],
    ids=str,
)
def test_groups_of_one_are_single_features(data, options):
    options = {"n_features_to_select": 30} | options
    alone = BSSSelector(**options).fit(*data)
    grouped = BSSSelector(**options, feature_groups=np.arange(400)).fit(*data)
    np.testing.assert_array_equal(grouped.indices_, alone.indices_)
    np.testing.assert_array_equal(grouped.scales_, alone.scales_)
    np.testing.assert_array_equal(grouped.ranking_, alone.ranking_)
    np.testing.assert_array_equal(grouped.reasons_, alone.reasons_)
    np.testing.assert_array_equal(grouped.group_indices_, alone.indices_)
    assert grouped.certificate_.measured_growth == alone.certificate_.measured_growth
    assert grouped.certificate_.promised_growth == alone.certificate_.promised_growth


@pytest.mark.parametrize("kind", [LeverageScoreSelector, RandomSelector])
def test_draws_of_groups_of_one_are_those_of_single_features(data, kind):
    alone = kind(30).fit(*data)
    grouped = kind(30, feature_groups=np.arange(400)).fit(*data)
    np.testing.assert_array_equal(grouped.indices_, alone.indices_)
    np.testing.assert_array_equal(grouped.scales_, alone.scales_)
    assert grouped.certificate_.lambda_max == alone.certificate_.lambda_max


@pytest.mark.parametrize("kind", KINDS)
def test_groups_are_whole_and_have_one_scale(data, labels, kind):
    selector = kind(25, feature_groups=labels, rescale="each").fit(*data)
    groups = selector.feature_groups_
    assert len(selector.group_indices_) <= 25
    expected = np.flatnonzero(np.isin(groups, selector.group_indices_))
    np.testing.assert_array_equal(selector.get_support(indices=True), expected)
    # Equal labels are equal groups.
    assert len(np.unique(groups)) == len(np.unique(labels))
    assert len(np.unique(np.stack([groups, labels]), axis=1).T) == len(np.unique(labels))
    for group in selector.group_indices_:
        assert len(np.unique(selector.scales_[groups[selector.indices_] == group])) == 1
    certificate = certify(*data, selector)
    assert certificate.n_groups == len(selector.group_indices_)
    assert certificate.n_selected == len(expected)
    counts = f"{certificate.n_groups} groups, {certificate.n_selected} columns"
    assert counts in str(certificate)
    assert Certificate.from_dict(certificate.to_dict()) == certificate


def test_attributes_tell_of_groups(data, labels):
    selector = BSSSelector(25, feature_groups=labels).fit(*data)
    assert len(selector.reasons_) == len(selector.group_indices_) == 25
    assert selector.transform(data[0]).shape[1] == selector.n_features_ > 25
    for values in (selector.scores_, selector.trusted_scores_, selector.ranking_):
        assert values.shape == (400,)
        assert all(np.ptp(values[labels == label]) == 0 for label in np.unique(labels))
    assert (selector.ranking_[selector.support_] == 1).all()
    assert selector.ranking_.max() == 1 + len(np.unique(labels)) - 25
    names = [selector.group_names_[number] for number in selector.feature_groups_]
    assert names == [str(label) for label in labels]
    choice = as_column_choice(selector, 400)
    np.testing.assert_array_equal(choice.groups, selector.feature_groups_[selector.indices_])
    assert len(choice.reasons) == len(choice.indices)


def test_a_fraction_is_one_of_the_groups(data, labels):
    selector = BSSSelector(0.5, feature_groups=labels).fit(*data)
    assert selector.n_features_to_select_ == len(np.unique(labels)) // 2
    with pytest.warns(UserWarning, match="means 1000 groups and X has .*: all are kept"):
        selector = BSSSelector(1000, feature_groups=labels).fit(*data)
    assert selector.support_.all()
    assert (selector.reasons_ == "cover").all()


def test_groups_can_be_given_in_four_ways(data):
    X, y = data
    names = [f"{'abcdefgh'[i % 8]}_{i}" if i < 80 else f"alone{i}" for i in range(400)]
    frame = pd.DataFrame(X, columns=names)
    listed = [[i for i in range(80) if i % 8 == k] for k in range(8)]
    given = {
        "indices": listed,
        "names": [[names[i] for i in group] for group in listed],
        "labels": [before(name) for name in names],
        "callable": before,
        "arrays": [np.array(group) for group in listed],
        "none": [before(name) or None for name in names],
    }
    fitted = [BSSSelector(20, feature_groups=form).fit(frame, y) for form in given.values()]
    assert fitted[3].group_names_[:9] == [*"abcdefgh", "alone80"]
    for selector in fitted:
        np.testing.assert_array_equal(selector.indices_, fitted[0].indices_)
        assert len(np.unique(selector.feature_groups_)) == 8 + 320
    assert fitted[0].n_features_ > 20


def test_always_included_features_bring_their_groups(data, labels):
    selector = BSSSelector(25, feature_groups=labels, fixed_features=[5, 17]).fit(*data)
    fixed = selector.group_indices_[selector.reasons_ == "fixed"]
    np.testing.assert_array_equal(fixed, selector.feature_groups_[[5, 17]])
    assert np.isin(np.flatnonzero(np.isin(labels, labels[[5, 17]])), selector.indices_).all()
    assert selector.certificate_.n_fixed == 2
    with pytest.raises(ValueError, match="fixed_features names 2 groups, more than the 1"):
        selector.set_params(n_features_to_select=1).fit(*data)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([[0, 1], [1, 2]], "column 1 is in two feature_groups, 0 and 1; groups must not overlap"),
        ([[0, 1], []], r"feature_groups\[1\] is empty; leave it out"),
        ([["gene 1", "gene 2"]], r"feature_groups\[0\] gives names, but X has none"),
        ([[0, 400]], r"feature_groups\[0\] names column 400, but X has columns 0 to 399"),
        ([[0, 0]], r"feature_groups\[0\] names a column twice"),
        (np.arange(399), "a label for each of the 400 features; got 399 values"),
        (before, "function of names, and X has none; pass a data frame"),
        (3, "'feature_groups' parameter of BSSSelector must be an array-like"),
    ],
)
def test_groups_that_make_no_sense_are_named(data, groups, message):
    with pytest.raises(ValueError, match=message):
        BSSSelector(20, feature_groups=groups).fit(*data)


def test_unknown_names_are_named(data):
    frame = pd.DataFrame(data[0]).add_prefix("gene ")
    with pytest.raises(ValueError, match="X has no feature named gene 400"):
        BSSSelector(20, feature_groups=[["gene 1", "gene 400"]]).fit(frame, data[1])


@pytest.mark.parametrize("kind", KINDS)
def test_sparse_rows_have_the_same_groups(data, labels, kind):
    X, y = data
    X = np.where(np.abs(X) > 0.7, X, 0.0)
    expected = kind(25, feature_groups=labels).fit(X, y)
    found = kind(25, feature_groups=labels).fit(sparse.csr_array(X), y)
    np.testing.assert_array_equal(found.indices_, expected.indices_)


@pytest.mark.parametrize("kind", KINDS)
def test_blocks_and_dask_take_groups(data, labels, kind):
    X, y = data
    y = np.where(y == y[0], 1, -1)
    blocks = ArrayBlocks(X, y, n_rows=30)
    selector = kind(25, feature_groups=labels, estimator=LinearSVC()).fit(blocks)
    groups = selector.group_indices_
    assert 0 < len(groups) <= 25
    np.testing.assert_array_equal(
        np.sort(selector.indices_), np.flatnonzero(np.isin(selector.feature_groups_, groups))
    )
    lazy = da.from_array(X, chunks=(30, 400)), da.from_array(y, chunks=30)
    again = kind(25, feature_groups=labels, estimator=LinearSVC()).fit(*lazy)
    np.testing.assert_array_equal(again.indices_, selector.indices_)


@pytest.mark.slow
@settings(max_examples=2 * settings.default.max_examples)
@given(
    seed=st.integers(0, 2**32 - 1),
    largest=st.sampled_from([1, 3, 10]),
    model=st.sampled_from([None, LogisticRegression(C=0.1), SVC(kernel="linear", C=0.1)]),
    order=st.sampled_from(["auto", "coef", "cover", "leverage"]),
    trust=st.sampled_from([0.0, 0.3, "auto"]),
    rescale=st.sampled_from(["each", "common"]),
)
def test_layers_of_the_certificate_nest(seed, largest, model, order, trust, rescale):
    if order == "cover":
        trust = 0.0
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(12, 40)), int(rng.integers(60, 150))
    X, y = rng.standard_normal((n, d)) * rng.exponential(size=d), np.arange(n) % 2
    groups = rng.permutation(np.repeat(np.arange(d), rng.integers(1, largest + 1, d))[:d])
    size = int(rng.integers(2, len(np.unique(groups))))
    options = {"order": order, "trust": trust, "estimator": model, "rescale": rescale}
    selector = BSSSelector(size, feature_groups=groups, **options).fit(X, y)
    certificate = certify(X, y, selector)
    slack = 1 + 1e-6
    assert certificate.promised_growth * slack >= certificate.measured_growth
    if certificate.realised_growth is not None:
        assert certificate.measured_growth * slack >= certificate.realised_growth
    promise = certificate.a_priori
    if promise is not None and certificate.exact:
        assert promise.lambda_min <= certificate.lambda_min * slack + 1e-12


def test_the_promise_counts_groups(data):
    """20 of 40 groups and 8 directions: what 20 picks of single features would promise."""
    X = data[0][:8]
    options = {"order": "leverage", "rescale": "each", "supervised": False, "basis": "exact"}
    selector = BSSSelector(20, feature_groups=np.arange(400) // 10, **options).fit(X)
    promise = selector.certificate_.a_priori
    assert promise.n_picks == 20
    assert promise.lambda_min == pytest.approx((1 - np.sqrt(8 / 20)) ** 2)
    assert selector.certificate_.lambda_min >= promise.lambda_min
    assert "BSS made 20 picks of groups for 8 directions" in str(selector.certificate_)
    assert selector.certificate_.n_selected == 10 * selector.certificate_.n_groups


def test_uniform_draws_promise_by_the_leverage_of_groups(rng):
    X = np.linalg.qr(rng.uniform(1, 2, (400, 1)) * rng.choice([-1, 1], (400, 4)))[0].T
    groups = rng.permutation(np.arange(400) // 2)
    selector = RandomSelector(190, feature_groups=groups, supervised=False).fit(X)
    coherence = 200 * np.bincount(groups, (X**2).sum(axis=0)).max()
    expected = sampling_promise("uniform sampling", 4, coherence, 190)
    assert selector.certificate_.a_priori.lambda_min == pytest.approx(expected.lambda_min)


def test_the_order_of_columns_has_no_influence(data, labels):
    X, y = data
    order = np.random.default_rng(5).permutation(400)
    expected = BSSSelector(25, feature_groups=labels).fit(X, y)
    found = BSSSelector(25, feature_groups=labels[order]).fit(X[:, order], y)
    np.testing.assert_array_equal(np.sort(order[found.indices_]), np.sort(expected.indices_))


def test_a_copy_of_a_group_is_not_chosen(data):
    X, y = data
    X = np.hstack([X[:, :40], X[:, :40]])
    selector = BSSSelector(10, feature_groups=np.arange(80) // 4).fit(X, y)
    assert len(np.unique(selector.group_indices_ % 10)) == 10


def test_a_group_that_carries_the_signal_together_is_found(data):
    """No feature of it is outstanding, but all of them together are."""
    rng = np.random.default_rng(3)
    y = np.arange(200) % 2
    X = rng.standard_normal((200, 300))
    X[:, 120:150] += 0.25 * (2 * y[:, None] - 1)
    selector = BSSSelector(3, feature_groups=np.arange(300) // 30).fit(X, y)
    assert selector.group_indices_[0] == 4


def test_draws_of_groups_are_unbiased(rng):
    """The mean of VᵀRRᵀV is the identity."""
    vectors = np.linalg.qr(rng.standard_normal((60, 4)))[0]
    groups = rng.permutation(np.repeat(np.arange(20), [1, 5] * 10))
    total, n_draws = np.zeros((4, 4)), 4000
    for seed in range(n_draws):
        sample = leverage_sample(vectors, 12, groups=groups, random_state=seed)
        chosen = vectors[sample.indices] * sample.scales[:, None]
        total += chosen.T @ chosen / n_draws
    np.testing.assert_allclose(total, np.eye(4), atol=0.06)


@given(seed=st.integers(0, 2**32 - 1))
def test_scores_of_groups(seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 6, 30)
    groups = as_groups(labels, 30, None)
    numbers = [groups.labels == number for number in range(len(groups))]
    scores = rng.random(30)
    norms = [np.linalg.norm(scores[own]) for own in numbers]
    np.testing.assert_allclose(groups.scores(scores), norms)
    scores[rng.random(30) < 0.5] = -np.inf
    found = groups.scores(scores)
    for own, score in zip(numbers, found, strict=True):
        finite = scores[own][scores[own] > -np.inf]
        expected = np.linalg.norm(finite) if finite.size else -np.inf
        assert score == pytest.approx(expected)
    scores = rng.standard_normal(30)
    np.testing.assert_array_equal(groups.scores(scores), [scores[own].max() for own in numbers])


def table(n_rows):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((n_rows, 3)), columns=["age", "height", "weight"])
    for name in ("site", "colour", "month"):
        frame[name] = rng.choice(list("ABCDEFGH"), n_rows)
    # In some folds the encoder has no column for it.
    frame.loc[0, "colour"] = "rare"
    y = (frame["site"].isin(list("ABC")) ^ (rng.random(n_rows) < 0.1)).astype(int)
    return frame, y


def test_categories_stay_together_in_every_fold():
    frame, y = table(120)
    encoder = make_column_transformer(
        (OneHotEncoder(sparse_output=False, handle_unknown="ignore"), ["site", "colour", "month"]),
        (StandardScaler(), ["age", "height", "weight"]),
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")
    model = make_pipeline(encoder, BSSSelector(1, feature_groups=before), LogisticRegression())
    assert cross_val_score(model, frame, y, cv=5).mean() > 0.8
    selector = model.fit(frame, y)[1]
    assert [selector.group_names_[group] for group in selector.group_indices_] == ["site"]
    assert [before(name) for name in selector.get_feature_names_out()] == ["site"] * 8


def test_sizes_found_by_cross_validation_count_groups():
    frame, y = table(120)
    X = pd.get_dummies(frame, dtype=float)
    search = SelectorCV(BSSSelector(feature_groups=before), min_features_to_select=1)
    search.fit(X, y)
    assert search.cv_results_["n_features"].tolist() == [1, 2, 6]
    assert search.n_features_ == 1
    assert search.transform(X).shape == (120, 8)
    assert len(search.reasons_) == len(search.group_indices_) == 1


def test_certify_and_compare_take_selectors_with_groups(data, labels):
    X, y = data
    selector = BSSSelector(25, feature_groups=labels)
    certificate = certify(X, y, selector.fit(X, y), cv=3, n_repeats=1)
    assert certificate.n_groups == 25
    assert certify(selector).measured_growth == certificate.measured_growth
    assert certify(selector).n_groups == 25
    compared = compare(X, y, [10, 25], methods=[selector], cv=3, n_repeats=1, tune=False)
    found = {row.size: row.n_features for row in compared.contenders if row.method == "BSSSelector"}
    # Sizes are groups, and what is counted afterwards are columns.
    assert found[10] > 10
    assert found[25] > found[10]
