"""Random choices of columns: by leverage scores, and uniformly."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certifeature._utils import as_count
from certifeature.basis.basis import as_vectors, squared_norms
from certifeature.sparsify.choice import ColumnChoice, checked_groups


def leverage_scores(vectors: ArrayLike) -> NDArray[np.float64]:
    """Return the squared norms of the rows of V; they sum to the number of its columns.

    Parameters
    ----------
    vectors : array-like or ImplicitVectors of shape (n_features, n_components)
        Orthonormal columns; row i belongs to feature i.

    Returns
    -------
    ndarray of shape (n_features,)
        Scores between 0 and 1.

    Examples
    --------
    >>> leverage_scores([[1.0, 0.0], [0.0, 0.6], [0.0, 0.8]])
    array([1.  , 0.36, 0.64])
    """
    return squared_norms(as_vectors(vectors))


def leverage_sample(
    vectors: ArrayLike,
    n_select: int,
    *,
    groups: ArrayLike | None = None,
    random_state: int | np.random.Generator | None = None,
) -> ColumnChoice:
    r"""Sample features with probabilities p_i = ‖v_i‖²/ℓ, scaled so that M = VᵀRRᵀV averages to I.

    Parameters
    ----------
    vectors : array-like or ImplicitVectors of shape (n_features, n_components)
        Orthonormal columns; row i belongs to feature i.
    n_select : int
        Number of independent draws r; a feature drawn c times gets the scale √(c/(r·p_i)).
    groups : array-like of int, of shape (n_features,), default=None
        Number of the group of each feature, from 0 on, to draw groups: p is the sum of those of
        their features. None makes each feature a group.
    random_state : int, Generator or None, default=None
        Source of the draws.

    Returns
    -------
    ColumnChoice
        Chosen features, in the order of their first draw, and scales.

    Examples
    --------
    >>> sample = leverage_sample([[1.0, 0.0], [0.0, 0.6], [0.0, 0.8]], 8, random_state=0)
    >>> sorted(sample.indices.tolist())
    [0, 1, 2]
    """
    vectors = as_vectors(vectors)
    parts = checked_groups(groups, len(vectors))
    scores = parts.sums(squared_norms(vectors))
    n_select = as_count("n_select", n_select)
    probabilities = scores / scores.sum()
    rng = np.random.default_rng(random_state)
    draws = rng.choice(len(scores), size=n_select, p=probabilities)
    return parts.columns(ColumnChoice.of_picks(draws, 1 / (n_select * probabilities[draws])))


def uniform(
    n_features: int, n_select: int, random_state: int | np.random.Generator | None = None
) -> ColumnChoice:
    """Draw features uniformly without replacement.

    Parameters
    ----------
    n_features : int
        Number of features d.
    n_select : int
        Number of features to draw, at most ``n_features``.
    random_state : int, Generator or None, default=None
        Source of the draws. The same seed gives nested samples: a smaller one is the beginning of
        a larger one.

    Returns
    -------
    ColumnChoice
        With scales √(d/r), which make M = VᵀRRᵀV average to I.

    Examples
    --------
    >>> from certifeature.sparsify.sampling import uniform
    >>> sample = uniform(100, 4, random_state=0)
    >>> len(set(sample.indices.tolist())), sample.scales.tolist()
    (4, [5.0, 5.0, 5.0, 5.0])
    """
    n_select = as_count("n_select", n_select, n_features)
    indices = np.random.default_rng(random_state).permutation(n_features)[:n_select]
    return ColumnChoice(indices, np.full(n_select, np.sqrt(n_features / n_select)))
