"""The data that a command works on: files, names, labels and scales."""

from __future__ import annotations

import csv
import io
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from hashlib import blake2b
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import StandardScaler
from sklearn.utils.sparsefuncs import mean_variance_axis

from certifeature._files import is_number, unguarded
from certifeature.certificate.certificate import number
from certifeature.datasets.dataset import Dataset
from certifeature.io._common import check_text
from certifeature.io.reader import FileBlocks, data_files, format_of, joined, read_data
from certifeature.rows import Block, RowBlocks
from certifeature.rows.matrix import dense, fingerprint, scaled_columns, stored_values
from certifeature.sparsify import ColumnChoice

# Memory for the file, its numbers and what is computed from them, per byte of the file.
_MEMORY_PER_BYTE = 2.0
# In fewer rows, a class may well have only one.
_MIN_ROWS = 10
# Beyond this ratio of standard deviations, the widest columns decide alone.
_MAX_RATIO = 10.0
# Columns at a time, so that no second copy of all rows is needed.
_N_COLUMNS = 1024


# Files


@dataclass(frozen=True)
class DataOptions:
    """Where the data are, and what their columns are.

    Parameters
    ----------
    paths
        SVMlight, CSV, TSV, Excel, Parquet or NPZ file, compressed or not; a folder with X.npz and
        y.npy; - for standard input; or several files with the same columns, a folder of such files,
        or a pattern such as 'parts/*.svm'.
    target
        Column with the labels, or array of an NPZ file. A column is given by its name or by its
        position in the file, counted from 0; -1 is the last.
    id
        Column with the names of the rows. It is not used as a feature; select --write keeps it.
    drop
        Columns to ignore; may be repeated.
    transpose
        The CSV, TSV or Excel file has one feature per line and one sample per column, as tables of
        gene expression have. The first column holds the names of the features, the header those of
        the samples; the labels are a line, whose name is given as --target.
    format
        Format of the data if the file name does not show it: csv, excel, npz, parquet, svmlight or
        tsv.
    """

    paths: Annotated[list[str], typer.Argument(metavar="DATA")]
    target: Annotated[str | None, typer.Option("--target", "-t")] = None
    id: Annotated[str | None, typer.Option(metavar="COLUMN")] = None
    drop: Annotated[list[str] | None, typer.Option(metavar="COLUMN,...")] = None
    transpose: Annotated[bool, typer.Option("--transpose")] = False
    format: str | None = None

    def read(self, **options: Any) -> Dataset:
        """Return all data together; the options are those of `read_data`."""
        is_stdin = "-" in self.paths
        if is_stdin and len(self.paths) > 1:
            raise ValueError("- is standard input, and there are files too; give one of them.")
        if is_stdin and self.format is None:
            raise ValueError("standard input has no name; add its --format, such as svmlight.")
        if not is_stdin:
            self._check_memory()
            if not self.is_one():
                return joined(self.blocks())
        path = sys.stdin.buffer if is_stdin else self.paths[0]
        return read_data(path, transpose=self.transpose, **self._columns(), **options)

    def blocks(self) -> FileBlocks:
        """Return the data file by file."""
        if "-" in self.paths:
            raise ValueError("--stream reads the data again and again; give files, and not -.")
        if self.transpose:
            raise ValueError("--transpose is for one file; join the files, or give one of them.")
        return FileBlocks(self.paths, **self._columns())

    def _columns(self) -> dict[str, Any]:
        given = {"target": self.target, "id": self.id, "format": self.format}
        return {**given, "drop": self.dropped}

    def files(self) -> list[Path]:
        """Return the files that the data are in; none for standard input."""
        return [] if "-" in self.paths else data_files(self.paths)

    def inputs(self) -> list[Path]:
        """Return the files and folders that must stay as they are."""
        folders = [Path(path) for path in self.paths if Path(path).is_dir()]
        return [*self.files(), *([] if self.is_one() else folders)]

    @property
    def kind(self) -> str:
        """Format of the files."""
        is_folder = self.is_one() and Path(self.paths[0]).is_dir()
        return self.format or ("npz" if is_folder else format_of(str(self.files()[0])))

    @property
    def dropped(self) -> list[str]:
        """Columns to leave out."""
        return [name.strip() for names in self.drop or () for name in names.split(",")]

    def is_one(self) -> bool:
        """Tell whether there is one file, or one folder of arrays."""
        path = Path(self.paths[0])
        return len(self.paths) == 1 and (path.is_file() or (path / "X.npz").exists())

    def _check_memory(self) -> None:
        """Raise if the files are too large for the memory that is free."""
        needed = _MEMORY_PER_BYTE * sum(path.stat().st_size for path in self.files())
        free = _free_memory()
        if free is not None and needed > free:
            raise ValueError(
                f"{' '.join(self.paths)}: about {needed / 2**30:.1f} GiB of memory are needed, and "
                f"{free / 2**30:.1f} GiB are free. Use select --stream with files that fit one by "
                "one, fewer rows or columns, a sparse format, or a machine with more memory."
            )


