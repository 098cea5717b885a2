"""Rows from many files, read one file at a time."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certifeature._parameters import as_count
from certifeature.datasets._bytes import read_bytes
from certifeature.datasets._checks import check_target
from certifeature.datasets._svmlight import check_no_target, parse_svmlight
from certifeature.datasets.dataset import Dataset
from certifeature.datasets.reader import format_of, read_data
from certifeature.rows.blocks import RowBlocks

__all__ = ["FileBlocks"]

_Path = str | os.PathLike[str]


class FileBlocks(RowBlocks):
    r"""The rows of many files, one block per file.

    Parameters
    ----------
    paths : str, path or sequence of these
        A folder, whose files are taken in the order of their names; or files. All that
        :func:`read_data` reads, in one format.
    target : str, int or None, default=None
        Where the labels are, as for :func:`read_data`.
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
    >>> from certifeature.datasets import FileBlocks
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
        n_features: int | None = None,
    ) -> None:
        check_target(target)
        if n_features is not None:
            as_count("n_features", n_features)
        self._paths = _files(paths)
        self._target = target
        formats = {format_of(str(path)) for path in self._paths}
        if len(formats) > 1:
            raise ValueError(
                f"the files have different formats, {', '.join(sorted(formats))}; one is needed."
            )
        self._svmlight = formats == {"svmlight"}
        if self._svmlight:
            check_no_target(target, str(self._paths[0]))
            self._has_labels = True
        if not self._svmlight:
            first = read_data(self._paths[0], target=target)
            self.feature_names = first.feature_names
            self._has_labels = first.y is not None
            self.n_features = first.X.shape[1] if n_features is None else n_features
        elif n_features is None:
            self.n_features = max(self._width(path) for path in self._paths)
        else:
            self.n_features = n_features

    def __len__(self) -> int:
        return len(self._paths)

    def _source(self) -> str:
        first, last = (_shortened(self._paths[place].name) for place in (0, -1))
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
        try:
            data = self._read(self._paths[number])
        except (ValueError, OSError) as error:
            raise ValueError(f"{self.name(number)} cannot be read: {error}") from error
        if self.feature_names is not None and not np.array_equal(
            data.feature_names if data.feature_names is not None else [], self.feature_names
        ):
            raise ValueError(f"{self.name(number)} has other feature names than the first block.")
        return data.X, data.y

    def _read(self, path: Path) -> Dataset:
        if not self._svmlight:
            return read_data(path, target=self._target)
        rows = parse_svmlight(*read_bytes(path))
        within = (rows.indices >= 1) & (rows.indices <= self.n_features)
        rows.require(within, f"it must be between 1 and the number of features, {self.n_features}.")
        X = rows.matrix(rows.indices - 1, self.n_features)
        return Dataset(X, rows.labels, None, str(path))

    def _width(self, path: Path) -> int:
        return int(parse_svmlight(*read_bytes(path)).indices.max(initial=0))


def _shortened(name: str) -> str:
    """Return a name without its middle if it is long; its end says which file and format it is."""
    return name if len(name) <= 40 else f"{name[:15]}…{name[-24:]}"


def _files(paths: _Path | Sequence[_Path]) -> list[Path]:
    if isinstance(paths, str | os.PathLike):
        folder = Path(paths)
        if not folder.exists():
            raise FileNotFoundError(f"{folder}: no such file or folder.")
        found = sorted(folder.iterdir()) if folder.is_dir() else [folder]
        # Other programs leave marker files such as _SUCCESS beside their data.
        files = [path for path in found if not path.name.startswith((".", "_"))]
    else:
        files = [Path(path) for path in paths]
    if not files:
        raise ValueError(f"{paths}: there are no files; give a folder of files, or files.")
    return files
