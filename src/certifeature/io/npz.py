"""NumPy and SciPy archives, and folders of them."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from certifeature.datasets.dataset import Dataset
from certifeature.io._common import as_utf8, checked_data, decoding, read_bytes, unzipped
from certifeature.io.tables import Columns, find_label
from certifeature.rows.names import first_few

_SPARSE_KEYS = frozenset({"format", "shape", "data"})
_SPARSE_FORMATS = ("csr", "csc", "coo")


def read_npz(content: bytes, source: str, columns: Columns) -> Dataset:
    """Read an archive with X and y, or a matrix that ``scipy.sparse.save_npz`` wrote."""
    columns.check_for_arrays(source, "an NPZ file")
    with decoding(source, "an NPZ file"):
        if not content.startswith(b"PK"):
            raise ValueError("no archive")
        _check_members(content, source)
        archive = np.load(io.BytesIO(content), allow_pickle=False)
        names = list(archive.files)
    if set(names) >= _SPARSE_KEYS:
        X = _sparse_matrix(content, source, columns.target)
        return columns.held_out_of(checked_data(X, None, None, source, columns.accept))
    if "X" not in names:
        found = f"there is no array X. There is {first_few(names)}"
        raise ValueError(f"{source}: {found}. Save it with numpy.savez(file, X=X, y=y).")
    position = find_label(names, columns.target, source)
    with decoding(source, "an NPZ file"):
        X = archive["X"]
        y = None if position is None else archive[names[position]]
        feature_names = archive["feature_names"] if "feature_names" in names else None
    return columns.held_out_of(checked_data(X, y, feature_names, source, columns.accept))


def _check_members(content: bytes, source: str) -> None:
    """Raise if any member of the archive is damaged, missing or too large.

    Labels with a damaged name would otherwise look like no labels.
    """
    archive = unzipped(content, source)
    end = content.rfind(b"PK\x05\x06")
    n_members = int.from_bytes(content[end + 10 : end + 12], "little")
    if n_members != len(archive.filelist):
        raise ValueError(f"{n_members} members are announced, {len(archive.filelist)} found")
    if archive.testzip() is not None:
        raise ValueError("a member is damaged")


def _sparse_matrix(content: bytes, source: str, target: str | int | None) -> Any:
    if target is not None:
        found = f"a sparse matrix has no {target!r} beside it"
        raise ValueError(f"{source}: {found}. Give a folder with X.npz, and the labels in y.npy.")
    with decoding(source, "a sparse matrix"):
        X = sparse.load_npz(io.BytesIO(content))
        if X.format not in _SPARSE_FORMATS:
            raise ValueError(f"format {X.format!r} is none of {_SPARSE_FORMATS}; convert it to CSR")
        # SciPy's compiled conversions trust the indices: a wrong one would read or write memory
        # that is not theirs. COO checks its indices when it is made.
        if X.format != "coo":
            X.check_format(full_check=True)
        return X.tocsr()


def read_folder(folder: Path, columns: Columns) -> Dataset:
    """Read ``X.npz``, ``y.npy`` and ``features.txt`` (or ``features.txt.gz``)."""
    source = str(folder)
    columns.check_for_arrays(source, "a folder of arrays")
    if not (folder / "X.npz").is_file():
        listed = first_few(sorted(path.name for path in folder.iterdir()))
        found = f"no X.npz in this folder. There is {listed}"
        raise FileNotFoundError(f"{source}: {found}. Give a file.")
    data = read_npz(*read_bytes(folder / "X.npz"), Columns(accept=columns.accept, held_out={}))
    y, feature_names = data.y, data.feature_names
    names = sorted(path.stem for path in folder.glob("*.npy"))
    position = find_label(names, columns.target, source)
    if position is not None:
        content, name = read_bytes(folder / f"{names[position]}.npy")
        with decoding(name, "an NPY file"):
            y = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
    for path in filter(Path.is_file, (folder / "features.txt.gz", folder / "features.txt")):
        content, name = read_bytes(path)
        as_utf8(content, name)
        # Only newlines end a name: splitlines() would cut at rarer separators too.
        lines = content.decode("utf-8-sig").removesuffix("\n").split("\n")
        feature_names = np.array([line.removesuffix("\r") for line in lines], dtype=np.str_)
    return columns.held_out_of(checked_data(data.X, y, feature_names, source, columns.accept))
