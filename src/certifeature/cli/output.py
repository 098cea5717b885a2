"""What the commands print and show while they work, and the files that they write."""

from __future__ import annotations

import itertools
import json
import os
import platform
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

import numpy as np
from rich import progress
from rich.console import Console
from rich.markup import escape
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from certifeature._files import check_not_read_only, csv_text, visible, write_csv, write_files
from certifeature._progress import Report as Advance
from certifeature._progress import listening, phase
from certifeature.certificate import Certificate
from certifeature.certificate.certificate import as_sentences
from certifeature.cli.loading import Loaded
from certifeature.evaluation.engine import SizeSearch
from certifeature.report import Report
from certifeature.report.contents import Feature, features_csv
from certifeature.report.page import render
from certifeature.rows.matrix import dense

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_SVMLIGHT = (".svm", ".svmlight")
_ENDINGS = sorted((*_DELIMITERS, *_SVMLIGHT, ".npz"))


def check_writable(*paths: Path | None, inputs: Sequence[str | Path] = ()) -> None:
    """Raise, before any long work, if a file cannot be written or must not be."""
    taken = {os.path.realpath(path) for path in inputs if str(path) != "-"}
    for path in filter(None, paths):
        # A link stays a link, so that what counts is where it leads.
        target = Path(os.path.realpath(path))
        with suppress(FileNotFoundError):
            # Raises if the name is too long.
            target.lstat()
        if target.exists() and not target.is_file() and not target.is_dir():
            # Writing to a pipe or a device replaces no file.
            continue
        if str(target) in taken:
            raise ValueError(f"{path}: this file is read or written already; give another name.")
        if str(target.parent) in taken:
            raise ValueError(f"{path}: all files of this folder are data; give another folder.")
        taken.add(str(target))
        if target.is_dir():
            raise ValueError(f"{path}: this is a folder; give the name of a file.")
        if not target.parent.is_dir():
            raise ValueError(f"{path}: there is no folder {target.parent}; create it first.")
        if not os.access(target.parent, os.W_OK):
            raise ValueError(f"{path}: {target.parent} may not be written to; give another folder.")
        check_not_read_only(path)


def print_text(text: str, *, as_data: bool = False) -> None:
    """Print for people, or for programs: in UTF-8, whatever a terminal here would show.

    A program such as head, which stops reading early, makes no error.
    """
    try:
        if as_data:
            cast(Any, sys.stdout).reconfigure(encoding="utf-8", errors="backslashreplace")
        sys.stdout.write(text if as_data else visible(text))
        sys.stdout.flush()
    except OSError as error:
        # Python would try again at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            raise OSError(f"standard output: {error}") from error


def deliver(
    result: str, writers: Mapping[Path | None, Callable[[Path], str | None]], *, as_data: bool
) -> None:
    """Write files together, and print the result whatever happens to them."""
    try:
        write_files(writers)
    except ValueError:
        # The rows changed while they were written, so that the result holds for neither.
        result = ""
        raise
    finally:
        print_text(result, as_data=as_data)


def json_text(value: Any) -> str:
    """Return plain values as JSON; numbers that are not finite become null."""
    plain = json.loads(json.dumps(value), parse_constant=lambda _: None)
    return json.dumps(plain, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def certificate_values(certificate: Certificate) -> dict[str, Any]:
    """Return plain values for JSON: first the three layers of growth, and all in sentences."""
    growths = ("realised_growth", "measured_growth", "promised_growth")
    values = {name: getattr(certificate, name) for name in growths}
    return {**values, "sentences": as_sentences(certificate), **certificate.to_dict()}


def found_size(search: SizeSearch) -> str:
    """Return which number of features was found, and how."""
    n_folds = search.errors.shape[1]
    return (
        f"{search.size} features by {n_folds}-fold cross-validation: the fewest within one "
        f"standard error ({search.standard_error:.3f}) of the lowest error, that of {search.best}"
    )


def size_curve(search: SizeSearch) -> str:
    """Return the errors of all numbers of features as lines of text."""
    lines = [f"{'features':>10}  {'error':>6}"]
    for size, error in zip(search.sizes, search.means, strict=True):
        chosen = "  <" if size == search.size else ""
        lines.append(f"{size:>10,}  {error:>6.3f}{chosen}")
    return "\n".join(lines)


def search_values(search: SizeSearch) -> dict[str, Any]:
    """Return a search for a number of features as plain values for JSON."""
    return {
        "n_features": search.size,
        "sizes": list(search.sizes),
        "mean_errors": search.means.tolist(),
        "standard_error": search.standard_error,
        "errors": search.errors.tolist(),
    }


def _preparation(data: Loaded) -> list[str]:
    """Return what is done to the columns before features are chosen, in sentences."""
    standard = "scaled" if sparse.issparse(data.X) else "centred and scaled"
    said = {
        "median": "Missing values were replaced by the median of their column.",
        "mean": "Missing values were replaced by the mean of their column.",
        "drop-columns": "Columns with missing values were left out.",
        "onehot": "Each category of a column of text became a column of 0 and 1.",
        "standard": f"Columns were {standard} to unit variance.",
        "tfidf": "Counts were weighted by tf-idf.",
    }
    steps = (data.imputed, "onehot" if any(data.column_groups) else "", data.scaling.value)
    return [said[step] for step in steps if step in said]


def report_text(
    title: str, asked: Mapping[str, str], loaded: Loaded, seed: int, **contents: Any
) -> str:
    """Return a report, with what is needed to get the same result again."""
    names = ("certifeature", "numpy", "scipy", "scikit-learn")
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    reproduction = {
        "Command": shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]]),
        "Versions": f"Python {platform.python_version()}, {versions}",
        "Seed": str(seed),
        "Data fingerprint": loaded.fingerprint,
    }
    prepared = _preparation(loaded)
    asked = {"Data": str(loaded), **asked, "Preparation": " ".join(prepared) or "none"}
    contents |= {"asked": asked, "preparation": prepared, "reproduction": reproduction}
    return render(Report(f"{title} {Path(loaded.source).name}", **contents))


