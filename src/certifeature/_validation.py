"""Validation of parameters, and warnings that point at the caller's line."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Collection
from numbers import Integral, Real
from typing import Any

import numpy as np

__all__ = ["as_count", "as_positive", "check_choice", "warn"]


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


# Packages whose frames are skipped: scikit-learn wraps `fit`, and calls it from pipelines and
# searches.
_BETWEEN = frozenset({"certifeature", "contextlib", "functools", "joblib", "sklearn"})


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the innermost line of the stack that belongs to the user's code."""
    frame = sys._getframe(1)
    while frame.f_back is not None and _package(frame.f_globals) in _BETWEEN:
        frame = frame.f_back
    names = frame.f_globals
    warnings.warn_explicit(
        message,
        category,
        frame.f_code.co_filename,
        frame.f_lineno,
        names.get("__name__"),
        names.setdefault("__warningregistry__", {}),
    )


def _package(names: dict[str, object]) -> str:
    return str(names.get("__name__", "")).partition(".")[0]
