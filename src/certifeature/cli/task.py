"""From options and data to a fitted selector and its certificate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone

from certifeature.certificate import Certificate, certify
from certifeature.certificate.certify import Certifier
from certifeature.cli.features import kept_features
from certifeature.cli.loading import (
    DataOptions,
    Loaded,
    Scaling,
    check_classes,
    load,
    load_blocks,
    scaled,
)
from certifeature.cli.options import CROSS_VALIDATED, ModelOptions, SelectOptions
from certifeature.cli.output import showing
from certifeature.comparison import SelectionMethod, methods_for
from certifeature.models import fit_model
from certifeature.models.problem import predicts_numbers
from certifeature.report import Feature, features_of
from certifeature.rows.rows import as_rows
from certifeature.selectors import BSSSelectorCV, FitResult
from certifeature.sparsify import ColumnChoice
from certifeature.sparsify.choice import as_column_choice

# With more rows, the realised layer of the certificate takes longer than the selection.
_MAX_ROWS_REALISED = 5000


def read(
    source: DataOptions, options: ModelOptions, *, unsupervised: bool = False, stream: bool = False
) -> tuple[Loaded, Any]:
    """Return the data and the unfitted model; raise if the labels do not suit the model."""
    with showing("reading"):
        data = (load_blocks if stream else load)(source, needs_labels=not unsupervised)
    model = options.estimator(data.y)
    if not unsupervised:
        check_classes(data.y, options.model)
    return data, model


@dataclass(frozen=True, eq=False)
class Task:
    """Data as they were read, and what to do with them."""

    data: Loaded
    options: SelectOptions
    model: Any
    scaling: Scaling = Scaling.none
    seed: int = 0

    @cached_property
    def scaled(self) -> Loaded:
        """The data with their columns scaled; the scales are learnt from all rows."""
        return scaled(self.data, self.scaling)

    @cached_property
    def kept(self) -> list[int]:
        """The features that are always included."""
        return kept_features(self.options.keep or (), self.data.names)

    def method(self) -> SelectionMethod:
        """Return the method with all options, for any number of features."""
        options, model, seed = self.options, self.model, self.seed
        (method,) = methods_for(model, [options.method])
        parameters, make = dict(options.parameters), method.make
        if method.ours:
            parameters |= {"basis": "auto", "n_components": None}
        if options.keep:
            parameters["fixed_features"] = self.kept

        def make_with_options(size: Any, *_: Any) -> Any:
            selector = make(size, model, seed)
            # Random choices need no model and no basis, but their certificates do.
            if method.ours and selector.estimator is None:
                selector.set_params(estimator=model)
            return selector.set_params(**parameters)

        return replace(method, make=make_with_options)

    def selector(self) -> Any:
        """Return the unfitted selector, after `SelectOptions.check`."""
        size, n_features = self.options.size, self.data.n_features
        if size.isdecimal() and int(size) > n_features:
            raise ValueError(f"-k {size} is more than the {n_features} columns of the data.")
        if size.isdecimal() and (n_kept := len(self.kept)) > int(size):
            raise ValueError(f"--keep names {n_kept} features, more than -k {size}; raise -k.")
        make = self.method().make
        if size == CROSS_VALIDATED:
            return BSSSelectorCV(make(n_features, self.model, self.seed))
        return make(int(size) if size.isdecimal() else size, self.model, self.seed)


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
    """The chosen features, their certificate, and how long it took to choose them."""

    columns: ColumnChoice
    features: list[Feature]
    certificate: Certificate
    seconds: float
    search: Search | None


def choose(task: Task) -> Choice:
    """Fit the selector and certify its choice."""
    data, options = task.scaled, task.options
    selector = task.selector()
    start = perf_counter()
    with showing(f"choosing from {data.n_features:,} features"):
        selector.fit(data.X, None if options.unsupervised else data.y)
    seconds = perf_counter() - start
    search = None
    if options.size == CROSS_VALIDATED:
        results = {name: np.asarray(part).tolist() for name, part in selector.cv_results_.items()}
        search, selector = Search(int(selector.n_features_), results), selector.selector_
    if not selector.get_support().any():
        raise ValueError("no feature was chosen: the weights are all zero. Raise C.")
    columns = as_column_choice(selector, data.n_features)
    if options.entry.own_size:
        # The largest weights come first.
        n_asked = int(options.size)
        columns = ColumnChoice(columns.indices[:n_asked], columns.scales[:n_asked])
    with showing("certifying"):
        certificate, model = certified(
            data,
            columns,
            task.model,
            selector=selector,
            unsupervised=options.unsupervised,
            realised=data.n_rows <= _MAX_ROWS_REALISED,
        )
    features = features_of(columns, data.names, model=model)
    return Choice(columns, features, certificate, seconds, search)


def certified(
    data: Loaded,
    columns: ColumnChoice,
    model: Any,
    *,
    selector: Any = None,
    unsupervised: bool = False,
    realised: bool = True,
) -> tuple[Certificate, Any]:
    """Return the certificate of a choice, and the model on all features (None without labels).

    Parameters
    ----------
    data : Loaded
        Rows that the choice was made for.
    columns : ColumnChoice
        The choice.
    model : estimator
        Unfitted linear model.
    selector : selector, default=None
        The fitted selector that made the choice, if there is one. Results of a selector of this
        library are not computed again.
    unsupervised : bool, default=False
        Whether to certify for all rows instead of the support vectors.
    realised : bool, default=True
        Whether to compute margins, objectives and radii too.
    """
    known: FitResult | None = getattr(selector, "fit_result_", None)
    if unsupervised:
        certificate = certify(
            data.X,
            data.y,
            columns.indices if known is None else selector,
            weights=columns.scales if known is None else None,
            estimator=None if data.y is None else model,
            rows="all",
            realised=realised,
        )
        return certificate, None if data.y is None else fit_model(clone(model), data.X, data.y)
    support = None if known is None else known.support
    if support is not None and str(selector.estimator) == str(model):
        all_rows = as_rows(data.X, data.y, real_valued=predicts_numbers(model))
        certifier = Certifier(support, support.kind, all_rows)
    else:
        certifier = Certifier.of_data(data.X, data.y, model, "support")
    certificate = certifier.certificate(columns, selector, realised=realised)
    return certificate, certifier.support.model
