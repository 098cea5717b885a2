"""Rows from many files, read one file at a time."""

from __future__ import annotations

import os
from collections.abc import Sequence
from glob import glob
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certifeature._progress import listed
from certifeature._utils import as_count
from certifeature.datasets.dataset import Dataset
from certifeature.io._common import checked_data, not_found, read_bytes
from certifeature.io.reader import format_of, read_data
from certifeature.io.svmlight import check_no_columns, parse_svmlight
from certifeature.io.tables import Columns
from certifeature.rows.blocks import RowBlocks, stacked

_Path = str | os.PathLike[str]
_KINDS = {"i": "numbers as labels", "f": "numbers as labels", "U": "texts as labels"}


class FileBlocks(RowBlocks):
    r"""The rows of many files, one block per file.

    Parameters
    ----------
    paths : str, path or sequence of these
        A folder, whose files are taken in the order of their names; a pattern such as
        ``"parts/*.svm"``, likewise; or files. All that :func:`read_data` reads, in one format.
    target, id, drop
        Columns that are no features, as for :func:`read_data`.
    format : {"svmlight", "csv", "tsv", "excel", "parquet", "npz"} or None, default=None
        The format of the files; by default, what the endings of their names say.
    n_features : int, default=None
        Number of features. Only SVMlight files, which do not tell, need it: without it they are all
        read once more to find it. Their indices start at 1.

    Attributes
    ----------
    n_features : int
        Number of features.
    feature_names : ndarray of str or None
        Their names, where the files have them.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for number, text in enumerate(["1 1:2 3:1\n", "-1 2:4\n1 1:1\n"]):
    ...         _ = Path(folder, f"part-{number}.svm").write_text(text)
    ...     blocks = FileBlocks(folder)
    ...     [block.X.shape for block in blocks]
    [(1, 3), (2, 3)]
    >>> blocks
    <FileBlocks: 2 files (part-0.svm … part-1.svm), 3 rows, 3 features, with labels>
    """

    def __init__(
        self,
        paths: _Path | Sequence[_Path],
        *,
        target: str | int | None = None,
        id: str | int | None = None,  # noqa: A002
        drop: Sequence[str | int] = (),
        format: str | None = None,  # noqa: A002
        n_features: int | None = None,
    ) -> None:
        self._columns = Columns(target, id, drop)
        if n_features is not None:
            as_count("n_features", n_features)
        self._paths = data_files(paths)
        self._format = format or _common_format(self._paths)
        if self._format == "svmlight":
            check_no_columns(self._columns, str(self._paths[0]))
            self._has_labels = True
            self.n_features = self._widest() if n_features is None else n_features
        else:
            first = self._read(self._paths[0])
            self.feature_names = first.feature_names
            self._has_labels = first.y is not None
            self.n_features = first.X.shape[1] if n_features is None else n_features

    def __len__(self) -> int:
        return len(self._paths)

    def _source(self) -> str:
        names = (self._paths[place].name for place in (0, -1))
        # The end of a long name says which file and format it is.
        first, last = (n if len(n) <= 40 else f"{n[:15]}…{n[-24:]}" for n in names)
        return f"1 file ({first})" if len(self) == 1 else f"{len(self)} files ({first} … {last})"

    def name(self, number: int) -> str:
        """Return the name of a block in error messages.

        Parameters
        ----------
        number : int
            Number of the block, from 0.
        """
        return f"block {number} ({self._paths[number]})"

    def read(self, number: int) -> tuple[Any, NDArray[Any] | None]:
        """Return rows and labels of a file.

        Parameters
        ----------
        number : int
            Number of the block, from 0.
        """
        data = self.dataset(number)
        return data.X, data.y

    def dataset(self, number: int) -> Dataset:
        """Return all that a file holds.

        Parameters
        ----------
        number : int
            Number of the block, from 0.
        """
        try:
            data = self._read(self._paths[number])
        except (ValueError, OSError) as error:
            raise ValueError(f"{self.name(number)} cannot be read: {error}") from error
        if data.X.shape[1] != self.n_features:
            raise ValueError(
                f"{self.name(number)} has {data.X.shape[1]} features, and {self._paths[0]} has "
                f"{self.n_features}; all files need the same columns."
            )
        if self.feature_names is not None:
            names = data.feature_names
            differ = np.array([names is None]) if names is None else names != self.feature_names
            if differ.any():
                place = int(np.argmax(differ))
                found = "none" if names is None else repr(str(names[place]))
                raise ValueError(
                    f"{self.name(number)} has other feature names than the first block: {found} in "
                    f"place of {str(self.feature_names[place])!r}; all files need the same columns."
                )
        return data

    def _read(self, path: Path) -> Dataset:
        if self._format != "svmlight":
            asked = self._columns
            return read_data(
                path, target=asked.target, format=self._format, id=asked.id, drop=asked.drop
            )
        rows = parse_svmlight(*read_bytes(path))
        within = (rows.indices >= 1) & (rows.indices <= self.n_features)
        rows.require(within, f"it must be between 1 and the number of features, {self.n_features}.")
        X = rows.matrix(rows.indices - 1, self.n_features)
        return checked_data(X, rows.labels, None, str(path))

    def _widest(self) -> int:
        """Return the largest index in all files."""
        contents = map(read_bytes, self._paths)
        widths = (int(parse_svmlight(*content).indices.max(initial=0)) for content in contents)
        return max(listed(widths, "pass to find the number of features", len(self)))


def joined(blocks: FileBlocks) -> Dataset:
    """Return the rows of all files together."""
    parts = map(blocks.dataset, range(len(blocks)))
    read = listed(parts, "files read", len(blocks))
    kinds = {"no labels" if part.y is None else _KINDS[part.y.dtype.kind] for part in read}
    if len(kinds) > 1:
        raise ValueError(f"the files have {' and '.join(sorted(kinds))}; one kind is needed.")
    y = None if kinds == {"no labels"} else np.concatenate([part.y for part in read])
    ids = None if read[0].ids is None else np.concatenate([part.ids for part in read])
    source = f"{read[0].source} and {len(read) - 1} more" if len(read) > 1 else read[0].source
    X = stacked([part.X for part in read])
    return checked_data(X, y, blocks.feature_names, source, ids)


def _common_format(paths: Sequence[Path]) -> str:
    formats = {format_of(str(path)): path for path in paths}
    if len(formats) > 1:
        found = ", ".join(f"{kind} ({path})" for kind, path in sorted(formats.items()))
        raise ValueError(f"the files have different formats, {found}; one is needed.")
    return next(iter(formats))


def data_files(paths: _Path | Sequence[_Path]) -> list[Path]:
    """Return files in order: those of folders and patterns by their names."""
    given = [paths] if isinstance(paths, str | os.PathLike) else paths
    files = [file for path in given for file in _files_of(Path(path))]
    if not files:
        raise ValueError(f"{paths}: there are no files; give a folder of files, or files.")
    return files


def _files_of(path: Path) -> list[Path]:
    if path.is_dir():
        # Other programs leave marker files such as _SUCCESS beside their data.
        return [file for file in sorted(path.iterdir()) if not file.name.startswith((".", "_"))]
    if path.exists():
        return [path]
    matching = sorted(map(Path, glob(str(path))))
    if not matching:
        raise not_found(path)
    return matching
