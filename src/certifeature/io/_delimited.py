"""CSV and TSV: a table of numbers with labels, and with names of the rows if it has them."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from typing import NoReturn

import numpy as np

from certifeature._files import unguarded
from certifeature.datasets.dataset import Dataset
from certifeature.io._checks import checked_data, labels_from_text
from certifeature.io._columns import Columns, first_few
from certifeature.io._table import Table, delimited_table, transposed_table

__all__ = ["is_missing", "is_plain_number", "read_csv", "read_table", "read_tsv"]

_MISSING = frozenset({"", "?", "na", "n/a", "nan", "null", "none"})
_N_TEXTS = 4


def read_csv(content: bytes, source: str, columns: Columns) -> Dataset:
    """Read comma-separated values."""
    return _read_delimited(content, source, columns, ",")


def read_tsv(content: bytes, source: str, columns: Columns) -> Dataset:
    """Read tab-separated values."""
    return _read_delimited(content, source, columns, "\t")


def _read_delimited(content: bytes, source: str, columns: Columns, delimiter: str) -> Dataset:
    table, columns = read_table(content, source, delimiter, columns)
    label, places = columns.labelled(table.names, source)
    names = [table.names[i] for i in places.features]
    if not columns.transpose:
        _check_names(names, source)
    labels, ids, rows = [], [], []
    values = array("d")
    for row, record in table.records:
        rows.append(row)
        labels.append(record[label])
        ids.append("" if places.id is None else unguarded(record[places.id].strip()))
        fields = [record[i] for i in places.features]
        try:
            values.extend(map(float, fields))
        except ValueError:
            _blame(fields, names, row, table)
        joined = "".join(fields)
        # Python reads 1_0 as ten, and digits of other scripts as numbers; no other reader does.
        if "_" in joined or not joined.isascii():
            _blame(fields, names, row, table)
    X = np.frombuffer(values, dtype=np.float64).reshape(len(rows), -1)
    _check_finite(X, names, rows, table)
    y = labels_from_text(labels, lambda number: table.place(rows[number]))
    row_names = None if places.id is None else np.array(ids, dtype=np.str_)
    return checked_data(X, y, np.array(names, dtype=np.str_), source, row_names)


def read_table(
    content: bytes, source: str, delimiter: str, columns: Columns
) -> tuple[Table, Columns]:
    """Return the fields of a file with a sample in each row, and what its columns are."""
    if columns.transpose:
        table, columns = transposed_table(content, source, delimiter, columns)
    else:
        table = delimited_table(content, source, delimiter)
        _check_distinct(table.names, source)
    if columns.lacks_target(table.names):
        _check_side(table, columns)
    return table, columns


def _check_side(table: Table, columns: Columns) -> None:
    """Raise if the labels are where they would be in a table with rows for columns.

    This reads the rows, which nobody needs where there are no labels.
    """
    if any(record[0].strip() == columns.target for _, record in table.records):
        samples, remedy = ("columns", "add --transpose (transpose=True in Python)")
        if columns.transpose:
            samples, remedy = ("rows", "leave out --transpose (transpose in Python)")
        raise ValueError(
            f"{table.source}: no {table.column} is called {columns.target!r}, but a {table.row} "
            f"is. If the samples are in {samples}, {remedy}."
        )


def _check_names(names: Sequence[str], source: str) -> None:
    if "" in names:
        raise ValueError(
            f"{source}, header: a column has no name. Name it; or, if it names or numbers the "
            "rows, give its position as id (--id 0 if it is the first)."
        )
    # Plain integers are the names that pandas gives; other numbers are data.
    if all(map(is_plain_number, names)) and not all(name.isdecimal() for name in names):
        raise ValueError(
            f"{source}, header: a header is needed, and there are numbers: {first_few(names)}. "
            "Add a line with the names of the columns."
        )


def _check_distinct(names: Sequence[str], source: str) -> None:
    if len(set(names)) < len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise ValueError(
            f"{source}, header: column name {twice!r} occurs twice. A header of distinct names is "
            "needed: add or correct it."
        )


def is_plain_number(field: str) -> bool:
    """Tell whether a field is a number to every reader."""
    try:
        float(field)
    except ValueError:
        return False
    return "_" not in field and field.isascii()


def is_missing(field: str) -> bool:
    """Tell whether a field stands for a value that is not there."""
    return field.strip().lower() in _MISSING


def _check_finite(
    X: np.ndarray, names: Sequence[str], rows: Sequence[int | str], table: Table
) -> None:
    finite = np.isfinite(X)
    if not finite.all():
        row, column = np.argwhere(~finite)[0]
        _blame_field(str(X[row, column]), names[column], [], rows[row], table)


def _blame(fields: Sequence[str], names: Sequence[str], row: int | str, table: Table) -> NoReturn:
    wrong = [i for i, field in enumerate(fields) if not is_plain_number(field)]
    texts = [f"{names[i]!r} ({fields[i][:30]!r})" for i in wrong[1:] if not is_missing(fields[i])]
    _blame_field(fields[wrong[0]], names[wrong[0]], texts, row, table)


def _blame_field(
    field: str, name: str, other_texts: Sequence[str], row: int | str, table: Table
) -> NoReturn:
    place = f"{table.place(row)}, {table.column} {name!r}"
    if is_missing(field):
        raise ValueError(
            f"{place}: the value is missing (found {field!r}). Impute it, or remove the "
            f"{table.row}; or leave the {table.column} out with drop (--drop)."
        )
    others = ""
    if other_texts:
        n_left = len(other_texts) - _N_TEXTS
        left = f" and {n_left} more" if n_left > 0 else ""
        others = f" There is text in {', '.join(other_texts[:_N_TEXTS])}{left}, too."
    raise ValueError(
        f"{place}: {field[:60]!r} is not a finite number.{others} Leave text out with drop "
        "(--drop), keep one as the names of the rows with id (--id), or encode it as numbers; if "
        "this is the label, give its name as target."
    )
