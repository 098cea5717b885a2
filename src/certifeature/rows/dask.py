"""Dask collections as row blocks: work is done where the chunks are."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain, compress, repeat
from traceback import extract_tb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certifeature.rows.blocks import Block, Result, RowBlocks, Total, checked_block, chosen
from certifeature.rows.matrix import is_dask


class DaskBlocks(RowBlocks):
    """The chunks of a Dask array or data frame.

    The selectors make these themselves from the collections that they are given.

    Parameters
    ----------
    X : dask Array or DataFrame
        Rows, in chunks of known lengths. Chunks are dense or sparse.
    y : dask Array or Series, or array-like, default=None
        Labels.

    Attributes
    ----------
    n_features : int
        Number of features.

    Examples
    --------
    >>> import dask.array as da
    >>> from certifeature import BSSSelector
    >>> X = da.random.default_rng(0).standard_normal((50, 200), chunks=(20, 200))
    >>> selector = BSSSelector(120, supervised=False).fit(X)
    >>> selector.transform(X).compute().shape
    (50, 120)
    """

    def __init__(self, X: Any, y: Any = None) -> None:
        self.feature_names = column_names(X)
        if hasattr(X, "to_dask_array"):
            X = X.to_dask_array(lengths=True)
        if X.ndim != 2:
            raise ValueError(f"X must have two dimensions, rows and features; got {X.ndim}.")
        lengths = X.chunks[0]
        if np.isnan(lengths).any():
            raise ValueError(
                f"block {np.argmax(np.isnan(lengths))} of X has an unknown number of rows; call "
                "X.compute_chunk_sizes() first."
            )
        self.n_features = int(X.shape[1])
        chunks = X.rechunk({1: -1}).to_delayed().ravel()
        # Filters leave chunks without rows.
        self._rows = list(compress(chunks, lengths))
        self._lengths = [int(length) for length in lengths if length]
        self._n_rows_found = sum(self._lengths)
        self._labels = self._labels_in_chunks(y)
        self._has_labels = y is not None

    def _labels_in_chunks(self, y: Any) -> list[Any]:
        """Return labels in the chunks of the rows."""
        if y is None:
            return [None] * len(self)
        if hasattr(y, "to_dask_array"):
            y = y.to_dask_array(lengths=True)
        elif not is_dask(y):
            y = np.asarray(y)
        if y.ndim != 1:
            raise ValueError(f"y must have one dimension; got {y.ndim}.")
        if np.isnan(y.shape[0]):
            raise ValueError("y has an unknown number of labels; call y.compute_chunk_sizes().")
        if y.shape[0] != self.n_rows:
            raise ValueError(f"X has {self.n_rows} rows and y has {y.shape[0]}; give as many.")
        if is_dask(y):
            return list(y.rechunk((tuple(self._lengths),)).to_delayed().ravel())
        return np.split(np.asarray(y), np.cumsum(self._lengths)[:-1])

    def __len__(self) -> int:
        return len(self._lengths)

    def read(self, number: int) -> tuple[Any, NDArray[Any] | None]:
        """Return rows and labels of a chunk.

        Parameters
        ----------
        number : int
            Number of the block, from 0.
        """
        rows, labels = _computed(self._rows[number], self._labels[number])
        return rows, labels

    def accumulate(self, empty: Callable[[], Total], add: Callable[[Total, Block], Total]) -> Total:
        """Return a total over all blocks, made where they are and merged in a binary tree.

        Parameters
        ----------
        empty : callable
            Makes a total of nothing.
        add : callable
            Returns a total with a block added.
        """
        import dask

        totals = self._delayed(lambda block: add(empty(), block))
        merge = dask.delayed(_merged, pure=False)
        # In pairs: a worker then holds few totals at a time, and waits for one of them at most.
        while len(totals) > 1:
            pairs = zip(totals[::2], totals[1::2], strict=False)
            totals = [merge(*pair) for pair in pairs] + totals[len(totals) // 2 * 2 :]
        ((total, checksums),) = _computed(*totals)
        self._checksums.update(enumerate(checksums))
        return total

    def collect(self, function: Callable[[Block], Result]) -> list[Result]:
        """Return what a function gives for each block, computed where it is.

        Parameters
        ----------
        function : callable
            Takes a block and returns something small.
        """
        results, checksums = zip(*_computed(*self._delayed(function)), strict=True)
        self._checksums.update(enumerate(chain(*checksums)))
        return list(results)

    def _delayed(self, function: Callable[[Block], Any]) -> list[Any]:
        """Return the value of a function and the checksum of each block, to be computed."""
        import dask

        if not len(self):
            raise ValueError("there are no blocks, so there are no rows.")
        task = dask.delayed(_on_block, pure=False)
        # It may hold large arrays, so it is in the graph once, and not in each task.
        shared = dask.delayed(function, pure=False, traverse=False)
        starts = np.cumsum([0, *self._lengths[:-1]]).tolist()
        names = map(self.name, range(len(self)))
        before = map(self._checksums.get, range(len(self)))
        facts = starts, repeat(self.n_features), names
        blocks = zip(before, self._rows, self._labels, *facts, strict=False)
        lengths = self._lengths
        return [task(shared, n, *block) for n, block in zip(lengths, blocks, strict=True)]


def column_names(X: Any) -> NDArray[Any] | None:
    """Return the names of the columns of a data frame, if all are text."""
    names = list(getattr(X, "columns", []))
    if not names or not all(isinstance(name, str) for name in names):
        return None
    return np.array(names, dtype=object)


def chosen_columns(X: Any, columns: NDArray[np.intp], scales: NDArray[np.float64] | None) -> Any:
    """Return some columns of a Dask collection, times their scales, when they are computed.

    Without scales they are as they were, in their own type.
    """
    if hasattr(X, "to_dask_array"):
        return X.map_partitions(_chosen_of_frame, columns, scales)
    X = X.rechunk({1: -1})
    dtype = X.dtype if scales is None else np.float64
    return X.map_blocks(chosen, columns, scales, dtype=dtype, chunks=(X.chunks[0], (len(columns),)))


def _chosen_of_frame(X: Any, columns: NDArray[np.intp], scales: NDArray[np.float64] | None) -> Any:
    # By place, since names may be the same.
    X = X.iloc[:, columns]
    return X if scales is None else X * scales


def _merged(first: Any, second: Any) -> tuple[Any, list[int]]:
    return first[0].merged(second[0]), first[1] + second[1]


def _on_block(
    function: Callable[[Block], Any], n_rows: int, before: int | None, X: Any, *others: Any
) -> tuple[Any, list[int]]:
    name = others[-1]
    if X.shape[0] != n_rows:
        found = f"{name} has {X.shape[0]} rows, and {n_rows} were announced"
        raise ValueError(f"{found}; call X.compute_chunk_sizes() first, or repair the chunk.")
    block = checked_block(X, *others)
    checksum = block.checksum(before, name)
    return function(block), [checksum]


def _computed(*delayed: Any) -> tuple[Any, ...]:
    """Compute values, with an error that says so if it is a chunk that cannot be computed."""
    import dask

    try:
        found: tuple[Any, ...] = dask.compute(*delayed)
    except Exception as error:
        calls = {call.name for call in extract_tb(error.__traceback__)}
        if _on_block.__name__ in calls or isinstance(error, MemoryError):
            raise
        reason = f"{type(error).__name__}: {error}"
        raise ValueError(
            f"a chunk of X or y cannot be computed ({reason}); check what it is made from."
        ) from error
    return found
