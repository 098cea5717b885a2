"""What the commands print and show while they work, and the files that they write."""

from __future__ import annotations

import csv
import io
import itertools
import json
import os
import platform
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from certifeature._files import guarded, replacing
from certifeature._progress import Listener, Report, listening, phase
from certifeature.certificate import Certificate
from certifeature.certificate.certificate import as_sentences
from certifeature.cli.loading import Loaded
from certifeature.comparison import Comparison

_ENDINGS = (".csv", ".npz", ".svm", ".svmlight", ".tsv")
_SVMLIGHT = (".svm", ".svmlight")


def check_writable(*paths: Path | None, inputs: Sequence[str | Path] = ()) -> None:
    """Raise, before any long work, if a file cannot be written or must not be."""
    taken = {os.path.realpath(path) for path in inputs if str(path) != "-"}
    for path in paths:
        if path is None or (path.exists() and not path.is_file() and not path.is_dir()):
            # Writing to a pipe or a device replaces no file.
            continue
        if os.path.realpath(path) in taken:
            raise ValueError(f"{path}: this file is read or written already; give another name.")
        if os.path.realpath(path.parent) in taken:
            raise ValueError(f"{path}: all files of this folder are data; give another folder.")
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


def certificate_values(certificate: Certificate) -> dict[str, Any]:
    """Return plain values for JSON, the bounds first, with sentences that explain infinite ones."""
    return {
        "promised_growth": certificate.promised_growth,
        "measured_growth": certificate.measured_growth,
        "realised_growth": certificate.realised_growth,
        "sentences": as_sentences(certificate),
        **certificate.to_dict(),
    }


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


def drawings(comparison: Comparison) -> dict[str, str]:
    """Return plots of a comparison for a report: captions, and SVG texts."""
    from matplotlib.figure import Figure

    from certifeature.plotting import ErrorCurveDisplay, GrowthCurveDisplay

    displays: dict[str, Any] = {
        "Error on rows that were not used for training.": ErrorCurveDisplay,
        "Growth: at most so many times as large is what the model minimises on the rows that "
        "matter to it, compared with all features.": GrowthCurveDisplay,
    }
    drawn = {}
    for caption, display in displays.items():
        figure, text = Figure(figsize=(5.2, 3.9), layout="constrained"), io.StringIO()
        display.from_comparison(comparison, ax=figure.subplots())
        figure.savefig(text, format="svg")
        drawn[caption] = text.getvalue()
    return drawn


def check_data_file(path: Path | None, data: Loaded) -> None:
    """Raise, before any long work, if such data cannot be written to a file."""
    if path is None:
        return
    if path.suffix not in _ENDINGS:
        raise ValueError(f"{path}: the file name must end in {', '.join(_ENDINGS)}.")
    if path.suffix in _SVMLIGHT:
        if data.y is None or data.y.dtype.kind not in "if":
            raise ValueError(f"{path}: SVMlight labels are numbers; write .csv or .npz instead.")
        if data.ids is not None:
            raise ValueError(
                f"{path}: there is no place for the names of rows; write .csv or .npz."
            )


def write_data(path: Path, data: Loaded) -> None:
    """Write data in the format that the ending of the name tells, whole or not at all."""
    with replacing(path) as unfinished:
        if path.suffix in _SVMLIGHT:
            dump_svmlight_file(data.X, data.y, str(unfinished), zero_based=False)
        elif path.suffix == ".npz":
            arrays: dict[str, Any] = {"X": _dense(data.X), "feature_names": data.names}
            others = {"y": data.y, "ids": data.ids}
            arrays |= {name: array for name, array in others.items() if array is not None}
            np.savez_compressed(unfinished, **arrays)
        else:
            _write_text(unfinished, data, "," if path.suffix == ".csv" else "\t")


def _write_text(path: Path, data: Loaded, delimiter: str) -> None:
    names: list[str] = data.names.tolist()
    header, columns = list(map(guarded, names)), [_dense(data.X).tolist()]
    taken = {name.lower() for name in names}
    # A column of labels or row names must have a name that no feature has.
    if data.ids is not None:
        name = _free_name((data.id_name, "id", "row"), taken)
        header.insert(0, guarded(name))
        columns.insert(0, [[_text(value)] for value in data.ids.tolist()])
        taken.add(name.lower())
    if data.y is not None:
        header.append(_free_name(("y", "label", "target", "class"), taken))
        columns.append([[_text(value)] for value in data.y.tolist()])
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        writer.writerow(header)
        for parts in zip(*columns, strict=True):
            writer.writerow(list(itertools.chain(*parts)))


def _dense(X: Any) -> NDArray[np.float64]:
    return np.asarray(X.toarray() if sparse.issparse(X) else X)


def _text(value: Any) -> Any:
    return guarded(value) if isinstance(value, str) else value


def _free_name(wishes: Sequence[str], taken: set[str]) -> str:
    numbered = (f"{wishes[0]}{number}" for number in itertools.count(1))
    candidates = itertools.chain(wishes, numbered)
    return next(name for name in candidates if name.lower() not in taken)


@contextmanager
def showing(task: str) -> Iterator[None]:
    """Show progress bars for a task and its phases on a terminal, until they are done."""
    console = Console(stderr=True)
    # With colours forced, rich would write bars to a file too.
    if not (sys.stderr.isatty() and console.is_interactive):
        yield
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        TextColumn("{task.fields[count]}"),
        TaskProgressColumn(),
        TimeRemainingColumn(),
    )
    # What the command prints must not go to the console of the bars.
    bars = Progress(*columns, console=console, transient=True, redirect_stdout=False)
    with bars, listening(_listener(bars)), phase(task):
        yield


def _listener(bars: Progress) -> Listener:
    @contextmanager
    def begin(name: str, total: int | None) -> Iterator[Report]:
        def count(done: int) -> str:
            return f"{done:,}/{total:,}" if total else ""

        indent = "  " * len(bars.tasks)
        bar = bars.add_task(indent + escape(name), total=total, count=count(0))
        try:
            yield lambda done: bars.update(bar, completed=done, count=count(done))
        finally:
            bars.remove_task(bar)

    return begin
