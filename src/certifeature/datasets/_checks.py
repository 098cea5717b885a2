"""Checks for every format: finite numbers, one label per row, one name per column."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from certifeature._formulas import is_number, unguarded
from certifeature.datasets.dataset import Dataset
from certifeature.rows.matrix import canonical_csr

__all__ = ["check_target", "checked_data", "find_label", "first_few", "labels_from_text"]

_LABEL_NAMES = frozenset({"y", "label", "labels", "target", "class"})
# "none" and "na" may well be the names of classes.
_MISSING_LABELS = frozenset({"", "?", "nan"})
_WHOLE = re.compile(r"[+-]?\d{1,18}", re.ASCII)
_LARGEST_EXACT = 2.0**53


def checked_data(X: Any, y: Any, feature_names: Any, source: str) -> Dataset:
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
    return Dataset(X=X, y=y, feature_names=feature_names, source=source)


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


def check_target(target: Any) -> None:
    """Raise unless target is a name, a position or None."""
    if target is not None and (
        not isinstance(target, str | Integral) or isinstance(target, bool | np.bool_)
    ):
        raise ValueError(
            f"target={target!r} is neither a name nor a position. Give the name of the labels, or "
            "a whole number: 0 is the first column, -1 the last."
        )


def find_label(names: Sequence[str], target: str | int | None, source: str) -> int | None:
    """Return the position of the label among the names, or None if none looks like one."""
    if isinstance(target, str):
        found = [position for position, name in enumerate(names) if name == target]
        if not found:
            # Similar names first, since the right one may be the last of thousands.
            likely = get_close_matches(target, names)
            shown = first_few([*likely, *(name for name in names if name not in likely)])
            raise ValueError(
                f"{source}: target={target!r} is not there. There is {shown}. "
                "Give one of these as target."
            )
        return found[0]
    if target is not None:
        if not -len(names) <= target < len(names):
            raise ValueError(
                f"{source}: target={target} is not a position among {len(names)} columns. "
                f"Give one from 0 to {len(names) - 1}, or -1 for the last."
            )
        return int(target) % len(names)
    found = [position for position, name in enumerate(names) if name.lower() in _LABEL_NAMES]
    if len(found) > 1:
        raise ValueError(
            f"{source}: the labels could be {first_few([names[i] for i in found])}. "
            "Give the name of one as target."
        )
    return found[0] if found else None


def first_few(names: Sequence[str], n_shown: int = 8) -> str:
    """Return the first few names as text."""
    shown = ", ".join(repr(name[:60]) for name in names[:n_shown]) or "nothing"
    n_left = len(names) - n_shown
    return f"{shown} and {n_left} more" if n_left > 0 else shown


def labels_from_text(fields: Sequence[str], lines: Sequence[int], source: str) -> NDArray[Any]:
    """Return labels as numbers or as text, whichever all of them are."""
    fields = [unguarded(field.strip()) for field in fields]
    numeric = [is_number(field) for field in fields]
    some_numeric = any(numeric)
    for field, is_numeric, line in zip(fields, numeric, lines, strict=True):
        if field.lower() in _MISSING_LABELS:
            raise ValueError(
                f"{source}, line {line}: the label is missing (found {field!r}). Every row needs "
                "one: fill it in or remove the line."
            )
        # One text among numbers is more often a mistake than a class.
        if some_numeric and not is_numeric:
            raise ValueError(
                f"{source}, line {line}: the label {field[:60]!r} is not a number, and others are. "
                "Correct it, or make the labels all numbers or all texts."
            )
    if all(_WHOLE.fullmatch(field) for field in fields):
        return np.array([int(field) for field in fields], dtype=np.int64)
    return np.array(fields, dtype=np.float64 if some_numeric else np.str_)
