"""What the parameters of a selector may be."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import HasMethods, Interval, Options, RealNotInt, StrOptions

from certifeature.support.accepted import check_model

__all__ = ["CONSTRAINTS", "check_together", "requested_size"]

# Those that all selectors have, each by itself.
CONSTRAINTS: dict[str, list[Any]] = {
    "n_features_to_select": [
        Interval(Integral, 1, None, closed="left"),
        Interval(RealNotInt, 0, 1, closed="right"),
        StrOptions({"certified"}),
    ],
    "epsilon": [Interval(Real, 0, 1, closed="neither")],
    "supervised": ["boolean"],
    "guarantee": [StrOptions({"support", "full"})],
    "estimator": [HasMethods("fit"), None],
    "basis": [StrOptions({"auto", "exact", "truncated", "sketch"})],
    "n_components": [Interval(Integral, 1, None, closed="left"), None],
    "rescale": [StrOptions({"common", "each"}), Options(bool, {False})],
    "random_state": ["random_state"],
}


def check_together(selector: Any) -> None:
    """Raise if parameters that are right by themselves make no sense together."""
    if isinstance(selector.n_features_to_select, bool):
        raise ValueError(
            "n_features_to_select counts features, or is a share of them; "
            f"got {selector.n_features_to_select}."
        )
    if selector.guarantee == "full" and not selector.supervised:
        raise ValueError(
            "supervised=False covers all rows as it is; guarantee='full' needs supervised=True."
        )
    if selector.estimator is not None:
        check_model(selector.estimator)
    if selector.basis == "exact" and selector.n_components is not None:
        raise ValueError(
            f"basis='exact' has as many directions as the rows have rank, so "
            f"n_components={selector.n_components} says nothing; use basis='truncated'."
        )
    if selector.basis == "truncated" and selector.n_components is None:
        raise ValueError("basis='truncated' needs n_components, the number of directions to keep.")


def requested_size(value: Any, n_features: int) -> int | None:
    """Return the number of features asked for, or None for ``"certified"``."""
    if isinstance(value, str):
        return None
    return int(value) if isinstance(value, Integral) else max(1, int(float(value) * n_features))
