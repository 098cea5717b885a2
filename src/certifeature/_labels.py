"""Class labels as users bring them, brought to one dimension."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import column_or_1d

from certifeature._warnings import warn

__all__ = ["one_dimensional"]


def one_dimensional(y: Any) -> NDArray[Any]:
    """Return labels without a second dimension; a single column is taken for them, and warned of.

    Scikit-learn does the same, but its warning points at itself.
    """
    labels: NDArray[Any] = column_or_1d(y)
    if np.asarray(y).ndim == 2:
        warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of "
            "y to (n_samples,), for example using ravel().",
            DataConversionWarning,
        )
    return labels
