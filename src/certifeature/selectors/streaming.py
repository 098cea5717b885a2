"""What is kept of rows that come in blocks: enough to choose features, and little."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from certifeature.basis import Basis
from certifeature.basis.sketch import Sketch
from certifeature.blocks import Block, RowBlocks
from certifeature.selectors.subspace import DEFAULT_SKETCH, MOST_EXACT_DIRECTIONS, row_space

__all__ = ["Digest"]


class Digest:
    """What a basis of the rows can be made of, whatever their number.

    Few features leave a triangular factor with the same row space. Of many features there is a
    sketch, and the rows themselves while they are few.

    Parameters
    ----------
    n_features : int
        Columns of the rows.
    kind : {"auto", "exact", "truncated", "sketch"}
        Of the basis.
    n_components : int or None
        Directions of a truncated or sketched basis.
    seed : int
        Of the sketch.
    """

    def __init__(self, n_features: int, kind: str, n_components: int | None, seed: int) -> None:
        self.n_rows = 0
        self._kind = kind
        self._n_components = n_components
        self._seed = seed
        narrow = n_features <= MOST_EXACT_DIRECTIONS and kind != "sketch"
        self._factor = np.zeros((0, n_features)) if narrow else None
        sketched = kind in ("auto", "sketch") and not narrow
        size = n_components or DEFAULT_SKETCH
        self._sketch = Sketch(n_features, size, seed) if sketched else None
        self._few = size if kind == "sketch" else MOST_EXACT_DIRECTIONS
        self._rows: list[Any] | None = None if narrow else []

    @classmethod
    def of(cls, blocks: RowBlocks, kind: str, n_components: int | None, seed: int) -> Digest:
        """Read all blocks once."""
        return blocks.accumulate(
            lambda: cls(blocks.n_features, kind, n_components, seed), Digest.added
        )

    def added(self, block: Block) -> Digest:
        """Return this digest with a block taken in."""
        X = block.X
        self.n_rows += X.shape[0]
        if self._factor is not None:
            dense = X.toarray() if sparse.issparse(X) else X
            self._factor = _triangular(np.vstack([self._factor, dense]))
            return self
        if self._sketch is not None:
            self._sketch.add(X, block.first_row)
        if self._rows is not None:
            self._rows.append(X)
            if self.n_rows > self._few:
                self._rows = None
                self._check_sketched()
        return self

    def merged(self, other: Digest) -> Digest:
        """Return the digest of these rows and the others after them; neither is changed."""
        both = copy(self)
        both.n_rows = self.n_rows + other.n_rows
        if self._factor is not None and other._factor is not None:
            both._factor = _triangular(np.vstack([self._factor, other._factor]))
        if self._sketch is not None and other._sketch is not None:
            both._sketch = self._sketch.merged(other._sketch)
        if self._rows is not None:
            few = other._rows is not None and both.n_rows <= self._few
            both._rows = [*self._rows, *(other._rows or [])] if few else None
            if not few:
                self._check_sketched()
        return both

    def basis(self) -> tuple[Basis, str]:
        """Return the basis, and the kind that "auto" stands for."""
        if self._factor is not None:
            return row_space(self._factor, self._kind, self._n_components, self._seed)
        if self._rows is not None:
            sparse_rows = any(sparse.issparse(rows) for rows in self._rows)
            X = sparse.vstack(self._rows, format="csr") if sparse_rows else np.vstack(self._rows)
            return row_space(X, self._kind, self._n_components, self._seed)
        assert self._sketch is not None
        return self._sketch.basis(), "sketch"

    def _check_sketched(self) -> None:
        if self._sketch is None:
            raise ValueError(
                f"basis={self._kind!r} of more than {self._few} rows and "
                f"{MOST_EXACT_DIRECTIONS} features needs them all in memory, and they come in "
                "blocks; use basis='sketch' or 'auto'."
            )


def _triangular(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return as few rows with the same inner products of columns."""
    if rows.shape[0] <= rows.shape[1]:
        return rows
    # Scaled to 1, since LAPACK squares what it is given.
    largest = float(np.abs(rows).max())
    if largest == 0:
        return rows[:1]
    factor = np.asarray(np.linalg.qr(rows / largest, mode="r"))
    return factor * largest
