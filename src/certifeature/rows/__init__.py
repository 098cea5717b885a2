"""What X can be: an array, a sparse matrix, blocks of rows, a Dask collection."""

from certifeature.rows.blocks import ArrayBlocks, Block, RowBlocks
from certifeature.rows.dask import DaskBlocks

__all__ = ["ArrayBlocks", "Block", "DaskBlocks", "RowBlocks"]
