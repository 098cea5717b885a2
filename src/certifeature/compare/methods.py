"""The list of methods: how each makes its selector, and the rows that it looks at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sklearn.base import clone
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest, f_classif, f_regression
from sklearn.svm import SVC, LinearSVC

from certifeature.selectors import (
    BSSSelector,
    LeverageScoreSelector,
    LPSVMSelector,
    RandomSelector,
    RRQRSelector,
)
from certifeature.support.accepted import predicts_numbers
from certifeature.support.costs import cost_of

__all__ = [
    "FULL_DATA",
    "KEEP_ALL",
    "METHODS",
    "Maker",
    "Method",
    "WhichRows",
    "method_named",
    "methods_for",
]

# (number of features or "certified", model, seed) → selector
Maker = Callable[[Any, Any, int], Any]
WhichRows = Literal["support", "all"]

FULL_DATA = "full data"


@dataclass(frozen=True)
class Method:
    """A way to choose features.

    Attributes
    ----------
    name : str
        Name in tables and on the command line.
    rows : {"support", "all"}
        Whether it looks at the rows that matter to a model on all features, or at all rows that it
        is trained on.
    make : callable or None
        Makes the selector from number of features, model and seed; None keeps all features.
    own_size : bool
        Whether it takes no number of features, but finds its own.
    ours : bool
        Whether it is a selector of this library that takes "certified" for the number of features,
        and can choose for all rows without labels.
    needs_classes : bool
        Whether it is a classifier of its own, that cannot choose for a model that predicts numbers.
    draws : bool
        Whether its choice is a draw of lots, so that each fold gets another seed.
    """

    name: str
    rows: WhichRows
    make: Maker | None
    own_size: bool = False
    ours: bool = False
    needs_classes: bool = False
    draws: bool = False


KEEP_ALL = Method(FULL_DATA, "support", None)


_LISTED = (
    Method(
        "bss",
        "support",
        lambda size, model, seed: BSSSelector(size, estimator=model, random_state=seed),
        ours=True,
    ),
    Method(
        "bss-paper",
        "support",
        lambda size, model, seed: BSSSelector(
            size,
            order="leverage",
            trust=0,
            rescale="each",
            # The paper is about hinge losses, for which all directions count alike.
            estimator=SVC(kernel="linear", C=cost_of(model)),
            random_state=seed,
        ),
        ours=True,
        needs_classes=True,
    ),
    Method(
        "leverage",
        "support",
        lambda size, model, seed: LeverageScoreSelector(size, estimator=model, random_state=seed),
        ours=True,
        draws=True,
    ),
    Method(
        "rrqr",
        "support",
        lambda size, model, seed: RRQRSelector(
            size, estimator=model, rescale=False, random_state=seed
        ),
        ours=True,
    ),
    Method("rfe", "all", lambda size, model, _: RFE(model, n_features_to_select=size, step=0.1)),
    Method(
        "lpsvm",
        "all",
        lambda _, model, __: LPSVMSelector(C=cost_of(model)),
        own_size=True,
        needs_classes=True,
    ),
    Method(
        "l1",
        "all",
        lambda size, model, seed: SelectFromModel(
            LinearSVC(penalty="l1", C=cost_of(model), random_state=seed),
            max_features=size,
            threshold=1e-12,
        ),
        needs_classes=True,
    ),
    Method(
        "univariate",
        "all",
        lambda size, model, _: SelectKBest(
            f_regression if predicts_numbers(model) else f_classif, k=size
        ),
    ),
    Method(
        "random",
        "all",
        # It looks at no row, so a basis of one direction will do.
        lambda size, _, seed: RandomSelector(
            size,
            supervised=False,
            basis="sketch",
            n_components=1,
            rescale=False,
            random_state=seed,
        ),
        ours=True,
        draws=True,
    ),
)

METHODS = {method.name: method for method in _LISTED}


def method_named(name: str) -> Method:
    """Return the method of this name, or say which names there are."""
    if name not in METHODS:
        raise ValueError(f"method {name!r} is unknown; choose from {', '.join(METHODS)}.")
    return METHODS[name]


def method_of(selector: Any) -> Method:
    """Return the method of a selector that can be asked for a number of features."""
    known = selector.get_params(deep=False)
    sizes = [name for name in ("n_features_to_select", "max_features", "k") if name in known]
    if not sizes:
        raise ValueError(
            f"{type(selector).__name__} has no parameter n_features_to_select, max_features or k, "
            "so it cannot be asked for a number of features; leave it out."
        )

    def make(size: Any, *_: Any) -> Any:
        return clone(selector).set_params(**{sizes[0]: size})

    return Method(type(selector).__name__, "all", make)


def _as_method(given: Any) -> Method:
    if isinstance(given, Method):
        return given
    return method_of(given) if hasattr(given, "get_params") else method_named(given)


def methods_for(model: Any, names: Sequence[Any] | None = None) -> list[Method]:
    """Return the methods of these names, or all that can choose for a model.

    Parameters
    ----------
    model : estimator
        Linear model.
    names : sequence of str, selector or Method, default=None
        Names of methods, selectors or methods, that must be able to choose for it.
    """
    numbers = predicts_numbers(model)
    if names is None:
        return [method for method in METHODS.values() if not (numbers and method.needs_classes)]
    if isinstance(names, str):
        raise ValueError(f"methods={names!r} is one name; give a list, [{names!r}].")
    methods = list(map(_as_method, dict.fromkeys(names)))
    for method in methods:
        if numbers and method.needs_classes:
            able = ", ".join(method.name for method in methods_for(model))
            raise ValueError(
                f"{method.name} tells classes apart, and {type(model).__name__} predicts numbers; "
                f"choose from {able}."
            )
    return methods
