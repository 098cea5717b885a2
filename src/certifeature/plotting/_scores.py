"""Names of the scores of selectors."""

from __future__ import annotations

from typing import Any

from certifeature.selectors import (
    BSSSelector,
    LeverageScoreSelector,
    LPSVMSelector,
    RandomSelector,
    RRQRSelector,
)

__all__ = ["score_name"]

_WEIGHT, _LEVERAGE = "|weight| in the SVM", "leverage score"
_OF_ORDERS = {
    "coef": _WEIGHT,
    "rfe": "place in elimination",
    "arom": "place in reweighting",
    "stable": "|mean| to deviation of weights",
    "leverage": _LEVERAGE,
    "cover": _LEVERAGE,
}
_OF_SELECTORS = {
    LeverageScoreSelector: _LEVERAGE,
    RandomSelector: "chance in one draw",
    RRQRSelector: "relative column norm",
    LPSVMSelector: "|weight| in the 1-norm SVM",
}


def score_name(selector: Any) -> str:
    """Return the name of the scores of a selector, for an axis."""
    if not isinstance(selector, BSSSelector):
        return _OF_SELECTORS.get(type(selector), "score")
    _, order = selector._orders()
    return _OF_ORDERS[order] if isinstance(order, str) else "score"
