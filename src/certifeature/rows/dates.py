"""Dates and durations among the values, of which NumPy makes numbers, or an error of its own."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, time, timedelta
from typing import Any

import numpy as np

from certifeature.rows.matrix import is_dask

__all__ = ["refuse_dates"]

_TEMPORAL = (date, time, timedelta, np.datetime64, np.timedelta64)
_MOST_NAMED = 5


def refuse_dates(X: Any) -> None:
    """Raise if an array or a data frame has columns of dates, times or durations.

    As numbers they would count days or nanoseconds, from a day that nobody chose.
    """
    found = list(_temporal_columns(X))
    if not found:
        return
    more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    raise ValueError(
        f"X has dates, times or durations in column{'s' if len(found) > 1 else ''} "
        f"{', '.join(map(repr, found[:_MOST_NAMED]))}{more}, and numbers are needed. Drop such "
        "columns, or convert them to numbers, such as days since a date."
    )


def _temporal_columns(X: Any) -> Iterator[Any]:
    """Yield the names of such columns; those of arrays go by their numbers."""
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        # Only the columns of pandas in memory can be looked through for Python objects.
        in_memory = hasattr(X, "iloc") and not is_dask(X)
        for place, (name, dtype) in enumerate(zip(X.columns, X.dtypes, strict=True)):
            of_objects = in_memory and _holds_objects(dtype)
            if _is_temporal(dtype) or (of_objects and _has_temporal(X.iloc[:, place])):
                yield name
    elif getattr(X, "ndim", None) == 2:
        dtype = getattr(X, "dtype", None)
        if _is_temporal(dtype):
            yield from range(X.shape[1])
        elif isinstance(X, np.ndarray) and _holds_objects(dtype):
            yield from (place for place, values in enumerate(X.T) if _has_temporal(values))


def _is_temporal(dtype: Any) -> bool:
    """Tell whether a type of NumPy, pandas or Polars is one of dates, times or durations."""
    if hasattr(dtype, "is_temporal"):
        return bool(dtype.is_temporal())
    return getattr(dtype, "kind", None) in ("m", "M")


def _holds_objects(dtype: Any) -> bool:
    return getattr(dtype, "kind", None) == "O"


def _has_temporal(values: Any) -> bool:
    return any(isinstance(value, _TEMPORAL) for value in values)
