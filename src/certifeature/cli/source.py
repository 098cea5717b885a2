"""Where the data of a command are: one file, standard input, or many files."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from certifeature.datasets.dataset import Dataset
from certifeature.io import FileBlocks, read_data
from certifeature.io._common import read_bytes
from certifeature.io.blocks import data_files, joined
from certifeature.io.reader import TABLES, format_of
from certifeature.io.tables import Columns, Survey, survey_table

__all__ = ["Source"]

# Memory for the file, its numbers and what is computed from them, per byte of the file.
_MEMORY_PER_BYTE = 2.0


@dataclass(frozen=True)
class Source:
    """Where data are, and what their columns are, as on the command line."""

    paths: list[str]
    target: str | None = None
    format: str | None = None
    id: str | None = None
    drop: list[str] | None = None
    transpose: bool = False

    def read(self) -> Dataset:
        """Return all data together."""
        if "-" in self.paths:
            if len(self.paths) > 1:
                raise ValueError("- is standard input, and there are files too; give one of them.")
            if self.format is None:
                raise ValueError(
                    "standard input has no file name; give its format, such as --format svmlight."
                )
            return self._read_one(sys.stdin.buffer)
        self._check_memory()
        if self.is_one():
            return self._read_one(self.paths[0])
        return joined(self.blocks())

    def blocks(self) -> FileBlocks:
        """Return the data file by file."""
        if "-" in self.paths:
            raise ValueError("--stream reads the data again and again; give files, and not -.")
        if self.transpose:
            raise ValueError(
                "--transpose is for one file, and there are several; join the files first, or "
                "give one of them."
            )
        return FileBlocks(
            self.paths, target=self.target, id=self.id, drop=self.dropped, format=self.format
        )

    def files(self) -> list[Path]:
        """Return the files that the data are in; none for standard input."""
        return [] if "-" in self.paths else data_files(self.paths)

    def inputs(self) -> list[Path]:
        """Return the files and folders that must stay as they are."""
        folders = [Path(path) for path in self.paths if Path(path).is_dir()]
        return [*self.files(), *([] if self.is_one() else folders)]

    @property
    def dropped(self) -> list[str]:
        """Columns to leave out."""
        return [name.strip() for names in self.drop or () for name in names.split(",")]

    def is_one(self) -> bool:
        """Tell whether there is one file, or one folder of arrays."""
        path = Path(self.paths[0])
        is_arrays = (path / "X.npz").exists()
        return len(self.paths) == 1 and (path.is_file() or is_arrays)

    def survey(self) -> tuple[str, Survey]:
        """Return the kind of the data, and what is in them, even if they cannot be used so."""
        if "-" in self.paths:
            raise ValueError("doctor looks at files; write standard input to one, and give that.")
        files = self.files()
        kind = self.format or ("npz" if Path(self.paths[0]).is_dir() and self.is_one() else None)
        kind = kind or format_of(str(files[0]))
        if kind in TABLES and self.is_one():
            asked = Columns(self.target, self.id, self.dropped, self.transpose)
            return kind, survey_table(*read_bytes(self.paths[0]), asked, kind)
        data = self.read()
        labels = None if data.y is None else data.y.tolist()
        names = None if data.feature_names is None else data.feature_names.tolist()
        n_columns = data.X.shape[1] + (labels is not None)
        return kind, Survey(n_columns, data.X, names, [], labels, self.target, self.id, {})

    def _read_one(self, path: str | BinaryIO) -> Dataset:
        return read_data(
            path,
            target=self.target,
            format=self.format,
            id=self.id,
            drop=self.dropped,
            transpose=self.transpose,
        )

    def _check_memory(self) -> None:
        """Raise if the files are too large for the memory that is free."""
        size, free = sum(path.stat().st_size for path in self.files()), _free_memory()
        if free is not None and size * _MEMORY_PER_BYTE > free:
            raise ValueError(
                f"{' '.join(self.paths)}: there are {size / 2**30:.1f} GiB, which need about "
                f"{size * _MEMORY_PER_BYTE / 2**30:.1f} GiB of memory, but {free / 2**30:.1f} GiB "
                "are free. Choose features with select --stream from files that fit one by one, or "
                "use fewer rows or columns, a sparse format, or a machine with more memory."
            )


def _free_memory() -> int | None:
    """Return how many bytes are free; None on systems other than Linux."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    sizes = dict(line.split(":") for line in lines)
    return int(sizes["MemAvailable"].split()[0]) * 1024 if "MemAvailable" in sizes else None
