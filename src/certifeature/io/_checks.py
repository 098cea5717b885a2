"""Checks for every format: finite numbers, one label per row, one name per column."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from certifeature._files import is_number, unguarded
from certifeature.datasets.dataset import Dataset
from certifeature.rows.matrix import canonical_csr

__all__ = ["checked_data", "labels_from_text"]

# "none" and "na" may well be the names of classes.
_MISSING_LABELS = frozenset({"", "?", "nan"})
_WHOLE = re.compile(r"[+-]?\d{1,18}", re.ASCII)
_LARGEST_EXACT = 2.0**53


def checked_data(
    X: Any, y: Any, feature_names: Any, source: str, ids: NDArray[np.str_] | None = None
) -> Dataset:
    """Return the parts as a Dataset, or say what is wrong with them."""
    X = _checked_matrix(X, source)
    n_rows, n_columns = X.shape
    if n_rows == 0 or n_columns == 0:
        raise ValueError(
            f"{source}: the data have {n_rows} rows and {n_columns} features; at least one of "
            "each is needed. Check that the file is complete."
        )
    if y is not None:
        y = _checked_labels(y, source)
        if y.size != n_rows:
            raise ValueError(
                f"{source}: there are {n_rows} rows and {y.size} labels; one label per row is "
                "needed. Check that the data and the labels belong together."
            )
    if feature_names is not None:
        feature_names = np.asarray(feature_names)
        if feature_names.dtype.kind != "U" or feature_names.shape != (n_columns,):
            raise ValueError(
                f"{source}: there are {n_columns} features, and their names are an array of "
                f"shape {feature_names.shape} and type {feature_names.dtype}; one text per feature "
                "is needed. Correct the names or leave them out."
            )
    return Dataset(X=X, y=y, feature_names=feature_names, source=source, ids=ids)


def _checked_matrix(X: Any, source: str) -> Any:
    if not sparse.issparse(X):
        X = np.asarray(X)
    if X.dtype.kind not in "biuf" or X.ndim != 2:
        raise ValueError(
            f"{source}: X has {X.ndim} dimensions and type {X.dtype}; a table of numbers with "
            "rows and columns is needed. Save it as a matrix of numbers."
        )
    # Wider floats may overflow, which the check below reports.
    with np.errstate(over="ignore"):
        X = canonical_csr(sparse.csr_array(X, dtype=np.float64)) if sparse.issparse(X) else X
        values = X.data if sparse.issparse(X) else np.ascontiguousarray(X, dtype=np.float64)
    finite = np.isfinite(values)
    if not finite.all():
        if sparse.issparse(X):
            place = int(np.argmin(finite))
            row, column = int(np.searchsorted(X.indptr, place, "right")) - 1, X.indices[place]
        else:
            row, column = np.argwhere(~finite)[0]
        raise ValueError(
            f"{source}: row {row}, column {column} of X (counted from 0) is {X[row, column]}; "
            "finite numbers are needed. Impute or remove such values first."
        )
    return X if sparse.issparse(X) else values


def _checked_labels(y: Any, source: str) -> NDArray[Any]:
    y = np.asarray(y)
    if y.ndim == 2 and 1 in y.shape:
        y = y.ravel()
    if y.ndim != 1 or y.dtype.kind not in "biufU":
        raise ValueError(
            f"{source}: the labels have shape {y.shape} and type {y.dtype}; one number or text "
            "per row is needed. Turn indicator columns into one column of classes."
        )
    if y.dtype.kind == "U":
        return y
    if y.dtype.kind in "bi" or (y.dtype.kind == "u" and (y <= np.iinfo(np.int64).max).all()):
        return y.astype(np.int64)
    y = y.astype(np.float64)
    if not np.isfinite(y).all():
        row = int(np.argmin(np.isfinite(y)))
        raise ValueError(
            f"{source}: the label of row {row} (counted from 0) is {y[row]}; a finite number or "
            "a text is needed. Remove the rows without a label."
        )
    whole = bool(((y == np.rint(y)) & (np.abs(y) <= _LARGEST_EXACT)).all())
    return y.astype(np.int64) if whole else y


def labels_from_text(fields: Sequence[str], row_name: Callable[[int], str]) -> NDArray[Any]:
    """Return labels as numbers or as text, whichever all of them are.

    Parameters
    ----------
    fields : sequence of str
        The labels.
    row_name : callable
        Gives what an error calls a row, by its number from 0.
    """
    fields = [unguarded(field.strip()) for field in fields]
    numeric = [is_number(field) for field in fields]
    some_numeric = any(numeric)
    for row, (field, is_numeric) in enumerate(zip(fields, numeric, strict=True)):
        if field.lower() in _MISSING_LABELS:
            raise ValueError(
                f"{row_name(row)}: the label is missing (found {field!r}). Every row needs "
                "one: fill it in or remove the row."
            )
        # One text among numbers is more often a mistake than a class.
        if some_numeric and not is_numeric:
            raise ValueError(
                f"{row_name(row)}: the label {field[:60]!r} is not a number, and others are. "
                "Correct it, or make the labels all numbers or all texts."
            )
    if all(_WHOLE.fullmatch(field) for field in fields):
        return np.array([int(field) for field in fields], dtype=np.int64)
    return np.array(fields, dtype=np.float64 if some_numeric else np.str_)
