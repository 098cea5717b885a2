"""The data that a command works on: files, names and labels."""

from __future__ import annotations

import csv
import io
import re
import shlex
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from certifeature._files import is_number, unguarded
from certifeature.cli.preparing import (
    ALIKE,
    Encoding,
    Imputation,
    Scaling,
    alike_rows,
    complete_columns,
    distinct_names,
    encoder_of,
    equal_names,
    note,
    owners,
    scaler_of,
)
from certifeature.cli.streaming import Stream
from certifeature.datasets.dataset import Dataset
from certifeature.io._common import as_utf8, not_found
from certifeature.io.reader import FileBlocks, data_files, format_of, joined, read_data
from certifeature.models.problem import are_numbers, has_decimals, too_many
from certifeature.rows import RowBlocks
from certifeature.rows.blocks import Block
from certifeature.rows.matrix import fingerprint, scaled_columns
from certifeature.rows.names import (
    changed_names,
    first_few,
    hint_for,
    is_owner,
    not_features,
    role_of,
    said_of,
)
from certifeature.sparsify import ColumnChoice

# Memory for the file, its numbers and what is computed from them, per byte of the file.
_MEMORY_PER_BYTE = 2.0
# For the name of a column, its weights and what is computed from it, even if it is empty.
_MEMORY_PER_COLUMN = 200.0
# Errors for classes with fewer rows are uncertain.
MIN_CLASS = 5
JOIN = "the same? --join-classes joins them"
# Small classes that are named.
_N_SHOWN = 8


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
    groups
        Column that says which rows belong together, such as those of one patient. It is not used as
        a feature. Cross-validation keeps the rows of a group together.
    drop
        Columns to ignore, or @FILE with one name per line; may be repeated.
    feature
        Columns to use as features although they look like identifiers of rows, or like codes of
        circumstance such as a batch or a site, which are held out; may be repeated.
    transpose
        The CSV, TSV or Excel file has one feature per line and one sample per column, as tables of
        gene expression have. The first column holds the names of the features, the header those of
        the samples; the labels are a line, whose name is given as --target.
    format
        Format of the data if the file name does not show it: csv, excel, npz, parquet, svmlight or
        tsv.
    encoding
        Encoding of a CSV or TSV file that is not in UTF-8, such as latin1.
    zero_based
        IntArray of the SVMlight file start at 0, even if none of them is 0.
    impute
        What takes the place of missing values: the median or the mean of the column, of the
        training rows in each fold. drop-columns leaves out columns that have any.
    categorical
        How columns of text are encoded. onehot: a column of 0 and 1 for each category, such as
        site=Oslo.
    min_class
        Leave out the rows of classes that have fewer than this number.
    drop_unlabelled
        Leave out the rows without a label.
    join_classes
        Make one class of labels that differ only in case or spaces, such as Tumor and tumor.
    """

    paths: Annotated[list[str], typer.Argument(metavar="DATA")]
    target: Annotated[str | None, typer.Option("--target", "-t")] = None
    id: Annotated[str | None, typer.Option(metavar="COLUMN")] = None
    groups: Annotated[str | None, typer.Option(metavar="COLUMN")] = None
    drop: Annotated[list[str] | None, typer.Option(metavar="COLUMN,...")] = None
    feature: Annotated[list[str] | None, typer.Option(metavar="NAME,...")] = None
    transpose: Annotated[bool, typer.Option("--transpose")] = False
    format: str | None = None
    encoding: str | None = None
    zero_based: Annotated[bool, typer.Option("--zero-based")] = False
    impute: Imputation | None = None
    categorical: Encoding | None = None
    min_class: Annotated[int, typer.Option(metavar="ROWS", min=1)] = 1
    drop_unlabelled: Annotated[bool, typer.Option("--drop-unlabelled")] = False
    join_classes: Annotated[bool, typer.Option("--join-classes")] = False

    def read(self, **options: Any) -> Dataset:
        """Return all data together; the options are those of `read_data`."""
        is_stdin = "-" in self.paths
        if is_stdin and len(self.paths) > 1:
            raise ValueError("- is standard input, and there are files too; give one of them.")
        if is_stdin and self.format is None:
            raise ValueError("standard input has no name; add its --format, such as svmlight.")
        if not is_stdin:
            self._check_memory(sum(path.stat().st_size for path in self.files()))
        if is_stdin or self.is_one():
            path = sys.stdin.buffer if is_stdin else self.paths[0]
            data = read_data(path, transpose=self.transpose, **self._columns(), **options)
            self._check_memory(n_columns=data.X.shape[1])
        else:
            data = joined(self.blocks())
        return replace(data, y=joined_classes(data.y)) if self.join_classes else data

    def blocks(self) -> FileBlocks:
        """Return the data file by file."""
        if "-" in self.paths:
            raise ValueError("--stream reads the data again and again; give files, and not -.")
        if self.transpose:
            raise ValueError("--transpose is for one file; join the files, or give one of them.")
        blocks = FileBlocks(self.paths, **self._columns())
        self._check_memory(n_columns=blocks.n_features)
        return blocks

    def _columns(self) -> dict[str, Any]:
        names = ("target", "id", "groups", "format", "encoding", "zero_based")
        given = {name: getattr(self, name) for name in names}
        return {**given, "drop": self.dropped, "features": self.features}

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
        return _listed_names(self.drop)

    @property
    def features(self) -> list[str]:
        """Columns that are features, whatever they look like."""
        return _listed_names(self.feature)

    def is_one(self) -> bool:
        """Tell whether there is one file, or one folder of arrays."""
        path = Path(self.paths[0])
        is_file = path.exists() and not path.is_dir()
        return len(self.paths) == 1 and (is_file or (path / "X.npz").exists())

    def _check_memory(self, n_bytes: int = 0, n_columns: int = 0) -> None:
        """Raise if files or columns are too large for the memory that is free."""
        needed = _MEMORY_PER_BYTE * n_bytes + _MEMORY_PER_COLUMN * n_columns
        free = _free_memory()
        if free is not None and needed > free:
            what = f"{n_columns:,} columns need" if n_columns else "the data need"
            raise ValueError(
                f"{' '.join(self.paths)}: {what} about {needed / 2**30:.1f} GiB of memory, and "
                f"{free / 2**30:.1f} GiB are free. Use select --stream with files that fit one by "
                "one, fewer rows or columns, a sparse format, or a machine with more memory."
            )


def taken_in(held_out: Sequence[str]) -> str:
    """Return how to use columns as features after all."""
    listed = shlex.quote(",".join(held_out[:4]))
    return f"use {'it' if len(held_out) == 1 else 'them'} by --feature {listed}"


def _listed_names(options: Sequence[str] | None) -> list[str]:
    listed = (
        [name for _, name, _ in _lines(Path(given[1:]))]
        if given.startswith("@")
        else given.split(",")
        for given in options or ()
    )
    return [name.strip() for names in listed for name in names]


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
    """Data with labels, names and groups of rows (if any), and a fingerprint.

    Columns are named as the preprocessing returns them, which is an unfitted transformer or None;
    `encoding` does no more than turn text into numbers. `column_groups` has the column of text that
    each is made of, or nothing; `doubts` say why errors on new data may look too good. `roles` has
    the names of the columns of labels, row names and groups.
    Rows of a stream, which are read file by file, keep their labels themselves.
    """

    X: Any
    y: NDArray[Any] | None
    names: NDArray[np.str_]
    source: str
    fingerprint: str
    ids: NDArray[np.str_] | None = None
    roles: Mapping[str, str] = field(default_factory=dict)
    groups: NDArray[np.str_] | None = None
    imputed: str = ""
    preprocessing: Any = None
    scaling: Scaling = Scaling.none
    column_groups: Sequence[str] = ()
    stream: Stream | None = None
    doubts: Sequence[str] = ()
    encoding: Any = None

    def __str__(self) -> str:
        return f"{self.source}: {self.n_rows:,} rows, {self.n_features:,} features"

    def scaled(self, scaling: Scaling) -> Loaded:
        """Return the data with columns that will be scaled, after whatever else is done to them."""
        steps = (self.preprocessing, scaler_of(self.X, scaling))
        given = [step for step in steps if step is not None]
        pipeline = make_pipeline(*given) if given else None
        return replace(self, preprocessing=pipeline, scaling=scaling)

    def streamed(self, share: float | None, seed: int, scaling: Scaling | None) -> Loaded:
        """Return the training rows of a stream, of which a share of the rows is held out."""
        weigh = scaling is Scaling.tfidf
        stream = Stream.of(self.X, share, seed, weigh=weigh)
        scaling = Scaling.tfidf if weigh else Scaling.none
        return replace(self, X=stream.training, scaling=scaling, stream=stream)

    def parts(self, *, scaled: bool) -> Iterator[Loaded]:
        """Return all rows, prepared or with their original values; by file if they are a stream."""
        if self.stream is None:
            yield (self if scaled else replace(self, preprocessing=self.encoding)).prepared()
            return
        for data in self.stream.datasets(prepared=scaled):
            more: Any = {"ids": data.ids, "groups": data.groups, "roles": data.roles}
            yield replace(self, X=data.X, y=data.y, stream=None, **more)

    def chosen(self, columns: ColumnChoice, *, scaled: bool) -> Loaded:
        """Return the chosen columns of rows in memory, times their scales or not."""
        X = self.X[:, columns.indices]
        X = scaled_columns(X, columns.scales) if scaled else X
        return replace(self, X=X, names=self.names[columns.indices])

    def prepared(self) -> Loaded:
        """Return the data with the preprocessing done, as learnt from all rows."""
        if self.preprocessing is None:
            return self
        X = clone(self.preprocessing).fit_transform(self.X)
        return replace(self, X=X, preprocessing=None)

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
    data: Any = source.blocks() if stream else _read(source, needs_labels)
    parts = data.collect(_digest) if stream else [_digest(data)]
    paths = " ".join(path.rstrip("/") for path in source.paths)
    name = f"{paths} ({len(data)} files)" if stream else data.source
    classes = np.unique(np.concatenate([classes for _, classes in parts]))
    if needs_labels and not len(classes):
        raise ValueError(f"{name}: there are no labels; give --target, or --unsupervised.")
    if needs_labels and len(classes) == 1:
        raise ValueError(f"{name}: all labels are {classes[0]}; two classes are needed.")
    if needs_labels and (spellings := alike_classes(classes)):
        note(f"{spellings}: {JOIN}")
    digest = blake2b("".join(digest for digest, _ in parts).encode(), digest_size=16).hexdigest()
    for held_out, seems in said_of(data.held_out):
        note(f"held out of the features: {seems} ({taken_in(held_out)})")
    if changed := changed_names(() if data.feature_names is None else data.feature_names):
        note(changed_by_spreadsheet(changed))
    if stream:
        names = distinct_names(data.feature_names, data.n_features)
        # Values are not looked at; names alone may tell.
        suspected = [*filter(is_owner, (*names.tolist(), *data.held_out, *source.dropped))]
        doubts = [*objections(source.target, classes[:1])]
        doubts += [] if source.groups else _asked_for_groups(suspected)
        for doubt in doubts:
            note(doubt)
        return Loaded(data, None, names, name, digest, doubts=doubts)
    names = distinct_names(data.feature_names, data.X.shape[1])
    doubts = [*objections(data.roles.get("target"), data.y), *_doubts(data, names, source)]
    for doubt in doubts:
        note(doubt)
    given, (encoder, names, texts) = names, encoder_of(data, names, source.impute)
    rows: Any = {"ids": data.ids, "groups": data.groups, "roles": data.roles, "doubts": doubts}
    rows |= {"encoding": encoder_of(data, given, None)[0]}
    rows |= {"preprocessing": encoder, "imputed": source.impute or "", "column_groups": texts}
    return Loaded(data.X, data.y, names, name, digest, **rows)


def changed_by_spreadsheet(names: Sequence[str]) -> str:
    """Return what seems to have happened to such names, and what to do."""
    found = f"{first_few(names, 4)}: genes whose names a spreadsheet turned into dates or numbers?"
    return f"{found} Take the names from the original file, and import them as text"


def objections(target: str | None, y: NDArray[Any] | None) -> Iterator[str]:
    """Yield why labels of this name are hardly any, if they seem to be none."""
    if target is None or y is None or y.dtype.kind == "f":
        return
    rising = not_features(y[:, None], [target]) if y.dtype.kind == "i" else {}
    if role := role_of(target) or rising.get(0):
        yield f"the labels, {target!r}, seem to be {role}: name others with --target if they are"


def note_few_rows(y: NDArray[Any]) -> None:
    """Say which classes are small."""
    classes, counts = np.unique(y, return_counts=True)
    few = counts < MIN_CLASS
    if few.any() and not too_many(len(classes), len(y)):
        found = f"few rows of {_listed(classes, counts, few)}; what is found for them is"
        note(f"{found} uncertain (--min-class {MIN_CLASS} leaves such rows out)")


def _doubts(data: Dataset, names: NDArray[np.str_], source: DataOptions) -> list[str]:
    """Return why rows seem to belong together, although nothing was said of groups."""
    found = []
    if data.groups is None and data.ids is not None and (slip := equal_names(data.ids)):
        found.append(slip)
    elif data.groups is None and data.ids is not None and len({*data.ids}) < len(data.ids):
        repeat = f"({len({*data.ids}):,} different in {len(data.ids):,})"
        remedy = f"--groups {shlex.quote(source.id or '0')}"
        asked = "if those of one name belong together"
        found.append(f"the names of rows repeat {repeat}; {asked}, {remedy}")
    elif n_alike := len(alike_rows(data.X, data.groups)):
        found.append(f"{n_alike} rows are {ALIKE}")
    if data.groups is None:
        suspected = owners(data, names.tolist())
        slips = {name: equal_names(fields) for name, fields in suspected.items()}
        found += [f"{name!r}: {slip}" for name, slip in slips.items() if slip]
        dropped = filter(is_owner, source.dropped)
        found += _asked_for_groups([*(name for name, slip in slips.items() if not slip), *dropped])
    return found


def _asked_for_groups(names: Sequence[str]) -> list[str]:
    if not names:
        return []
    found = f"{first_few(names, 4)} may say which rows belong together"
    remedy = f"if so, --groups {shlex.quote(names[0])}"
    return [f"{found}: {remedy}; otherwise errors on new data look too good"]


def _read(source: DataOptions, needs_labels: bool) -> Dataset:
    """Read all rows, without what the options leave out."""
    accepted = {
        "missing": source.impute is not None,
        "text": source.categorical is not None,
        "unlabelled": source.drop_unlabelled or not needs_labels,
    }
    data = source.read(accept=[name for name, is_accepted in accepted.items() if is_accepted])
    if source.impute is Imputation.drop_columns:
        data, left_out = complete_columns(data)
        if left_out:
            note(f"left out {len(left_out)} columns with missing values: {first_few(left_out, 4)}")
    if source.drop_unlabelled and data.y is not None:
        known = data.y != "" if data.y.dtype.kind == "U" else ~np.isnan(data.y)
        if not known.all():
            note(f"left out {np.count_nonzero(~known)} rows without a label")
            data = _with_rows(data, known)
    if data.y is None or are_numbers(data.y):
        return data
    classes, codes, counts = np.unique(data.y, return_inverse=True, return_counts=True)
    rare = counts < source.min_class
    if rare.any():
        rows = ~rare[codes]
        note(f"left out {np.count_nonzero(~rows)} rows of classes {_listed(classes, counts, rare)}")
        data = _with_rows(data, rows)
    return data


def _with_rows(data: Dataset, rows: NDArray[np.bool_]) -> Dataset:
    parts = {name: getattr(data, name) for name in ("X", "y", "ids", "groups")}
    left: Any = {name: None if part is None else part[rows] for name, part in parts.items()}
    if not has_decimals(left["y"]) and left["y"].dtype.kind == "f":
        # Whole numbers beside missing ones.
        left["y"] = left["y"].astype(np.int64)
    return replace(data, **left)


def _listed(classes: NDArray[Any], counts: NDArray[np.intp], which: NDArray[np.bool_]) -> str:
    shown = [f"{str(c)!r} ({n})" for c, n in zip(classes[which], counts[which], strict=True)]
    return ", ".join(shown[:_N_SHOWN]) + (", …" if len(shown) > _N_SHOWN else "")


def _digest(rows: Block | Dataset) -> tuple[str, NDArray[Any]]:
    """Return what tells rows and labels from others, and the classes."""
    classes, codes = np.unique(() if rows.y is None else rows.y, return_inverse=True)
    return f"{fingerprint(rows.X)} {fingerprint(codes)} {classes.tolist()}", classes


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
            for name in map(str.strip, value.split(",")):
                # A column of text stands for all of its categories.
                encoded = [j for other, j in places.items() if other.startswith(f"{name}=")]
                plain = name in places or not encoded
                kept += [_place(name, places, "--keep")] if plain else encoded
    return list(dict.fromkeys(kept))


def labels_of(group_by: str, names: NDArray[np.str_], given: Sequence[str]) -> list[str]:
    """Return the label of the group of each feature, as --group-by says, "" for those alone.

    Features that have a label already keep it.
    """
    if group_by.startswith("@"):
        listed = {unguarded(name): label for _, name, label in _lines(Path(group_by[1:]))}
        for name in listed:
            _place(name, _places(names), group_by[1:])
        found = [listed.get(str(name), "") for name in names]
    elif group_by.startswith("prefix:"):
        mark = group_by.removeprefix("prefix:")
        if not mark:
            raise ValueError("--group-by prefix: needs what ends the prefix, such as prefix:_.")
        found = [str(name).rpartition(mark)[0] for name in names]
    else:
        try:
            pattern = re.compile(group_by)
        except re.error as error:
            raise ValueError(f"--group-by {group_by!r} is no pattern: {error}.") from error
        matches = (pattern.search(str(name)) for name in names)
        found = [m[bool(pattern.groups)] or "" if m else "" for m in matches]
    if not any(found):
        raise ValueError(f"--group-by {group_by!r} puts no feature in a group; check the names.")
    return [label or other for label, other in zip(given, found, strict=True)]


def _places(names: NDArray[np.str_]) -> dict[str, int]:
    return {str(name): index for index, name in enumerate(names)}


def _place(name: str, places: Mapping[str, int], where: str) -> int:
    # A list written by hand may have names without the guard against formulas.
    place = places.get(unguarded(name), places.get(name))
    if place is None:
        raise ValueError(f"{where}: the data have no feature {name!r}; {hint_for(name, places)}.")
    return place


def _lines(path: Path) -> Iterator[tuple[str, str, str]]:
    """Yield where each line is that is not blank, its name, and its scale, 1 if it has none."""
    if not path.exists():
        raise not_found(path)
    content = path.read_bytes()
    as_utf8(content, str(path))
    # A byte-order mark is no part of a name.
    text = content.decode("utf-8-sig")
    header = [name.strip('"') for name in text.partition("\n")[0].strip().split(",")]
    is_table = path.suffix.lower() == ".csv" and "feature" in header and len(header) > 1
    names, delimiter = (None, ",") if is_table else (["feature", "scale"], "\t")
    rows = csv.DictReader(io.StringIO(text, newline=""), names, delimiter=delimiter)
    try:
        for row in rows:
            where = f"{path}, line {rows.line_num}"
            beyond: Any = row.pop(None, [])
            n_fields = sum(field is not None for field in row.values()) + len(beyond)
            if is_table and n_fields != len(header):
                found = f"there are {n_fields} fields, and the header has {len(header)}"
                raise ValueError(f"{where}: {found}. Correct the line.")
            yield where, row["feature"], (row.get("scale") or "1").strip()
    except csv.Error as error:
        raise ValueError(f"{path}, line {rows.reader.line_num}: {error}.") from error


# Labels: classes, or numbers to predict


def joined_classes(y: NDArray[Any] | None) -> NDArray[Any] | None:
    """Return labels with the most frequent spelling of those that differ in case or spaces."""
    if y is None or y.dtype.kind != "U":
        return y
    rarest_first = sorted(Counter(y.tolist()).items(), key=lambda item: item[::-1])
    usual = {_folded(name): name for name, _ in rarest_first}
    return np.array([usual[_folded(name)] for name in y.tolist()])


def alike_classes(labels: NDArray[Any]) -> str:
    """Return which classes differ only in case or spaces, in words, or nothing."""
    spellings: dict[str, list[str]] = {}
    for name in np.unique(labels).tolist() if labels.dtype.kind == "U" else ():
        spellings.setdefault(_folded(name), []).append(name)
    alike = [name for names in spellings.values() if len(names) > 1 for name in names]
    return f"classes that differ only in case or spaces: {first_few(alike)}" if alike else ""


def _folded(name: str) -> str:
    return "".join(name.casefold().split())


def check_classes(y: NDArray[Any] | None, model: str) -> None:
    """Raise, before any long work, if there are too many labels to tell apart, where known."""
    if y is None or not too_many(n_different := len(np.unique(y)), len(y)):
        return
    found = f"the labels have {n_different:,} different values in {len(y):,} rows"
    if y.dtype.kind not in "if":
        found += f", such as {str(y[0])[:60]!r}: these look like the names of rows"
        raise ValueError(f"{found}. Give them as --id, and a column of classes as --target.")
    if model not in ("ridge", "regression"):
        found += f", and --model {model} tells classes apart"
        raise ValueError(f"{found}. Use --model regression, or a column of classes as --target.")
