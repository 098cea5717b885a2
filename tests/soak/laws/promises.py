"""What is promised before anything is measured, itself: not what rounding leaves of it."""

from contextlib import nullcontext

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import SVC, LinearSVC

from certifeature import BSSSelector
from soak import library
from soak.spectra import smallest_ratio
from soak.verdict import Undecided, Violation

_ROUNDING, _NOTHING = 1e-7, 1e-12
# Shares of directions are raised to this.
_LEAST_SHARE = 1e-6


def promises_are_kept(rng):
    """λ, with a ridge and without, is no less than BSS promised, however columns are scaled.

    Leading directions keep their promise with probability 0.99, but a single failure counts: theirs
    is far from being attained.
    """
    X, y, model = _draw(rng)
    selector = BSSSelector(
        int(rng.integers(1, X.shape[1])),
        estimator=model,
        order=["coef", "leverage", "cover"][rng.integers(3)],
        fixed_features=[0] if rng.random() < 0.2 else None,
        rescale=["common", "each", "each", False][rng.integers(4)],
    )
    if selector.order != "cover":
        selector.set_params(trust=float(rng.choice([0, 0.3])))
    n_directions = int(rng.integers(1, 8))
    limits = (library.with_few_directions, library.with_leading_directions, nullcontext)
    with limits[rng.integers(3)](n_directions):
        selector.fit(X, y)
    certificate, rows = selector.certificate_, X[selector.support_rows_]
    promise, chosen = certificate.a_priori, (selector.indices_, selector.scales_)
    if promise is None:
        return
    _order(promise.lambda_min, smallest_ratio(rows, *chosen), "λ", selector)
    if promise.regularised_min is not None:
        mu = certificate.regularised.mu
        _order(
            promise.regularised_min, smallest_ratio(rows, *chosen, mu), f"μ = {mu:.3g}", selector
        )
        if promise.probability == 1:
            measured = certificate.regularised.lambda_min
            _order(promise.regularised_min, measured, "measured", selector)


def promises_follow_theorems(rng):
    """A promise is no better than what theorems 5, 12, 14 and 16 say of the picks that were made.

    Picks are better than promised on all data that are known, so this is told from the numbers that
    the theorems are about: singular values, the number of picks, and what these have in the tail.
    """
    X, y, model = _draw(rng)
    selector = BSSSelector(
        int(rng.integers(1, X.shape[1])),
        estimator=model,
        order=["leverage", "cover"][rng.integers(2)],
        trust=0.0,
        rescale="each",
    )
    n_directions = int(rng.integers(1, 12))
    with library.with_few_directions(n_directions):
        selector.fit(X, y)
    promise = selector.certificate_.a_priori
    if promise is None or promise.probability < 1:
        raise Undecided("nothing is promised for certain")
    _, sizes, directions = np.linalg.svd(X[selector.support_rows_], full_matrices=False)
    n_picks = selector.n_features_to_select_
    if promise.regularised_min is None:
        ratio = np.sqrt(len(sizes) / n_picks)
        _order(promise.lambda_min, (1 - ratio) ** 2, "theorem 5", selector)
        most = min((1 + ratio) ** 2, selector.scales_.max() ** 2)
        _order(most, promise.lambda_max, "theorem 5", selector)
        return
    n_covered = max(n_directions, n_picks)
    mu = selector.certificate_.regularised.mu
    ridge = _ridge_of_dimension(sizes[:n_covered], mu, promise.dimension)
    shares = _shares(sizes, ridge)
    kept = (1 - np.sqrt(shares[:n_covered].sum() / n_picks)) ** 2
    tail = directions[n_covered:, selector.indices_] * selector.scales_
    if len(tail):
        tail = np.sqrt(shares[n_covered:])[:, None] * tail
        kept = _with_tail(kept, shares[n_covered], np.linalg.norm(tail, 2) ** 2)
    _order(promise.regularised_min, kept * mu / ridge, "theorem 16", selector)


def leading_directions_are_bounded(rng):
    """What theorem 17 needs to know of the directions outside bounds what is there."""
    n, d = int(rng.integers(10, 60)), int(rng.integers(10, 80))
    X = rng.standard_normal((n, d)) * 10 ** rng.uniform(-rng.choice([0, 1, 2]), 0, d)
    found = library.leading_directions(X, int(rng.integers(1, min(n, d) // 2)))
    if found is None:
        raise Undecided("leading directions are not told from rounding")
    left, sizes, tail, unit = found
    mu = float(10 ** rng.uniform(-3, 1) * np.linalg.norm(X, 2) ** 2)
    indices = rng.permutation(d)[: rng.integers(1, d)]
    scales = 10 ** rng.uniform(-0.5, 0.5, len(indices))
    share, energy, mixing, _ = tail(mu, indices, scales)
    X, mu = X * unit, mu * unit**2
    outside = X - left @ (left.T @ X)
    square, identity = np.linalg.norm(outside, 2) ** 2, np.eye(n)
    _order(square / (square + mu), share, "w")
    root = _inverse_root(outside @ outside.T + mu * identity)
    energy_there = np.linalg.norm(root @ (outside[:, indices] * scales), 2) ** 2
    _order(energy_there, energy, "s")
    root = _inverse_root((left * sizes**2) @ left.T + outside @ outside.T + mu * identity)
    largest = np.linalg.eigvalsh(root @ (X @ X.T + mu * identity) @ root)[-1]
    _order(largest, 1 + mixing, "1 + η")


def _draw(rng):
    """Return benign rows of full rank, whose directions are of like or of very different sizes."""
    n, d = int(rng.integers(4, 30)), int(rng.integers(6, 60))
    X = rng.standard_normal((n, d)) * 10 ** rng.uniform(-rng.choice([0, 1, 2]), 0, d)
    X *= 10 ** rng.uniform(-rng.choice([0, 1]), 0, (n, 1))
    y = np.arange(n) % 2
    C = float(10 ** rng.uniform(-3, 1))
    models = (
        SVC(kernel="linear", C=C),
        LinearSVC(C=C, dual=True, random_state=0),
        LogisticRegression(C=C),
        Ridge(alpha=1 / C),
    )
    return X, y, models[rng.integers(len(models))]


def _order(smaller, larger, what, selector=""):
    if smaller > larger * (1 + _ROUNDING) + _NOTHING:
        raise Violation(f"{what}: {smaller:.9g} is not below {larger:.9g}. {selector}")


def _shares(sizes, ridge):
    return np.maximum(sizes**2 / (sizes**2 + ridge), _LEAST_SHARE)


def _ridge_of_dimension(sizes, mu, dimension):
    """Return the ridge, μ or larger, for which the sum of shares is the dimension."""
    low, high = mu, mu
    while _shares(sizes, high).sum() > dimension * (1 + 1e-12):
        high *= 2
    for _ in range(100):
        middle = np.sqrt(low * high)
        low, high = (middle, high) if _shares(sizes, middle).sum() > dimension else (low, middle)
    return mu if _shares(sizes, mu).sum() <= dimension * (1 + 1e-9) else low


def _with_tail(kept, share, energy):
    """Return the most that head and tail keep, over all parts g of what a ridge leaves of it."""
    low, high = 0.0, 1.0
    for _ in range(100):
        g = (low + high) / 2
        of_head, of_tail = (
            kept * g * (1 - share) / (energy + g * (1 - share)),
            (1 - g) * (1 - share),
        )
        low, high = (g, high) if of_head < of_tail else (low, g)
    return max(of_head, of_tail)


def _inverse_root(matrix):
    values, vectors = np.linalg.eigh(matrix)
    return (vectors / np.sqrt(values)) @ vectors.T
