"""The layers of certificates as values to plot, and their labels in the legend."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from certifeature.certificate import Certificate

__all__ = ["layer_label", "layer_values"]


def layer_values(certificates: Sequence[Certificate]) -> dict[str, NDArray[np.float64]]:
    """Return the share of the squared margin that each layer states; NaN where it does not."""
    values = {
        "a priori": [None if c.a_priori is None else c.a_priori.lambda_min for c in certificates],
        "measured": [c.lambda_min for c in certificates],
        "realised": [None if c.realised is None else c.realised.margin_ratio for c in certificates],
    }
    return {name: np.array(layer, dtype=np.float64) for name, layer in values.items()}


def layer_label(name: str, certificates: Sequence[Certificate]) -> str:
    """Return the label of a layer, with the number of certificates that lack it."""
    label = {"a priori": "a priori promise", "measured": "measured λ"}.get(name, name)
    if name == "a priori":
        chances = {c.a_priori.probability for c in certificates if c.a_priori is not None}
        if chances and min(chances) < 1:
            label += f"\n(probability {min(chances):g})"
    n_all, n_missing = len(certificates), int(np.isnan(layer_values(certificates)[name]).sum())
    if n_missing:
        label += "\n(none)" if n_missing == n_all else f"\n(none for {n_missing} of {n_all})"
    n_inexact = sum(not certificate.exact for certificate in certificates)
    if name == "measured" and n_inexact:
        label += f"\n(no proof for {n_inexact} of {n_all})"
    return label
