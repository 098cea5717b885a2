"""What all readers share: the bytes of a file, checks of rows, labels and names, and messages."""

from __future__ import annotations

import bz2
import gzip
import importlib
import io
import lzma
import os
import re
import warnings
import zipfile
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from certifeature._files import is_number
from certifeature.datasets.dataset import Dataset
from certifeature.rows.matrix import as_float64, stored_values

# By content, not by name: streams have no name, and names of downloads may be wrong.
_UNPACKERS: dict[bytes, Callable[[BinaryIO], Any]] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
    b"\x28\xb5\x2f\xfd": lambda file: _zstd().ZstdFile(file),
}
# Text shrinks to a hundredth at best; a file that unpacks to more is made to fill the memory.
_MAX_UNPACKED, _MAX_RATIO = 2**30, 200
_MISSING_LABELS = frozenset({"", "?", "nan"})
_WHOLE = re.compile(r"[+-]?\d{1,18}", re.ASCII)
_LARGEST_EXACT = 2.0**53


def read_bytes(path: str | os.PathLike[str] | BinaryIO) -> tuple[bytes, str]:
    """Return the unpacked content of a file or stream, and its name."""
    if isinstance(path, str | os.PathLike):
        source = os.fspath(path)
        if not os.path.exists(source):
            raise not_found(Path(source))
        content = Path(source).read_bytes()
    else:
        name = getattr(path, "name", None)
        source = name if isinstance(name, str) else "<stream>"
        content = path.read()
        if not isinstance(content, bytes):
            given = f"the stream gives {type(content).__name__}, and bytes are needed"
            raise ValueError(f'{source}: {given}. Open it with "rb", or give sys.stdin.buffer.')
    return _unpacked(content, source), source


def not_found(path: Path) -> FileNotFoundError:
    """Return the error that there is no such file, with the most similar name in its folder."""
    if path.is_symlink():
        return FileNotFoundError(f"{path}: a link to {path.readlink()}, which is not there.")
    beside = [other.name for other in path.parent.iterdir()] if path.parent.is_dir() else []
    likely = get_close_matches(path.name, sorted(beside), n=1)
    remedy = f"Did you mean {path.with_name(likely[0])}?" if likely else "Check the path."
    return FileNotFoundError(f"{path}: no such file or folder. {remedy}")


def _unpacked(content: bytes, source: str) -> bytes:
    """Undo gzip, bzip2, xz or Zstandard compression, if there is any."""
    opener = next((o for mark, o in _UNPACKERS.items() if content.startswith(mark)), None)
    if opener is None:
        return content
    packed, unpacked = io.BytesIO(content), io.BytesIO()
    with decoding(source, "compressed data"), opener(packed) as file:
        while part := file.read(2**20):
            unpacked.write(part)
            _check_size(unpacked.tell(), packed.tell(), source)
    return unpacked.getvalue()


def unzipped(content: bytes, source: str) -> zipfile.ZipFile:
    """Return an archive, or raise if its members are much larger than their file."""
    archive = zipfile.ZipFile(io.BytesIO(content))
    _check_size(sum(member.file_size for member in archive.infolist()), len(content), source)
    return archive


class _TooLargeError(ValueError):
    """Something unpacks to fill the memory."""


def _check_size(unpacked: int, packed: int, source: str) -> None:
    if unpacked > max(_MAX_UNPACKED, _MAX_RATIO * packed):
        sizes = f"{packed / 2**20:.1f} MiB unpack to more than {unpacked / 2**30:.1f} GiB"
        raise _TooLargeError(f"{source}: {sizes}. If that is right, unpack the file first.")


def _zstd() -> Any:
    try:
        return importlib.import_module("compression.zstd")
    except ImportError:
        raise ValueError("Zstandard needs Python 3.14; unpack it first, with: zstd -d") from None


@contextmanager
def decoding(source: str, kind: str) -> Iterator[None]:
    """Turn any error in the block into a ValueError with the name of the file."""
    try:
        with warnings.catch_warnings():
            # What decoders warn about is checked in the result.
            warnings.simplefilter("ignore")
            yield
    except _TooLargeError:
        raise
    except Exception as error:
        raise ValueError(
            f"{source}: not {kind} that can be read ({type(error).__name__}: {error}). The file "
            "may be damaged, cut short or of another format: get it again, or name its format."
        ) from error


class EncodingError(ValueError):
    """Text is in another encoding, which may be `encoding`."""

    def __init__(self, message: str, encoding: str) -> None:
        super().__init__(message)
        self.encoding = encoding


def as_utf8(content: bytes, source: str, encoding: str | None = None) -> bytes:
    """Return text in UTF-8, or raise if it is not in the encoding, or has NUL characters."""
    try:
        if encoding is not None:
            content = content.decode(encoding).encode()
        place, likely = content.find(b"\0"), "utf-16"
        if place < 0:
            content.decode()
            return content
    except LookupError:
        raise ValueError(f"encoding {encoding!r} is unknown; give one such as latin1.") from None
    except UnicodeDecodeError as error:
        place, likely = error.start, "latin1"
    line = content.count(b"\n", 0, place) + 1
    raise EncodingError(
        f"{source}, line {line}: byte {content[place]:#04x} at offset {place} is not in "
        f"{(encoding or 'UTF-8').upper()} text. Give its encoding, such as --encoding {likely} "
        f"(encoding={likely!r} in Python).",
        likely,
    )


