"""Deterministic sparsification: the theorem, and agreement with Algorithm 1 written directly."""

import numpy as np
import pytest
from direct import direct_bss
from hypothesis import given, settings
from hypothesis import strategies as st
from pairs import pairwise

from certifeature.sparsify.bss import Barriers, bss

SCALINGS = {
    "even": lambda rng, d: np.ones(d),
    "exponential": lambda rng, d: rng.exponential(size=d),
    "heavy tail": lambda rng, d: rng.pareto(1.2, size=d) + 1e-3,
    "mostly zero": lambda rng, d: rng.random(d) < 0.4,
    "tiny and huge": lambda rng, d: 10.0 ** rng.uniform(-9, 0, size=d),
    "pairs of duplicates": lambda rng, d: np.repeat(rng.random(d), 2)[:d],
}
PRIORITIES = {
    "norm": lambda rng, V: None,
    "random": lambda rng, V: rng.random(len(V)),
    "smallest norm first": lambda rng, V: -np.linalg.norm(V, axis=1),
    "all equal": lambda rng, V: np.ones(len(V)),
    "mostly infinite": lambda rng, V: np.where(np.arange(len(V)) % 9, -np.inf, rng.random(len(V))),
    "some infinite": lambda rng, V: np.where(rng.random(len(V)) < 0.3, -np.inf, rng.random(len(V))),
}


def random_basis(rng, n_features, n_components, scaling):
    scales = SCALINGS[scaling](rng, n_features)
    rows = rng.standard_normal((n_features, n_components)) * scales[:, None]
    # Householder QR gives orthonormal columns whatever the rank of the rows.
    return np.linalg.qr(rows)[0]


def eigenvalues(vectors, sample):
    chosen = vectors[sample.indices] * sample.scales[:, None]
    return np.linalg.eigvalsh(chosen.T @ chosen)


@pytest.mark.slow
@settings(max_examples=10 * settings.default.max_examples)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_components=st.integers(1, 12),
    spare_features=st.integers(0, 60),
    spare_picks=st.one_of(st.integers(1, 3), st.integers(1, 80)),
    scaling=st.sampled_from(sorted(SCALINGS)),
    ranking=st.sampled_from(sorted(PRIORITIES)),
)
def test_eigenvalues_lie_between_the_proven_bounds(
    seed, n_components, spare_features, spare_picks, scaling, ranking
):
    rng = np.random.default_rng(seed)
    vectors = random_basis(rng, n_components + spare_features, n_components, scaling)
    n_select = n_components + spare_picks
    sample = bss(vectors, n_select, priority=PRIORITIES[ranking](rng, vectors))
    spectrum = eigenvalues(vectors, sample)
    ratio = np.sqrt(n_components / n_select)
    assert (1 - ratio) ** 2 * (1 - 1e-9) <= spectrum[0]
    assert spectrum[-1] <= (1 + ratio) ** 2 * (1 + 1e-9)
    assert len(sample.indices) <= n_select
    assert len(np.unique(sample.indices)) == len(sample.indices)
    assert (sample.scales > 0).all()


@pytest.mark.parametrize(
    ("shape", "scaling", "ranking"),
    pairwise(
        [(40, 1, 2), (40, 5, 6), (200, 20, 21), (200, 20, 90), (50, 10, 300), (400, 40, 160)],
        ["even", "exponential", "heavy tail", "tiny and huge"],
        ["norm", "random", "smallest norm first", "some infinite", "mostly infinite"],
    ),
    ids=str,
)
def test_same_picks_as_the_direct_algorithm(shape, scaling, ranking, rng):
    n_features, n_components, n_select = shape
    vectors = random_basis(rng, n_features, n_components, scaling)
    priority = PRIORITIES[ranking](rng, vectors)
    sample = bss(vectors, n_select, priority=priority)
    indices, weights = direct_bss(vectors, n_select, priority)
    np.testing.assert_array_equal(sample.indices, indices)
    np.testing.assert_allclose(sample.scales, weights, rtol=1e-6)


@pytest.mark.parametrize("ranking", ["norm", "random"])
def test_deep_scans_make_the_same_picks(ranking, rng):
    vectors = random_basis(rng, 3000, 24, "heavy tail")
    priority = PRIORITIES[ranking](rng, vectors)
    sample = bss(vectors, 200, priority=priority)
    indices, weights = direct_bss(vectors, 200, priority)
    assert len(indices) < 200
    np.testing.assert_array_equal(sample.indices, indices)
    np.testing.assert_allclose(sample.scales, weights, rtol=1e-6)


