"""What X can be: an array, a sparse matrix, blocks of rows, a Dask collection."""

from certifeature.rows.blocks import ArrayBlocks, RowBlocks

__all__ = ["ArrayBlocks", "RowBlocks"]