def checked_data(
    X: Any, y: Any, feature_names: Any, source: str, accept: Collection[str] = (), **others: Any
) -> Dataset:
    """Return the parts as a Dataset, or say what is wrong with them; see `read_data`."""
    X = _checked_matrix(X, source, missing="missing" in accept)
    n_rows, n_columns = X.shape
    if n_rows == 0 or n_columns == 0:
        found = f"the data have {n_rows} rows and {n_columns} features"
        raise ValueError(f"{source}: {found}. Check that the file is complete.")
    if y is not None:
        y = _checked_labels(y, source, missing="unlabelled" in accept)
        if y.size != n_rows:
            found = f"there are {n_rows} rows and {y.size} labels"
            raise ValueError(f"{source}: {found}. Check that they belong together.")
    if feature_names is not None:
        feature_names = np.asarray(feature_names)
        if feature_names.dtype.kind != "U" or feature_names.shape != (n_columns,):
            kind = f"an array of shape {feature_names.shape} and type {feature_names.dtype}"
            found = f"there are {n_columns} features, and their names are {kind}"
            raise ValueError(f"{source}: {found}; one text per feature is needed.")
    return Dataset(X, y, feature_names, source, **others)


def _checked_matrix(X: Any, source: str, *, missing: bool) -> Any:
    if not sparse.issparse(X):
        X = np.asarray(X)
    if X.dtype.kind not in "biuf" or X.ndim != 2:
        kind = f"X has {X.ndim} dimensions and type {X.dtype}"
        raise ValueError(f"{source}: {kind}; a matrix of numbers is needed.")
    # Wider floats may overflow, which the check below reports.
    with np.errstate(over="ignore"):
        X = as_float64(X)
    fine = np.isfinite(stored_values(X)) | (missing & np.isnan(stored_values(X)))
    if not fine.all():
        entries = sparse.coo_array(X)
        place = np.argmin(np.isfinite(entries.data) | (missing & np.isnan(entries.data)))
        row, column = entries.row[place], entries.col[place]
        found = f"row {row}, column {column} of X (counted from 0) is {entries.data[place]}"
        raise ValueError(f"{source}: {found}. Impute or remove such values first.")
    return X if sparse.issparse(X) else np.ascontiguousarray(X)


def _checked_labels(y: Any, source: str, *, missing: bool) -> NDArray[Any]:
    y = np.asarray(y)
    if y.ndim == 2 and 1 in y.shape:
        y = y.ravel()
    if y.ndim != 1 or y.dtype.kind not in "biufU":
        found = f"the labels have shape {y.shape} and type {y.dtype}"
        raise ValueError(f"{source}: {found}. Turn indicator columns into one column of classes.")
    if y.dtype.kind == "U":
        return y
    if y.dtype.kind in "bi" or (y.dtype.kind == "u" and (y <= np.iinfo(np.int64).max).all()):
        return y.astype(np.int64)
    y = y.astype(np.float64)
    fine = np.isfinite(y) | (missing & np.isnan(y))
    if not fine.all():
        row = int(np.argmin(fine))
        found = f"the label of row {row} (counted from 0) is {y[row]}"
        raise ValueError(f"{source}: {found}. Remove the rows without a label.")
    whole = bool(((y == np.rint(y)) & (np.abs(y) <= _LARGEST_EXACT)).all())
    return y.astype(np.int64) if whole else y


def as_labels(
    fields: Sequence[str], row_name: Callable[[int], str], *, missing: bool = False
) -> NDArray[Any]:
    """Return labels as numbers if all of them are numbers, else as text.

    Parameters
    ----------
    fields : sequence of str
        The labels.
    row_name : callable
        Returns the name of a row in error messages, given its number from 0.
    missing : bool, default=False
        Whether labels may be missing; they become NaN or "".
    """
    fields = list(fields)
    numeric = [is_number(field) for field in fields]
    some_numeric = any(numeric)
    # "none" and "na" may well be the names of classes, but no numbers.
    gaps = _MISSING_LABELS | ({"na", "n/a", "none", "null"} if some_numeric else set())
    for row, field in enumerate(fields):
        if field.lower() in gaps:
            if not missing:
                problem = f"the label is missing (found {field!r})"
                remedy = "Fill it in, or remove the row (--drop-unlabelled)"
                raise ValueError(f"{row_name(row)}: {problem}. {remedy}.")
            fields[row] = "nan" if some_numeric else ""
        # One text among numbers is more often a mistake than a class.
        elif some_numeric and not numeric[row]:
            problem = f"the label {field[:60]!r} is not a number, and others are. Correct it."
            raise ValueError(f"{row_name(row)}: {problem}")
    if all(_WHOLE.fullmatch(field) for field in fields):
        return np.array([int(field) for field in fields], dtype=np.int64)
    return np.array(fields, dtype=np.float64 if some_numeric else np.str_)
