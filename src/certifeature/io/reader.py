"""Files of samples and labels in any format that is known, read at once or one at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from glob import glob
from pathlib import Path, PurePath
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from certifeature._progress import listed
from certifeature._utils import as_count
from certifeature.datasets.dataset import Dataset
from certifeature.io._common import checked_data, not_found, read_bytes
from certifeature.io.npz import read_folder, read_npz
from certifeature.io.svmlight import check_no_columns, parse_svmlight, read_svmlight
from certifeature.io.tables import Columns, read_table
from certifeature.rows.blocks import Block, RowBlocks, stacked

_Path = str | os.PathLike[str]
_KINDS = {"i": "numbers as labels", "f": "numbers as labels", "U": "texts as labels"}
_READERS: dict[str, Callable[[bytes, str, Columns], Dataset]] = {
    **{kind: partial(read_table, kind=kind) for kind in ("csv", "excel", "parquet", "tsv")},
    "npz": read_npz,
    "svmlight": read_svmlight,
}
_ENDINGS = {
    "csv": (".csv",),
    "svmlight": (".dat", ".libsvm", ".svm", ".svmlight"),
    "npz": (".npz",),
    "parquet": (".parquet", ".pq"),
    "tsv": (".tsv",),
    "excel": (".xlsm", ".xlsx"),
}
_FORMATS = {ending: kind for kind, endings in _ENDINGS.items() for ending in endings}
_GEO_ENDING = "series_matrix.txt"
_COMPRESSED = frozenset({".bz2", ".gz", ".xz", ".zst"})
_SPREADSHEET = (
    "spreadsheets of this kind are not read. Save it as an Excel workbook (.xlsx) or the sheet as "
    "CSV (UTF-8), and give that file."
)
_NOT_READ = {
    ".mat": "MATLAB files are not read. Load it with scipy.io.loadmat, then save a dense X with "
    "numpy.savez('data.npz', X=X, y=y), or a sparse one with scipy.sparse.save_npz as X.npz beside "
    "y.npy in a folder.",
    **dict.fromkeys((".ods", ".xls", ".xlsb"), _SPREADSHEET),
}


def read_data(
    path: _Path | BinaryIO,
    *,
    target: str | int | None = None,
    format: str | None = None,  # noqa: A002
    id: str | int | None = None,  # noqa: A002
    groups: str | int | None = None,
    drop: Sequence[str | int] = (),
    transpose: bool = False,
    encoding: str | None = None,
    zero_based: bool = False,
    accept: Collection[str] = (),
    features: Sequence[str] | None = None,
) -> Dataset:
    r"""Read samples and their labels from a file, whatever its format.

    Parameters
    ----------
    path : str, path or binary file
        The file; or a file object open for reading bytes, such as ``sys.stdin.buffer``; or a
        folder that holds ``X.npz`` and, where there are any, labels in ``y.npy`` and one
        feature name per line in ``features.txt`` or ``features.txt.gz``. Files compressed with
        gzip, bzip2 or xz (and Zstandard from Python 3.14 on) are unpacked.
    target : str, int or None, default=None
        Where the labels are: the name of a column of a CSV, TSV, Excel or Parquet file, or its
        position counted from 0 (-1 is the last), which may be text if no column has that name;
        the name of an array of an NPZ file; the name, without ``.npy``, of a file of a folder. By
        default, the only one named y, label, labels, target or class in lower or upper case.
    format : {"svmlight", "csv", "tsv", "excel", "parquet", "npz"} or None, default=None
        The format of the file; by default, what the ending of its name says: ``.svm``,
        ``.svmlight``, ``.libsvm`` or ``.dat``; ``.csv``; ``.tsv``; ``.xlsx`` or ``.xlsm``;
        ``.parquet`` or ``.pq``; ``.npz``.
    id : str, int or None, default=None
        Column of a CSV, TSV, Excel or Parquet file that names the rows, by its name or position.
        It is no feature.
    groups : str, int or None, default=None
        Column, likewise, that says which rows belong together, such as those of one patient. It is
        no feature; it may be the column that names the rows.
    drop : sequence of str or int, default=()
        Columns of a CSV, TSV, Excel or Parquet file that are left out, by their names or positions.
    transpose : bool, default=False
        Whether a CSV, TSV or Excel file has a feature in each line and a sample in each column, as
        tables of gene expression have. The first column holds the names of the features, and the
        header those of the samples, which become `ids`; the labels are the line whose first field
        is `target`. Both lines and columns may be named in `drop`.
    encoding : str or None, default=None
        Encoding of a CSV or TSV file, such as ``"latin1"``; None is UTF-8.
    zero_based : bool, default=False
        Whether indices of an SVMlight file start at 0. By default, they do if one of them is 0.
    accept : collection of {"missing", "text", "unlabelled", "unnamed"}, default=()
        What is no error: missing values, which become NaN; columns of text, whose values become
        their place among the `categories` of the column; missing labels, or no labels at all; and
        columns without a name.
    features : sequence of str or None, default=None
        None uses every other column as a feature, and warns of identifiers of rows and of codes of
        circumstance, such as a batch. Otherwise these are held out, except for those named here.

    Returns
    -------
    data : Dataset
        The samples, labels and names. `X` is a CSR array for SVMlight and for sparse
        matrices, an ndarray otherwise. Labels are required in tables and SVMlight files; elsewhere
        `y` is None where there are none.

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    ImportError
        If the format needs a library that is not installed.
    ValueError
        If the format is not known or the content is not as it should be; the message has the
        name of the file, the line where there are lines, and what to do.

    Notes
    -----
    CSV and TSV files are in UTF-8 and start with a header. If the header has no commas (no tabs),
    its semicolons or tabs (commas) separate the columns. Where semicolons do, numbers may have
    decimal commas, and then none may have a point. Every field but the label is a finite number;
    blank lines are skipped. Labels are numbers if all of them can be. Features may share a name.
    Excel workbooks are read from their first sheet: the values, not the formulas.
    Spreadsheets read a name or label that begins with ``=``, ``+``, ``-`` or ``@`` as a formula,
    unless an apostrophe stands before it; that apostrophe is not part of the name.

    SVMlight indices increase within a line, and start at 0 if one of them is 0, else at 1.
    Comments and ``qid`` fields are left out.

    NPZ files hold arrays X and y and optionally feature_names, or what
    :func:`scipy.sparse.save_npz` writes. Nothing is ever unpickled. The content of a file is
    held in memory while it is read.

    Examples
    --------
    >>> import io
    >>> data = read_data(io.BytesIO(b"height,width,class\n1,2,no\n3,4,yes\n"), format="csv")
    >>> data.X
    array([[1., 2.],
           [3., 4.]])
    >>> data.y.tolist(), data.feature_names.tolist()
    (['no', 'yes'], ['height', 'width'])
    >>> data = read_data(io.BytesIO(b"+1 1:0.5 3:2\n-1 2:1\n"), format="svmlight")
    >>> data.X.toarray()
    array([[0.5, 0. , 2. ],
           [0. , 1. , 0. ]])
    >>> genes = b"gene,ann,ben\nTP53,1,2\nBRCA1,3,4\ntumour,no,yes\n"
    >>> data = read_data(io.BytesIO(genes), format="csv", transpose=True, target="tumour")
    >>> data.X
    array([[1., 3.],
           [2., 4.]])
    >>> data.ids.tolist(), data.feature_names.tolist(), data.y.tolist()
    (['ann', 'ben'], ['TP53', 'BRCA1'], ['no', 'yes'])
    """
    if format is not None and format not in _READERS:
        raise ValueError(f"format={format!r} is not one of {sorted(_READERS)!r}. Give one.")
    columns = Columns(target, id, groups, drop, transpose, encoding, zero_based, accept, features)
    return _read(path, format, columns)


def _read(path: _Path | BinaryIO, kind: str | None, columns: Columns) -> Dataset:
    if isinstance(path, str | os.PathLike) and Path(path).is_dir():
        return read_folder(Path(path), columns)
    content, source = read_bytes(path)
    return _READERS[kind or format_of(source)](content, source, columns)


def format_of(source: str) -> str:
    """Return the format that the ending of a file name stands for."""
    path = PurePath(source.lower())
    path = path.with_suffix("") if path.suffix in _COMPRESSED else path
    ending = ".tsv" if path.name.endswith(_GEO_ENDING) else path.suffix
    if ending not in _FORMATS:
        unknown = (
            f"the name does not tell the format; the endings known are {', '.join(_FORMATS)}. For "
            "a table with tabs between the columns give --format tsv, with commas --format csv "
            f"(format= in Python); the formats are {', '.join(sorted(_READERS))}."
        )
        raise ValueError(f"{source}: {_NOT_READ.get(ending, unknown)}")
    return _FORMATS[ending]


class FileBlocks(RowBlocks):
    r"""The rows of many files, one block per file.

    Parameters
    ----------
    paths : str, path or sequence of these
        A folder, whose files are taken in the order of their names; a pattern such as
        ``"parts/*.svm"``, likewise; or files. All that :func:`read_data` reads, in one format.
    target, id, groups, drop
        Columns that are no features, as for :func:`read_data`.
    format : {"svmlight", "csv", "tsv", "excel", "parquet", "npz"} or None, default=None
        The format of the files; by default, what the endings of their names say.
    encoding, zero_based
        As for :func:`read_data`; indices of SVMlight files start at 1 unless ``zero_based`` is set.
    n_features : int, default=None
        Number of features. Only SVMlight files, which do not tell, need it: without it they are all
        read once more to find it.
    features
        Columns that are features whatever they seem to be, as for :func:`read_data`.

    Attributes
    ----------
    n_features : int
        Number of features.
    feature_names : ndarray of str or None
        Their names, where the files have them.
    held_out : mapping of str to str
        What columns of the first file that are held out of the features seem to be.

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
        groups: str | int | None = None,
        drop: Sequence[str | int] = (),
        format: str | None = None,  # noqa: A002
        encoding: str | None = None,
        zero_based: bool = False,
        n_features: int | None = None,
        features: Sequence[str] | None = None,
    ) -> None:
        self._columns = Columns(
            target, id, groups, drop, encoding=encoding, zero_based=zero_based, features=features
        )
        self.held_out: Mapping[str, str] = {}
        if n_features is not None:
            as_count("n_features", n_features)
        self._paths = data_files(paths)
        for path in self._paths:
            if not (path.is_file() or path.is_dir()):
                needed = "blocks are read again and again, which a pipe or device cannot be"
                raise ValueError(f"{path}: this is no file, and {needed}. Leave it out.")
        self._states = {path: _state(path) for path in self._paths}
        self._format = format or _common_format(self._paths)
        if self._format == "svmlight":
            check_no_columns(self._columns, str(self._paths[0]))
            self._has_labels = True
            self.n_features = self._widest() if n_features is None else n_features
        else:
            first = self._read(self._paths[0])
            self.feature_names, self.held_out = first.feature_names, first.held_out
            self._columns = replace(self._columns, held_out=first.held_out)
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
        data = self._read(self._paths[number])
        if data.X.shape[1] != self.n_features:
            widths = f"{data.X.shape[1]} features, and {self._paths[0]} has {self.n_features}"
            raise ValueError(f"{self.name(number)} has {widths}; the same columns are needed.")
        if self.feature_names is not None:
            names = [""] * self.n_features if data.feature_names is None else data.feature_names
            for name, expected in zip(names, self.feature_names, strict=True):
                if name != expected:
                    found = f"other feature names: {str(name)!r} in place of {str(expected)!r}"
                    raise ValueError(f"{self.name(number)} has {found}; the same are needed.")
        self._compare(number, Block(data.X, data.y, 0))
        return data

    def _read(self, path: Path) -> Dataset:
        try:
            if self._format != "svmlight":
                return _read(path, self._format, self._columns)
            return read_svmlight(*read_bytes(path), self._columns, self.n_features)
        finally:
            # Whatever a file in the middle of a change looks like, this is what to say of it.
            if _state(path) != self._states[path]:
                raise ValueError(
                    f"{path} changed while it was read. Start again when it is complete."
                )

    def _widest(self) -> int:
        """Return the largest index in all files."""
        contents = map(read_bytes, self._paths)
        first = 0 if self._columns.zero_based else 1
        widths = (int(parse_svmlight(*c).X.indices.max(initial=0)) + 1 - first for c in contents)
        return max(listed(widths, "pass to find the number of features", len(self)))


