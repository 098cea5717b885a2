"""The layers of certificates as values to plot, and their labels in the legend."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from certifeature.certificate import Certificate
from certifeature.certificate.certificate import measured_probability
from certifeature.plotting._axes import with_lacking

__all__ = ["layer_label", "layer_values"]


def layer_values(certificates: Sequence[Certificate]) -> dict[str, NDArray[np.float64]]:
    """Return the growth that each layer states: inf if it sets no limit, NaN if not computed."""
    values = {
        "promised": [c.promised_growth for c in certificates],
        "measured": [c.measured_growth for c in certificates],
        "realised": [c.realised_growth for c in certificates],
    }
    return {name: np.array(layer, dtype=np.float64) for name, layer in values.items()}


def layer_label(name: str, certificates: Sequence[Certificate]) -> str:
    """Return the label of a layer, with the number of certificates that lack it, and why."""
    values = layer_values(certificates)[name]
    label = name
    chances = [
        _probability(name, c) for c, v in zip(certificates, values, strict=True) if v < np.inf
    ]
    if min(chances, default=1.0) < 1:
        label += f"\n(probability {min(chances):g})"
    return with_lacking(label, values)


def _probability(name: str, certificate: Certificate) -> float:
    """Return the probability with which what a layer states is true."""
    if name == "measured":
        return measured_probability(certificate)
    if name == "promised" and certificate.a_priori is not None:
        return certificate.a_priori.probability
    return 1.0
