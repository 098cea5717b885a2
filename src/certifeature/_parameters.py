"""Checks of parameters, with errors that say what was given and what is needed."""

from __future__ import annotations

from collections.abc import Collection
from numbers import Integral, Real
from typing import Any

import numpy as np

__all__ = ["as_count", "as_positive", "check_choice"]


def as_count(name: str, value: Any) -> int:
    """Return a positive integer as an int."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be a positive integer; got {value!r}.")
    return int(value)


def as_positive(name: str, value: Any) -> float:
    """Return a finite positive number as a float."""
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < float(value) < np.inf:
        raise ValueError(f"{name} must be a finite positive number; got {value!r}.")
    return float(value)


def check_choice(name: str, value: Any, choices: Collection[Any]) -> None:
    """Raise unless the value is one of the choices."""
    if not isinstance(value, str | bool | np.bool_) or value not in choices:
        allowed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {allowed}; got {value!r}.")