def joined(blocks: FileBlocks) -> Dataset:
    """Return the rows of all files together."""
    parts = map(blocks.dataset, range(len(blocks)))
    read = listed(parts, "files read", len(blocks))
    kinds = {"no labels" if part.y is None else _KINDS[part.y.dtype.kind] for part in read}
    if len(kinds) > 1:
        raise ValueError(f"the files have {' and '.join(sorted(kinds))}; one kind is needed.")

    def concatenated(name: str) -> NDArray[Any] | None:
        parts = [getattr(part, name) for part in read]
        return None if parts[0] is None else np.concatenate(parts)

    y, ids, groups = map(concatenated, ("y", "ids", "groups"))
    source = f"{read[0].source} and {len(read) - 1} more" if len(read) > 1 else read[0].source
    about = {name: np.concatenate([part.about[name] for part in read]) for name in blocks.held_out}
    more: dict[str, Any] = {"ids": ids, "groups": groups, "roles": read[0].roles, "about": about}
    X, names = stacked([part.X for part in read]), blocks.feature_names
    return checked_data(X, y, names, source, held_out=blocks.held_out, **more)


def _state(path: Path) -> list[tuple[int, int, int]]:
    """Return size, time and number of a file, or of those in a folder; nothing if it is gone."""
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    states = [file.stat() for file in files if file.exists()]
    return [(state.st_size, state.st_mtime_ns, state.st_ino) for state in states]


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
        where = ", ".join(map(str, given))
        raise ValueError(f"{where}: there are no files; give a folder of files, or files.")
    first: dict[tuple[int, int], Path] = {}
    for file in files:
        if not file.exists():
            raise not_found(file)
        status = file.stat()
        other = first.setdefault((status.st_dev, status.st_ino), file)
        if other is not file:
            twice = f"the same file as {other}, so its rows would count twice"
            raise ValueError(f"{file} is {twice}. Leave one of them out.")
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
