"""The contents of a report, and the chosen features as it lists them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from itertools import groupby
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from certifeature._files import csv_text
from certifeature.certificate import Certificate
from certifeature.certificate.optimality import Optimality
from certifeature.comparison import Comparison, Contender
from certifeature.evaluation import NewData
from certifeature.evaluation.engine import SizeSearch
from certifeature.models.problem import predicts_numbers
from certifeature.models.support import dense_coef
from certifeature.sparsify import ColumnChoice
from certifeature.sparsify.choice import as_column_choice

EVERY_BEST_SET = (
    "In every best set: without it, no other set of as many features, any fixed ones among them, "
    "has a training objective as low. That is about these rows, not about new samples."
)


@dataclass(frozen=True)
class Feature:
    """One chosen feature.

    Attributes
    ----------
    rank : int
        Place in the order of choice, from 1.
    name : str
        Its name, which may be any text.
    scale : float
        Factor that the selection gives to its column.
    weight : float or None
        Absolute weight in the model on all features, where there is one.
    label : str or None
        Class that it points to, or "higher" or "lower" numbers, where there is such a thing.
    why : str or None
        Why it is in ("fixed", "trusted", "cover", "next" or "best"), where the selector tells.
    frequency : float or None
        Share of the folds in which it was chosen anew, where there are folds.
    always : bool or None
        Whether it is in every best set of as many features, where that was computed.
    group : str
        Name of the group of columns that it was chosen with, if any.
    """

    rank: int
    name: str
    scale: float
    weight: float | None = None
    label: str | None = None
    why: str | None = None
    frequency: float | None = None
    always: bool | None = None
    group: str = ""


@dataclass(frozen=True)
class Report:
    """A selection of features, ready to be shown. What is None or empty is left out.

    Attributes
    ----------
    title : str
        Heading of the page.
    n_rows : int or None
        How many rows the features were chosen from.
    classes : mapping of str to int
        How many of them belong to each class.
    method : str
        How the features were chosen, as `certifeature.compare` names it.
    supervised : bool
        Whether they were chosen for the labels and a model, or without.
    preparation : sequence of str
        What was done to the rows before, in sentences, such as "Columns were scaled to unit
        variance."
    ranking : str
        By what features were ranked, such as "by their weights in the model".
    certificate : Certificate or None
        What the selection can cost, and how well the chosen features predict new data.
    features : sequence of Feature
        The features chosen.
    comparison : Comparison or None
        Errors of methods on the same data.
    search : SizeSearch or None
        How the number of features was found.
    asked : mapping of str to str
        All that was asked for: "Data", "Method", "Number of features" and the like.
    reproduction : mapping of str to str
        What is needed to get the same result again. The entry "Command" gets a button that
        copies it.

    Examples
    --------
    >>> report = Report("Genes", features=[Feature(1, "BRCA1", 1.2)])
    >>> report.features[0].name
    'BRCA1'
    """

    title: str
    n_rows: int | None = None
    classes: Mapping[str, int] = field(default_factory=dict)
    method: str = "bss"
    supervised: bool = True
    preparation: Sequence[str] = ()
    ranking: str = ""
    certificate: Certificate | None = None
    features: Sequence[Feature] = ()
    comparison: Comparison | None = None
    search: SizeSearch | None = None
    doubts: Sequence[str] = ()
    asked: Mapping[str, str] = field(default_factory=dict)
    reproduction: Mapping[str, str] = field(default_factory=dict)

    @property
    def new_data(self) -> NewData | None:
        """How well the chosen features predict new data."""
        return None if self.certificate is None else self.certificate.new_data

    @property
    def own(self) -> Contender | None:
        """The one of the comparison that chooses as the features were chosen, and as many."""
        if self.certificate is None or self.comparison is None:
            return None
        key = self.method, self.certificate.n_groups or self.certificate.n_selected
        return next((c for c in self.comparison.contenders if (c.method, c.size) == key), None)

    @property
    def rivals(self) -> list[Contender]:
        """The other methods with as many features as the own one."""
        own, contenders = self.own, self.comparison.contenders if self.comparison else ()
        return [c for c in contenders if own and c.size == own.size and c is not own]

    @property
    def n_shared(self) -> int | None:
        """In how many folds all methods were compared, if the choice was tested in more."""
        n_folds = len(self.own.errors) if self.own and self.rivals else 0
        return n_folds if self.new_data and 0 < n_folds < len(self.new_data.n_selected) else None


def features_of(
    selection: Any,
    names: ArrayLike | None = None,
    *,
    model: Any = None,
    group_names: Sequence[str] | None = None,
    new_data: NewData | None = None,
    optimality: Optimality | None = None,
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
    group_names : sequence of str, default=None
        Names of all groups, where columns are chosen in groups; None takes those of the selector.
    new_data : NewData, default=None
        Cross-validation of the choice, for how often each feature was chosen.
    optimality : Optimality, default=None
        How close the choice is to the best of its size, for which features are in every best set.

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
        group_names = getattr(selection, "group_names_", None)
    chosen = sample.indices if names is None else np.asarray(names)[sample.indices]
    unknown = np.full(len(chosen), None)
    columns = chosen.astype(str), sample.scales, *_weights_and_labels(model, sample), sample.reasons
    rows = zip(*((unknown if part is None else part).tolist() for part in columns), strict=True)
    features = [Feature(rank, *values) for rank, values in enumerate(rows, 1)]
    if sample.groups is not None and group_names is not None:
        sizes, groups = np.bincount(sample.groups), sample.groups.tolist()
        called = [group_names[group] if sizes[group] > 1 else "" for group in groups]
        features = [replace(f, group=name) for f, name in zip(features, called, strict=True)]
    if optimality is not None:
        marks = optimality.always[sample.indices].tolist()
        features = [replace(f, always=mark) for f, mark in zip(features, marks, strict=True)]
    return features if new_data is None else with_frequencies(features, sample, new_data)


def with_frequencies(
    features: Sequence[Feature], choice: ColumnChoice, new_data: NewData
) -> list[Feature]:
    """Return features with the share of the folds in which each was chosen anew.

    Parameters
    ----------
    features : sequence of Feature
        The chosen features.
    choice : ColumnChoice
        Their indices, in the same order.
    new_data : NewData
        Cross-validation of the choice.
    """
    n_folds, times = len(new_data.n_selected), new_data.times_chosen
    shares = (times.get(index, 0) / n_folds for index in choice.indices.tolist())
    return [replace(f, frequency=share) for f, share in zip(features, shares, strict=True)]


def in_groups(features: Sequence[Feature]) -> list[tuple[Feature, list[Feature]]]:
    """Return features by rank, one for each group of columns, with these columns.

    The weight of a group is the norm of theirs, and its rank is its place among all groups and
    single features, which have no columns.

    Parameters
    ----------
    features : sequence of Feature
        Columns.
    """
    ordered = sorted(features, key=attrgetter("rank"))
    found: list[tuple[Feature, list[Feature]]] = []
    for (name, _), part in groupby(ordered, lambda f: (f.group, 0 if f.group else f.rank)):
        columns = list(part)
        feature = replace(columns[0], rank=len(found) + 1)
        if name:
            weights = [column.weight for column in columns if column.weight is not None]
            weight = math.hypot(*weights) if weights else None
            label = feature.label if len({column.label for column in columns}) == 1 else None
            feature = replace(feature, name=name, weight=weight, label=label)
        found.append((feature, columns if name else []))
    return found


def features_csv(features: Sequence[Feature]) -> str:
    """Return the chosen columns by rank as CSV, in which no name can become a formula."""
    header = (
        "rank",
        "feature",
        "scale",
        "weight",
        "points_to",
        "why",
        "frequency",
        "in_every_best_set",
    )
    table = [(*header, "group"), *map(astuple, sorted(features, key=attrgetter("rank")))]
    has_groups = any(f.group for f in features)
    return csv_text(row if has_groups else row[:-1] for row in table)


def _weights_and_labels(model: Any, sample: ColumnChoice) -> tuple[Any, Any]:
    """Return the size of each weight, and what it points to: a class, higher or lower numbers."""
    if model is None:
        return None, None
    coef = dense_coef(model)[:, sample.indices]
    if predicts_numbers(model):
        return np.abs(coef[0]), np.where(coef[0] > 0, "higher", "lower")
    names = model.classes_.astype(str)
    if len(coef) == 1:
        return np.abs(coef[0]), names[(coef[0] > 0).astype(int)]
    sizes = np.abs(coef).max(axis=0)
    if len(coef) == len(names) and not hasattr(model, "support_"):
        return sizes, names[coef.argmax(axis=0)]
    # With one SVM for each pair of classes, a weight points to one of two classes only.
    return sizes, None