@pytest.mark.parametrize("scaling", ["exponential", "heavy tail"])
def test_what_is_looked_at_together_and_kept_changes_no_pick(scaling, rng, small_limits):
    vectors = random_basis(rng, 400, 20, scaling)
    priority = rng.random(400)
    expected = bss(vectors, 90, priority=priority).indices
    small_limits(HEAD=4, SMALL_HEAD=2, FIRST_LOOK=1, FIRST_BLOCK=4)
    np.testing.assert_array_equal(bss(vectors, 90, priority=priority).indices, expected)
    small_limits(MAX_ARRAY=1000, MAX_LISTED=1000)
    np.testing.assert_array_equal(bss(vectors, 90, priority=priority).indices, expected)


@given(seed=st.integers(0, 2**32 - 1), n_updates=st.integers(0, 9), room=st.floats(1e-3, 10))
def test_a_lowered_ceiling_is_above_the_surplus_and_below_the_ceiling(seed, n_updates, room):
    rng = np.random.default_rng(seed)
    n_components = 6
    start = rng.standard_normal((n_components, n_components))
    matrix = start @ start.T
    barriers = Barriers(np.array([-8.0, 40.0]), np.array([1.0, 2.0]), matrix, 9)
    ceiling = barriers.ceiling(barriers.step(), 3, room)
    for _ in range(n_updates):
        barriers.add(rng.standard_normal((1, 1, n_components)) / 2)
    step = barriers.step()
    form = _matrix_of(lambda v: step.surplus(v[None]), n_components)
    lowered = step.lowered(ceiling)
    slack = 1e-12 * np.abs(form).max()
    if lowered is None:
        assert n_updates > 0
    else:
        assert np.linalg.eigvalsh(np.diag(lowered[0]) - form)[0] >= -slack
        assert (lowered <= ceiling + slack).all()


def test_comes_back_where_all_further_features_are_ruled_out(rng, small_limits):
    """Long after the first features, thousands follow along a direction that has enough."""
    small_limits(HEAD=16)
    directions = np.concatenate([np.arange(40), np.zeros(3000, dtype=int), np.arange(40)])
    rows = np.zeros((len(directions), 40))
    rows[np.arange(len(rows)), directions] = np.where(np.arange(len(rows)) < 40, 1.0, 0.03)
    vectors = np.linalg.qr(rows)[0]
    priority = -np.arange(len(rows), dtype=float)
    priority[-40:] = -np.inf
    sample = bss(vectors, 100, priority=priority)
    indices, weights = direct_bss(vectors, 100, priority)
    assert sample.indices.tolist() == indices.tolist()
    np.testing.assert_allclose(sample.scales, weights, rtol=1e-6)


def _matrix_of(form, size):
    """Return the symmetric matrix of a quadratic form, from its values."""
    unit = np.eye(size)
    ends = form(unit)
    sums = form((unit[:, None] + unit[None, :]).reshape(-1, size)).reshape(size, size)
    return (sums - ends[:, None] - ends[None, :]) / 2


def test_surplus_is_the_difference_of_the_two_forms(rng):
    n_components = 7
    start = rng.standard_normal((n_components, n_components))
    matrix = start @ start.T
    barriers = Barriers(np.array([-5.0, 60.0]), np.array([1.0, 2.0]), matrix, 4)
    update, axes = rng.standard_normal(n_components), barriers.axes[0]
    barriers.add(update[None, None])
    # The potentials before the step are those of the matrix without the update.
    old = [np.trace(np.linalg.inv(s * (matrix - p * np.eye(7)))) for s, p in ((1, -5), (-1, 60))]
    matrix = matrix + np.outer(axes @ update, axes @ update)
    lower = np.linalg.inv(matrix + 4 * np.eye(7))
    upper = np.linalg.inv(62 * np.eye(7) - matrix)
    rise, fall = np.trace(lower) - old[0], old[1] - np.trace(upper)
    expected = lower @ lower / rise - lower - upper @ upper / fall - upper
    step = barriers.step()
    form = _matrix_of(lambda v: step.surplus(v[None]), n_components)
    np.testing.assert_allclose(axes @ form @ axes.T, expected, atol=1e-10 * np.abs(expected).max())


def test_repeats_happen_and_add_their_squared_scales(rng):
    vectors = random_basis(rng, 60, 10, "heavy tail")
    sample = bss(vectors, 50)
    assert len(sample.indices) < 50
    np.testing.assert_allclose(sample.scales, direct_bss(vectors, 50)[1], rtol=1e-6)


