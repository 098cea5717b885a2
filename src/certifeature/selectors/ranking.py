"""Orders of features by name, array or function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certifeature.basis import Basis
from certifeature.basis.basis import squared_norms
from certifeature.models import arom_scores, elimination_order, feature_weights, stable_scores
from certifeature.models.support import Support, ranks
from certifeature.rows.rows import Rows

__all__ = [
    "BY_COVERAGE",
    "LABELLED",
    "ORDERS",
    "checked_scores",
    "feature_scores",
    "missing_classes",
    "with_faint_last",
]


FloatArray = NDArray[np.float64]
Order = str | ArrayLike | Callable[..., Any]

# Those that fit models, and those that need no labels.
LABELLED = ("arom", "coef", "rfe", "stable")
BY_COVERAGE = ("cover", "leverage")
ORDERS = ("auto", *LABELLED, *BY_COVERAGE)
_FAINT = 0.1


def feature_scores(
    order: Order,
    rows: Rows | None,
    support: Support | None,
    basis: Basis,
    seed: int,
    n_jobs: int | None,
) -> FloatArray:
    """Return a score for each feature, the highest for the best.

    Parameters
    ----------
    order : str, array-like or callable
        As `BSSSelector` has it.
    rows : Rows or None
        Rows that matter; None where they came in blocks and are gone.
    support : Support or None
        The same rows with their model; None if all rows matter.
    basis : Basis
        What the features are chosen for.
    seed : int
        Of subsamples.
    n_jobs : int or None
        Number of processes that fit on subsamples.
    """
    n_features = len(basis.vectors)
    if not isinstance(order, str) and not callable(order):
        return checked_scores(order, n_features)
    if not isinstance(order, str):
        return checked_scores(_own_scores(order, _ranked_by(order, rows, support)), n_features)
    if order in BY_COVERAGE:
        return np.round(squared_norms(basis.vectors), 12)
    assert support is not None
    if order == "coef":
        return feature_weights(support.model)
    ranked = _ranked_by(order, rows, support)
    assert ranked.y is not None
    labelled = (ranked.X, ranked.y, ranked.sample_weight)
    if order == "rfe":
        return elimination_order(support.model, *labelled)
    if order == "arom":
        return arom_scores(support.model, *labelled)
    return stable_scores(support.model, *labelled, seed=seed, n_jobs=n_jobs)


def with_faint_last(scores: FloatArray, basis: Basis, whole: Basis) -> FloatArray:
    """Return ranks in which features come last that a cut basis hardly sees.

    The scale of a feature that lies mostly in the directions cut off would fit what little is left
    of it, and blow up the rest.
    """
    if basis.outside is not None:
        shares = basis.outside.energies
    elif basis.n_components == whole.n_components:
        return scores
    else:
        seen, there_is = (squared_norms(b.vectors) for b in (basis, whole))
        shares = np.divide(seen, there_is, out=np.zeros_like(seen), where=there_is > 0)
    visible = shares >= _FAINT * shares.max()
    return ranks(visible, scores)


def checked_scores(scores: Any, n_features: int) -> FloatArray:
    """Return usable scores, one for each feature."""
    scores = np.asarray(scores, dtype=np.float64)
    if scores.shape != (n_features,):
        raise ValueError(
            f"order must give one score for each of the {n_features} features; "
            f"got shape {scores.shape}."
        )
    if np.isnan(scores).any() or not np.isfinite(scores).any():
        raise ValueError("order gives no usable scores: they are NaN or all infinite.")
    return scores


def _own_scores(order: Callable[..., Any], rows: Rows) -> FloatArray:
    scores = order(rows.X, rows.y)
    # The score functions of sklearn.feature_selection return p-values too, and NaN for constant
    # features.
    scores = np.asarray(scores[0] if isinstance(scores, tuple) else scores, dtype=float)
    return np.where(np.isnan(scores), -np.inf, scores)


def missing_classes(support: Support, rows: Rows) -> NDArray[Any]:
    """Return the classes that none of the rows has; of numbers, none."""
    return np.setdiff1d(support.classes, rows.y if rows.y is not None else [])


def _ranked_by(order: Any, rows: Rows | None, support: Support | None) -> Rows:
    """Return rows to rank features by: all that are at hand where the support lacks a class."""
    if support is None:
        if rows is None:
            raise ValueError(
                "order is a function of all rows, and these come in blocks; use order='leverage' "
                "or an array."
            )
        return rows
    ranked = support.rows
    if missing_classes(support, ranked).size:
        ranked = support.candidates
    missing = missing_classes(support, ranked)
    if missing.size:
        raise ValueError(
            f"no support row has the class {missing.tolist()[0]!r}, and order={order!r} needs "
            "rows of all classes; use order='coef'."
        )
    return ranked
