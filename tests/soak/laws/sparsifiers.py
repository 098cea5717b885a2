"""Samples of orthonormal bases, random and adversarial."""

import numpy as np
from direct import direct_bss

from certifeature.sparsify import bss
from certifeature.sparsify.rrqr import rrqr
from certifeature.sparsify.sampling import leverage_sample, uniform
from soak.verdict import Violation

# What rounding may take from a bound.
_ROUNDING = 1e-9


def bss_keeps_its_bounds(rng):
    """Eigenvalues stay within (1 ∓ √(ℓ/r))² for any priority, and the picks are the direct ones."""
    V, is_random = draw_basis(rng)
    n_features, n_components = V.shape
    n_select = n_components + int(rng.integers(1, 3 * n_components + 3))
    priority = _draw_priority(rng, V)
    sample = bss(V, n_select, priority=priority)
    _check(sample, n_features, n_select)
    chosen = V[sample.indices] * sample.scales[:, None]
    eigenvalues = np.linalg.eigvalsh(chosen.T @ chosen)
    ratio = np.sqrt(n_components / n_select)
    if eigenvalues[0] < (1 - ratio) ** 2 * (1 - _ROUNDING) - _ROUNDING:
        raise Violation(f"λ = {eigenvalues[0]} is below {(1 - ratio) ** 2}")
    if eigenvalues[-1] > (1 + ratio) ** 2 * (1 + _ROUNDING):
        raise Violation(f"Λ = {eigenvalues[-1]} is above {(1 + ratio) ** 2}")
    # Elsewhere features tie, and rounding decides between them.
    if is_random:
        picks, weights = direct_bss(V, n_select, priority)
        if not np.array_equal(picks, sample.indices):
            raise Violation(f"picks {sample.indices.tolist()}, directly {picks.tolist()}")
        if not np.allclose(weights, sample.scales, rtol=1e-6, atol=0):
            raise Violation(f"scales differ by {np.abs(weights / sample.scales - 1).max()}")


def bss_keeps_its_bounds_with_shares(rng):
    """The same for directions that need no full coverage, with the sum of shares for ℓ."""
    V, is_random = draw_basis(rng)
    n_features, n_components = V.shape
    shares = 10.0 ** rng.uniform(-rng.choice([0.1, 2, 8]), 0, n_components)
    dimension = np.maximum(shares, 1e-6).sum()
    n_select = int(np.ceil(dimension)) + int(rng.integers(1, 3 * n_components + 3))
    priority = _draw_priority(rng, V)
    sample = bss(V, n_select, coverage=shares, priority=priority)
    _check(sample, n_features, n_select)
    chosen = V[sample.indices] * sample.scales[:, None]
    roots = np.sqrt(shares)
    matrix = roots[:, None] * (chosen.T @ chosen) * roots + np.diag(1 - shares)
    low, high = np.linalg.eigvalsh(matrix)[[0, -1]]
    ratio = np.sqrt(dimension / n_select)
    if low < (1 - ratio) ** 2 * (1 - _ROUNDING) - _ROUNDING:
        raise Violation(f"λ = {low} is below {(1 - ratio) ** 2}")
    if high > (1 + ratio) ** 2 * (1 + _ROUNDING):
        raise Violation(f"Λ = {high} is above {(1 + ratio) ** 2}")
    if is_random:
        picks, _ = direct_bss(V, n_select, priority, shares)
        if not np.array_equal(picks, sample.indices):
            raise Violation(f"picks {sample.indices.tolist()}, directly {picks.tolist()}")


def groups_keep_the_bounds(rng):
    """The same for groups of up to 50 features, with and without shares, whatever their sizes."""
    V, is_random = draw_basis(rng)
    if rng.random() < 0.5:
        # Groups that contain each other's directions.
        n_copies = int(rng.integers(2, 6))
        V, is_random = np.repeat(V, n_copies, axis=0) / np.sqrt(n_copies), False
    n_features, n_components = V.shape
    largest = int(rng.choice([1, 2, 5, 50]))
    labels = np.repeat(np.arange(n_features), rng.integers(1, largest + 1, n_features))
    groups = rng.permutation(labels[:n_features])
    n_groups = groups.max() + 1
    shares = np.ones(n_components)
    if rng.random() < 0.5:
        shares = 10.0 ** rng.uniform(-rng.choice([0.1, 2, 8]), 0, n_components)
    coverage = None if (shares == 1).all() else shares
    dimension = np.maximum(shares, 1e-6).sum()
    n_select = int(dimension) + int(rng.integers(1, 3 * n_components + 3))
    priority = [None, "cover", rng.random(n_groups), np.zeros(n_groups)][rng.integers(4)]
    sample = bss(V, n_select, groups=groups, coverage=coverage, priority=priority)
    picked = np.unique(sample.groups)
    if not 0 < len(picked) <= n_select:
        raise Violation(f"{len(picked)} groups for {n_select} picks")
    if not np.array_equal(np.sort(sample.indices), np.flatnonzero(np.isin(groups, picked))):
        raise Violation(f"groups {picked.tolist()} are not whole: {sample.indices.tolist()}")
    if any(np.ptp(sample.scales[sample.groups == group]) for group in picked):
        raise Violation("a group has several scales")
    chosen = V[sample.indices] * sample.scales[:, None]
    roots = np.sqrt(shares)
    matrix = roots[:, None] * (chosen.T @ chosen) * roots + np.diag(1 - shares)
    low, high = np.linalg.eigvalsh(matrix)[[0, -1]]
    ratio = np.sqrt(dimension / n_select)
    if low < (1 - ratio) ** 2 * (1 - _ROUNDING) - _ROUNDING:
        raise Violation(f"λ = {low} is below {(1 - ratio) ** 2}")
    if high > (1 + ratio) ** 2 * (1 + _ROUNDING):
        raise Violation(f"Λ = {high} is above {(1 + ratio) ** 2}")
    if is_random and not isinstance(priority, str):
        picks, _ = direct_bss(V, n_select, priority, coverage, groups=groups)
        if list(dict.fromkeys(sample.groups.tolist())) != picks.tolist():
            raise Violation(f"groups {sample.groups.tolist()}, directly {picks.tolist()}")