def test_ties_go_to_the_lower_index():
    vectors = np.full((12, 1), 1 / np.sqrt(12))
    assert bss(vectors, 5).indices.tolist() == [0, 1, 2, 3, 4]
    vectors = np.linalg.qr(np.random.default_rng(1).standard_normal((8, 8)))[0]
    assert bss(vectors, 20).indices.tolist() == direct_bss(vectors, 20)[0].tolist()


def test_priority_is_followed_while_admissible(rng):
    vectors = random_basis(rng, 500, 5, "even")
    priority = rng.random(500)
    first = bss(vectors, 100, priority=priority).indices[0]
    assert first == np.argmax(priority)


def test_negligible_columns_are_never_picked(rng):
    vectors = np.linalg.qr(rng.standard_normal((50, 5)))[0]
    vectors = np.vstack([vectors, np.zeros((3, 5)), np.full((2, 5), 1e-12)])
    priority = np.arange(55.0)
    assert bss(vectors, 40, priority=priority).indices.max() < 50


def test_result_does_not_depend_on_layout_or_precision_of_the_input(rng):
    vectors = np.linalg.qr(rng.standard_normal((100, 8)))[0]
    expected = bss(vectors, 30)
    for same in (np.asfortranarray(vectors), vectors.tolist(), vectors[::-1][::-1]):
        sample = bss(same, 30)
        np.testing.assert_array_equal(sample.indices, expected.indices)
        np.testing.assert_allclose(sample.scales, expected.scales, rtol=1e-9)


def test_rotating_the_basis_changes_nothing(rng):
    vectors = random_basis(rng, 100, 8, "exponential")
    rotation = np.linalg.qr(rng.standard_normal((8, 8)))[0]
    np.testing.assert_array_equal(bss(vectors, 30).indices, bss(vectors @ rotation, 30).indices)


@pytest.mark.parametrize(
    ("vectors", "n_select", "priority", "message"),
    [
        (np.eye(4)[:, :2], 2, None, "at least 3"),
        (np.eye(4)[:, :2], 0, None, "positive integer"),
        (np.eye(4)[:, :2], 2.5, None, "positive integer"),
        (np.eye(4)[:, :2], True, None, "positive integer"),
        (2 * np.eye(4)[:, :2], 4, None, "not orthonormal"),
        (np.ones((4, 2)), 4, None, "not orthonormal"),
        (np.full((4, 2), np.nan), 4, None, "NaN"),
        (np.empty((0, 0)), 4, None, "non-empty"),
        (np.ones(4), 4, None, "non-empty"),
        (np.eye(4)[:, :2], 4, np.ones(3), "each of the 4 features"),
        (np.eye(4)[:, :2], 4, np.full(4, np.nan), "NaN"),
    ],
)
def test_bad_input_is_named(vectors, n_select, priority, message):
    with pytest.raises(ValueError, match=message):
        bss(vectors, n_select, priority=priority)


@pytest.mark.parametrize("scaling", ["even", "exponential", "heavy tail"])
@pytest.mark.parametrize("n_select", [13, 20, 60])
def test_cover_takes_the_admissible_feature_of_the_largest_ratio(scaling, n_select, rng):
    """The picks are those of a direct version that inverts both matrices in every step."""
    vectors = random_basis(rng, 80, 12, scaling)
    sample = bss(vectors, n_select, priority="cover")
    np.testing.assert_array_equal(sample.steps.picks, _direct_cover(vectors, n_select))
    chosen = vectors[sample.indices] * sample.scales[:, None]
    eigenvalues = np.linalg.eigvalsh(chosen.T @ chosen)
    ratio = np.sqrt(12 / n_select)
    assert eigenvalues.min() >= (1 - ratio) ** 2 - 1e-9
    assert eigenvalues.max() <= (1 + ratio) ** 2 + 1e-9


