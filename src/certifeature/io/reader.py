"""Files of samples and labels in any format that is known."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path, PurePath
from typing import BinaryIO

from certifeature.datasets.dataset import Dataset
from certifeature.io._common import read_bytes
from certifeature.io.npz import read_folder, read_npz
from certifeature.io.svmlight import read_svmlight
from certifeature.io.tables import Columns, read_table

TABLES = ("csv", "excel", "parquet", "tsv")
_READERS: dict[str, Callable[[bytes, str, Columns], Dataset]] = {
    **{kind: partial(read_table, kind=kind) for kind in TABLES},
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
    path: str | os.PathLike[str] | BinaryIO,
    *,
    target: str | int | None = None,
    format: str | None = None,  # noqa: A002
    id: str | int | None = None,  # noqa: A002
    drop: Sequence[str | int] = (),
    transpose: bool = False,
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
    drop : sequence of str or int, default=()
        Columns of a CSV, TSV, Excel or Parquet file that are left out, by their names or positions.
    transpose : bool, default=False
        Whether a CSV, TSV or Excel file has a feature in each line and a sample in each column, as
        tables of gene expression have. The first column holds the names of the features, and the
        header those of the samples, which become `ids`; the labels are the line whose first field
        is `target`. Both lines and columns may be named in `drop`.

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
    ValueError
        If the format is not known or the content is not as it should be; the message has the
        name of the file, the line where there are lines, and what to do.

    Notes
    -----
    CSV and TSV files are in UTF-8 and start with a header. If the header has no commas (no tabs),
    its semicolons or tabs (commas) separate the columns. Where semicolons do, numbers may have
    decimal commas, and then none may have a point. Every field but the label is a finite number;
    blank lines are skipped. Labels are numbers if all of them can be. Features may share a name.
    Of an Excel workbook, the first sheet is read: the values, not the formulas.
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
    columns = Columns(target, id, drop, transpose)
    if isinstance(path, str | os.PathLike) and Path(path).is_dir():
        return read_folder(Path(path), columns)
    content, source = read_bytes(path)
    return _READERS[format or format_of(source)](content, source, columns)


def format_of(source: str) -> str:
    """Return the format that the ending of a file name stands for."""
    endings = [ending.lower() for ending in PurePath(source).suffixes]
    if endings and endings[-1] in _COMPRESSED:
        endings.pop()
    ending = endings[-1] if endings else ""
    if ending not in _FORMATS:
        unknown = (
            f"the name does not tell the format; the endings known are {', '.join(_FORMATS)}. For "
            "a table with tabs between the columns give --format tsv, with commas --format csv "
            f"(format= in Python); the formats are {', '.join(sorted(_READERS))}."
        )
        raise ValueError(f"{source}: {_NOT_READ.get(ending, unknown)}")
    return _FORMATS[ending]
