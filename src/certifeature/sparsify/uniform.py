"""Features drawn uniformly: the floor under every other method."""

from __future__ import annotations

import numpy as np

from certifeature._parameters import as_count
from certifeature.sparsify.sample import Sample

__all__ = ["uniform"]


def uniform(
    n_features: int, n_select: int, random_state: int | np.random.Generator | None = None
) -> Sample:
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
    Sample
        With scales √(d/r), which make M = VᵀRRᵀV average to I.

    Examples
    --------
    >>> from certifeature.sparsify import uniform
    >>> sample = uniform(100, 4, random_state=0)
    >>> len(set(sample.indices.tolist())), sample.weights.tolist()
    (4, [5.0, 5.0, 5.0, 5.0])
    """
    n_select = as_count("n_select", n_select)
    if n_select > n_features:
        raise ValueError(
            f"n_select={n_select} is more than the {n_features} features there are; "
            f"ask for at most {n_features}."
        )
    indices = np.random.default_rng(random_state).permutation(n_features)[:n_select]
    return Sample(indices, np.full(n_select, np.sqrt(n_features / n_select)))
