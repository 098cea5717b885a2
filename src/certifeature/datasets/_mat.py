"""MATLAB files of version 5, as ``save -v6`` and ``save -v7`` write them."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from scipy.io import loadmat

from certifeature.datasets._bytes import decoding
from certifeature.datasets._checks import beginning, checked_data, find_label
from certifeature.datasets._mat_tags import check_variable, split_variables
from certifeature.datasets._sparse import verified
from certifeature.datasets.data import Data

__all__ = ["read_mat"]

_SIGNATURE = b"MATLAB 5.0 MAT-file"
_SIGNATURES_HDF5 = (b"MATLAB 7.3 MAT-file", b"\x89HDF\r\n\x1a\n")


def read_mat(content: bytes, source: str, target: str | int | None) -> Data:
    """Read the variables X and y, or the one named by target."""
    _check_version(content, source)
    if isinstance(target, int):
        raise ValueError(
            f"{source}: target={target} is a position; the labels of a MATLAB file are a variable. "
            "Give its name as target."
        )
    with decoding(source, "a MATLAB file"):
        parts = split_variables(content)
    names = list(parts)
    if "X" not in names:
        raise ValueError(
            f"{source}: there is no variable X. There is {beginning(names)}. Save the data as X "
            "and the labels as y."
        )
    position = find_label(names, target, source)
    label = [] if position is None else [names[position]]
    with decoding(source, "a MATLAB file"):
        for name in ["X", *label]:
            check_variable(parts[name])
        variables = loadmat(io.BytesIO(content), variable_names=["X", *label])
        X = verified(variables["X"])
        y = _texts(variables[label[0]]) if label else None
    return checked_data(X, y, None, source)


def _check_version(content: bytes, source: str) -> None:
    if content.startswith(_SIGNATURES_HDF5):
        raise ValueError(
            f"{source}: a MATLAB file of version 7.3 (HDF5), which is not supported. In MATLAB, "
            "save it again with: save('data.mat', 'X', 'y', '-v7')"
        )
    if not content.startswith(_SIGNATURE):
        raise ValueError(
            f"{source}: not a MATLAB file of version 5. In MATLAB, write one with: "
            "save('data.mat', 'X', 'y', '-v7')"
        )


def _texts(labels: Any) -> Any:
    """Turn a cell array of texts, which SciPy gives as an array of arrays, into one of texts."""
    if not isinstance(labels, np.ndarray) or labels.dtype.kind != "O":
        return labels
    return np.array([str(np.asarray(cell).item()) for cell in labels.ravel()], dtype=np.str_)
