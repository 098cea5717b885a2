"""Tables and SVMlight files, read into memory or in blocks."""

from certifeature.io.reader import FileBlocks, read_data

__all__ = ["FileBlocks", "read_data"]
