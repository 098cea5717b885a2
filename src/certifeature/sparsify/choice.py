"""Chosen columns and their scales."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certifeature._utils import IntArray, one_each
from certifeature.models import feature_weights
from certifeature.rows.matrix import ranks as joint_ranks


class TooFewError(ValueError):
    """A number of features that is too small for what was asked."""


@dataclass(frozen=True, eq=False)
class Steps:
    """The steps of BSS, each of which adds energy·Σvvᵀ over a feature or a group to a matrix.

    Attributes
    ----------
    picks : ndarray of shape (n_steps,)
        The feature of each step, or its group; it may occur several times.
    energies : ndarray of shape (n_steps,)
        The factor of its vvᵀ.
    """

    picks: IntArray
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
    groups : ndarray of shape (n_chosen,) or None
        The group of each, where features are chosen in groups; its columns follow one another.
    factor : float
        Part of all scales that `transform` leaves out, see `Support`.
    """

    indices: NDArray[np.intp]
    scales: NDArray[np.float64]
    steps: Steps | None = None
    reasons: NDArray[np.str_] | None = None
    groups: IntArray | None = None
    factor: float = 1.0

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


class Groups:
    """A partition of the features into groups, each of which is chosen as a whole.

    Parameters
    ----------
    n_features : int
        Number of features.
    labels : ndarray of shape (n_features,), default=None
        Number of the group of each feature, from 0 on without gaps. None for groups of one.
    names : list of str, default=None
        Names of the groups.

    Attributes
    ----------
    called : str
        What messages call the groups.
    largest : int
        Number of features of the largest group.
    """

    def __init__(
        self, n_features: int, labels: IntArray | None = None, names: list[str] | None = None
    ) -> None:
        self.n_features, self.labels, self.names = n_features, labels, names
        self.called, self.largest = "features", 1
        self._sizes = np.broadcast_to(np.intp(1), n_features)
        if labels is not None:
            self._sizes = np.bincount(labels)
            self.called, self.largest = "groups", int(self._sizes.max())
            self._order = np.argsort(labels, kind="stable")
            self._starts = np.cumsum(self._sizes) - self._sizes

    def __len__(self) -> int:
        return len(self._sizes)

    def members(self, groups: IntArray) -> tuple[IntArray, IntArray]:
        """Return the features of some groups, one group after the other, and how many each has."""
        sizes = self._sizes[groups]
        if self.labels is None:
            return groups, sizes
        ends = np.cumsum(sizes)
        shifts = np.repeat(self._starts[groups] - (ends - sizes), sizes)
        return self._order[np.arange(len(shifts)) + shifts], sizes

    def of(self, features: IntArray) -> IntArray:
        """Return the groups of some features, in the order of their first feature."""
        firsts = features[self.firsts(features)]
        return firsts if self.labels is None else self.labels[firsts]

    def firsts(self, features: IntArray) -> IntArray:
        """Return the places of those features that are the first of their group."""
        if self.labels is None:
            return np.arange(len(features))
        return np.sort(np.unique(self.labels[features], return_index=True)[1])

    def sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum of values over the features of each group."""
        return values if self.labels is None else np.bincount(self.labels, values).astype(float)

    def scores(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return scores of the groups: the norms of their features' scores.

        If some scores are negative or infinite, which have no norm, it is the largest one. A
        feature of score −∞ adds nothing to that of its group.
        """
        if self.labels is None:
            return scores
        found = np.full(len(self), -np.inf)
        np.maximum.at(found, self.labels, scores)
        largest = float(scores.max())
        if 0 < largest < np.inf and (scores[scores > -np.inf] >= 0).all():
            norms = np.sqrt(self.sums((np.maximum(scores, 0.0) / largest) ** 2))
            # Rounded, so that equal groups tie.
            found = np.where(found > -np.inf, np.round(norms, 12) * largest, found)
        return found

    def ranks(self, ranks: IntArray) -> IntArray:
        """Return ranks of the groups: by their first feature, and then by all of them."""
        if self.labels is None:
            return ranks
        first = np.full(len(self), len(ranks))
        np.minimum.at(first, self.labels, ranks)
        return joint_ranks(first.astype(float), self.sums(ranks.astype(float)))

    def spread(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return for each feature the value of its group."""
        return values if self.labels is None else values[self.labels]

    def columns(self, choice: ColumnChoice) -> ColumnChoice:
        """Return the columns of chosen groups, with the scales and reasons of their groups."""
        if self.labels is None:
            return choice
        features, sizes = self.members(choice.indices)
        return replace(
            choice,
            indices=features,
            scales=np.repeat(choice.scales, sizes),
            reasons=None if choice.reasons is None else np.repeat(choice.reasons, sizes),
            groups=np.repeat(choice.indices, sizes),
        )


def checked_groups(groups: ArrayLike | None, n_features: int) -> Groups:
    """Return the groups with given numbers."""
    if groups is None:
        return Groups(n_features)
    given = one_each("groups", groups, n_features, "features")
    numbers, labels = np.unique(given, return_inverse=True)
    if not np.array_equal(numbers, np.arange(len(numbers))):
        raise ValueError("groups must be numbered 0, 1, 2 and so on, without gaps.")
    return Groups(n_features, labels)


def as_groups(feature_groups: Any, n_features: int, names: NDArray[Any] | None) -> Groups:
    """Return the groups that features are chosen in, numbered by their first features.

    Parameters
    ----------
    feature_groups : list of array-likes, array-like of shape (n_features,), callable or None
        Columns of each group, as indices, names or masks; or the label of each feature's group; or
        a function from the name of a feature to that label. Features that are in none of the lists,
        and those of the label None, NaN or "", are groups of one. None makes all features that.
    n_features : int
        Number of features.
    names : ndarray of shape (n_features,) or None
        Names of the features.

    Examples
    --------
    >>> names = np.array(["age", "site_A", "site_B"])
    >>> groups = as_groups(lambda name: name.rpartition("_")[0], 3, names)
    >>> groups.labels, groups.names
    (array([0, 1, 1]), ['age', 'site'])
    """
    if feature_groups is None:
        return Groups(n_features)
    called = [f"x{column}" for column in range(n_features)] if names is None else map(str, names)
    if callable(feature_groups):
        if names is None:
            raise ValueError(
                "feature_groups is a function of names, and X has none; pass a data frame (for a "
                "transformer before it, set_output(transform='pandas')), or labels of the features."
            )
        labels = [feature_groups(name) for name in names]
    elif len(feature_groups) and all(_is_listing(group) for group in feature_groups):
        labels = _listed_labels(feature_groups, n_features, names)
    else:
        labels = list(feature_groups)
        if len(labels) != n_features:
            raise ValueError(
                f"feature_groups must be a list of groups, or have a label for each of the "
                f"{n_features} features; got {len(labels)} values."
            )
    numbers: dict[Any, int] = {}
    group_names: list[str] = []
    found = np.empty(n_features, dtype=np.intp)
    for column, (label, name) in enumerate(zip(labels, called, strict=True)):
        # NaN differs from itself.
        alone = label is None or label != label or label == ""
        found[column] = numbers.setdefault((column,) if alone else label, len(numbers))
        if len(group_names) < len(numbers):
            group_names.append(name if alone else str(label))
    return Groups(n_features, found, group_names)


def _is_listing(group: Any) -> bool:
    return isinstance(group, Collection) and not isinstance(group, str | bytes)


def _listed_labels(listed: Any, n_features: int, names: NDArray[Any] | None) -> list[Any]:
    """Return for each feature the name of the listed group that has it, or None."""
    labels: list[Any] = [None] * n_features
    for number, group in enumerate(listed):
        columns = as_indices(list(group), n_features, names, f"feature_groups[{number}]")
        if not len(columns):
            raise ValueError(f"feature_groups[{number}] is empty; leave it out.")
        for column in columns:
            if labels[column] is not None:
                raise ValueError(
                    f"column {column} is in two feature_groups, {labels[column]} and {number}; "
                    "groups must not overlap."
                )
            labels[column] = number
    return labels


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
    fitted = getattr(getattr(selection, "selector_", selection), "fit_result_", None)
    if fitted is None:
        return ColumnChoice(indices, scales)
    return replace(fitted.columns, indices=indices, scales=scales, steps=None)


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