def _direct_cover(vectors, n_select, groups=None):
    n_components = vectors.shape[1]
    ratio = np.sqrt(n_components / n_select)
    stretch = (1 + ratio) / (1 - ratio)
    reach, identity = np.sqrt(n_select * n_components), np.eye(n_components)
    matrix, picked = np.zeros((n_components, n_components)), []
    # Ratios tie at the start; the longest vector is taken then.
    groups = np.arange(len(vectors)) if groups is None else groups
    norms = np.sqrt(np.bincount(groups, np.sum(vectors**2, axis=1)))
    by_norm = np.argsort(-np.round(norms, 12), kind="stable")
    for step in range(n_select):
        below = [np.linalg.inv(matrix - (step + s - reach) * identity) for s in (0, 1)]
        above = [np.linalg.inv(stretch * (step + s + reach) * identity - matrix) for s in (0, 1)]
        rise = np.trace(below[1]) - np.trace(below[0])
        fall = np.trace(above[0]) - np.trace(above[1])

        def forms(form):
            return np.bincount(groups, np.einsum("ij,jk,ik->i", vectors, form, vectors))

        lower = forms(below[1] @ below[1]) / rise - forms(below[1])
        upper = forms(above[1] @ above[1]) / fall + forms(above[1])
        ratios = np.round(lower / upper, 9)
        free = np.where((ratios >= 1) & ~np.isin(np.arange(len(ratios)), picked), ratios, 0)
        keys = free if free.any() else ratios
        pick = by_norm[np.argmax(keys[by_norm])]
        picked.append(pick)
        members = vectors[groups == pick]
        matrix += 2 / (lower + upper)[pick] * members.T @ members
    return picked


@given(seed=st.integers(0, 2**32 - 1), n_chosen=st.integers(0, 25))
@settings(max_examples=25)
def test_features_that_are_in_already_are_not_picked_while_others_serve(seed, n_chosen):
    rng = np.random.default_rng(seed)
    vectors = random_basis(rng, 60, 6, "even")
    chosen = rng.choice(60, n_chosen, replace=False)
    sample = bss(vectors, 20, priority=rng.random(60), chosen=chosen)
    again = np.isin(sample.steps.picks, chosen)
    # With so many left to take, none that is in comes again, and the bounds are the same.
    assert not again.any()
    reduced = vectors[sample.indices] * sample.scales[:, None]
    assert np.linalg.eigvalsh(reduced.T @ reduced).min() >= (1 - np.sqrt(6 / 20)) ** 2 - 1e-9


def random_groups(rng, n_features, largest):
    """Return the group of each feature, in groups of 1 to so many, which lie anywhere."""
    sizes = rng.integers(1, largest + 1, n_features)
    labels = np.repeat(np.arange(n_features), sizes)[:n_features]
    return rng.permutation(labels)


def group_numbers(rng, n_groups):
    return {
        "norm": None,
        "random": rng.random(n_groups),
        "some infinite": np.where(rng.random(n_groups) < 0.3, -np.inf, rng.random(n_groups)),
    }


@pytest.mark.slow
@settings(max_examples=5 * settings.default.max_examples)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_components=st.integers(1, 12),
    largest=st.sampled_from([1, 2, 5, 50]),
    spare_picks=st.one_of(st.integers(1, 3), st.integers(1, 60)),
    scaling=st.sampled_from(sorted(SCALINGS)),
    ranking=st.sampled_from(["norm", "random", "some infinite", "cover"]),
    soft=st.booleans(),
)
def test_groups_keep_the_bounds_of_single_features(
    seed, n_components, largest, spare_picks, scaling, ranking, soft
):
    rng = np.random.default_rng(seed)
    n_features = n_components + int(rng.integers(0, 200))
    vectors = random_basis(rng, n_features, n_components, scaling)
    groups = random_groups(rng, n_features, largest)
    priority = "cover" if ranking == "cover" else group_numbers(rng, groups.max() + 1)[ranking]
    shares = 10.0 ** rng.uniform(-3, 0, n_components) if soft else np.ones(n_components)
    n_select = int(shares.sum()) + spare_picks
    coverage = shares if soft else None
    sample = bss(vectors, n_select, groups=groups, coverage=coverage, priority=priority)
    chosen = vectors[sample.indices] * sample.scales[:, None]
    roots = np.sqrt(shares)
    matrix = roots[:, None] * (chosen.T @ chosen) * roots + np.diag(1 - shares)
    spectrum, ratio = np.linalg.eigvalsh(matrix), np.sqrt(shares.sum() / n_select)
    assert (1 - ratio) ** 2 * (1 - 1e-9) <= spectrum[0]
    assert spectrum[-1] <= (1 + ratio) ** 2 * (1 + 1e-9)
    # Groups are whole, have one scale, and are at most as many as there are picks.
    np.testing.assert_array_equal(groups[sample.indices], sample.groups)
    numbers, scales = np.unique(sample.groups), np.zeros(groups.max() + 1)
    scales[sample.groups] = sample.scales
    assert len(numbers) <= n_select
    np.testing.assert_array_equal(np.sort(sample.indices), np.flatnonzero(np.isin(groups, numbers)))
    np.testing.assert_array_equal(scales[groups[sample.indices]], sample.scales)


