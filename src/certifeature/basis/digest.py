"""What is kept of rows that come in blocks: enough to choose features, and little."""

from __future__ import annotations

from copy import copy, deepcopy
from dataclasses import replace
from typing import Any

import numpy as np

from certifeature.basis.row_space import condensed_rows
from certifeature.basis.sketch import Sketch
from certifeature.rows.blocks import Block, RowBlocks, stacked
from certifeature.rows.matrix import refusing_overflow, stored_bytes

__all__ = ["Digest"]


class Digest:
    """What a basis of the rows can be made of, whatever their number.

    Of few features there is a factor with the same row space, of twice as many rows at most. Of
    many features there is a sketch, and the rows themselves while they are few.

    Parameters
    ----------
    n_features : int
        Columns of the rows.
    n_combinations : int
        Rows of the sketch.
    seed : int
        Of the sketch.
    max_features, max_rows : int
        Up to where there is a factor, and up to where the rows are kept.
    may_sketch : bool, default=True
        Whether a sketch will do.
    """

    def __init__(
        self,
        n_features: int,
        n_combinations: int,
        seed: int,
        *,
        max_features: int,
        max_rows: int,
        may_sketch: bool = True,
    ) -> None:
        self.n_rows = 0
        self._n_features = n_features
        self._n_combinations = n_combinations
        self._seed = seed
        self._most_rows = max_rows
        self._may_sketch = may_sketch
        narrow = n_features <= max_features
        self._factor = np.zeros((0, n_features)) if narrow else None
        self._rows: list[Block] = []
        self.sketch: Sketch | None = None

    def taken(self, blocks: RowBlocks) -> Digest:
        """Return this digest, which is empty, with all blocks taken in; each is read once."""
        return blocks.accumulate(lambda: deepcopy(self), Digest.added)

    def added(self, block: Block) -> Digest:
        """Return this digest with a block taken in."""
        self.n_rows += block.X.shape[0]
        if self._factor is not None:
            with refusing_overflow():
                self._factor = condensed_rows(block.X, self._factor)
        elif self.sketch is not None:
            self.sketch.add(block.X, block.first_row)
        else:
            # A copy, since the caller may put other rows into the same array.
            self._rows.append(replace(block, X=block.X.copy()))
            if self.n_rows > self._most_rows:
                self.sketch, self._rows = self._sketched(), []
        return self

    def merged(self, other: Digest) -> Digest:
        """Return the digest of these rows and the others after them; neither is changed."""
        both = copy(self)
        both.n_rows = self.n_rows + other.n_rows
        if self._factor is not None and other._factor is not None:
            with refusing_overflow():
                both._factor = condensed_rows(other._factor, self._factor)
        elif self.sketch is None and other.sketch is None and both.n_rows <= self._most_rows:
            both._rows = self._rows + other._rows
        else:
            both.sketch, both._rows = self._sketched().merged(other._sketched()), []
        return both

    def __sizeof__(self) -> int:
        kept = [block.X for block in self._rows]
        if self._factor is not None:
            kept.append(self._factor)
        in_sketch = 0 if self.sketch is None else self.sketch.__sizeof__()
        return in_sketch + sum(map(stored_bytes, kept))

    def matrix(self) -> Any:
        """Return few rows with the row space and the inner products of columns of all.

        There are none once the rows were sketched.
        """
        if self._factor is not None:
            return self._factor
        return stacked([block.X for block in self._rows])

    def _sketched(self) -> Sketch:
        """Return the sketch of the rows, made of the rows themselves if there is none yet."""
        if self.sketch is not None:
            return self.sketch
        if not self._may_sketch:
            raise ValueError(
                f"an exact or truncated basis of more than {self._most_rows} rows with "
                f"{self._n_features} features needs them all in memory, and they come in blocks; "
                "use basis='sketch' or 'auto'."
            )
        sketch = Sketch(self._n_features, self._n_combinations, self._seed)
        for block in self._rows:
            sketch.add(block.X, block.first_row)
        return sketch
