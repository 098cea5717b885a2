"""What the commands write: text and JSON on the terminal, files beside it."""

from __future__ import annotations

import csv
import json
import os
import platform
import shlex
import sys
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from certifeature._files import replacing
from certifeature.cli.data import Loaded

__all__ = [
    "check_writable",
    "print_json",
    "print_table",
    "reproduction",
    "working",
    "write_data",
]

WRITERS = (".csv", ".npz", ".svm", ".svmlight", ".tsv")


def working(what: str) -> Any:
    """Return a spinner that says what goes on, on a terminal only."""
    return Console(stderr=True).status(escape(what))


def check_writable(*paths: Path | None) -> None:
    """Raise before long work if a file could not be written after it."""
    for path in paths:
        if path is None:
            continue
        if path.is_dir():
            raise ValueError(f"{path}: this is a folder; name a file.")
        if not path.parent.is_dir():
            raise ValueError(f"{path}: there is no folder {path.parent}; make it first.")
        if not os.access(path.parent, os.W_OK):
            raise ValueError(f"{path}: the folder {path.parent} may not be written to.")


def print_json(value: Any) -> None:
    """Print plain values as JSON, without numbers that JSON does not have."""
    sys.stdout.write(json.dumps(_plain(value), indent=2, ensure_ascii=False) + "\n")


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value


def print_table(header: Iterable[str], rows: Iterable[Iterable[str]], *, title: str = "") -> None:
    """Print a table; the first column is text, the others are numbers."""
    table = Table(title=escape(title) or None, title_justify="left")
    for number, name in enumerate(header):
        table.add_column(name, justify="left" if number == 0 else "right")
    for row in rows:
        table.add_row(*(escape(cell) for cell in row))
    Console().print(table)


def reproduction(data: Loaded, seed: int) -> dict[str, str]:
    """Return what someone needs to do the same again."""
    names = ("certifeature", "numpy", "scipy", "scikit-learn")
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    return {
        "Command": shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]]),
        "Versions": f"Python {platform.python_version()}, {versions}",
        "Seed": str(seed),
        "Data fingerprint": data.fingerprint,
    }


def write_data(path: Path, X: Any, y: NDArray[Any] | None, names: NDArray[np.str_]) -> None:
    """Write data by the extension of the file, whole or not at all."""
    if path.suffix not in WRITERS:
        raise ValueError(f"{path}: data are written as {', '.join(WRITERS)}; name such a file.")
    with replacing(path) as unfinished:
        if path.suffix in (".svm", ".svmlight"):
            _write_svmlight(unfinished, X, y)
        elif path.suffix == ".npz":
            dense = X.toarray() if sparse.issparse(X) else X
            arrays: dict[str, Any] = {"X": dense, "feature_names": names}
            np.savez_compressed(unfinished, **arrays | ({} if y is None else {"y": y}))
        else:
            _write_text(unfinished, X, y, names, "," if path.suffix == ".csv" else "\t")


def _write_svmlight(path: Path, X: Any, y: NDArray[Any] | None) -> None:
    if y is None:
        raise ValueError(f"{path.name}: SVMlight files need labels; write CSV or NPZ.")
    if y.dtype.kind not in "if":
        raise ValueError(f"{path.name}: SVMlight labels are numbers, not text; write CSV or NPZ.")
    dump_svmlight_file(X, y, str(path), zero_based=False)


def _write_text(
    path: Path, X: Any, y: NDArray[Any] | None, names: NDArray[np.str_], delimiter: str
) -> None:
    dense = X.toarray() if sparse.issparse(X) else X
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        writer.writerow([*names, *([] if y is None else [_label_name(names)])])
        for number, row in enumerate(dense.tolist()):
            writer.writerow([*row, *([] if y is None else [y[number]])])


def _label_name(names: NDArray[np.str_]) -> str:
    """Return a name for the column of labels that no feature has."""
    return next(name for name in ("y", "label", "target", "class", "_y") if name not in set(names))
