"""Rows that come in blocks, because all of them together do not fit into memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, TypeVar
from zlib import crc32

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from certifeature import _utils as _memory
from certifeature._progress import listed, phase
from certifeature._utils import as_count
from certifeature.rows.matrix import (
    Centred,
    canonical_csr,
    dense,
    finite_rows,
    refuse_dates,
    scaled_columns,
    stored_bytes,
)

Total = TypeVar("Total")
Result = TypeVar("Result")

_PASS = "pass over the blocks"


@dataclass(frozen=True, eq=False)
class Block:
    """Some rows, their labels if there are any, and the place of the first among all rows."""

    X: Any
    y: NDArray[Any] | None
    first_row: int

    def labels(self) -> NDArray[Any]:
        """Return the labels, or say that they are missing."""
        if self.y is None:
            raise ValueError(
                "the blocks have no labels; give blocks with labels, or set supervised=False."
            )
        return self.y

    def checksum(self, before: int | None, name: str) -> int:
        """Return a checksum of rows and labels, or raise if it was another one before.

        It misses one change in four thousand million, and takes a fifth of the time of a digest.
        """
        X, y = self.X, self.y
        parts = [X.data, X.indices, X.indptr] if sparse.issparse(X) else [X]
        if y is not None:
            # Objects are stored by their addresses.
            parts.append(y.astype(str) if y.dtype.hasobject else y)
        now = crc32(repr([(part.shape, part.dtype) for part in parts]).encode())
        for part in parts:
            now = crc32(np.ascontiguousarray(part).view(np.uint8).data, now)
        if before not in (None, now):
            raise ValueError(
                f"{name} changed while it was read: its rows or labels were others before. Start "
                "again with data that stay as they are, as X.persist() makes those of Dask."
            )
        return now


class RowBlocks(ABC):
    """Rows in blocks, each read when it is needed, and again whenever it is needed again.

    Subclasses set ``n_features`` and define ``__len__``, the number of blocks, and `read`. A block
    that is not what it was when it was read before is an error.

    Attributes
    ----------
    n_features : int
        Number of columns, the same for all blocks.
    feature_names : ndarray of str or None
        Their names, if there are any.
    """

    n_features: int
    feature_names: NDArray[Any] | None = None
    _n_rows_found: int | None = None
    _has_labels: bool | None = None

    def __repr__(self) -> str:
        rows = "" if self._n_rows_found is None else f", {self._n_rows_found} rows"
        labels = {True: ", with labels", False: ", without labels", None: ""}[self._has_labels]
        facts = f"{self._source()}{rows}, {self.n_features} features{labels}"
        return f"<{type(self).__name__}: {facts}>"

    def _source(self) -> str:
        return "1 block" if len(self) == 1 else f"{len(self)} blocks"

    @property
    def n_rows(self) -> int:
        """Number of rows of all blocks; found by a pass over them, if there was none before."""
        if self._n_rows_found is None:
            listed((block.first_row for block in self), _PASS, len(self))
        assert self._n_rows_found is not None
        return self._n_rows_found

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def read(self, number: int) -> tuple[Any, NDArray[Any] | None]:
        """Return rows and labels of a block.

        Parameters
        ----------
        number : int
            Number of the block, from 0.
        """

    def name(self, number: int) -> str:
        """Return what an error calls a block.

        Parameters
        ----------
        number : int
            Number of the block, from 0.
        """
        return f"block {number}"

    @cached_property
    def _checksums(self) -> dict[int, int]:
        """Checksums of the blocks that were read."""
        return {}

    def _compare(self, number: int, block: Block) -> None:
        """Raise if a block is not what it was before."""
        before = self._checksums.get(number)
        self._checksums[number] = block.checksum(before, self.name(number))

    def __iter__(self) -> Iterator[Block]:
        """Read the blocks one after the other, and check them."""
        first_row = 0
        for number in range(len(self)):
            block = checked_block(*self.read(number), first_row, self.n_features, self.name(number))
            self._compare(number, block)
            yield block
            first_row += block.X.shape[0]
        if not first_row:
            raise ValueError("there are no blocks, so there are no rows.")
        self._n_rows_found = first_row

    def accumulate(self, empty: Callable[[], Total], add: Callable[[Total, Block], Total]) -> Total:
        """Return a total over all blocks.

        Parameters
        ----------
        empty : callable
            Makes a total of nothing. Where blocks are not read one after the other, totals have a
            method ``merged``, which returns the total of two without changing them, and
            ``__sizeof__``, by which Dask decides where to merge them.
        add : callable
            Returns a total with a block added; it may change the total that it is given.
        """
        total = empty()
        with phase(_PASS, len(self)) as advance:
            for block in self:
                total = add(total, block)
                advance()
        return total

    def summed(self, function: Callable[[Block], NDArray[Any]]) -> NDArray[Any]:
        """Return the sum of arrays that a function gives for each block.

        Parameters
        ----------
        function : callable
            Takes a block.
        """
        return np.asarray(self.accumulate(_Sum, partial(_add, function)).values)

    def together_if_few(self, max_rows: int) -> tuple[Any, NDArray[Any]] | None:
        """Return all rows and labels together, or None if they are many.

        Parameters
        ----------
        max_rows : int
            Up to how many rows are few; no more blocks are read than it takes to tell.
        """
        if self._n_rows_found is not None and self._n_rows_found > max_rows:
            return None
        blocks: list[Block] = []
        for block in self:
            blocks.append(block)
            if block.first_row + block.X.shape[0] > max_rows:
                return None
        labels = np.concatenate([block.labels() for block in blocks])
        return stacked([block.X for block in blocks]), labels

    def collect(self, function: Callable[[Block], Result]) -> list[Result]:
        """Return what a function gives for each block, in their order.

        Parameters
        ----------
        function : callable
            Takes a block and returns something small.
        """
        return listed(map(function, self), _PASS, len(self))

    def mapped(self, function: Callable[[Any], Any], n_features: int) -> RowBlocks:
        """Return blocks whose rows are made from those of these blocks when they are read.

        Parameters
        ----------
        function : callable
            Takes the rows of a block, and returns as many.
        n_features : int
            Number of columns that it returns; if it is that of the blocks, they keep their names.
        """
        return _MappedBlocks(self, function, n_features)

    def with_columns(self, columns: NDArray[np.intp], scales: NDArray[np.float64]) -> RowBlocks:
        """Return blocks of some columns, times their scales, made when they are read.

        Parameters
        ----------
        columns : ndarray of int
            Which.
        scales : ndarray of float
            A factor for each of them.
        """
        return self.mapped(partial(chosen, columns=columns, scales=scales), len(columns))


@dataclass(frozen=True, eq=False)
class _Sum:
    values: Any = 0

    def __sizeof__(self) -> int:
        return int(np.asarray(self.values).nbytes)

    def merged(self, other: _Sum) -> _Sum:
        return _Sum(self.values + other.values)


def _add(function: Callable[[Block], NDArray[Any]], total: _Sum, block: Block) -> _Sum:
    return total.merged(_Sum(function(block)))


class _MappedBlocks(RowBlocks):
    def __init__(self, blocks: RowBlocks, function: Callable[[Any], Any], n_features: int) -> None:
        self._blocks, self._function, self.n_features = blocks, function, n_features
        if n_features == blocks.n_features:
            self.feature_names = blocks.feature_names
        self._n_rows_found = blocks._n_rows_found

    def __repr__(self) -> str:
        return f"<{self.n_features} columns of {self._blocks!r}>"

    def __len__(self) -> int:
        return len(self._blocks)

    def __iter__(self) -> Iterator[Block]:
        yield from map(self._map, self._blocks)
        self._n_rows_found = self._blocks.n_rows

    def name(self, number: int) -> str:
        return self._blocks.name(number)

    def read(self, number: int) -> tuple[Any, NDArray[Any] | None]:
        X, y = self._blocks.read(number)
        return self._function(checked_rows(X, self._blocks.n_features, self.name(number))), y

    def accumulate(self, empty: Callable[[], Total], add: Callable[[Total, Block], Total]) -> Total:
        return self._blocks.accumulate(empty, lambda total, block: add(total, self._map(block)))

    def collect(self, function: Callable[[Block], Result]) -> list[Result]:
        return self._blocks.collect(lambda block: function(self._map(block)))

    def _map(self, block: Block) -> Block:
        X = self._function(block.X)
        # Arrays that share indices need these in order: SciPy may sort those of one of them.
        return replace(block, X=canonical_csr(X) if sparse.issparse(X) else X)


class ArrayBlocks(RowBlocks):
    """The rows of an array that may lie on disk, such as a memory map.

    Parameters
    ----------
    X : {ndarray, sparse array or matrix} of shape (n_samples, n_features)
        Rows; sparse ones in CSR format.
    y : array-like of shape (n_samples,), default=None
        Labels.
    n_rows : int, default=None
        Rows of a block; None takes as many as make 64 MiB.

    Examples
    --------
    >>> import numpy as np
    >>> from certifeature import BSSSelector
    >>> X = np.random.default_rng(0).standard_normal((50, 200))
    >>> blocks = ArrayBlocks(X, n_rows=20)
    >>> blocks
    <ArrayBlocks: 3 blocks, 50 rows, 200 features, without labels>
    >>> selector = BSSSelector(120, supervised=False).fit(blocks)
    >>> bool((selector.indices_ == BSSSelector(120, supervised=False).fit(X).indices_).all())
    True
    """

    def __init__(self, X: Any, y: ArrayLike | None = None, *, n_rows: int | None = None) -> None:
        if getattr(X, "ndim", None) != 2:
            raise ValueError("X must be an array of two dimensions, rows and features.")
        if n_rows is None:
            n_rows = max(1, int(X.shape[0] * _memory.BLOCK_BYTES / max(stored_bytes(X), 1)))
        self._X = X
        self._y = None if y is None else np.asarray(y)
        if self._y is not None and len(self._y) != X.shape[0]:
            raise ValueError(f"X has {X.shape[0]} rows and y has {len(self._y)}; give as many.")
        self._n_rows = as_count("n_rows", n_rows)
        self._n_rows_found = X.shape[0]
        self._has_labels = self._y is not None
        self.n_features = X.shape[1]

    def __len__(self) -> int:
        return -(-self._X.shape[0] // self._n_rows)

    def read(self, number: int) -> tuple[Any, NDArray[Any] | None]:
        """Return rows and labels of a block.

        Parameters
        ----------
        number : int
            Number of the block, from 0.
        """
        rows = slice(number * self._n_rows, (number + 1) * self._n_rows)
        return self._X[rows], None if self._y is None else self._y[rows]


def chosen(X: Any, columns: NDArray[np.intp], scales: NDArray[np.float64] | None) -> Any:
    """Return some columns of a block, times their scales if there are any."""
    # Dask tries functions on empty blocks without columns.
    if not X.shape[1]:
        return X
    return X[:, columns] if scales is None else scaled_columns(X[:, columns], scales)


def stacked(parts: list[Any]) -> Any:
    """Return rows from several blocks as one array, which is sparse if any of them is."""
    if all(isinstance(part, Centred) for part in parts):
        # Blocks of the same rows are less the same multiples of one row.
        left = np.concatenate([part.left for part in parts])
        return Centred(stacked([part.stored for part in parts]), left, parts[0].right)
    parts = [dense(part) if isinstance(part, Centred) else part for part in parts]
    if any(sparse.issparse(part) for part in parts):
        return sparse.vstack(parts, format="csr")
    return np.vstack(parts)


def checked_block(X: Any, y: Any, first_row: int, n_features: int, name: str) -> Block:
    """Return a block whose rows and labels are as they should be."""
    X = checked_rows(X, n_features, name)
    if y is not None:
        y = np.asarray(y)
        if y.shape != (X.shape[0],):
            raise ValueError(
                f"{name} has {X.shape[0]} rows and labels of shape {y.shape}; every row needs one "
                "label."
            )
    return Block(X, y, first_row)


def checked_rows(X: Any, n_features: int, name: str) -> Any:
    """Return the rows of a block in float64, sparse ones as a canonical CSR array."""
    if X.ndim != 2 or X.shape[1] != n_features:
        raise ValueError(f"{name} has shape {X.shape}, but the rows have {n_features} features.")
    if X.shape[0] == 0:
        raise ValueError(f"{name} is empty; leave it out.")
    refuse_dates(X)
    return finite_rows(X, name)
