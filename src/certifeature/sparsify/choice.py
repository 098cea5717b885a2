"""Chosen columns and their scales."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certifeature._utils import one_each
from certifeature.models import feature_weights


class EmptyChoiceError(ValueError):
    """A random choice that has no features."""


@dataclass(frozen=True, eq=False)
class Steps:
    """The steps of BSS, each of which adds energy·vvᵀ to a matrix.

    Attributes
    ----------
    features : ndarray of shape (n_steps,)
        The feature of each step; a feature may occur several times.
    energies : ndarray of shape (n_steps,)
        The factor of its vvᵀ.
    """

    features: NDArray[np.intp]
    energies: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ColumnChoice:
    """Chosen features and the scale of each: the matrix R of X·R.

    Attributes
    ----------
    indices : ndarray of shape (n_chosen,)
        Distinct feature indices in the order of their first pick.
    scales : ndarray of shape (n_chosen,)
        Positive scale of each chosen feature.
    steps : Steps or None
        The steps of the algorithm, for BSS only.
    reasons : ndarray of shape (n_chosen,) or None
        Why each was chosen: "fixed", "trusted", "cover" or "next", for `certifeature.BSSSelector`
        only.
    """

    indices: NDArray[np.intp]
    scales: NDArray[np.float64]
    steps: Steps | None = None
    reasons: NDArray[np.str_] | None = None

    @classmethod
    def of_picks(
        cls,
        features: NDArray[np.intp],
        squares: NDArray[np.float64],
        steps: Steps | None = None,
        reasons: NDArray[np.str_] | None = None,
    ) -> ColumnChoice:
        """Return the choice by picks that may repeat: the squared scales of a feature add up."""
        indices, first, places = np.unique(features, return_index=True, return_inverse=True)
        order = np.argsort(first)
        scales = np.sqrt(np.bincount(places, squares)[order])
        return cls(
            indices[order], scales, steps, None if reasons is None else reasons[first[order]]
        )


def as_column_choice(
    selection: Any,
    n_features: int,
    *,
    weights: Any = None,
    feature_names: NDArray[Any] | None = None,
) -> ColumnChoice:
    """Return the columns and scales of a fitted selector, a mask, indices or names.

    Parameters
    ----------
    selection : selector, or array-like
        A fitted selector of this library or of scikit-learn, a boolean mask, indices or names. The
        columns of a selector that rates its features come best first.
    n_features : int
        Number of columns to select from.
    weights : array-like of shape (n_selected,), default=None
        Scales in the order of the selection, which is that of the columns for a selector of
        scikit-learn. None takes those of the selector, or 1.
    feature_names : ndarray of shape (n_features,), default=None
        Names of the columns.

    Examples
    --------
    >>> from sklearn.feature_selection import SelectKBest, f_classif
    >>> X, y = [[0, 5, 1], [9, 6, 2], [1, 6, 8], [8, 7, 9]], [0, 0, 1, 1]
    >>> as_column_choice(SelectKBest(f_classif, k=2).fit(X, y), 3).indices
    array([2, 1])
    """
    if hasattr(selection, "get_support"):
        indices = _chosen_by(selection, n_features, best_first=weights is None)
    elif hasattr(selection, "steps"):
        raise ValueError(
            "a pipeline is no selection; give the selector in it, such as pipeline[0], and the "
            "rows as that step gets them."
        )
    else:
        indices = as_indices(selection, n_features, feature_names, "selection")
    if not len(indices):
        raise ValueError("the selection is empty; select at least one feature.")
    if weights is None:
        scales = np.asarray(getattr(selection, "scales_", np.ones(len(indices))))
    else:
        scales = one_each("weights", weights, len(indices), "selected features")
        if not np.isfinite(scales).all() or (scales <= 0).any():
            raise ValueError("weights must be finite and positive; leave a feature out instead.")
    return ColumnChoice(indices, scales, reasons=getattr(selection, "reasons_", None))


def _chosen_by(selector: Any, n_features: int, *, best_first: bool) -> NDArray[np.intp]:
    """Return the columns that a fitted selector chose, in the order of its own scores if any."""
    mask = np.asarray(selector.get_support())
    _check_width(len(mask), n_features)
    if hasattr(selector, "indices_"):
        return np.asarray(selector.indices_)
    chosen = np.flatnonzero(mask)
    model = getattr(selector, "estimator_", None)
    if getattr(getattr(model, "coef_", None), "ndim", 0) == 2:
        scores = feature_weights(model)
    else:
        scores = np.asarray(getattr(selector, "scores_", ()))
    if scores.shape == mask.shape:
        scores = scores[chosen]
    if scores.shape != chosen.shape or not best_first:
        return chosen
    return chosen[np.argsort(-np.nan_to_num(scores, nan=-np.inf), kind="stable")]


def as_indices(
    features: Any, n_features: int, feature_names: NDArray[Any] | None, called: str
) -> NDArray[np.intp]:
    """Return the columns of a mask, of indices or of names.

    Parameters
    ----------
    features : array-like
        A boolean mask, indices or names, which may be empty.
    n_features : int
        Number of columns to select from.
    feature_names : ndarray of shape (n_features,) or None
        Names of the columns.
    called : str
        Name of the parameter, for errors.
    """
    chosen = np.asarray(features)
    if chosen.ndim != 1:
        raise ValueError(
            f"{called} must be a list of indices, names or booleans; got shape {chosen.shape}."
        )
    if chosen.dtype == bool:
        _check_width(len(chosen), n_features)
        return np.flatnonzero(chosen)
    if not chosen.size:
        return np.empty(0, dtype=np.intp)
    if chosen.dtype.kind in "UOT":
        chosen = _places(chosen, feature_names, called)
    elif chosen.dtype.kind not in "iu":
        raise ValueError(f"{called} has values of type {chosen.dtype}; give indices or names.")
    beyond = chosen[(chosen < 0) | (chosen >= n_features)]
    if beyond.size:
        raise ValueError(
            f"{called} names column {beyond[0]}, but X has columns 0 to {n_features - 1}."
        )
    if len(np.unique(chosen)) < len(chosen):
        raise ValueError(f"{called} names a column twice; name each once.")
    return chosen.astype(np.intp)


def _places(
    names: NDArray[Any], feature_names: NDArray[Any] | None, called: str
) -> NDArray[np.intp]:
    if feature_names is None:
        raise ValueError(
            f"{called} gives names, but X has none; pass a data frame, or indices instead."
        )
    places = {name: place for place, name in enumerate(feature_names)}
    counts = Counter(feature_names)
    unknown = [str(name) for name in names if name not in places]
    if unknown:
        raise ValueError(f"X has no feature named {', '.join(unknown[:5])}.")
    ambiguous = [str(name) for name in names if counts[name] > 1]
    if ambiguous:
        raise ValueError(
            f"X has several features named {', '.join(ambiguous[:5])}; give indices instead."
        )
    return np.array([places[name] for name in names], dtype=np.intp)


def _check_width(n_selection: int, n_features: int) -> None:
    if n_selection != n_features:
        raise ValueError(
            f"the selection was made for {n_selection} features, but X has {n_features}."
        )
