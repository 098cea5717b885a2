"""What stands out in data, and what to do about it."""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from certifeature._files import is_number
from certifeature.cli.labels import too_many_classes
from certifeature.cli.loading import Scaling
from certifeature.cli.scales import column_deviations, look_like_counts, scaling_for
from certifeature.io.tables import Survey

__all__ = [
    "Findings",
    "advice",
    "findings",
    "likely_target",
    "looks_transposed",
    "predict_numbers",
]

_MIN_CLASS = 5
_N_TEXTS = 5


@dataclass(frozen=True, eq=False)
class Findings:
    """What was counted in the features that are numbers."""

    n_missing: dict[str, int]
    constant: list[str]
    deviations: NDArray[np.float64]
    n_repeated: int
    scaling: Scaling | None
    row_numbers: list[str]
    classes: dict[str, int] | None


def findings(survey: Survey) -> Findings:
    """Count what may matter; standard deviations are of columns that vary and lack nothing."""
    X = survey.X
    names = survey.names or [str(number) for number in range(X.shape[1])]
    missing = np.zeros(X.shape[1], dtype=int)
    if not sparse.issparse(X):
        missing = (~np.isfinite(X)).sum(axis=0)
    complete = missing == 0
    deviations = column_deviations(X if complete.all() else X[:, complete])
    varying = deviations > 0
    places = np.flatnonzero(complete)
    numbered = [] if sparse.issparse(X) else [names[i] for i in places if _numbers_rows(X[:, i])]
    labels = survey.labels
    return Findings(
        n_missing={names[i]: int(missing[i]) for i in np.flatnonzero(missing)},
        constant=[names[i] for i in places[~varying]],
        deviations=deviations[varying],
        n_repeated=_n_repeated(X),
        scaling=scaling_for(
            X, deviations[varying], counts=bool(complete.all()) and look_like_counts(X)
        ),
        row_numbers=numbered,
        classes=None if labels is None else dict(Counter(map(_shown, labels)).most_common()),
    )


def _numbers_rows(column: NDArray[np.float64]) -> bool:
    return len(column) > 2 and column[0] in (0, 1) and bool((np.diff(column) == 1).all())


def _n_repeated(X: Any) -> int:
    n_rows, n_features = X.shape
    return n_rows - len({_digest(X, row) for row in range(n_rows)}) if n_features else 0


def _digest(X: Any, row: int) -> bytes:
    if not sparse.issparse(X):
        return bytes(X[row].tobytes())
    part = slice(X.indptr[row], X.indptr[row + 1])
    return bytes(X.indices[part].tobytes() + X.data[part].tobytes())


def _shown(label: Any) -> str:
    """Return a label as text, nothing where it is missing."""
    text = f"{label:.15g}" if isinstance(label, float) else str(label).strip()
    return "" if text.lower() in ("nan", "?") else text


def predict_numbers(found: Findings) -> bool:
    """Tell whether the labels are numbers that ridge regression predicts, not classes."""
    classes = found.classes or {}
    return all(map(is_number, classes)) and (
        any(float(label) % 1 for label in classes) or _too_many(classes)
    )


def _too_many(classes: dict[str, int]) -> bool:
    return too_many_classes(len(classes), sum(classes.values()))


def looks_transposed(survey: Survey, kind: str) -> bool:
    """Tell whether samples seem to be in columns: a long table that begins with names."""
    if kind not in ("csv", "excel", "tsv") or survey.labels is not None or not survey.texts:
        return False
    first, n_rows = survey.texts[0], survey.X.shape[0]
    return first.place == 0 and first.n_different == n_rows > survey.n_columns


def likely_target(survey: Survey) -> str | None:
    """Return the last column that may hold the labels, if they are not known."""
    return next(reversed(survey.candidates), None)


def advice(survey: Survey, found: Findings, kind: str, *, transposed: bool) -> list[str]:
    """Return sentences about what stands in the way, or should be known.

    Parameters
    ----------
    survey : Survey
        What is in the data.
    found : Findings
        What was counted in them.
    kind : str
        Format of the data.
    transposed : bool
        Whether the file has a sample in each column.
    """
    if looks_transposed(survey, kind):
        return [
            "This looks like features in rows and samples in columns: add --transpose, and name "
            "the row of labels with --target."
        ]
    said = []
    column, rows = ("row", "columns") if transposed else ("column", "rows")
    if found.classes is None:
        said += _about_no_labels(survey, column, rows)
    elif not predict_numbers(found):
        said += _about_classes(found.classes, rows)
    said += _about_texts(survey)
    said += [
        f"Feature {name!r} numbers the {rows}: --id {name!r}, or --drop it."
        for name in found.row_numbers
    ]
    if found.n_missing:
        said.append(f"Values are missing or infinite: fill them in, or --drop their {column}s.")
    if found.constant:
        said.append("Constant features tell nothing: --drop them, or let them be.")
    if found.n_repeated:
        said.append(
            f"Some {rows} are equal: with one of them in training and one in the test, errors look "
            "too good."
        )
    if found.scaling is Scaling.tfidf:
        said.append("The values look like counts, most of them zero: --scale tfidf.")
    elif found.scaling is Scaling.standard:
        said.append(
            "The features have different scales, and the widest would count most: --scale standard."
        )
    return said


def _about_no_labels(survey: Survey, column: str, rows: str) -> list[str]:
    likely = [
        f"{name!r} may be the label: {_counted(counts, rows)}: --target {shlex.quote(name)}."
        for name, counts in list(survey.candidates.items())[-_N_TEXTS:]
    ]
    return [f"There are no labels: name their {column} with --target.", *likely]


def _about_texts(survey: Survey) -> list[str]:
    said = []
    texts = [text for text in survey.texts if text.name != likely_target(survey)]
    for text in texts[:_N_TEXTS]:
        names_rows = text.n_different == survey.X.shape[0]
        remedy = f"--{'id' if names_rows else 'drop'} {text.name!r}, or encode it as numbers"
        different = "all different" if names_rows else f"{text.n_different} different"
        said.append(f"{text.name!r} is text, such as {text.example[:30]!r}, {different}: {remedy}.")
    if len(texts) > _N_TEXTS:
        said.append(f"So are {len(texts) - _N_TEXTS} others.")
    return said


def _counted(counts: dict[str, int], rows: str) -> str:
    (first, n_first), *others = counts.items()
    return ", ".join(
        [f"{first!r} in {n_first} {rows}", *(f"{name!r} in {n}" for name, n in others)]
    )


def _about_classes(classes: dict[str, int], rows: str) -> list[str]:
    if "" in classes:
        return [f"{classes['']} {rows} have no label: fill them in, or remove the {rows}."]
    if len(classes) < 2:
        return ["All labels are equal: two classes are needed."]
    if _too_many(classes):
        return [
            f"There are {len(classes):,} different labels, which look like names of {rows}: name "
            "others with --target."
        ]
    rarest = min(classes, key=lambda name: classes[name])
    if classes[rarest] < _MIN_CLASS:
        shown = rows.removesuffix("s") if classes[rarest] == 1 else rows
        return [f"Class {rarest!r} has only {classes[rarest]} {shown}: errors will be uncertain."]
    return []
