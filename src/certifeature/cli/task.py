"""What ``certifeature select`` does: features are chosen from data and certified."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np

from certifeature.certificate import Certificate
from certifeature.cli.certificates import certified
from certifeature.cli.choosing import CROSS_VALIDATED, SelectOptions, selector_for
from certifeature.cli.loading import Loaded, Scaling, scaled
from certifeature.cli.progress import showing
from certifeature.report import Feature, features_of
from certifeature.sparsify import ColumnChoice
from certifeature.sparsify.choice import as_column_choice

__all__ = ["Choice", "Search", "Task", "choose"]

# With more rows, the realised layer of the certificate takes longer than the selection.
_MAX_ROWS_REALISED = 5000


@dataclass(frozen=True, eq=False)
class Task:
    """Data as they were read, and what is asked of them."""

    data: Loaded
    wishes: SelectOptions
    model: Any
    scale: Scaling
    seed: int

    @cached_property
    def scaled(self) -> Loaded:
        """The data with their columns scaled, learnt from all rows."""
        return scaled(self.data, self.scale)


@dataclass(frozen=True, eq=False)
class Search:
    """The number of features that cross-validation found, and the scores of all numbers."""

    n_features: int
    results: dict[str, list[float]]

    def __str__(self) -> str:
        place = self.results["n_features"].index(self.n_features)
        mean, deviation = (self.results[f"{name}_test_score"][place] for name in ("mean", "std"))
        return f"{self.n_features} features by cross-validation: score {mean:.3f} ± {deviation:.3f}"


@dataclass(frozen=True, eq=False)
class Choice:
    """The chosen features, what they can cost, and how long it took to choose them."""

    sample: ColumnChoice
    features: list[Feature]
    certificate: Certificate
    seconds: float
    search: Search | None


def choose(task: Task) -> Choice:
    """Fit the selector that is asked for, and certify what it chose."""
    data, wishes = task.scaled, task.wishes
    selector = selector_for(wishes, data, task.model, task.seed)
    start = perf_counter()
    with showing(f"choosing from {data.n_features:,} features"):
        selector.fit(data.X, None if wishes.unsupervised else data.y)
    seconds = perf_counter() - start
    search = None
    if wishes.size == CROSS_VALIDATED:
        results = {name: np.asarray(part).tolist() for name, part in selector.cv_results_.items()}
        search, selector = Search(int(selector.n_features_), results), selector.selector_
    if not selector.get_support().any():
        raise ValueError("no feature was chosen: the weights are all zero. Raise C.")
    sample = as_column_choice(selector, data.n_features)
    if wishes.method.own_size:
        # The largest weights come first.
        n_asked = int(wishes.size)
        sample = ColumnChoice(sample.indices[:n_asked], sample.weights[:n_asked])
    with showing("certifying"):
        certificate, fitted = certified(
            data,
            sample,
            task.model,
            selector=selector,
            unsupervised=wishes.unsupervised,
            realised=data.n_rows <= _MAX_ROWS_REALISED,
        )
    features = features_of(sample, data.names, model=fitted)
    return Choice(sample, features, certificate, seconds, search)
