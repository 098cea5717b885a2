"""Parquet tables, through pyarrow."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certifeature.datasets.dataset import Dataset
from certifeature.io._bytes import decoding
from certifeature.io._checks import checked_data
from certifeature.io._columns import Columns, first_few

__all__ = ["is_numeric", "parquet_table", "read_parquet"]


def read_parquet(content: bytes, source: str, columns: Columns) -> Dataset:
    """Read a table of numbers with a label column, and with a column of row names if asked."""
    pyarrow, table = parquet_table(content, source, columns)
    names = table.column_names
    label, places = columns.labelled(names, source)
    y = _labels(pyarrow, table.column(label), f"{source}, column {names[label]!r}")
    _check_numeric(pyarrow, table, places.features, source)
    X = np.empty((table.num_rows, len(places.features)))
    for number, i in enumerate(places.features):
        X[:, number] = _numbers(pyarrow, table.column(i), f"{source}, column {names[i]!r}")
    ids = None
    if places.id is not None:
        texts = ("" if value is None else str(value) for value in table[places.id].to_pylist())
        ids = np.array(list(texts), dtype=np.str_)
    feature_names = np.array([names[i] for i in places.features], dtype=np.str_)
    return checked_data(X, y, feature_names, source, ids)


def parquet_table(content: bytes, source: str, columns: Columns) -> tuple[Any, Any]:
    """Return pyarrow, and the table in a file without the row names that pandas put there."""
    if columns.transpose:
        raise ValueError(f"{source}: transpose is for CSV and TSV files. Leave it out.")
    pyarrow = _import_pyarrow(source)
    with decoding(source, "a Parquet file"):
        table = pyarrow.parquet.read_table(pyarrow.BufferReader(content))
        table.validate(full=True)
        # pandas stores the row names as a column, which is not a feature.
        index_columns = (table.schema.pandas_metadata or {}).get("index_columns", [])
        unasked = [name for name in index_columns if isinstance(name, str) and name != columns.id]
        table = table.drop_columns(unasked)
    if len(set(table.column_names)) < table.num_columns:
        raise ValueError(f"{source}: a column name occurs twice. Make the names distinct.")
    return pyarrow, table


def _import_pyarrow(source: str) -> Any:
    try:
        importlib.import_module("pyarrow.parquet")
        return importlib.import_module("pyarrow")
    except ImportError:
        raise ValueError(
            f"{source}: Parquet files need pyarrow, which is not installed. Install it with: "
            'pip install "certifeature[parquet]"'
        ) from None


def _check_numeric(pyarrow: Any, table: Any, places: list[int], source: str) -> None:
    """Raise if some of the features are no numbers, and say which."""
    texts = [i for i in places if not is_numeric(pyarrow.types, table.column(i).type)]
    if texts:
        column, name = table.column(texts[0]), table.column_names[texts[0]]
        found = f", such as {str(column[0].as_py())[:60]!r}" if len(column) else ""
        others = first_few([table.column_names[i] for i in texts[1:]])
        raise ValueError(
            f"{source}, column {name!r}: the values are of type {column.type}{found}; numbers are "
            f"needed.{f' The same holds for {others}.' if len(texts) > 1 else ''} Leave such "
            "columns out with drop (--drop), keep one as the names of the rows with id (--id), or "
            "encode them as numbers; if it is the label, give its name as target."
        )


def _numbers(pyarrow: Any, column: Any, place: str) -> NDArray[np.float64]:
    _check_no_nulls(column, place)
    values = column.cast(pyarrow.float64(), safe=False).to_numpy()
    finite = np.isfinite(values)
    if not finite.all():
        row = int(np.argmin(finite))
        raise ValueError(
            f"{place}: the value in row {row} (counted from 0) is {values[row]}; finite numbers "
            "are needed. Impute or remove such values first."
        )
    return values


def _labels(pyarrow: Any, column: Any, place: str) -> NDArray[Any]:
    types = pyarrow.types
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    _check_no_nulls(column, place)
    if types.is_string(column.type) or types.is_large_string(column.type):
        return np.array(column.to_pylist(), dtype=np.str_)
    if not is_numeric(types, column.type):
        raise ValueError(
            f"{place}: labels of type {column.type} cannot be used; numbers or texts are needed. "
            "Convert the column."
        )
    return np.asarray(column.to_numpy())


def is_numeric(types: Any, kind: Any) -> bool:
    """Tell whether values of a type are numbers."""
    return types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)


def _check_no_nulls(column: Any, place: str) -> None:
    if column.null_count:
        row = column.is_null().index(True).as_py()
        raise ValueError(
            f"{place}: the value in row {row} (counted from 0) is missing. Impute it, or remove "
            "the row or the column."
        )
