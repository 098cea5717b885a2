"""The methods of a comparison as curves, which look the same in every plot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certifeature.comparison import FULL_DATA, Comparison, Contender
from certifeature.plotting._axes import COLOURS, GREY, MARKERS

__all__ = ["Curve", "curves_of"]

_BASELINE = "random"


@dataclass(frozen=True)
class Curve:
    """One method with each number of features.

    Attributes
    ----------
    name : str
        Name of the method.
    contenders : list of Contender
        By number of features.
    style : dict
        Colour, marker, dashes and label.
    """

    name: str
    contenders: list[Contender]
    style: dict[str, Any]

    @property
    def places(self) -> NDArray[np.float64]:
        """Numbers of features chosen."""
        return np.array([contender.n_features for contender in self.contenders])


def curves_of(comparison: Comparison) -> list[Curve]:
    """Return a curve for each method but full data, random features last, grey and dashed.

    A method that finds its own number of features has a point without a line.
    """
    methods: dict[str, list[Contender]] = {}
    for contender in comparison.contenders:
        if contender.method != FULL_DATA:
            methods.setdefault(contender.method, []).append(contender)
    if not methods:
        raise ValueError("the comparison holds no method but full data; compare some.")
    rivals = [name for name in methods if name != _BASELINE]
    looks = {name: _look(place) | {"label": name} for place, name in enumerate(rivals)}
    if _BASELINE in methods:
        grey = {"color": GREY, "linestyle": "--", "marker": "x", "label": "random features"}
        looks[_BASELINE] = grey
    curves = []
    for name, look in looks.items():
        style = {"markersize": 4, "linewidth": 1.5} | look
        if methods[name][0].size is None:
            style |= {"linestyle": "none", "label": f"{name} (own number)"}
        curves.append(Curve(name, methods[name], style))
    return curves


def _look(place: int) -> dict[str, Any]:
    """Return the colour, marker and dashes of the method at this place."""
    turn, place = divmod(place, len(COLOURS))
    dashes = ("-", "-.", ":")[turn % 3]
    return {"color": COLOURS[place], "marker": MARKERS[place], "linestyle": dashes}
