"""Tables and SVMlight files, read into memory or in blocks."""

from certifeature.io.blocks import FileBlocks
from certifeature.io.reader import read_data

__all__ = ["FileBlocks", "read_data"]
