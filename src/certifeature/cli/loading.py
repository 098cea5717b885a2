"""Reading the data that a command works on."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from enum import StrEnum
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from certifeature.cli.source import Source
from certifeature.comparison import column_scaler
from certifeature.rows import Block, RowBlocks
from certifeature.rows.matrix import fingerprint

__all__ = [
    "Loaded",
    "Scaling",
    "check_scaling",
    "distinct_names",
    "load",
    "load_blocks",
    "scaled",
    "to_scale",
]


class Scaling(StrEnum):
    """How the columns are scaled first."""

    none = "none"
    standard = "standard"
    tfidf = "tfidf"


@dataclass(frozen=True, eq=False)
class Loaded:
    """Data with labels and names of rows (if any), a name for every column, and a fingerprint.

    Rows in blocks keep their labels themselves.
    """

    X: Any
    y: NDArray[Any] | None
    names: NDArray[np.str_]
    source: str
    fingerprint: str
    ids: NDArray[np.str_] | None = None
    id_name: str = "id"

    def __str__(self) -> str:
        return f"{self.source}: {self.n_rows:,} rows, {self.n_features:,} features"

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.n_rows if isinstance(self.X, RowBlocks) else self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.X.n_features if isinstance(self.X, RowBlocks) else self.X.shape[1])


def load(source: Source, *, needs_labels: bool) -> Loaded:
    """Read data; columns have names as `distinct_names` gives them."""
    data = source.read()
    if needs_labels:
        if data.y is None:
            raise ValueError(
                f"{data.source}: there are no labels; name them with --target, or choose for all "
                "rows with --unsupervised."
            )
        _check_classes(np.unique(data.y), data.source)
    names = distinct_names(data.feature_names, data.X.shape[1])
    y_digest = "" if data.y is None else fingerprint(np.unique(data.y, return_inverse=True)[1])
    digest = fingerprint(data.X)[:16] + y_digest[:16]
    return Loaded(data.X, data.y, names, data.source, digest, data.ids, source.id or "id")


def load_blocks(source: Source, *, needs_labels: bool) -> Loaded:
    """Read files one by one, and leave the rows where they are."""
    blocks = source.blocks()
    parts = blocks.collect(_digest)
    name = f"{' '.join(source.paths)} ({len(blocks)} files)"
    if needs_labels:
        _check_classes(np.unique(np.concatenate([labels for _, labels in parts])), name)
    names = distinct_names(blocks.feature_names, blocks.n_features)
    digest = blake2b("".join(digest for digest, _ in parts).encode(), digest_size=16).hexdigest()
    return Loaded(blocks, None, names, name, digest)


def _digest(block: Block) -> tuple[str, NDArray[Any]]:
    """Return what tells the rows and labels of a block from others, and its classes."""
    labels = np.empty(0) if block.y is None else block.y
    return fingerprint(block.X) + fingerprint(labels), np.unique(labels)


def _check_classes(classes: NDArray[Any], source: str) -> None:
    if len(classes) == 1:
        raise ValueError(
            f"{source}: all labels are {classes.tolist()[0]!r}; two classes are needed."
        )


def distinct_names(names: NDArray[np.str_] | None, n_features: int) -> NDArray[np.str_]:
    """Return a different name for each column.

    A column without a name is called by its number, from 0 as in Python. Of columns with the same
    name, the second gets " (2)" after it, and so on.
    """
    if names is None:
        return np.arange(n_features).astype(f"U{len(str(n_features))}")
    given = [str(name).strip() or str(number) for number, name in enumerate(names)]
    taken, counts = set(given), Counter[str]()
    for place, name in enumerate(given):
        counts[name] += 1
        while counts[name] > 1 and given[place] in taken:
            given[place] = f"{name} ({counts[name]})"
            counts[name] += given[place] in taken
        taken.add(given[place])
    return np.array(given, dtype=np.str_)


def scaled(data: Loaded, scaling: Scaling) -> Loaded:
    """Return data with their columns scaled, learnt from all rows."""
    X, scaler = to_scale(data.X, scaling)
    return data if scaler is None else replace(data, X=scaler.fit_transform(X))


def to_scale(X: Any, scaling: Scaling) -> tuple[Any, Any]:
    """Return rows that can be scaled, and an unfitted scaler, or None if there is none."""
    check_scaling(X, scaling)
    if scaling is Scaling.none:
        return X, None
    return _within_range(X) if scaling is Scaling.standard else X, column_scaler(scaling, X)


def _within_range(X: Any) -> Any:
    """Divide each column by a power of 2, so that its largest value is near 1.

    Squares can then not overflow, and the standardised columns are the same.
    """
    largest = abs(X).max(axis=0)
    exponents = np.frexp(largest.toarray().ravel() if sparse.issparse(largest) else largest)[1]
    if not sparse.issparse(X):
        return np.ldexp(X, -exponents)
    divided = X.copy()
    divided.data = np.ldexp(X.data, -exponents[X.indices])
    return divided


def check_scaling(X: Any, scaling: Scaling) -> None:
    """Raise if the columns cannot be scaled like this."""
    if scaling is not Scaling.tfidf:
        return
    lowest = X.data.min(initial=0.0) if sparse.issparse(X) else X.min(initial=0.0)
    if lowest < 0:
        raise ValueError(
            "--scale tfidf is for counts, but the data have negative values; use another --scale."
        )
