"""What the selectors are asked for: how many features, and how much of the margin."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

__all__ = ["check_epsilon", "check_size", "requested_size"]


def check_epsilon(value: Any) -> None:
    """Raise unless the value lies strictly between 0 and 1."""
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < float(value) < 1:
        raise ValueError(
            "epsilon, the share of the squared margin that may be lost, must lie strictly between "
            f"0 and 1; got {value!r}."
        )


def check_size(value: Any) -> None:
    """Raise unless the value is a number of features, a share of them, or ``"auto"``."""
    if isinstance(value, str) and value == "auto":
        return
    if isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1:
        return
    if isinstance(value, Real) and not isinstance(value, Integral) and 0 < float(value) <= 1:
        return
    raise ValueError(
        "n_features_to_select must be a positive integer, a fraction in (0, 1] or 'auto'; "
        f"got {value!r}."
    )


def requested_size(value: Any, n_features: int) -> int | None:
    """Return the number of features asked for, or None for ``"auto"``."""
    if isinstance(value, str):
        return None
    return int(value) if isinstance(value, Integral) else max(1, int(float(value) * n_features))
