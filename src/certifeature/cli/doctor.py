"""``certifeature doctor``: what is in a file, and what to do about it."""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import typer
from numpy.typing import NDArray
from scipy import sparse

from certifeature._files import is_number
from certifeature.cli.loading import (
    Scaling,
    Source,
    column_deviations,
    look_like_counts,
    scaling_for,
    too_many_classes,
)
from certifeature.cli.options import (
    DataArgument,
    DropOption,
    FormatOption,
    IdOption,
    JSONOption,
    TargetOption,
    TransposeOption,
)
from certifeature.cli.output import json_text, showing
from certifeature.io._common import first_few, read_bytes
from certifeature.io.reader import TABLES, format_of
from certifeature.io.tables import Columns, Places, Table, table_of

_N_CLASSES = 10
_MIN_CLASS = 5
_N_TEXTS = 5
_SIZE = 100


def doctor_command(
    data: DataArgument,
    target: TargetOption = None,
    id: IdOption = None,
    drop: DropOption = None,
    transpose: TransposeOption = False,
    format: FormatOption = None,
    as_json: JSONOption = False,
) -> None:
    """Say what is in a file, what stands in the way, and which command to try.

    \b
    Examples:
      certifeature doctor genes.csv -t tumour
      certifeature doctor expression.tsv --transpose -t tumour
    """
    source = Source(data, target, format, id, drop, transpose)
    with showing("reading"):
        kind, table = _read(source)
    with showing("looking"):
        found = _findings(source, kind, table)
    advice, command = _advice(found), _command(found)
    if as_json:
        typer.echo(json_text(_values(found) | {"advice": advice, "command": command}), nl=False)
        return
    for line in (*_facts(found), *(f"! {line}" for line in advice)):
        typer.echo(line)
    fill = ", when the missing values are filled in" if found.missing else ""
    typer.echo(f"Try{fill}: {command}")


def _read(source: Source) -> tuple[str, Table]:
    """Return the kind of the data, and their columns, even if they cannot be used so."""
    if "-" in source.paths:
        raise ValueError("doctor looks at files; write standard input to one, and give that.")
    path = Path(source.paths[0])
    kind = source.format or ("npz" if path.is_dir() and source.is_one() else None)
    kind = kind or format_of(str(source.files()[0]))
    if kind in TABLES and source.is_one():
        asked = Columns(source.target, source.id, source.dropped, source.transpose)
        return kind, table_of(*read_bytes(path), asked, kind, needs_labels=False)
    data = source.read()
    names = [str(number) for number in range(data.X.shape[1])]
    if data.feature_names is not None:
        names = data.feature_names.tolist()
    label = None if data.y is None else len(names)
    target = [] if data.y is None else [source.target or ""]
    places = Places(label, None, list(range(len(names))))
    return kind, Table([*names, *target], places, data.X, {}, data.y, None, str)


# What was found


@dataclass(frozen=True, eq=False)
class _Findings:
    """What was counted in the data; standard deviations are those of complete columns that vary.

    Columns of text have an example, and the number of their different values.
    """

    source: Source
    kind: str
    n_rows: int
    n_columns: int
    n_numeric_features: int
    target: str | None
    id: str | None
    classes: dict[str, int] | None
    texts: dict[str, tuple[str, int]]
    candidates: dict[str, dict[str, int]]
    missing: dict[str, int]
    constant: list[str]
    deviations: NDArray[np.float64]
    n_repeated_rows: int
    scaling: Scaling | None
    row_numbers: list[str]
    looks_transposed: bool

    @property
    def rows(self) -> str:
        """What samples are called in the file."""
        return "columns" if self.source.transpose else "rows"

    @property
    def columns(self) -> str:
        """What features are called in the file."""
        return "rows" if self.source.transpose else "columns"

    @property
    def likely_target(self) -> str | None:
        """The last column that may hold the labels, if they are not known."""
        return next(reversed(self.candidates), None)

    @property
    def too_many_classes(self) -> bool:
        """Whether so many different labels can hardly be classes."""
        return self.classes is not None and too_many_classes(len(self.classes), self.n_rows)

    @property
    def predict_numbers(self) -> bool:
        """Whether the labels are numbers that ridge regression predicts, not classes."""
        classes = self.classes or {}
        return all(map(is_number, classes)) and (
            any(float(label) % 1 for label in classes) or self.too_many_classes
        )


