"""What the commands print, and the files that they write."""

from __future__ import annotations

import csv
import itertools
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
from certifeature._formulas import guarded
from certifeature.cli.loading import Loaded

__all__ = [
    "check_data_file",
    "check_writable",
    "json_text",
    "print_table",
    "reproduction",
    "write_data",
]

_ENDINGS = (".csv", ".npz", ".svm", ".svmlight", ".tsv")
_SVMLIGHT = (".svm", ".svmlight")


def check_writable(*paths: Path | None, inputs: tuple[str | Path, ...] = ()) -> None:
    """Raise, before any long work, if a file cannot be written or must not be."""
    taken = {os.path.realpath(path) for path in inputs if str(path) != "-"}
    for path in paths:
        if path is None or (path.exists() and not path.is_file() and not path.is_dir()):
            # Writing to a pipe or a device replaces no file.
            continue
        if os.path.realpath(path) in taken:
            raise ValueError(f"{path}: this file is read or written already; give another name.")
        taken.add(os.path.realpath(path))
        if path.is_dir():
            raise ValueError(f"{path}: this is a folder; give the name of a file.")
        if not path.parent.is_dir():
            raise ValueError(f"{path}: there is no folder {path.parent}; create it first.")
        if not os.access(path.parent, os.W_OK):
            raise ValueError(f"{path}: the folder {path.parent} may not be written to.")


def json_text(value: Any) -> str:
    """Return plain values as JSON; numbers that are not finite become null."""
    return json.dumps(_plain(value), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


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
    """Return what is needed to get the same result again."""
    names = ("certifeature", "numpy", "scipy", "scikit-learn")
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    return {
        "Command": shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]]),
        "Versions": f"Python {platform.python_version()}, {versions}",
        "Seed": str(seed),
        "Data fingerprint": data.fingerprint,
    }


def check_data_file(path: Path | None, y: NDArray[Any] | None) -> None:
    """Raise, before any long work, if data with these labels cannot be written to a file."""
    if path is None:
        return
    if path.suffix not in _ENDINGS:
        raise ValueError(
            f"{path}: data can be written as {', '.join(_ENDINGS)}; give such a file name."
        )
    if path.suffix in _SVMLIGHT and (y is None or y.dtype.kind not in "if"):
        raise ValueError(f"{path}: SVMlight labels are numbers; write .csv or .npz instead.")


def write_data(path: Path, X: Any, y: NDArray[Any] | None, names: NDArray[np.str_]) -> None:
    """Write data in the format that the ending of the name tells, whole or not at all."""
    with replacing(path) as unfinished:
        if path.suffix in _SVMLIGHT:
            dump_svmlight_file(X, y, str(unfinished), zero_based=False)
        elif path.suffix == ".npz":
            dense = X.toarray() if sparse.issparse(X) else X
            arrays: dict[str, Any] = {"X": dense, "feature_names": names}
            np.savez_compressed(unfinished, **arrays | ({} if y is None else {"y": y}))
        else:
            _write_text(unfinished, X, y, names, "," if path.suffix == ".csv" else "\t")


def _write_text(
    path: Path, X: Any, y: NDArray[Any] | None, names: NDArray[np.str_], delimiter: str
) -> None:
    dense = X.toarray() if sparse.issparse(X) else X
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        labels = None if y is None else [_text(label) for label in y.tolist()]
        header = map(guarded, names.tolist())
        writer.writerow([*header, *([] if labels is None else [_label_name(names)])])
        for number, row in enumerate(dense):
            writer.writerow([*row.tolist(), *([] if labels is None else [labels[number]])])


def _text(label: Any) -> Any:
    return guarded(label) if isinstance(label, str) else label


def _label_name(names: NDArray[np.str_]) -> str:
    """Return a name for the column of labels that no feature has."""
    taken = {str(name).lower() for name in names}
    numbered = (f"y{number}" for number in itertools.count(1))
    candidates = itertools.chain(("y", "label", "target", "class"), numbered)
    return next(name for name in candidates if name not in taken)
