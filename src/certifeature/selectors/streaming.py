"""What is kept of rows that come in blocks: enough to choose features, and little."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
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
        self._n_features = n_features
        self._kind = kind
        self._n_components = n_components
        self._seed = seed
        self._factor: NDArray[np.float64] | None = None
        if n_features <= MOST_EXACT_DIRECTIONS and kind != "sketch":
            self._factor = np.zeros((0, n_features))
        self._few = self._n_combinations if kind == "sketch" else MOST_EXACT_DIRECTIONS
        self._rows: list[Block] = []
        self._sketch: Sketch | None = None

    @classmethod
    def of(cls, blocks: RowBlocks, kind: str, n_components: int | None, seed: int) -> Digest:
        """Read all blocks once."""
        return blocks.accumulate(
            lambda: cls(blocks.n_features, kind, n_components, seed), Digest.added
        )

    @property
    def settings(self) -> tuple[str, int | None, int]:
        """What it was made with: kind, number of directions and seed."""
        return self._kind, self._n_components, self._seed

    @property
    def _n_combinations(self) -> int:
        return self._n_components or DEFAULT_SKETCH

    def added(self, block: Block) -> Digest:
        """Return this digest with a block taken in."""
        self.n_rows += block.X.shape[0]
        if self._factor is not None:
            dense = block.X.toarray() if sparse.issparse(block.X) else block.X
            self._factor = _triangular(np.vstack([self._factor, dense]))
        elif self._sketch is not None:
            self._sketch.add(block.X, block.first_row)
        else:
            # A copy, since the caller may put other rows into the same array.
            self._rows.append(replace(block, X=block.X.copy()))
            if self.n_rows > self._few:
                self._sketch, self._rows = self._sketched(), []
        return self

    def merged(self, other: Digest) -> Digest:
        """Return the digest of these rows and the others after them; neither is changed."""
        both = copy(self)
        both.n_rows = self.n_rows + other.n_rows
        if self._factor is not None and other._factor is not None:
            both._factor = _triangular(np.vstack([self._factor, other._factor]))
        elif self._sketch is None and other._sketch is None and both.n_rows <= self._few:
            both._rows = self._rows + other._rows
        else:
            both._sketch, both._rows = self._sketched().merged(other._sketched()), []
        return both

    def basis(self) -> tuple[Basis, str]:
        """Return the basis, and the kind that "auto" stands for."""
        if self._sketch is not None:
            return self._sketch.basis(), "sketch"
        X: Any = self._factor
        if X is None:
            rows = [block.X for block in self._rows]
            some_sparse = any(sparse.issparse(part) for part in rows)
            X = sparse.vstack(rows, format="csr") if some_sparse else np.vstack(rows)
        return row_space(X, self._kind, self._n_components, self._seed)

    def _sketched(self) -> Sketch:
        """Return the sketch of the rows, made of the rows themselves if there is none yet."""
        if self._sketch is not None:
            return self._sketch
        if self._kind not in ("auto", "sketch"):
            raise ValueError(
                f"basis={self._kind!r} of more than {self._few} rows and "
                f"{MOST_EXACT_DIRECTIONS} features needs them all in memory, and they come in "
                "blocks; use basis='sketch' or 'auto'."
            )
        sketch = Sketch(self._n_features, self._n_combinations, self._seed)
        for block in self._rows:
            sketch.add(block.X, block.first_row)
        return sketch


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
