"""The options of ``certifeature select`` about the choice, and the selector they stand for."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated, Any

import typer

from certifeature.cli.features import kept_features
from certifeature.cli.loading import Loaded
from certifeature.comparison import METHODS, SelectionMethod, methods_for
from certifeature.selectors import BSSSelectorCV
from certifeature.selectors.ranking import LABELLED, ORDERS

__all__ = [
    "CROSS_VALIDATED",
    "KeepOption",
    "OrderOption",
    "RescaleOption",
    "Rescaling",
    "SelectOptions",
    "SizeOption",
    "TrustOption",
    "method_for",
    "selector_for",
]

CERTIFIED, CROSS_VALIDATED = _SEARCHES = ("certified", "cv")
_OURS = [name for name, method in METHODS.items() if method.ours]
# The paper's algorithm is bss with its own order, and nothing trusted.
_STEERED = ["bss"]


class Rescaling(StrEnum):
    """How the chosen columns are scaled."""

    common = "common"
    each = "each"
    none = "none"


SizeOption = Annotated[
    str,
    typer.Option(
        "-k",
        metavar="NUMBER",
        help="Number of features; or certified, about the fewest with which the training "
        "objective at most doubles, for certain; or cv, the number that cross-validation finds "
        "(for bss).",
    ),
]
KeepOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Feature that is chosen in any case (for bss); may be repeated. Several with commas "
        "between them, or @FILE with one name per line or as -o wrote it, will do too. A feature "
        "without a name goes by its number, from 0 as in Python; in SVMlight files, index 1 is "
        "feature 0.",
    ),
]
OrderOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help=f"How features are ranked (for bss): {', '.join(ORDERS)}; or a pair such as "
        "stable,arom, the first for those that are trusted.",
        autocompletion=lambda: list(ORDERS),
    ),
]
TrustOption = Annotated[
    str | None,
    typer.Option(
        metavar="SHARE",
        help="Share of the features that is taken straight from the top of the order (for bss): 0 "
        "to 1, or auto.",
    ),
]
RescaleOption = Annotated[
    Rescaling | None,
    typer.Option(
        help="How to scale the chosen columns: all by one factor, each by its own, or not at all. "
        f"The default is that of the method. For {', '.join(_OURS)}.",
    ),
]


@dataclass(frozen=True)
class SelectOptions:
    """What is asked of a method, as on the command line; None is the default of the method."""

    method: SelectionMethod
    size: str
    unsupervised: bool
    keep: list[str]
    order: str | None
    trust: str | None
    rescale: Rescaling | None

    def check(self) -> None:
        """Raise, before any long work, if the method does not take what is asked of it."""
        self._check_taken()
        if self.unsupervised and not self.method.ours:
            raise ValueError(
                f"{self.method.name} needs labels; --unsupervised works with {', '.join(_OURS)}."
            )
        if self.size not in _SEARCHES and not (self.size.isdecimal() and int(self.size) > 0):
            raise ValueError(
                f"-k must be a positive whole number, {' or '.join(_SEARCHES)}; got {self.size!r}."
            )
        self.parameters()

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of the selector that need no data."""
        given: dict[str, Any] = {"supervised": not self.unsupervised} if self.method.ours else {}
        if self.order is not None:
            given["order"] = _order(self.order, self.unsupervised)
        if self.trust is not None:
            given["trust"] = _trust(self.trust)
        if self.rescale is not None:
            given["rescale"] = self.rescale is not Rescaling.none and self.rescale.value
        return given

    def given(self) -> dict[str, str]:
        """Return the options that were given, by what they are about."""
        values = {
            "Features in any case": ", ".join(self.keep),
            "Order": self.order,
            "Trust": self.trust,
            "Scales of the chosen columns": self.rescale,
        }
        return {name: str(value) for name, value in values.items() if value}

    def _check_taken(self) -> None:
        options = (
            ("-k certified", self.size == CERTIFIED, _OURS),
            ("-k cv", self.size == CROSS_VALIDATED, _STEERED),
            ("--keep", bool(self.keep), _STEERED),
            ("--order", self.order is not None, _STEERED),
            ("--trust", self.trust is not None, _STEERED),
            ("--rescale", self.rescale is not None, _OURS),
        )
        for option, given, takers in options:
            if given and self.method.name not in takers:
                raise ValueError(
                    f"{option} works with {', '.join(takers)}, not with {self.method.name}; leave "
                    "it out or choose such a method."
                )
        if self.size == CROSS_VALIDATED and self.unsupervised:
            raise ValueError("-k cv compares predictions with labels; leave out --unsupervised.")


def selector_for(wishes: SelectOptions, data: Loaded, model: Any, seed: int) -> Any:
    """Return the selector that is asked for, unfitted, after `Wishes.check`."""
    size = _checked_size(wishes.size, data)
    by_score = size == CROSS_VALIDATED
    kept = kept_features(wishes.keep, data.names)
    if isinstance(size, int) and len(kept) > size:
        raise ValueError(
            f"--keep names {len(kept)} features, more than -k {size}; name fewer, or raise -k."
        )
    make = method_for(wishes, data, model, seed).make
    selector = make(data.n_features if by_score else size, model, seed)
    return BSSSelectorCV(selector) if by_score else selector


def method_for(wishes: SelectOptions, data: Loaded, model: Any, seed: int) -> SelectionMethod:
    """Return the method with all that is asked of it, for any number of features."""
    (method,) = methods_for(model, [wishes.method.name])
    parameters, make = wishes.parameters(), method.make
    if method.ours:
        parameters |= {"basis": "auto", "n_components": None}
    if wishes.keep:
        parameters["fixed_features"] = kept_features(wishes.keep, data.names)

    def steered(size: Any, *_: Any) -> Any:
        selector = make(size, model, seed)
        # Random choices need no model and no basis, but their certificates do.
        if method.ours and selector.estimator is None:
            selector.set_params(estimator=model)
        return selector.set_params(**parameters)

    return replace(method, make=steered)


def _checked_size(size: str, data: Loaded) -> int | str:
    """Return the number of features, which must not be more than there are, or how to find it."""
    if size in _SEARCHES:
        return size
    n_features = data.n_features
    if int(size) > n_features:
        raise ValueError(f"-k {size} is more than the {n_features} columns of {data.source}.")
    return int(size)


def _order(text: str, unsupervised: bool) -> str | tuple[str, ...]:
    """Return the name of an order, or the pair of names."""
    names = text.split(",")
    # A pair says what each is for, so there is nothing left for "auto" to find out.
    known = ORDERS if len(names) == 1 else ORDERS[1:]
    if len(names) > 2 or not set(names) <= set(known):
        raise ValueError(
            f"--order must be one of {', '.join(ORDERS)}, or a pair such as stable,arom; "
            f"got {text!r}."
        )
    if unsupervised and set(names) & set(LABELLED):
        without = ", ".join(name for name in ORDERS if name not in LABELLED)
        raise ValueError(f"--order {text} needs labels; with --unsupervised use {without}.")
    return names[0] if len(names) == 1 else tuple(names)


def _trust(text: str) -> float | str:
    """Return a share, or "auto"."""
    if text == "auto":
        return text
    try:
        share = float(text)
    except ValueError:
        share = math.nan
    if not 0 <= share <= 1:
        raise ValueError(f"--trust must be a number from 0 to 1, or auto; got {text!r}.")
    return share
