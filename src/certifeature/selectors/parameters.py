"""What the selectors are asked for: how many features, and how much of the margin."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from certifeature._parameters import as_count, check_choice
from certifeature.support.checks import check_svm

__all__ = ["check_parameters", "requested_size"]


def check_parameters(selector: Any) -> None:
    """Raise if a parameter that all selectors have is wrong, or two do not go together."""
    _check_size(selector.n_features_to_select)
    _check_epsilon(selector.epsilon)
    for name in ("supervised", "rescale"):
        check_choice(name, getattr(selector, name), (True, False))
    check_choice("basis", selector.basis, ("auto", "exact", "truncated", "sketch"))
    check_choice("guarantee", selector.guarantee, ("support", "full"))
    if selector.guarantee == "full" and not selector.supervised:
        raise ValueError(
            "supervised=False covers all rows as it is; guarantee='full' needs supervised=True."
        )
    if selector.supervised and selector.estimator is not None:
        check_svm(selector.estimator)
    if selector.n_components is not None:
        as_count("n_components", selector.n_components)
    if selector.basis == "exact" and selector.n_components is not None:
        raise ValueError(
            f"basis='exact' has as many directions as the rows have rank, so "
            f"n_components={selector.n_components} says nothing; use basis='truncated'."
        )
    if selector.basis == "truncated" and selector.n_components is None:
        raise ValueError("basis='truncated' needs n_components, the number of directions to keep.")


def _check_epsilon(value: Any) -> None:
    """Raise unless the value lies strictly between 0 and 1."""
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < float(value) < 1:
        raise ValueError(
            "epsilon, the share of the squared margin that may be lost, must lie strictly between "
            f"0 and 1; got {value!r}."
        )


def _check_size(value: Any) -> None:
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
