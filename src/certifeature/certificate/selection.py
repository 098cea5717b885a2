"""Selections as users describe them, turned into columns and scales."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certifeature.sparsify import Sample

__all__ = ["as_sample"]


def as_sample(
    selection: Any, weights: Any, n_features: int, feature_names: NDArray[Any] | None
) -> Sample:
    """Return the columns and scales of a fitted selector, a mask, indices or names."""
    if hasattr(selection, "indices_") and hasattr(selection, "weights_"):
        _check_width(len(selection.get_support()), n_features)
        indices = np.asarray(selection.indices_)
        default = np.asarray(selection.weights_)
    else:
        indices = _as_indices(selection, n_features, feature_names)
        default = np.ones(len(indices))
    if not len(indices):
        raise ValueError("the selection is empty; select at least one feature.")
    return Sample(indices, default if weights is None else _as_weights(weights, len(indices)))


def _as_indices(
    selection: Any, n_features: int, feature_names: NDArray[Any] | None
) -> NDArray[np.intp]:
    if hasattr(selection, "get_support"):
        selection = selection.get_support()
    chosen = np.asarray(selection)
    if chosen.ndim != 1:
        raise ValueError(
            "selection must be a fitted selector, or a list of indices, names or booleans; "
            f"got shape {chosen.shape}."
        )
    if chosen.dtype == bool:
        _check_width(len(chosen), n_features)
        return np.flatnonzero(chosen)
    if not chosen.size:
        return np.empty(0, dtype=np.intp)
    if chosen.dtype.kind in "UOT":
        return _by_name(chosen, feature_names)
    if chosen.dtype.kind not in "iu":
        raise ValueError(f"selection has values of type {chosen.dtype}; give indices or names.")
    if chosen.min() < 0 or chosen.max() >= n_features:
        raise ValueError(
            f"selection names column {chosen.min() if chosen.min() < 0 else chosen.max()}, but X "
            f"has columns 0 to {n_features - 1}."
        )
    if len(np.unique(chosen)) < len(chosen):
        raise ValueError("selection names a column twice; name each once, with its scale.")
    return chosen.astype(np.intp)


def _by_name(chosen: NDArray[Any], feature_names: NDArray[Any] | None) -> NDArray[np.intp]:
    if feature_names is None:
        raise ValueError(
            "selection gives names, but X has none; pass a data frame, or indices instead."
        )
    places = {name: place for place, name in enumerate(feature_names)}
    unknown = [str(name) for name in chosen if name not in places]
    if unknown:
        raise ValueError(f"X has no feature named {', '.join(unknown[:5])}.")
    counts = Counter(feature_names)
    ambiguous = [str(name) for name in chosen if counts[name] > 1]
    if ambiguous:
        raise ValueError(
            f"X has several features named {', '.join(ambiguous[:5])}; give indices instead."
        )
    indices = np.array([places[name] for name in chosen], dtype=np.intp)
    if len(np.unique(indices)) < len(indices):
        raise ValueError("selection names a column twice; name each once, with its scale.")
    return indices


def _check_width(n_selection: int, n_features: int) -> None:
    if n_selection != n_features:
        raise ValueError(
            f"the selection was made for {n_selection} features, but X has {n_features}."
        )


def _as_weights(weights: Any, n_selected: int) -> NDArray[np.float64]:
    weights = np.asarray(weights, dtype=np.float64)
    if weights.shape != (n_selected,):
        raise ValueError(
            f"weights must have one scale for each of the {n_selected} selected features; "
            f"got shape {weights.shape}."
        )
    if not np.isfinite(weights).all() or (weights <= 0).any():
        raise ValueError("weights must be finite and positive; leave a feature out instead.")
    return weights
