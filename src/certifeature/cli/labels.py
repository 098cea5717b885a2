"""Labels that are classes, and labels that are numbers to predict."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["are_numbers", "check_classes", "has_decimals", "too_many_classes"]

# In fewer rows, a class may well have only one.
_MIN_ROWS = 10


def too_many_classes(n_different: int, n_rows: int) -> bool:
    """Tell whether so many different labels can hardly be classes."""
    return n_rows > _MIN_ROWS and n_different > n_rows / 2


def has_decimals(y: NDArray[Any]) -> bool:
    """Tell whether labels are numbers with decimals."""
    return y.dtype.kind == "f" and bool((y % 1 != 0).any())


def are_numbers(y: NDArray[Any]) -> bool:
    """Tell whether labels are numbers to predict: with decimals, or too many for classes."""
    return has_decimals(y) or (y.dtype.kind in "if" and too_many_classes(len(np.unique(y)), len(y)))


def check_classes(y: NDArray[Any] | None, model: str) -> None:
    """Raise, before any long work, if there are too many labels to tell apart, where known."""
    if y is None or not too_many_classes(n_different := len(np.unique(y)), len(y)):
        return
    found = f"the labels have {n_different:,} different values in {len(y):,} rows"
    if y.dtype.kind not in "if":
        raise ValueError(
            f"{found}, such as {str(y[0])[:60]!r}: these look like the names of rows, not like "
            "classes. Name another column with --target, and this one with --id."
        )
    if model != "ridge":
        raise ValueError(
            f"{found}, and --model {model} tells classes apart: these look like numbers to "
            "predict. Use --model ridge for that, or name a column of classes with --target."
        )
