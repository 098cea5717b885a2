"""The contents of a report, and the chosen features as it lists them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from certifeature.certificate import Certificate
from certifeature.comparison import Comparison, Contender
from certifeature.evaluation import NewData
from certifeature.models.problem import predicts_numbers
from certifeature.models.support import dense_coef
from certifeature.sparsify import ColumnChoice
from certifeature.sparsify.choice import as_column_choice


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
        Why it is in ("fixed", "trusted", "cover" or "next"), where the selector tells.
    times_chosen : int or None
        In how many folds it was chosen, where it was chosen anew in folds.
    """

    rank: int
    name: str
    scale: float
    weight: float | None = None
    label: str | None = None
    why: str | None = None
    times_chosen: int | None = None


@dataclass(frozen=True)
class Report:
    """A selection of features, ready to be shown. What is None or empty is left out.

    Attributes
    ----------
    title : str
        Heading of the page.
    data : str
        The data in a few words, for the first screen: "60 rows, 46 sick and 14 well".
    asked : mapping of str to str
        What was asked for: "Data", "Method", "Number of features" and the like.
    certificate : Certificate or None
        What the selection can cost.
    features : sequence of Feature
        The features chosen.
    comparison : Comparison or None
        Test errors of methods on the same data.
    own : Contender or None
        The one of the comparison that chose the features: the page opens with how it does beside
        the others of its size.
    methods : str
        How the features were chosen and tested, to paste into a paper; see
        `certifeature.report.methods_paragraph`.
    reproduction : mapping of str to str
        What is needed to get the same result again. The entry "Command" gets a button that
        copies it.
    figures : mapping of str to str
        Captions, and drawings as SVG text. A drawing is shown as an image, in which a browser runs
        no scripts and loads nothing.

    Examples
    --------
    >>> report = Report("Genes", features=[Feature(1, "BRCA1", 1.2)])
    >>> report.features[0].name
    'BRCA1'
    """

    title: str
    asked: Mapping[str, str] = field(default_factory=dict)
    certificate: Certificate | None = None
    features: Sequence[Feature] = ()
    comparison: Comparison | None = None
    own: Contender | None = None
    methods: str = ""
    reproduction: Mapping[str, str] = field(default_factory=dict)
    figures: Mapping[str, str] = field(default_factory=dict)
    data: str = ""

    @property
    def new_data(self) -> NewData | None:
        """What the certificate estimates for new data."""
        return None if self.certificate is None else self.certificate.new_data

    @property
    def searched(self) -> bool:
        """Whether the number of features was found anew in the folds of the estimate alone."""
        if self.own is None or self.new_data is None:
            return False
        return self.new_data.n_selected != tuple(map(len, self.own.chosen))


def features_of(
    selection: Any,
    names: ArrayLike | None = None,
    *,
    model: Any = None,
    new_data: NewData | None = None,
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
    new_data : NewData, default=None
        What cross-validation says of the choice, for how often each feature was chosen.

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
    chosen = sample.indices if names is None else np.asarray(names)[sample.indices]
    unknown = np.full(len(chosen), None)
    columns = chosen.astype(str), sample.scales, *_weights_and_labels(model, sample), sample.reasons
    rows = zip(*((unknown if part is None else part).tolist() for part in columns), strict=True)
    features = [Feature(rank, *values) for rank, values in enumerate(rows, 1)]
    return features if new_data is None else with_times_chosen(features, sample, new_data)


def with_times_chosen(
    features: list[Feature], sample: ColumnChoice, new_data: NewData
) -> list[Feature]:
    """Return features with the number of folds in which each was chosen anew.

    Parameters
    ----------
    features : list of Feature
        The chosen features.
    sample : ColumnChoice
        Their indices, in the same order.
    new_data : NewData
        What cross-validation says of the choice.
    """
    times = (new_data.times_chosen.get(index, 0) for index in sample.indices.tolist())
    return [replace(f, times_chosen=n) for f, n in zip(features, times, strict=True)]


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
