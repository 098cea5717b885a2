"""The chosen features, as a report lists them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from certifeature.comparison import Contender
from certifeature.models.problem import predicts_numbers
from certifeature.models.support import dense_coef
from certifeature.report.contents import Feature
from certifeature.sparsify import ColumnChoice
from certifeature.sparsify.choice import as_column_choice

__all__ = ["features_of", "with_times_chosen"]


def features_of(
    selection: Any,
    names: ArrayLike | None = None,
    *,
    model: Any = None,
    own: Contender | None = None,
) -> list[Feature]:
    """Return the chosen features, best first.

    Parameters
    ----------
    selection : selector or ColumnChoice
        A fitted selector, or what it chose.
    names : array-like of str, default=None
        Names of all features; None takes those that the selector knows, or numbers from 0.
    model : estimator, default=None
        Linear model fitted to all features, for their weights and what they point to.
    own : Contender, default=None
        The same choice in a comparison, for how often each feature was chosen over the folds.

    Examples
    --------
    >>> from certifeature import BSSSelector
    >>> from certifeature.datasets import make_relevant_features
    >>> X, y = make_relevant_features(60, 200, 10, random_state=0)
    >>> first, *_ = features_of(BSSSelector(30).fit(X, y))
    >>> first.rank, first.name, first.why
    (1, '9', 'trusted')
    """
    if isinstance(selection, ColumnChoice):
        sample = selection
    else:
        sample = as_column_choice(selection, len(selection.get_support()))
        names = getattr(selection, "feature_names_in_", None) if names is None else names
    known = None if names is None else np.asarray(names)
    weights, labels = _weights_and_labels(model, sample)
    features = [
        Feature(
            rank=rank,
            name=str(index if known is None else known[index]),
            scale=float(scale),
            weight=None if weights is None else float(weights[rank - 1]),
            label=None if labels is None else str(labels[rank - 1]),
            why=None if sample.reasons is None else str(sample.reasons[rank - 1]),
        )
        for rank, (index, scale) in enumerate(zip(sample.indices, sample.scales, strict=True), 1)
    ]
    return features if own is None else with_times_chosen(features, sample, own)


def with_times_chosen(
    features: list[Feature], sample: ColumnChoice, own: Contender
) -> list[Feature]:
    """Return features with the number of folds in which each was chosen anew.

    Parameters
    ----------
    features : list of Feature
        The chosen features.
    sample : ColumnChoice
        Their indices, in the same order.
    own : Contender
        The same choice in a comparison.
    """
    counts = Counter(chain.from_iterable(own.chosen))
    return [
        replace(feature, times_chosen=counts[int(index)])
        for feature, index in zip(features, sample.indices, strict=True)
    ]


def _weights_and_labels(model: Any, sample: ColumnChoice) -> tuple[Any, Any]:
    """Return the size of each weight, and what it points to: a class, higher or lower numbers."""
    if model is None:
        return None, None
    coef = dense_coef(model)[:, sample.indices]
    if predicts_numbers(model):
        return np.abs(coef[0]), np.where(coef[0] > 0, "higher", "lower")
    if len(coef) == 1:
        return np.abs(coef[0]), model.classes_[(coef[0] > 0).astype(int)]
    sizes = np.abs(coef).max(axis=0)
    if len(coef) == len(model.classes_) and not hasattr(model, "support_"):
        return sizes, model.classes_[coef.argmax(axis=0)]
    # With one SVM for each pair of classes, a weight points to one of two classes only.
    return sizes, None
