"""Arguments and options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier

from certifeature.cli.loading import Scaling, are_numbers, has_decimals
from certifeature.comparison import METHODS
from certifeature.models import default_model

__all__ = [
    "CostOption",
    "DataArgument",
    "DropOption",
    "FormatOption",
    "IdOption",
    "JSONOption",
    "MethodOption",
    "MethodsOption",
    "ModelOption",
    "Models",
    "ReportOption",
    "ScaleOption",
    "SeedOption",
    "TargetOption",
    "TransposeOption",
    "linear_model",
]


class Models(StrEnum):
    """Linear models by their short names."""

    svm = "svm"
    logistic = "logistic"
    ridge = "ridge"


DataArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="DATA",
        help="SVMlight, CSV, TSV, Excel, Parquet or NPZ file, compressed or not; a folder with "
        "X.npz and y.npy; - for standard input; or several files with the same columns, a folder "
        "of them, or a pattern such as 'parts/*.svm'.",
    ),
]
TargetOption = Annotated[
    str | None,
    typer.Option(
        "--target",
        "-t",
        help="Column, or array of an NPZ file, that holds the labels. A column goes by its name "
        "or by its number in the file: 0 is the first, as in Python, and -1 the last.",
    ),
]
IdOption = Annotated[
    str | None,
    typer.Option(
        "--id",
        metavar="COLUMN",
        help="Column that names the rows: no feature, but kept in files of data that are written.",
    ),
]
DropOption = Annotated[
    list[str] | None,
    typer.Option(
        "--drop",
        metavar="COLUMN,...",
        help="Columns that are left out; may be repeated.",
    ),
]
TransposeOption = Annotated[
    bool,
    typer.Option(
        "--transpose",
        help="The CSV, TSV or Excel file has a feature in each line and a sample in each column, "
        "as tables of gene expression have: the first column names the features, the header the "
        "samples, and the labels are a line too, which begins with the name given as --target.",
    ),
]
FormatOption = Annotated[
    str | None,
    typer.Option(
        help="Format of the data, if the file name does not tell it: "
        "csv, excel, npz, parquet, svmlight or tsv.",
    ),
]
ScaleOption = Annotated[
    Scaling | None,
    typer.Option(
        "--scale",
        show_default="none",
        help="How to scale the columns first: none; standard (mean 0, variance 1), for "
        "measurements such as gene expression; tfidf, for word counts.",
    ),
]
CostOption = Annotated[
    float,
    typer.Option(
        "--C", "-C", help="Cost C of the model: the larger, the closer it fits.", min=1e-12
    ),
]
ModelOption = Annotated[
    Models,
    typer.Option(
        help="Model that features are chosen for: svm, a linear SVM with a squared hinge loss; "
        "logistic, logistic regression; ridge, a ridge classifier, or ridge regression where the "
        "labels are numbers with decimals, or numbers with more different values than half of the "
        "rows. Ridge takes alpha = 1/(2C), so that C means the same for all.",
    ),
]
SeedOption = Annotated[int, typer.Option(help="Seed of the random numbers.", min=0)]
_METHOD_NAMES: dict[str, Any] = {"metavar": "NAME", "autocompletion": lambda: list(METHODS)}
_CLASSIFIERS = [name for name, method in METHODS.items() if method.needs_classes]
MethodOption = Annotated[
    str,
    typer.Option(
        "--method", "-m", help=f"How to choose features: {', '.join(METHODS)}.", **_METHOD_NAMES
    ),
]
MethodsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--method",
        "-m",
        help=f"Method to compare; may be repeated. All, if none is given: {', '.join(METHODS)}. "
        f"Without labels that are classes, {', '.join(_CLASSIFIERS)} are left out.",
        **_METHOD_NAMES,
    ),
]
JSONOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
ReportOption = Annotated[
    Path | None, typer.Option("--report", "-r", help="Write a report to this HTML file.")
]


def linear_model(model: Models, y: NDArray[Any] | None, cost: float, seed: int = 0) -> Any:
    """Return the model that features are chosen for, unfitted."""
    if y is not None and has_decimals(y) and model is not Models.ridge:
        raise ValueError(
            f"the labels are numbers with decimals, and --model {model} tells classes apart; use "
            "--model ridge, or labels that are classes."
        )
    if model is Models.svm:
        return default_model(seed).set_params(C=cost)
    if model is Models.logistic:
        return LogisticRegression(C=cost)
    predicts_numbers = y is not None and are_numbers(y)
    return (Ridge if predicts_numbers else RidgeClassifier)(alpha=1 / (2 * cost))
