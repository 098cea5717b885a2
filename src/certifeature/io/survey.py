"""What is in a file, also where it cannot be used as it is: text, missing values, no labels."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certifeature.io._bytes import read_bytes
from certifeature.io._columns import Columns
from certifeature.io._delimited import is_missing, is_plain_number, read_table
from certifeature.io._parquet import is_numeric, parquet_table

__all__ = ["Candidate", "Survey", "Text", "survey_table"]

_MAX_CLASSES = 10


@dataclass(frozen=True, eq=False)
class Text:
    """A column with text in it."""

    name: str
    place: int
    example: str
    n_different: int


@dataclass(frozen=True, eq=False)
class Candidate:
    """A column that may hold the labels, and how often it has each of its values."""

    name: str
    counts: dict[str, int]


@dataclass(frozen=True, eq=False)
class Survey:
    """What the columns of data hold.

    Attributes
    ----------
    n_columns : int
        All columns, whatever they are for.
    X : ndarray or CSR array of shape (n_rows, n_numeric)
        Features that are numbers, with NaN where values are missing.
    names : list of str or None
        Their names, if they have any.
    texts : list of Text
        Features that are none.
    labels : list of str or of numbers, or None
        Labels, "" where one is missing.
    target, id : str or None
        Names of the columns of labels and of row names.
    candidates : list of Candidate
        Where there are no labels, features that may be them.
    """

    n_columns: int
    X: Any
    names: list[str] | None
    texts: list[Text]
    labels: list[Any] | None
    target: str | None
    id: str | None
    candidates: list[Candidate]


def survey_table(path: str, columns: Columns, kind: str) -> Survey:
    """Return what is in a CSV, TSV or Parquet file.

    Parameters
    ----------
    path : str
        The file.
    columns : Columns
        What is known of its columns.
    kind : {"csv", "tsv", "parquet"}
        What the file is.
    """
    content, source = read_bytes(Path(path))
    if kind == "parquet":
        names, values = _parquet_columns(content, source, columns)
    else:
        delimiter = "," if kind == "csv" else "\t"
        table, columns = read_table(content, source, delimiter, columns)
        names = table.names
        values = list(zip(*(record for _, record in table.records), strict=True))
    places = columns.places(names, source)
    numeric: dict[str, NDArray[np.float64]] = {}
    texts = []
    for place in places.features:
        found = _numbers(values[place])
        if isinstance(found, str):
            texts.append(Text(names[place], place, found, len(set(values[place]))))
        else:
            numeric[names[place]] = found
    candidates = []
    if places.label is None:
        of_text = [text.place for text in texts]
        candidates = _candidates(names, values, of_text, places.features[-2:])
    n_rows = len(values[0])
    X = np.column_stack([*numeric.values()]) if numeric else np.empty((n_rows, 0))
    label, row_names = places.label, places.id
    return Survey(
        n_columns=len(names),
        X=X,
        names=list(numeric),
        texts=texts,
        labels=None if label is None else ["" if v is None else v for v in values[label]],
        target=None if label is None else names[label],
        id=None if row_names is None else names[row_names],
        candidates=candidates,
    )


def _candidates(
    names: list[str], values: list[Any], texts: list[int], last_two: list[int]
) -> list[Candidate]:
    """Return columns with few values, in their order: of text, or the last if it has whole numbers.

    Where the one before the last is like it, all may be (genotypes, for example), and it is none.
    """
    few = {place: counts for place in {*texts, *last_two} if (counts := _few(values[place]))}
    numbers = [place for place in last_two if place in few and place not in texts]
    likely = [place for place in sorted(few) if place in texts or numbers == last_two[-1:]]
    return [Candidate(names[place], few[place]) for place in likely]


def _few(values: Any) -> dict[str, int] | None:
    """Return how often each value occurs, if they are few texts or whole numbers."""
    if isinstance(values, np.ndarray):
        values = [f"{value:g}" for value in values]
    counts = Counter(str(value).strip() for value in values)
    is_whole = all(not is_plain_number(value) or float(value) % 1 == 0 for value in counts)
    is_few = 2 <= len(counts) <= min(_MAX_CLASSES, len(values) // 2)
    return dict(counts.most_common()) if is_whole and is_few and "" not in counts else None


def _numbers(values: Any) -> NDArray[np.float64] | str:
    """Return a column as numbers, NaN where one is missing; or a text that is in it."""
    if isinstance(values, np.ndarray):
        return values
    fields = list(map(str, values))
    text = next((f for f in fields if not is_missing(f) and not is_plain_number(f)), None)
    if text is not None:
        return text
    return np.array([np.nan if is_missing(field) else float(field) for field in fields])


def _parquet_columns(content: bytes, source: str, columns: Columns) -> tuple[list[str], list[Any]]:
    pyarrow, table = parquet_table(content, source, columns)
    values = [
        np.asarray(column.cast(pyarrow.float64(), safe=False).to_numpy())
        if is_numeric(pyarrow.types, column.type)
        else ["" if value is None else str(value) for value in column.to_pylist()]
        for column in table.columns
    ]
    return table.column_names, values