def _findings(source: Source, kind: str, table: Table) -> _Findings:
    """Count what may matter."""
    names, label, row_names = table.feature_names, table.places.label, table.places.id
    numeric = [feature for feature in range(len(names)) if feature not in table.texts]
    X = table.X[:, numeric] if table.texts else table.X
    is_sparse = sparse.issparse(X)
    missing = np.zeros(X.shape[1], dtype=int) if is_sparse else (~np.isfinite(X)).sum(axis=0)
    complete = np.flatnonzero(missing == 0)
    deviations = column_deviations(X if len(complete) == X.shape[1] else X[:, complete])
    counts = len(complete) == X.shape[1] and look_like_counts(X)
    texts = {
        names[feature]: (min(fields.items())[1], len({*table.fields(feature)} - {""}))
        for feature, fields in sorted(table.texts.items())
    }
    # A long table that begins with names seems to have its samples in columns.
    n_first = texts[names[0]][1] if 0 in table.texts and table.places.features[0] == 0 else 0
    is_long = kind != "parquet" and n_first == X.shape[0] > len(table.names)
    return _Findings(
        source=source,
        kind=kind,
        n_rows=X.shape[0],
        n_columns=len(table.names),
        n_numeric_features=X.shape[1],
        target=None if label is None else table.names[label] or None,
        id=None if row_names is None else table.names[row_names],
        classes=None if table.labels is None else _counts(map(_shown, table.labels)),
        texts=texts,
        candidates=_candidates(table) if label is None else {},
        missing={names[numeric[i]]: int(missing[i]) for i in np.flatnonzero(missing)},
        constant=[names[numeric[i]] for i in complete[deviations == 0]],
        deviations=deviations[deviations > 0],
        n_repeated_rows=_n_repeated(X),
        scaling=scaling_for(X, deviations[deviations > 0], counts=counts),
        row_numbers=[
            names[numeric[i]] for i in complete if not is_sparse and _numbers_rows(X[:, i])
        ],
        looks_transposed=label is None and is_long,
    )


def _numbers_rows(column: NDArray[np.float64]) -> bool:
    return len(column) > 2 and column[0] in (0, 1) and bool((np.diff(column) == 1).all())


def _counts(values: Any) -> dict[str, int]:
    """Return how often each value occurs, the most frequent first."""
    return dict(Counter(values).most_common())


def _shown(label: Any) -> str:
    """Return a label as text, nothing where it is missing."""
    text = f"{label:.15g}" if isinstance(label, float) else str(label).strip()
    return "" if text.lower() in ("nan", "?") else text


