"""Options of the commands, each declared once, and the dataclasses that group them."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier

from certifeature.cli.loading import Scaling, Source, are_numbers, has_decimals
from certifeature.comparison import METHODS, SelectionMethod, method_named
from certifeature.models import default_model
from certifeature.selectors.bss import LABELLED, ORDERS

CERTIFIED, CROSS_VALIDATED = _SEARCHES = ("certified", "cv")
_OURS = [name for name, method in METHODS.items() if method.ours]
_CLASSIFIERS = [name for name, method in METHODS.items() if method.needs_classes]
# The paper's algorithm is bss with its own order, and nothing trusted.
_STEERED = ["bss"]
_METHOD_NAMES: dict[str, Any] = {"metavar": "NAME", "autocompletion": lambda: list(METHODS)}


class Models(StrEnum):
    """Linear models by their short names."""

    svm = "svm"
    logistic = "logistic"
    ridge = "ridge"


class Rescaling(StrEnum):
    """How the chosen columns are scaled."""

    common = "common"
    each = "each"
    none = "none"


DataArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="DATA",
        help="SVMlight, CSV, TSV, Excel, Parquet or NPZ file, compressed or not; a folder with "
        "X.npz and y.npy; - for standard input; or several files with the same columns, a folder "
        "of such files, or a pattern such as 'parts/*.svm'.",
    ),
]
TargetOption = Annotated[
    str | None,
    typer.Option(
        "--target",
        "-t",
        help="Column with the labels, or array of an NPZ file. A column is given by its name or "
        "by its position in the file, counted from 0; -1 is the last.",
    ),
]
IdOption = Annotated[
    str | None,
    typer.Option(
        "--id",
        metavar="COLUMN",
        help="Column with the names of the rows. It is not used as a feature; select --write "
        "keeps it.",
    ),
]
DropOption = Annotated[
    list[str] | None,
    typer.Option("--drop", metavar="COLUMN,...", help="Columns to ignore; may be repeated."),
]
TransposeOption = Annotated[
    bool,
    typer.Option(
        "--transpose",
        help="The CSV, TSV or Excel file has one feature per line and one sample per column, as "
        "tables of gene expression have. The first column holds the names of the features, the "
        "header those of the samples; the labels are a line, whose name is given as --target.",
    ),
]
FormatOption = Annotated[
    str | None,
    typer.Option(
        help="Format of the data if the file name does not show it: csv, excel, npz, parquet, "
        "svmlight or tsv."
    ),
]
MethodsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--method",
        "-m",
        help=f"Method to compare; may be repeated. The default is all: {', '.join(METHODS)}; for "
        f"ridge regression, all except {', '.join(_CLASSIFIERS)}.",
        **_METHOD_NAMES,
    ),
]
JSONOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
ReportOption = Annotated[
    Path | None, typer.Option("--report", "-r", help="Write a report to this HTML file.")
]


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Replace each dataclass among the parameters of a command by its fields.

    The fields become arguments and options of the command line, and the command gets the dataclass.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    parameters: dict[str, inspect.Parameter] = {}
    for name, parameter in inspect.signature(command).parameters.items():
        shown = {name: parameter}
        if name in groups:
            hints |= get_type_hints(groups[name], include_extras=True)
            shown = dict(inspect.signature(groups[name]).parameters)
        for part, given in shown.items():
            parameters[part] = given.replace(kind=given.KEYWORD_ONLY, annotation=hints[part])

    def run(**values: Any) -> None:
        for name, kind in groups.items():
            parts = {field.name: values.pop(field.name) for field in fields(kind)}
            values[name] = kind(**parts)
        command(**values)

    run.__doc__ = command.__doc__
    vars(run)["__signature__"] = inspect.Signature(list(parameters.values()))
    return run


@dataclass(frozen=True)
class DataOptions:
    """Where the data are, and what their columns are."""

    data: DataArgument
    target: TargetOption = None
    id: IdOption = None
    drop: DropOption = None
    transpose: TransposeOption = False
    format: FormatOption = None

    def source(self) -> Source:
        """Return the source of the data."""
        return Source(self.data, self.target, self.format, self.id, self.drop, self.transpose)


@dataclass(frozen=True)
class ModelOptions:
    """The linear model that features are chosen for, and how its columns are scaled."""

    scale: Annotated[
        Scaling | None,
        typer.Option(
            "--scale",
            show_default="none",
            help="How to scale the columns first. none: not at all; standard: to mean 0 and "
            "variance 1, for measurements such as gene expression; tfidf: for word counts.",
        ),
    ] = None
    model: Annotated[
        Models,
        typer.Option(
            help="Model that features are chosen or certified for. svm: a linear SVM with the "
            "squared hinge loss; logistic: logistic regression; ridge: a ridge classifier, or "
            "ridge regression if the labels are numbers with decimals, or take more different "
            "values than half the number of rows. Ridge uses alpha = 1/(2C), so that C means the "
            "same for all models."
        ),
    ] = Models.svm
    cost: Annotated[
        float,
        typer.Option(
            "--C",
            "-C",
            help="Parameter C of the model. The larger it is, the closer the model fits the data.",
            min=1e-12,
        ),
    ] = 1.0
    seed: Annotated[int, typer.Option(help="Seed of the random numbers.", min=0)] = 0

    def estimator(self, y: NDArray[Any] | None) -> Any:
        """Return the model, unfitted, for these labels."""
        if y is not None and has_decimals(y) and self.model is not Models.ridge:
            raise ValueError(
                f"the labels are numbers with decimals, and --model {self.model} tells classes "
                "apart; use --model ridge, or labels that are classes."
            )
        if self.model is Models.svm:
            return default_model(self.seed).set_params(C=self.cost)
        if self.model is Models.logistic:
            return LogisticRegression(C=self.cost)
        is_regression = y is not None and are_numbers(y)
        return (Ridge if is_regression else RidgeClassifier)(alpha=1 / (2 * self.cost))


@dataclass(frozen=True)
class SelectOptions:
    """How many features to choose, and how; None is the default of the method."""

    size: Annotated[
        str,
        typer.Option(
            "-k",
            metavar="NUMBER",
            help="Number of features to choose. certified: about the smallest number for which "
            "the training objective is proven to be at most twice that with all features. cv: the "
            "number found by cross-validation (bss only).",
        ),
    ]
    unsupervised: Annotated[
        bool, typer.Option("--unsupervised", help="Choose features for all rows, without labels.")
    ] = False
    method: Annotated[
        str,
        typer.Option(
            "--method", "-m", help=f"Method of selection: {', '.join(METHODS)}.", **_METHOD_NAMES
        ),
    ] = "bss"
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Feature that is always included (bss only); may be repeated. It may be several "
            "names with commas between them, or @FILE, a file with one name per line or one "
            "written by -o. A feature without a name is given by its number, counted from 0; in "
            "SVMlight files, index 1 is feature 0.",
        ),
    ] = None
    order: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=f"How features are ranked (bss only): {', '.join(ORDERS)}; or a pair such as "
            "stable,arom, where the first is for the trusted features.",
            autocompletion=lambda: list(ORDERS),
        ),
    ] = None
    trust: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="Share of the features that is taken directly from the top of the ranking (bss "
            "only): 0 to 1, or auto.",
        ),
    ] = None
    rescale: Annotated[
        Rescaling | None,
        typer.Option(
            help="How to scale the chosen columns. common: all by one factor; each: every column "
            "by its own factor; none: not at all. The default depends on the method. For "
            f"{', '.join(_OURS)}."
        ),
    ] = None

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
            "Scales of the chosen columns": self.rescale,
        }
        return {name: str(value) for name, value in values.items() if value}

    def check(self) -> None:
        """Raise, before any long work, if the method does not support the options."""
        options = (
            ("-k certified", self.size == CERTIFIED, _OURS),
            ("-k cv", self.size == CROSS_VALIDATED, _STEERED),
            ("--keep", self.keep, _STEERED),
            ("--order", self.order, _STEERED),
            ("--trust", self.trust, _STEERED),
            ("--rescale", self.rescale, _OURS),
        )
        name = self.entry.name
        for option, given, takers in options:
            if given and name not in takers:
                raise ValueError(
                    f"{option} works with {', '.join(takers)}, not with {name}; leave it out or "
                    "choose such a method."
                )
        if self.size == CROSS_VALIDATED and self.unsupervised:
            raise ValueError("-k cv compares predictions with labels; leave out --unsupervised.")
        if self.unsupervised and not self.entry.ours:
            raise ValueError(f"{name} needs labels; --unsupervised works with {', '.join(_OURS)}.")
        if self.size not in _SEARCHES and not (self.size.isdecimal() and int(self.size) > 0):
            raise ValueError(
                f"-k must be a positive whole number, {' or '.join(_SEARCHES)}; got {self.size!r}."
            )
        # They are checked as they are made.
        _ = self.parameters


def _order(text: str, unsupervised: bool) -> str | tuple[str, ...]:
    """Return the name of an order, or a pair of names."""
    names = text.split(",")
    # In a pair each order has its place, so "auto" has nothing to decide.
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
