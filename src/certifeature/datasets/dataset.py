"""The type that readers of data files return."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Dataset:
    """Samples, their labels, and where they come from.

    Attributes
    ----------
    X : ndarray or CSR array of shape (n_samples, n_features), dtype float64
        The samples: finite numbers, and NaN for missing values where these are accepted.
    y : ndarray of shape (n_samples,) or None
        The labels: int64 where all are whole numbers, else float64 or str. None where the
        source has none.
    feature_names : ndarray of str, shape (n_features,), or None
        The names of the columns of `X`, where the source has them.
    source : str
        The file, folder or member of an archive that was read.
    ids, groups : ndarray of str, shape (n_samples,), or None
        The names of the rows of `X`, and the groups that they belong to, where columns hold them.
    target : str or None
        The name of the column of labels, where it has one.
    categories : mapping of int to ndarray of str
        The values of columns of text, where these are accepted, by their index in `X`, which has
        the place of each value among them.
    about : mapping of str to ndarray of str
        What else the source says about the samples, as a GEO series matrix does.
    """

    X: Any
    y: NDArray[Any] | None
    feature_names: NDArray[np.str_] | None
    source: str
    ids: NDArray[np.str_] | None = None
    groups: NDArray[np.str_] | None = None
    target: str | None = None
    categories: Mapping[int, NDArray[np.str_]] = field(default_factory=dict)
    about: Mapping[str, NDArray[np.str_]] = field(default_factory=dict)