def _candidates(table: Table) -> dict[str, dict[str, int]]:
    """Return features with few values, in their order: text, or the last if it is whole numbers.

    Where the one before the last is like it, all may be (genotypes, for example), and it is none.
    """
    names = table.feature_names
    last_two = list(range(len(names)))[-2:]
    few = {}
    for feature in sorted({*table.texts, *last_two}):
        counts = _counts(field.strip() for field in table.fields(feature))
        whole = all(not is_number(field) or float(field) % 1 == 0 for field in counts)
        if whole and "" not in counts and 2 <= len(counts) <= min(10, table.X.shape[0] // 2):
            few[feature] = counts
    numbers = [feature for feature in few if feature not in table.texts]
    return {names[j]: few[j] for j in few if j in table.texts or numbers == last_two[-1:]}


def _n_repeated(X: Any) -> int:
    def content(row: int) -> bytes:
        if not sparse.issparse(X):
            return bytes(X[row].tobytes())
        part = slice(X.indptr[row], X.indptr[row + 1])
        return bytes(X.indices[part].tobytes() + X.data[part].tobytes())

    n_rows, n_features = X.shape
    return n_rows - len({content(row) for row in range(n_rows)}) if n_features else 0


# What is said


def _facts(found: _Findings) -> list[str]:
    rows = found.rows
    shape = f"{found.n_rows:,} {rows}, {found.n_columns:,} {found.columns}"
    lines = [f"{' '.join(found.source.paths)}: {found.kind}, {shape}"]
    if found.id is not None:
        lines.append(f"{rows[:-1]} names: {found.id or 'the header'}")
    if found.classes is not None:
        lines.append(f"labels: {_classes(found)}")
    texts = f", and {len(found.texts):,} of text" if found.texts else ""
    lines.append(f"features: {found.n_numeric_features:,} of numbers{texts}")
    if found.missing:
        places = first_few(list(found.missing), 4)
        n_missing = sum(found.missing.values())
        lines.append(f"missing or infinite values: {n_missing:,}, in {places}")
    if found.constant:
        lines.append(f"constant: {first_few(found.constant, 4)}")
    if found.deviations.size:
        low, high = found.deviations.min(), found.deviations.max()
        lines.append(f"standard deviations: {low:.3g} to {high:.3g}")
    lines.append(f"equal {rows}: {found.n_repeated_rows or 'none'}")
    default = "refuse the data as they are"
    if found.classes is not None and not found.texts and not found.missing:
        model = "ridge regression" if found.predict_numbers else "a linear SVM"
        default = (
            f"choose from {found.n_numeric_features:,} features, not scaled, for {model} with C = 1"
        )
    return [*lines, f"select would {default}"]


def _classes(found: _Findings) -> str:
    name = f"{found.target}, " if found.target is not None else ""
    counts = found.classes or {}
    if found.predict_numbers:
        decimals = " with decimals" if any(float(label) % 1 for label in counts) else ""
        return f"{name}numbers{decimals}, {len(counts):,} different"
    shown = [
        f"{label!r} in {n} {found.rows if n > 1 else found.rows[:-1]}"
        for label, n in list(counts.items())[:_N_CLASSES]
    ]
    left = len(counts) - len(shown)
    return name + ", ".join(shown) + (f" and {left} more classes" if left else "")


def _advice(found: _Findings) -> list[str]:
    """Return sentences about what stands in the way, or should be known."""
    if found.looks_transposed:
        return [
            "This looks like features in rows and samples in columns: add --transpose, and name "
            "the row of labels with --target."
        ]
    rows, column = found.rows, found.columns[:-1]
    said = _about_labels(found) + _about_texts(found)
    said += [
        f"Feature {name!r} numbers the {rows}: --id {name!r}, or --drop it."
        for name in found.row_numbers
    ]
    if found.missing:
        said.append(f"Values are missing or infinite: fill them in, or --drop their {column}s.")
    if found.constant:
        said.append("Constant features tell nothing: --drop them, or ignore them.")
    if found.n_repeated_rows:
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


def _about_labels(found: _Findings) -> list[str]:
    rows, classes = found.rows, found.classes
    if classes is None:
        said = [f"There are no labels: name their {found.columns[:-1]} with --target."]
        for name, counts in list(found.candidates.items())[-_N_TEXTS:]:
            (first, n_first), *others = counts.items()
            shown = [
                f"{first!r} in {n_first} {rows}",
                *(f"{value!r} in {n}" for value, n in others),
            ]
            said.append(
                f"{name!r} may be the label: {', '.join(shown)}: --target {shlex.quote(name)}."
            )
        return said
    if found.predict_numbers:
        return []
    if "" in classes:
        return [f"{classes['']} {rows} have no label: fill them in, or remove the {rows}."]
    if len(classes) < 2:
        return ["All labels are equal: two classes are needed."]
    if found.too_many_classes:
        return [
            f"There are {len(classes):,} different labels, which look like names of {rows}: name "
            "others with --target."
        ]
    rarest, n = min(classes.items(), key=lambda item: item[1])
    if n < _MIN_CLASS:
        counted = rows if n > 1 else rows[:-1]
        return [f"Class {rarest!r} has only {n} {counted}: errors will be uncertain."]
    return []


def _about_texts(found: _Findings) -> list[str]:
    said = []
    texts = {name: text for name, text in found.texts.items() if name != found.likely_target}
    for name, (example, n_different) in list(texts.items())[:_N_TEXTS]:
        names_rows = n_different == found.n_rows
        remedy = f"--{'id' if names_rows else 'drop'} {name!r}, or encode it as numbers"
        different = "all different" if names_rows else f"{n_different} different"
        said.append(f"{name!r} is text, such as {example[:30]!r}, {different}: {remedy}.")
    if len(texts) > _N_TEXTS:
        said.append(f"So are {len(texts) - _N_TEXTS} others.")
    return said


def _command(found: _Findings) -> str:
    """Return the command that would choose features of these data, or tell more of them."""
    source = found.source
    if found.looks_transposed:
        form = ["--format", source.format] if source.format else []
        return shlex.join(["certifeature", "doctor", *source.paths, *form, "--transpose"])
    target = source.target or found.likely_target
    if target is None and found.classes is None:
        target = found.columns[:-1].upper()
    texts = [name for name in found.texts if name != target]
    ids = [name for name in texts if found.texts[name][1] == found.n_rows]
    row_names = source.id if source.id is not None else next(iter(ids + found.row_numbers), None)
    dropped = [name for name in texts + found.row_numbers if name != row_names]
    options: dict[str, str | None] = {
        "--format": source.format,
        "--target": target,
        "--id": row_names,
        "--drop": ",".join([*source.dropped, *dropped]) or None,
        "--scale": found.scaling,
        "--model": "ridge" if found.predict_numbers else None,
        "-k": str(min(_SIZE, max(1, found.n_numeric_features // 2))),
    }
    given = [part for name, value in options.items() if value for part in (name, value)]
    across = ["--transpose"] if source.transpose else []
    return shlex.join(["certifeature", "select", *source.paths, *across, *given])


def _values(found: _Findings) -> dict[str, Any]:
    deviations = found.deviations
    same = ("kind", "n_rows", "n_columns", "n_numeric_features", "target", "classes", "missing")
    return {
        "source": found.source.paths,
        **{name: getattr(found, name) for name in (*same, "constant", "n_repeated_rows")},
        "text_columns": {name: example for name, (example, _) in found.texts.items()},
        "deviations": [float(deviations.min()), float(deviations.max())]
        if deviations.size
        else None,
    }
