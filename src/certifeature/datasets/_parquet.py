"""Parquet tables, through pyarrow."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certifeature.datasets._bytes import decoding
from certifeature.datasets._checks import checked_data, find_label, first_few
from certifeature.datasets.dataset import Dataset

__all__ = ["read_parquet"]


def read_parquet(content: bytes, source: str, target: str | int | None) -> Dataset:
    """Read a table of numbers and one label column."""
    pyarrow = _import_pyarrow(source)
    with decoding(source, "a Parquet file"):
        table = pyarrow.parquet.read_table(pyarrow.BufferReader(content))
        table.validate(full=True)
        index_columns = (table.schema.pandas_metadata or {}).get("index_columns", [])
        # pandas stores the row names as a column, which is not a feature.
        table = table.drop_columns([name for name in index_columns if isinstance(name, str)])
    names = table.column_names
    if len(set(names)) < len(names):
        raise ValueError(f"{source}: a column name occurs twice. Make the names distinct.")
    position = find_label(names, target, source) if names else None
    if position is None:
        raise ValueError(
            f"{source}: no column is named y, label, target or class. The columns are "
            f"{first_few(names)}. Give the name of the label column as target."
        )
    y = _labels(pyarrow, table.column(position), f"{source}, column {names[position]!r}")
    features = [i for i in range(len(names)) if i != position]
    X = np.empty((table.num_rows, len(features)))
    for column, i in enumerate(features):
        X[:, column] = _numbers(pyarrow, table.column(i), f"{source}, column {names[i]!r}")
    return checked_data(X, y, np.array([names[i] for i in features], dtype=np.str_), source)


def _import_pyarrow(source: str) -> Any:
    try:
        importlib.import_module("pyarrow.parquet")
        return importlib.import_module("pyarrow")
    except ImportError:
        raise ValueError(
            f"{source}: Parquet files need pyarrow, which is not installed. Install it with: "
            'pip install "certifeature[parquet]"'
        ) from None


def _numbers(pyarrow: Any, column: Any, place: str) -> NDArray[np.float64]:
    if not _is_numeric(pyarrow.types, column.type):
        found = f", such as {str(column[0].as_py())[:60]!r}" if len(column) else ""
        raise ValueError(
            f"{place}: the values are of type {column.type}{found}; numbers are needed. Encode "
            "or remove the column; if it is the label, give its name as target."
        )
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
    if not _is_numeric(types, column.type):
        raise ValueError(
            f"{place}: labels of type {column.type} cannot be used; numbers or texts are needed. "
            "Convert the column."
        )
    return np.asarray(column.to_numpy())


def _is_numeric(types: Any, kind: Any) -> bool:
    return types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)


def _check_no_nulls(column: Any, place: str) -> None:
    if column.null_count:
        row = column.is_null().index(True).as_py()
        raise ValueError(
            f"{place}: the value in row {row} (counted from 0) is missing. Impute it, or remove "
            "the row or the column."
        )
