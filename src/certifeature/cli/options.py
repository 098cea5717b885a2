"""Options of the commands, each declared once, and the dataclasses that group them."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.svm import LinearSVC

from certifeature._files import is_number
from certifeature.cli.loading import check_classes
from certifeature.cli.preparing import Scaling
from certifeature.comparison import METHODS, SelectionMethod, method_named
from certifeature.models import default_model
from certifeature.models.problem import SCALE, SOFTNESS, are_numbers, has_decimals
from certifeature.selectors.bss import LABELLED, ORDERS

CERTIFIED, CROSS_VALIDATED = _SEARCHES = ("certified", "cv")
_OURS = [name for name, method in METHODS.items() if method.ours]
_CLASSIFIERS = [name for name, method in METHODS.items() if method.needs_classes]
# The paper's algorithm is bss with its own order, and nothing trusted.
_STEERED = ["bss"]
_SEARCHED = ["bss", "subset"]
GROUPED = [*_SEARCHED, "leverage", "random"]
STREAMED = [*_OURS, "subset"]
_LISTS = {"methods": METHODS, "streamed": STREAMED, "classifiers": _CLASSIFIERS, "orders": ORDERS}

JSONOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
ReportOption = Annotated[Path | None, typer.Option("--report", "-r", help="Write an HTML report.")]
_ORDER = typer.Option(metavar="NAME", autocompletion=lambda: list(ORDERS))
METHOD = typer.Option("--method", "-m", metavar="NAME", autocompletion=lambda: list(METHODS))


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Replace each dataclass among the parameters of a command by its fields.

    The fields become arguments and options of the command line, and the command gets the dataclass.
    The help text of each is the description of the parameter in the docstring of the command or the
    dataclass, in which {methods} and the like stand for the names of methods.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    summary, texts = _documented(command)
    parameters: dict[str, inspect.Parameter] = {}
    for name, parameter in inspect.signature(command).parameters.items():
        shown = {name: parameter}
        if name in groups:
            hints |= get_type_hints(groups[name], include_extras=True)
            texts |= _documented(groups[name])[1]
            shown = dict(inspect.signature(groups[name]).parameters)
        for part, given in shown.items():
            hint = hints[part]
            if part in texts:
                is_plain = get_origin(hint) is not Annotated
                kind, option = (hint, typer.Option()) if is_plain else get_args(hint)
                option = copy(option)
                option.help = texts[part]
                hint = Annotated[kind, option]
            parameters[part] = given.replace(kind=given.KEYWORD_ONLY, annotation=hint)

    def run(**values: Any) -> None:
        for name, kind in groups.items():
            parts = {field.name: values.pop(field.name) for field in fields(kind)}
            values[name] = kind(**parts)
        command(**values)

    run.__doc__ = summary
    vars(run)["__signature__"] = inspect.Signature(list(parameters.values()))
    return run


def _documented(documented: Any) -> tuple[str, dict[str, str]]:
    """Return a docstring without its section of parameters, and the description of each."""
    doc = inspect.getdoc(documented) or ""
    summary, _, section = doc.partition("\n\nParameters\n----------\n")
    found = re.findall(r"^(\w+)\n((?:    .*\n?)+)", section, re.MULTILINE)
    lists = {name: ", ".join(names) for name, names in _LISTS.items()}
    return summary, {name: " ".join(text.split()).format(**lists) for name, text in found}


Models = StrEnum("Models", ["svm", "logistic", "ridge", "regression"])
ClassWeights = StrEnum("ClassWeights", ["balanced"])
Rescaling = StrEnum("Rescaling", ["common", "each", "none"])


@dataclass(frozen=True)
class ModelOptions:
    """The linear model that features are chosen for, and how its columns are scaled.

    Parameters
    ----------
    scale
        How to scale the columns first. none: not at all; standard: to mean 0 and variance 1, for
        measurements such as gene expression; tfidf: for word counts.
    model
        Model that features are chosen or certified for. svm: a linear SVM with the squared hinge
        loss; logistic: logistic regression; ridge: a ridge classifier, or ridge regression if the
        labels are numbers with decimals, or take more different values than half the number of
        rows; regression: ridge regression for any numbers. Ridge uses alpha = 1/(2C), so that C
        means the same for all models.
    cost
        Parameter C of the model: a number, or scale, soft or hard. The larger it is, the closer the
        model fits the data. scale: 0.5 over the mean squared distance of the rows from their mean,
        so that the units of the columns do not matter; soft: 0.1 over it, by which subset chooses
        unless C is given; hard: 100,000 over it. The SVM then has an intercept that is not
        penalised.
    class_weight
        balanced: errors on rare classes count more, so that every class counts alike in the model.
    seed
        Seed of the random numbers.
    """

    scale: Annotated[Scaling | None, typer.Option(show_default="none")] = None
    model: Models = Models.svm
    cost: Annotated[str, typer.Option("--C", "-C", metavar="NUMBER")] = SCALE
    class_weight: ClassWeights | None = None
    seed: Annotated[int, typer.Option(min=0)] = 0

    def estimator(self, y: NDArray[Any] | None, *, supervised: bool = True) -> Any:
        """Return the model, unfitted, for these labels; raise if they do not suit it."""
        is_ridge = self.model in (Models.ridge, Models.regression)
        if y is not None and has_decimals(y) and not is_ridge:
            found = f"the labels have decimals, and --model {self.model} tells classes apart"
            raise ValueError(f"{found}; use --model regression, or labels that are classes.")
        if y is not None and y.dtype.kind == "U" and self.model is Models.regression:
            found = f"the labels are text, such as {str(y[0])[:60]!r}"
            raise ValueError(f"--model regression predicts numbers, and {found}.")
        if supervised:
            check_classes(y, self.model)
        cost = self.cost if self.cost in SOFTNESS else _positive(self.cost)
        weights = None if self.class_weight is None else str(self.class_weight)
        if self.model is Models.svm and isinstance(cost, str):
            return default_model(cost=cost).set_params(class_weight=weights)
        if self.model is Models.svm:
            return LinearSVC(C=cost, random_state=self.seed, class_weight=weights)
        if self.model is Models.logistic:
            return LogisticRegression(C=cost, class_weight=weights)
        alpha = cost if isinstance(cost, str) else 1 / (2 * cost)
        if self.model is not Models.regression and not are_numbers(y):
            return RidgeClassifier(alpha=alpha, class_weight=weights)
        if weights:
            raise ValueError("--class-weight is for classes, and labels are numbers; leave it out.")
        return Ridge(alpha=alpha)


def _positive(text: str) -> float:
    """Return the number that --C gives."""
    value = float(text) if is_number(text) else math.nan
    if not 1e-12 <= value < math.inf:
        raise ValueError(f"--C must be a positive number, scale, soft or hard; got {text!r}.")
    return value


@dataclass(frozen=True)
class SelectOptions:
    """How many features to choose, and how; None is the default of the method.

    Parameters
    ----------
    size
        Number of features to choose. certified: about the smallest number for which the training
        objective is proven to be at most twice that with all features. cv: the number found by
        cross-validation (bss and subset only).
    unsupervised
        Choose features for all rows, without labels.
    method
        Method of selection: {methods}.
    keep
        Feature that is always included (bss and subset only); may be repeated. It may be several
        names with commas between them, or @FILE, a file with one name per line or one written by
        -o. A feature without a name is given by its number, counted from 0; in SVMlight files,
        index 1 is feature 0.
    order
        How features are ranked (bss only): {orders}; or a pair such as stable,coef, where the first
        is for the trusted features.
    trust
        Share of the features that is taken directly from the top of the ranking (bss only): 0 to 1,
        or auto.
    group_by
        Choose features in groups, each as a whole (bss, subset, leverage and random only): prefix:_
        groups them by what stands before the last _ of their names; a regular expression by what
        its first parentheses match, or else by the whole match; @FILE by a file with a name, a tab
        and the name of its group per line. Features in no group stand alone. -k counts groups. The
        categories of a column of text are such a group.
    rescale
        How to scale the chosen columns. common: all by one factor; each: every column by its own
        factor; none: not at all. The default depends on the method. For {streamed}.
    """

    size: Annotated[str, typer.Option("-k", metavar="NUMBER")]
    unsupervised: Annotated[bool, typer.Option("--unsupervised")] = False
    method: Annotated[str, METHOD] = "bss"
    keep: Annotated[list[str] | None, typer.Option(metavar="NAME")] = None
    order: Annotated[str | None, _ORDER] = None
    trust: Annotated[str | None, typer.Option(metavar="SHARE")] = None
    group_by: Annotated[str | None, typer.Option(metavar="PATTERN")] = None
    rescale: Rescaling | None = None

    @cached_property
    def entry(self) -> SelectionMethod:
        """The method as the comparison lists it."""
        return method_named(self.method)

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """Parameters of the selector that do not depend on the data."""
        given: dict[str, Any] = {"supervised": not self.unsupervised} if self.entry.ours else {}
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
            "Always-included features": ", ".join(self.keep or ()),
            "Order": self.order,
            "Trust": self.trust,
            "Groups of features": self.group_by,
            "Scales of the chosen columns": self.rescale,
        }
        return {name: str(value) for name, value in values.items() if value}

    def check(self) -> None:
        """Raise, before any long work, if the method does not support the options."""
        is_search, name = self.size == CROSS_VALIDATED, self.entry.name
        options = (
            ("-k certified", self.size == CERTIFIED, _OURS),
            ("-k cv", is_search, _SEARCHED),
            ("--keep", self.keep, _SEARCHED),
            ("--order", self.order, _STEERED),
            ("--trust", self.trust, _STEERED),
            ("--group-by", self.group_by, GROUPED),
            ("--rescale", self.rescale, STREAMED),
        )
        for option, given, takers in options:
            if given and name not in takers:
                others = f"works with {', '.join(takers)}, not with {name}"
                raise ValueError(f"{option} {others}; leave it out, or change --method.")
        if is_search and self.unsupervised:
            raise ValueError("-k cv compares predictions with labels; leave out --unsupervised.")
        if self.unsupervised and not self.entry.ours:
            raise ValueError(f"{name} needs labels; --unsupervised works with {', '.join(_OURS)}.")
        if self.size not in _SEARCHES and not (self.size.isdecimal() and int(self.size) > 0):
            known = f"a positive whole number, {' or '.join(_SEARCHES)}"
            raise ValueError(f"-k must be {known}; got {self.size!r}.")
        # They are checked as they are made.
        _ = self.parameters


def _order(text: str, unsupervised: bool) -> str | tuple[str, ...]:
    """Return the name of an order, or a pair of names."""
    names = text.split(",")
    # In a pair each order has its place, so "auto" has nothing to decide.
    known = ORDERS if len(names) == 1 else ORDERS[1:]
    if len(names) > 2 or not set(names) <= set(known):
        shown = ", ".join(ORDERS)
        raise ValueError(f"--order must be one of {shown}, or a pair of them; got {text!r}.")
    if unsupervised and set(names) & set(LABELLED):
        without = ", ".join(name for name in ORDERS if name not in LABELLED)
        raise ValueError(f"--order {text} needs labels; with --unsupervised use {without}.")
    return names[0] if len(names) == 1 else tuple(names)


def _trust(text: str) -> float | str:
    """Return a share, or "auto"."""
    if text == "auto":
        return text
    share = float(text) if is_number(text) else math.nan
    if not 0 <= share <= 1:
        raise ValueError(f"--trust must be a number from 0 to 1, or auto; got {text!r}.")
    return share
