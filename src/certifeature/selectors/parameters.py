"""Checks of constructor parameters, with errors that say what to do."""

from __future__ import annotations

from collections.abc import Collection
from numbers import Integral, Real
from typing import Any

import numpy as np

__all__ = ["check_choice", "check_count", "check_epsilon", "requested_size"]


def check_choice(name: str, value: Any, choices: Collection[Any]) -> None:
    """Raise unless the value is one of the choices."""
    if not isinstance(value, str | bool | np.bool_) or value not in choices:
        allowed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {allowed}; got {value!r}.")


def check_count(name: str, value: Any) -> None:
    """Raise unless the value is None or a positive integer."""
    if value is None:
        return
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be a positive integer or None; got {value!r}.")


def check_epsilon(value: Any) -> None:
    """Raise unless the value lies strictly between 0 and 1."""
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < float(value) < 1:
        raise ValueError(
            "epsilon, the share of the squared margin that may be lost, must lie strictly between "
            f"0 and 1; got {value!r}."
        )


def requested_size(value: Any, n_features: int) -> int | None:
    """Return the number of features asked for, or None for ``"auto"``."""
    if isinstance(value, str) and value == "auto":
        return None
    if isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1:
        return int(value)
    if isinstance(value, Real) and not isinstance(value, Integral) and 0 < float(value) <= 1:
        return max(1, int(float(value) * n_features))
    raise ValueError(
        "n_features_to_select must be a positive integer, a fraction in (0, 1] or 'auto'; "
        f"got {value!r}."
    )
