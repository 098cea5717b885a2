"""CSV and TSV: a header, then a line per row with numbers and one label."""

from __future__ import annotations

import csv
import io
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NoReturn

import numpy as np

from certifeature._formulas import unguarded
from certifeature.datasets._bytes import check_text
from certifeature.datasets._checks import (
    checked_data,
    find_label,
    first_few,
    labels_from_text,
)
from certifeature.datasets.dataset import Dataset

__all__ = ["read_csv", "read_tsv"]

_MISSING = frozenset({"", "?", "na", "n/a", "nan", "null", "none"})


def read_csv(content: bytes, source: str, target: str | int | None) -> Dataset:
    """Read comma-separated values."""
    return _read_delimited(content, source, target, ",")


def read_tsv(content: bytes, source: str, target: str | int | None) -> Dataset:
    """Read tab-separated values."""
    return _read_delimited(content, source, target, "\t")


def _read_delimited(
    content: bytes, source: str, target: str | int | None, delimiter: str
) -> Dataset:
    check_text(content, source)
    records = _records(content, source, delimiter)
    _, header = next(records, (0, []))
    names = [unguarded(name.strip()) for name in header]
    position = _label_position(names, target, source, delimiter)
    names_of_features = names[:position] + names[position + 1 :]
    _check_names(names_of_features, source)

    values, labels, lines = array("d"), [], []
    for line, record in records:
        if len(record) != len(names):
            raise ValueError(
                f"{source}, line {line}: there are {len(record)} fields, and the header has "
                f"{len(names)}. Correct the line; check that the file is complete."
            )
        labels.append(record.pop(position))
        lines.append(line)
        try:
            values.extend(map(float, record))
        except ValueError:
            _blame(record, names_of_features, line, source)
        joined = "".join(record)
        # Python reads 1_0 as ten, and digits of other scripts as numbers; no other reader does.
        if "_" in joined or not joined.isascii():
            _blame(record, names_of_features, line, source)
    if not lines:
        raise ValueError(
            f"{source}: there is a header and no line of data. Check that the file is complete."
        )
    X = np.frombuffer(values, dtype=np.float64).reshape(len(lines), -1)
    _check_finite(X, names_of_features, lines, source)
    y = labels_from_text(labels, lines, source)
    return checked_data(X, y, np.array(names_of_features, dtype=np.str_), source)


def _records(content: bytes, source: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the first line of each record that is not blank, and its fields."""
    text = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", newline="")
    reader = csv.reader(text, delimiter=delimiter, strict=True)
    line = 1
    try:
        for record in reader:
            if record:
                yield line, record
            line = reader.line_num + 1
    except csv.Error as error:
        raise ValueError(
            f"{source}, line {line}: {error}. Correct the quotation marks of the record that "
            "starts there."
        ) from None


def _label_position(
    names: Sequence[str], target: str | int | None, source: str, delimiter: str
) -> int:
    if not names:
        raise ValueError(
            f"{source}: the file is empty. A header with the names of the columns and at least "
            "one line of data are needed."
        )
    if len(names) == 1:
        raise ValueError(
            f"{source}, header: {names[0][:60]!r} is one column; a label and at least "
            f"one feature, separated by {delimiter!r}, are needed. Check the separator."
        )
    if len(set(names)) < len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise ValueError(
            f"{source}, header: column name {twice!r} occurs twice. A header of distinct names is "
            "needed: add or correct it."
        )
    position = find_label(names, target, source)
    if position is None:
        raise ValueError(
            f"{source}: no column is named y, label, target or class. The columns are "
            f"{first_few(names)}. Give the name of the label column as target."
        )
    return position


def _check_names(names: Sequence[str], source: str) -> None:
    if "" in names:
        raise ValueError(
            f"{source}, header: a column has no name. Name it, or leave it out if it numbers the "
            "rows (in pandas, write with index=False)."
        )
    # Plain integers are the names that pandas gives; other numbers are data.
    if all(map(_is_number, names)) and not all(name.isdecimal() for name in names):
        raise ValueError(
            f"{source}, header: a header is needed, and there are numbers: {first_few(names)}. "
            "Add a line with the names of the columns."
        )


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return "_" not in field and field.isascii()


def _check_finite(X: np.ndarray, names: Sequence[str], lines: Sequence[int], source: str) -> None:
    finite = np.isfinite(X)
    if not finite.all():
        row, column = np.argwhere(~finite)[0]
        _blame_field(str(X[row, column]), names[column], lines[row], source)


def _blame(record: Sequence[str], names: Sequence[str], line: int, source: str) -> NoReturn:
    field, name = next(pair for pair in zip(record, names, strict=True) if not _is_number(pair[0]))
    _blame_field(field, name, line, source)


def _blame_field(field: str, name: str, line: int, source: str) -> NoReturn:
    place = f"{source}, line {line}, column {name!r}"
    if field.strip().lower() in _MISSING:
        raise ValueError(
            f"{place}: the value is missing (found {field!r}). Impute it, or remove the line or "
            "the column."
        )
    raise ValueError(
        f"{place}: {field[:60]!r} is not a finite number. Encode or remove columns of text; if "
        "this is the label, give its name as target."
    )