@pytest.mark.parametrize("ranking", ["norm", "random", "some infinite", "cover"])
@pytest.mark.parametrize("soft", [False, True])
def test_groups_of_one_are_picked_as_single_features(ranking, soft, rng):
    vectors = random_basis(rng, 200, 12, "heavy tail")
    priority = "cover" if ranking == "cover" else group_numbers(rng, 200)[ranking]
    options = {"coverage": rng.random(12) if soft else None, "priority": priority}
    alone = bss(vectors, 40, **options)
    grouped = bss(vectors, 40, groups=np.arange(200), **options)
    np.testing.assert_array_equal(grouped.indices, alone.indices)
    np.testing.assert_array_equal(grouped.scales, alone.scales)
    np.testing.assert_array_equal(grouped.groups, alone.indices)


@pytest.mark.parametrize("largest", [3, 8, 50])
@pytest.mark.parametrize("scaling", ["even", "exponential", "heavy tail"])
@pytest.mark.parametrize(("soft", "ranking"), [(False, "norm"), (False, "random"), (True, "norm")])
def test_groups_are_those_of_the_direct_algorithm(largest, scaling, soft, ranking, rng):
    vectors = random_basis(rng, 900, 20, scaling)
    groups = random_groups(rng, 900, largest)
    coverage = 10.0 ** rng.uniform(-2, 0, 20) if soft else None
    priority = group_numbers(rng, groups.max() + 1)[ranking]
    sample = bss(vectors, 60, groups=groups, coverage=coverage, priority=priority)
    picks, weights = direct_bss(vectors, 60, priority, coverage, groups=groups)
    np.testing.assert_array_equal(sample.groups[np.diff(sample.groups, prepend=-1) != 0], picks)
    by_group = dict(zip(sample.groups.tolist(), sample.scales, strict=True))
    np.testing.assert_allclose([by_group[g] for g in picks], weights, rtol=1e-6)


def test_deep_scans_of_groups_make_the_same_picks(rng, small_limits):
    vectors = random_basis(rng, 1200, 16, "heavy tail")
    groups = random_groups(rng, 1200, 6)
    priority = rng.random(groups.max() + 1)
    expected = direct_bss(vectors, 100, priority, groups=groups)[0]
    small_limits(HEAD=4, SMALL_HEAD=2, FIRST_LOOK=1, FIRST_BLOCK=4)
    sample = bss(vectors, 100, groups=groups, priority=priority)
    assert list(dict.fromkeys(sample.groups.tolist())) == expected.tolist()
    taken = np.unique(groups)[::3]
    sample = bss(vectors, 30, groups=groups, priority=priority, chosen=taken)
    expected = direct_bss(vectors, 30, priority, chosen=taken, groups=groups)[0]
    assert list(dict.fromkeys(sample.groups.tolist())) == expected.tolist()


@pytest.mark.parametrize("scaling", ["even", "exponential", "heavy tail"])
def test_cover_takes_the_group_of_the_largest_ratio(scaling, rng):
    vectors = random_basis(rng, 300, 12, scaling)
    groups = random_groups(rng, 300, 6)
    sample = bss(vectors, 30, groups=groups, priority="cover")
    np.testing.assert_array_equal(sample.steps.picks, _direct_cover(vectors, 30, groups))


def test_groups_that_hold_the_same_directions(rng):
    """Each group spans everything, so that any few of them cover all directions."""
    vectors = np.tile(np.eye(6), (30, 1)) / np.sqrt(30)
    groups = np.repeat(np.arange(30), 6)
    sample = bss(vectors, 12, groups=groups)
    assert list(dict.fromkeys(sample.groups.tolist())) == list(range(12))
    spectrum = eigenvalues(vectors, sample)
    np.testing.assert_allclose(spectrum, spectrum[0])


@pytest.mark.parametrize("groups", [[0, 1, 3, 3], [-1, 0, 1, 1], [0, 0.5, 1, 1]])
def test_numbers_of_groups_that_make_no_sense_are_named(groups):
    with pytest.raises(ValueError, match="groups must be numbered 0, 1, 2 and so on"):
        bss(np.eye(4)[:, :2], 3, groups=groups)
    with pytest.raises(ValueError, match="each of the 2 groups"):
        bss(np.eye(4)[:, :2], 3, groups=[0, 0, 1, 1], priority=np.ones(4))