def features_text(features: list[Feature], path: Path) -> str:
    """Return a table if the name of the file ends in .csv, else lines of names and scales.

    No name can become a formula.
    """
    if path.suffix.lower() == ".csv":
        return features_csv(features)
    return csv_text(((feature.name, feature.scale) for feature in features), "\t")


def check_data_file(path: Path | None, data: Loaded) -> None:
    """Raise, before any long work, if such data cannot be written to a file."""
    if path is None:
        return
    if path.suffix not in _ENDINGS:
        raise ValueError(f"{path}: the file name must end in {', '.join(_ENDINGS)}.")
    if data.stream is not None:
        data = next(data.parts(scaled=False))
    if path.suffix in _SVMLIGHT:
        if data.y is None or data.y.dtype.kind not in "if":
            raise ValueError(f"{path}: SVMlight labels are numbers; write .csv or .npz instead.")
        if data.ids is not None or data.groups is not None:
            found = f"there is no place for {'groups' if data.ids is None else 'the names of rows'}"
            raise ValueError(f"{path}: {found}; write .csv or .npz.")


def write_data(path: Path, parts: Iterable[Loaded]) -> None:
    """Write data in the format that the ending of the name tells.

    Parameters
    ----------
    path : Path
        Name of the file.
    parts : iterable of Loaded
        The rows, in parts with the same columns.
    """
    if path.suffix == ".npz":
        known = list(parts)
        arrays: dict[str, Any] = {"X": np.vstack([dense(data.X) for data in known])}
        arrays["feature_names"] = known[0].names
        for name in ("y", "ids", "groups"):
            if getattr(known[0], name) is not None:
                arrays[name] = np.concatenate([getattr(data, name) for data in known])
        np.savez_compressed(path, **arrays)
    elif path.suffix in _SVMLIGHT:
        with path.open("wb") as binary:
            for data in parts:
                dump_svmlight_file(data.X, data.y, binary, zero_based=False)
    else:
        with path.open("w", encoding="utf-8", newline="") as file:
            write_csv(file, _table(parts), _DELIMITERS[path.suffix])


def _table(parts: Iterable[Loaded]) -> Iterator[Sequence[Any]]:
    """Return names, and then rows with row names, groups and labels in columns of other names.

    A missing value is an empty field.
    """
    for number, data in enumerate(parts):
        X = dense(data.X)
        values = np.where(np.isnan(X), "", X.astype(object)) if np.isnan(X).any() else X
        columns = dict(zip(data.names.tolist(), values.T.tolist(), strict=True))
        same = data.ids is not None and data.roles.get("groups") == data.roles.get("id")
        for role, fields in (("groups", None if same else data.groups), ("id", data.ids)):
            if fields is not None:
                name = _free_name((data.roles.get(role, role), role, "row"), columns)
                columns = {name: fields.tolist()} | columns
        if data.y is not None:
            wishes = (data.roles.get("target", "y"), "y", "label", "target", "class")
            columns[_free_name(wishes, columns)] = data.y.tolist()
        if number == 0:
            yield list(columns)
        yield from zip(*columns.values(), strict=True)


def _free_name(wishes: Sequence[str], names: Iterable[str]) -> str:
    taken = {name.lower() for name in names}
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
    n_done = progress.TextColumn("{task.fields[count]}")
    name, line, *times = progress.Progress.get_default_columns()
    columns = (progress.SpinnerColumn(), name, line, n_done, *times)
    # What the command prints must not go to the console of the bars.
    bars = progress.Progress(*columns, console=console, transient=True, redirect_stdout=False)

    @contextmanager
    def begin(name: str, total: int | None) -> Iterator[Advance]:
        def count(done: int) -> str:
            return f"{done:,}/{total:,}" if total else ""

        indent = "  " * len(bars.tasks)
        bar = bars.add_task(indent + escape(name), total=total, count=count(0))
        try:
            yield lambda done: bars.update(bar, completed=done, count=count(done))
        finally:
            bars.remove_task(bar)

    with bars, listening(begin), phase(task):
        yield