def draws_add_up(rng):
    """Squared scales times r·p are whole numbers that sum to r."""
    V, _ = draw_basis(rng)
    n_select, seed = int(rng.integers(1, 3 * len(V))), int(rng.integers(2**31))
    sample = leverage_sample(V, n_select, random_state=seed)
    _check(sample, len(V), n_select)
    chances = n_select * np.sum(V[sample.indices] ** 2, axis=1) / V.shape[1]
    counts = sample.scales**2 * chances
    if not np.allclose(counts, np.rint(counts), rtol=1e-6, atol=1e-9):
        raise Violation(f"scales stand for {counts} draws")
    if np.rint(counts).sum() != n_select:
        raise Violation(f"scales stand for {np.rint(counts).sum()} draws of {n_select}")
    n_uniform = int(rng.integers(1, len(V) + 1))
    sample = uniform(len(V), n_uniform, seed)
    _check(sample, len(V), n_uniform)
    if len(sample.indices) != n_uniform:
        raise Violation(f"{len(sample.indices)} columns for {n_uniform}")
    if not np.allclose(sample.scales, np.sqrt(len(V) / n_uniform)):
        raise Violation(f"scales {sample.scales}")


def pivots_are_farthest(rng):
    """Up to the rank, every pivot is as far from the span of those before as any column."""
    n, d = (int(size) for size in rng.integers(1, 25, size=2))
    X = rng.standard_normal((n, d)) * np.ldexp(1.0, rng.integers(-20, 20, d))
    if rng.random() < 0.3:
        X[:, rng.integers(d)] = X[:, rng.integers(d)]
    n_select = int(rng.integers(1, d + 1))
    sample = rrqr(X, n_select)
    _check(sample, d, n_select)
    if len(sample.indices) != n_select:
        raise Violation(f"{len(sample.indices)} columns for {n_select}")
    rest = X.astype(np.longdouble)
    start = np.sqrt((rest**2).sum(axis=0)).max()
    for pivot in sample.indices:
        distances = np.sqrt((rest**2).sum(axis=0))
        if distances.max() < 1e-10 * start:
            return
        if distances[pivot] < (1 - 1e-6) * distances.max():
            raise Violation(f"pivot {pivot} is {distances[pivot]} away, not {distances.max()}")
        direction = rest[:, pivot] / distances[pivot]
        for _ in range(2):
            rest = rest - np.outer(direction, direction @ rest)


def draw_basis(rng):
    """Return orthonormal columns, and whether they are generic."""
    n_components = int(rng.integers(1, 16))
    n_features = n_components + int(rng.integers(0, 80))
    kind = rng.integers(6)
    V = rng.standard_normal((n_features, n_components))
    if kind == 1:
        # A few features that nothing can replace.
        V[: rng.integers(1, n_components + 1)] *= 10 ** rng.uniform(1, 8)
    elif kind == 2:
        V *= 10 ** rng.uniform(-9, 0, (n_features, 1))
    elif kind == 3:
        V[rng.random(n_features) < 0.3] = 0
        V[:n_components] += np.eye(n_components)
    elif kind == 4:
        V = V[rng.integers(max(1, n_features // 3), size=n_features)]
        V[:n_components] += np.eye(n_components)
    elif kind == 5:
        # Copies of the identity: every feature is one direction.
        return _copies_of_identity(rng, n_features, n_components), False
    V = np.linalg.qr(V)[0]
    return np.linalg.qr(V)[0], kind == 0


def _copies_of_identity(rng, n_features, n_components):
    directions = np.r_[np.arange(n_components), rng.integers(n_components, size=n_features)]
    V = np.eye(n_components)[rng.permutation(directions)]
    return V / np.sqrt(V.sum(axis=0))


def _draw_priority(rng, V):
    kind = rng.integers(5)
    if kind == 0:
        return None
    norms = np.linalg.norm(V, axis=1)
    if kind == 1:
        return -norms
    if kind == 2:
        return np.zeros(len(V))
    priority = rng.standard_normal(len(V))
    if kind == 3:
        priority[rng.random(len(V)) < 0.3] = -np.inf
    return priority


def _check(sample, n_features, n_select):
    indices = sample.indices
    if not 0 < len(indices) <= n_select or len(np.unique(indices)) < len(indices):
        raise Violation(f"{indices.tolist()} are not at most {n_select} distinct features")
    if indices.min() < 0 or indices.max() >= n_features:
        raise Violation(f"{indices.tolist()} are not among {n_features} features")
    if sample.scales.shape != indices.shape:
        raise Violation(f"{sample.scales.shape} scales for {indices.shape} features")
    if not np.isfinite(sample.scales).all() or (sample.scales <= 0).any():
        raise Violation(f"scales {sample.scales}")
