"""``certifeature doctor``: what is in a file, and what to do about it."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import typer
from numpy.typing import NDArray
from scipy import sparse

from certifeature._files import is_number
from certifeature.cli.loading import DataOptions, Scaling, column_deviations, scaling_for, too_many
from certifeature.cli.options import JSONOption, with_options
from certifeature.cli.output import json_text, showing
from certifeature.io._common import first_few, read_bytes
from certifeature.io.reader import TABLES, format_of
from certifeature.io.tables import Columns, Places, Table, table_of

_N_CLASSES = 10
_MIN_CLASS = 5
_N_TEXTS = 5
_SIZE = 100
_IN_JSON = (
    *("kind", "n_rows", "n_columns", "n_numeric_features", "target", "classes", "missing"),
    *("constant", "n_repeated_rows"),
)
_ADVICE_ON_SCALES = {
    Scaling.tfidf: "The values look like counts, most of them zero: --scale tfidf.",
    Scaling.standard: "The features have different scales, and the widest would count most: "
    "--scale standard.",
}


@with_options
def doctor_command(*, data: DataOptions, as_json: JSONOption = False) -> None:
    """Say what is in a file, what stands in the way, and which command to try.

    \b
    Examples:
      certifeature doctor genes.csv -t tumour
      certifeature doctor expression.tsv --transpose -t tumour
    """
    with showing("reading"):
        kind, table = _read(data)
    with showing("looking"):
        found = _Survey(data, kind, table)
    advice, command = list(_advice(found)), _command(found)
    if as_json:
        texts = {name: example for name, (example, _) in found.texts.items()}
        values = {"source": data.paths, **{name: getattr(found, name) for name in _IN_JSON}}
        values |= {"text_columns": texts, "deviations": found.deviations}
        typer.echo(json_text(values | {"advice": advice, "command": command}), nl=False)
        return
    for line in (*_facts(found), *(f"! {line}" for line in advice)):
        typer.echo(line)
    fill = ", when the missing values are filled in" if found.missing else ""
    typer.echo(f"Try{fill}: {command}")


def _read(source: DataOptions) -> tuple[str, Table]:
    """Return the kind of the data, and their columns, even if they cannot be used so."""
    if "-" in source.paths:
        raise ValueError("doctor looks at files; write standard input to one, and give that.")
    path = Path(source.paths[0])
    kind = source.format or ("npz" if path.is_dir() and source.is_one() else None)
    kind = kind or format_of(str(source.files()[0]))
    if kind in TABLES and source.is_one():
        asked = (source.target, source.id, source.dropped, source.transpose)
        return kind, table_of(*read_bytes(path), Columns(*asked, needs_labels=False), kind)
    data = source.read()
    numbers = list(range(data.X.shape[1]))
    names = list(map(str, numbers if data.feature_names is None else data.feature_names))
    places = Places(None if data.y is None else len(names), None, numbers)
    target = [] if data.y is None else [source.target or ""]
    return kind, Table([*names, *target], places, data.X, {}, data.y, None, str)


class _Survey:
    """What was counted in the data.

    Samples are called `rows` in the file, and features `columns`, or the other way around. Columns
    of text have an example and the number of their different values. Standard deviations are the
    least and the largest of complete columns that vary.
    """

    def __init__(self, source: DataOptions, kind: str, table: Table) -> None:
        names, label, row_names = table.feature_names, table.places.label, table.places.id
        numeric = [feature for feature in range(len(names)) if feature not in table.texts]
        X = table.X[:, numeric] if table.texts else table.X
        is_sparse = sparse.issparse(X)
        missing = np.zeros(X.shape[1], dtype=int) if is_sparse else (~np.isfinite(X)).sum(axis=0)
        complete = np.flatnonzero(missing == 0)
        deviations = column_deviations(X if not missing.any() else X[:, complete])
        varying = deviations[deviations > 0]

        self.source, self.kind, self.n_columns = source, kind, len(table.names)
        self.rows, self.columns = ["rows", "columns"][:: -1 if source.transpose else 1]
        self.n_rows, self.n_numeric_features = X.shape
        self.target = None if label is None else table.names[label] or None
        self.id = None if row_names is None else table.names[row_names]
        self.classes = None if table.labels is None else _counts(map(_shown, table.labels))
        self.texts = {
            names[feature]: (min(fields.items())[1], len({*table.fields(feature)} - {""}))
            for feature, fields in sorted(table.texts.items())
        }
        self.candidates = _candidates(table) if label is None else {}
        self.likely_target = next(reversed(self.candidates), None)
        self.missing = {names[numeric[i]]: int(missing[i]) for i in np.flatnonzero(missing)}
        self.constant = [names[numeric[i]] for i in complete[deviations == 0]]
        self.deviations = [float(varying.min()), float(varying.max())] if varying.size else None
        self.n_repeated_rows = _n_repeated(X)
        self.scaling = scaling_for(X, varying)
        dense = complete[:0] if is_sparse else complete
        self.row_numbers = [names[numeric[i]] for i in dense if _numbers_rows(X[:, i])]
        # A long table that begins with names seems to have its samples in columns.
        starts_with_text = 0 in table.texts and table.places.features[0] == 0
        n_first = self.texts[names[0]][1] if starts_with_text else 0
        is_long = kind != "parquet" and n_first == self.n_rows > self.n_columns
        self.looks_transposed = label is None and is_long
        n_classes, labels = len(self.classes or ()), list(self.classes or ())
        self.too_many_classes = too_many(n_classes, self.n_rows)
        numbers = [float(text) for text in labels if is_number(text)]
        self.decimals = any(value % 1 for value in numbers)
        # Labels that ridge regression predicts are numbers, and not classes.
        are_numbers = self.decimals or self.too_many_classes
        self.predict_numbers = len(numbers) == n_classes > 0 and are_numbers


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
    """Return the number of rows that are equal to one before them."""
    rows: Any = X
    if sparse.issparse(X):
        ends = zip(X.indptr, X.indptr[1:], strict=False)
        rows = (np.concatenate([X.indices[start:end], X.data[start:end]]) for start, end in ends)
    return X.shape[0] - len({row.tobytes() for row in rows}) if X.shape[1] else 0


# What is said


def _facts(found: _Survey) -> Iterator[str]:
    rows, n_features = found.rows, f"{found.n_numeric_features:,}"
    shape = f"{found.n_rows:,} {rows}, {found.n_columns:,} {found.columns}"
    yield f"{' '.join(found.source.paths)}: {found.kind}, {shape}"
    if found.id is not None:
        yield f"{rows[:-1]} names: {found.id or 'the header'}"
    if found.classes is not None:
        yield f"labels: {_classes(found)}"
    texts = f", and {len(found.texts):,} of text" if found.texts else ""
    yield f"features: {n_features} of numbers{texts}"
    if found.missing:
        n_missing = f"{sum(found.missing.values()):,}"
        yield f"missing or infinite values: {n_missing}, in {first_few(list(found.missing), 4)}"
    if found.constant:
        yield f"constant: {first_few(found.constant, 4)}"
    if found.deviations is not None:
        yield "standard deviations: {:.3g} to {:.3g}".format(*found.deviations)
    yield f"equal {rows}: {found.n_repeated_rows or 'none'}"
    if found.classes is not None and not found.texts and not found.missing:
        model = "ridge regression" if found.predict_numbers else "a linear SVM"
        yield f"select would choose from {n_features} features, not scaled, for {model} with C = 1"
    else:
        yield "select would refuse the data as they are"


def _classes(found: _Survey) -> str:
    name = f"{found.target}, " if found.target is not None else ""
    counts = found.classes or {}
    if found.predict_numbers:
        decimals = " with decimals" if found.decimals else ""
        return f"{name}numbers{decimals}, {len(counts):,} different"
    shown = [f"{label!r} in {_so_many(n, found)}" for label, n in [*counts.items()][:_N_CLASSES]]
    left = len(counts) - len(shown)
    return name + ", ".join(shown) + (f" and {left} more classes" if left else "")


def _so_many(n: int, found: _Survey) -> str:
    return f"{n} {found.rows if n > 1 else found.rows[:-1]}"


def _advice(found: _Survey) -> Iterator[str]:
    """Yield sentences about what stands in the way, or should be known."""
    rows, columns = found.rows, found.columns
    if found.looks_transposed:
        yield (
            "The features seem to be in rows and the samples in columns: add --transpose, and "
            "name the row of labels with --target."
        )
        return
    yield from _about_labels(found)
    texts = [name for name in found.texts if name != found.likely_target]
    for name in texts[:_N_TEXTS]:
        example, n_different = found.texts[name]
        names_rows = n_different == found.n_rows
        option, different = ("id", "all") if names_rows else ("drop", n_different)
        said = f"{name!r} is text, such as {example[:30]!r}, {different} different"
        yield f"{said}: --{option} {name!r}, or encode it as numbers."
    if len(texts) > _N_TEXTS:
        yield f"So are {len(texts) - _N_TEXTS} others."
    for name in found.row_numbers:
        yield f"Feature {name!r} numbers the {rows}: --id {name!r}, or --drop it."
    if found.missing:
        yield f"Values are missing or infinite: fill them in, or --drop their {columns}."
    if found.constant:
        yield "Constant features tell nothing: --drop them, or ignore them."
    if found.n_repeated_rows:
        yield f"Some {rows} are equal: errors look too good if one is for training, one for a test."
    if found.scaling is not None:
        yield _ADVICE_ON_SCALES[found.scaling]


def _about_labels(found: _Survey) -> Iterator[str]:
    rows, classes = found.rows, found.classes
    if classes is None:
        yield f"There are no labels: name their {found.columns[:-1]} with --target."
        for name, counts in list(found.candidates.items())[-_N_TEXTS:]:
            (first, n_first), *others = counts.items()
            shown = "".join(f", {value!r} in {n}" for value, n in others)
            said = f"{name!r} may be the label: {first!r} in {n_first} {rows}{shown}"
            yield f"{said}: --target {shlex.quote(name)}."
    elif found.predict_numbers:
        return
    elif "" in classes:
        yield f"{classes['']} {rows} have no label: fill them in, or remove the {rows}."
    elif len(classes) < 2:
        yield "All labels are equal: two classes are needed."
    elif found.too_many_classes:
        said = f"There are {len(classes):,} different labels, which look like names of {rows}"
        yield f"{said}: name others with --target."
    else:
        rarest, n = min(classes.items(), key=lambda item: item[1])
        if n < _MIN_CLASS:
            yield f"Class {rarest!r} has only {_so_many(n, found)}: errors will be uncertain."


def _command(found: _Survey) -> str:
    """Return the command that would choose features of these data, or show more of them."""
    source = found.source
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
    command, transpose = "select", ["--transpose"] if source.transpose else []
    if found.looks_transposed:
        command, transpose, options = "doctor", ["--transpose"], {"--format": source.format}
    given = [part for name, value in options.items() if value for part in (name, value)]
    return shlex.join(["certifeature", command, *source.paths, *transpose, *given])