def _free_memory() -> int | None:
    """Return how many bytes are free; None on systems other than Linux."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    sizes = dict(line.split(":") for line in lines)
    return int(sizes["MemAvailable"].split()[0]) * 1024 if "MemAvailable" in sizes else None


@dataclass(frozen=True, eq=False)
class Loaded:
    """Data with labels and names of rows (if any), a name for every column, and a fingerprint.

    Rows in blocks keep their labels themselves.
    """

    X: Any
    y: NDArray[Any] | None
    names: NDArray[np.str_]
    source: str
    fingerprint: str
    ids: NDArray[np.str_] | None = None
    id_name: str = "id"

    def __str__(self) -> str:
        return f"{self.source}: {self.n_rows:,} rows, {self.n_features:,} features"

    def scaled(self, scaling: Scaling) -> Loaded:
        """Return the data with their columns scaled; the scales are learnt from all rows."""
        X, scaler = to_scale(self.X, scaling)
        return self if scaler is None else replace(self, X=scaler.fit_transform(X))

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.n_rows if isinstance(self.X, RowBlocks) else self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return len(self.names)


def load(source: DataOptions, *, needs_labels: bool, stream: bool = False) -> Loaded:
    """Read data, all rows or, to stream them, one file after the other.

    Columns have names as `distinct_names` gives them.
    """
    data: Any = source.blocks() if stream else source.read()
    parts = data.collect(_digest) if stream else [_digest(data)]
    name = f"{' '.join(source.paths)} ({len(data)} files)" if stream else data.source
    classes = np.unique(np.concatenate([classes for _, classes in parts]))
    if needs_labels and not len(classes):
        raise ValueError(f"{name}: there are no labels; give --target, or --unsupervised.")
    if needs_labels and len(classes) == 1:
        raise ValueError(f"{name}: all labels are {classes[0]}; two classes are needed.")
    digest = blake2b("".join(digest for digest, _ in parts).encode(), digest_size=16).hexdigest()
    n_features = data.n_features if stream else data.X.shape[1]
    names = distinct_names(data.feature_names, n_features)
    if stream:
        return Loaded(data, None, names, name, digest)
    return Loaded(data.X, data.y, names, name, digest, data.ids, source.id or "id")


def _digest(rows: Block | Dataset) -> tuple[str, NDArray[Any]]:
    """Return what tells rows and labels from others, and the classes."""
    classes, codes = np.unique(() if rows.y is None else rows.y, return_inverse=True)
    return f"{fingerprint(rows.X)} {fingerprint(codes)} {classes.tolist()}", classes


def distinct_names(names: NDArray[np.str_] | None, n_features: int) -> NDArray[np.str_]:
    """Return a different name for each column.

    A column without a name is called by its number, from 0 as in Python. Of columns with the same
    name, the second gets " (2)" after it, and so on.
    """
    if names is None:
        return np.arange(n_features).astype(f"U{len(str(n_features))}")
    given = [str(name).strip() or str(number) for number, name in enumerate(names)]
    taken, counts = set(given), Counter[str]()
    for place, name in enumerate(given):
        counts[name] += 1
        while counts[name] > 1 and given[place] in taken:
            given[place] = f"{name} ({counts[name]})"
            counts[name] += given[place] in taken
        taken.add(given[place])
    return np.array(given, dtype=np.str_)


# Lists of features


def read_features(path: Path, names: NDArray[np.str_]) -> ColumnChoice:
    """Read a list of names, one per line, each with a scale after a tab or without.

    A .csv file may be a table instead, with a column named feature and perhaps one named scale.
    """
    places = _places(names)
    scales: dict[int, float] = {}
    for where, name, scale in _lines(path):
        place = _place(name, places, where)
        if place in scales:
            raise ValueError(f"{where}: feature {name!r} is listed twice; remove one.")
        scales[place] = float(scale) if is_number(scale) else np.nan
        if not 0 < scales[place] < np.inf:
            raise ValueError(f"{where}: the scale {scale!r} is not a positive number; correct it.")
    if not scales:
        raise ValueError(f"{path}: there are no features; list their names, one per line.")
    return ColumnChoice(np.array(list(scales)), np.array(list(scales.values())))


def kept_features(values: Sequence[str], names: NDArray[np.str_]) -> list[int]:
    """Return the features that are named: one by one, with commas between them, or in @FILE."""
    places = _places(names)
    kept: list[int] = []
    for value in values:
        if value in places:
            kept.append(places[value])
        elif value.startswith("@"):
            kept += read_features(Path(value[1:]), names).indices.tolist()
        else:
            kept += [_place(name.strip(), places, "--keep") for name in value.split(",")]
    return list(dict.fromkeys(kept))


def _places(names: NDArray[np.str_]) -> dict[str, int]:
    return {str(name): index for index, name in enumerate(names)}


def _place(name: str, places: Mapping[str, int], where: str) -> int:
    # A list written by hand may have names without the guard against formulas.
    place = places.get(unguarded(name), places.get(name))
    if place is None:
        raise ValueError(f"{where}: the data have no feature {name!r}; check its name.")
    return place


def _lines(path: Path) -> Iterator[tuple[str, str, str]]:
    """Yield where each line is that is not blank, its name, and its scale, 1 if it has none."""
    content = path.read_bytes()
    check_text(content, str(path))
    # A byte-order mark is no part of a name.
    text = content.decode("utf-8-sig")
    header = [name.strip('"') for name in text.partition("\n")[0].strip().split(",")]
    is_table = path.suffix.lower() == ".csv" and "feature" in header and len(header) > 1
    names, delimiter = (None, ",") if is_table else (["feature", "scale"], "\t")
    rows = csv.DictReader(io.StringIO(text, newline=""), names, delimiter=delimiter)
    try:
        for row in rows:
            where = f"{path}, line {rows.line_num}"
            if is_table and (None in row or None in row.values()):
                found = f"there are not {len(header)} fields, as in the header"
                raise ValueError(f"{where}: {found}. Correct the line.")
            yield where, row["feature"], (row.get("scale") or "1").strip()
    except csv.Error as error:
        raise ValueError(f"{path}, line {rows.reader.line_num}: {error}.") from error


# Labels: classes, or numbers to predict


def too_many(n_different: int, n_rows: int) -> bool:
    """Tell whether so many different labels can hardly be classes."""
    return n_rows > _MIN_ROWS and n_different > n_rows / 2


def has_decimals(y: NDArray[Any]) -> bool:
    """Tell whether labels are numbers with decimals."""
    return y.dtype.kind == "f" and bool((y % 1 != 0).any())


def are_numbers(y: NDArray[Any]) -> bool:
    """Tell whether labels are numbers to predict: with decimals, or too many for classes."""
    return has_decimals(y) or (y.dtype.kind in "if" and too_many(len(np.unique(y)), len(y)))


def check_classes(y: NDArray[Any] | None, model: str) -> None:
    """Raise, before any long work, if there are too many labels to tell apart, where known."""
    if y is None or not too_many(n_different := len(np.unique(y)), len(y)):
        return
    found = f"the labels have {n_different:,} different values in {len(y):,} rows"
    if y.dtype.kind not in "if":
        found += f", such as {str(y[0])[:60]!r}: these look like the names of rows"
        raise ValueError(f"{found}. Give them as --id, and a column of classes as --target.")
    if model != "ridge":
        found += f", and --model {model} tells classes apart"
        raise ValueError(f"{found}. Use --model ridge, or a column of classes as --target.")


# Scales


class Scaling(StrEnum):
    """How the columns are scaled first."""

    none = "none"
    standard = "standard"
    tfidf = "tfidf"


def to_scale(X: Any, scaling: Scaling) -> tuple[Any, Any]:
    """Return rows that can be scaled, and an unfitted scaler, or None if there is none."""
    return _within_range(X) if scaling is Scaling.standard else X, column_scaler(scaling, X)


def column_scaler(scaling: str, X: Any) -> Any:
    """Return an unfitted scaler, or None; sparse columns are not centred, so that zeros stay."""
    if scaling == Scaling.standard:
        return StandardScaler(with_mean=not sparse.issparse(X))
    return TfidfTransformer() if scaling == Scaling.tfidf else None


def _within_range(X: Any) -> Any:
    """Divide each column by a power of 2, so that its largest value is near 1.

    Squares can then not overflow, and the standardised columns are the same.
    """
    exponents = np.frexp(dense(abs(X).max(axis=0)).ravel())[1]
    return scaled_columns(X, np.ldexp(1.0, -exponents.clip(-1000)))


def scaling_or_note(X: Any, asked: Scaling | None) -> Scaling:
    """Return the scaling that is asked for, or none, with a note if the columns need one."""
    if asked is Scaling.tfidf and stored_values(X).min(initial=0.0) < 0:
        raise ValueError("--scale tfidf is for counts, and there are negative values; change it.")
    if asked is not None:
        return asked
    _, note = scaling_for(X, column_deviations(X))
    if note:
        sys.stderr.write(f"certifeature: {note} (--scale none leaves them, without this note)\n")
    return Scaling.none


def scaling_for(X: Any, deviations: NDArray[np.float64]) -> tuple[Scaling | None, str]:
    """Return the scaling that columns need, given their deviations, and why; None and "" if none.

    Columns that do not vary do not count.
    """
    values, varying = stored_values(X), deviations[deviations > 0]
    mostly_zero = np.count_nonzero(values) <= X.shape[0] * X.shape[1] / 2
    if values.size and mostly_zero and (values >= 0).all() and (values % 1 == 0).all():
        found = "the values look like counts, most of them zero"
        return Scaling.tfidf, f"{found}; --scale tfidf weighs rare ones more"
    # Sparse rows are texts as a rule, and a word that varies little is rare.
    is_text = sparse.issparse(X) and mostly_zero
    if not is_text and varying.size and varying.max() > _MAX_RATIO * varying.min():
        low, high = number(float(varying.min())), number(float(varying.max()))
        found = f"the features have standard deviations from {low} to {high}"
        return Scaling.standard, f"{found}; --scale standard gives all the same weight"
    return None, ""


def column_deviations(X: Any) -> NDArray[np.float64]:
    """Return the standard deviation of each column, exactly zero where it is constant."""
    if not X.shape[1]:
        return np.empty(0)
    # Squares of huge values are infinite, and so is their deviation.
    with np.errstate(over="ignore", invalid="ignore"):
        if sparse.issparse(X):
            return np.sqrt(mean_variance_axis(X, axis=0)[1])
        # Rounding gives a column of equal values a deviation that is not quite zero.
        parts = (X[:, start : start + _N_COLUMNS] for start in range(0, X.shape[1], _N_COLUMNS))
        return np.concatenate(
            [np.where(np.ptp(part, axis=0) > 0, part.std(axis=0), 0.0) for part in parts]
        )
