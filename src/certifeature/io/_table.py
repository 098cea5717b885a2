"""The fields of CSV and TSV text, row by row, with samples in rows or in columns."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from certifeature._files import unguarded
from certifeature.io._bytes import check_text
from certifeature.io._columns import Columns

__all__ = ["Table", "delimited_table", "transposed_table"]

_GEO = ("!series", "!sample", "!platform", "!dataset")


@dataclass(frozen=True, eq=False)
class Table:
    """Names of columns, and the fields of each row with the number or name of its place."""

    names: list[str]
    records: Iterable[tuple[int | str, Sequence[str]]]
    source: str
    # What rows and columns are called in the file.
    row: str = "line"
    column: str = "column"

    def place(self, row: int | str) -> str:
        """Return what an error calls a row."""
        return f"{self.source}, {self.row} {row}"


def delimited_table(content: bytes, source: str, delimiter: str) -> Table:
    """Return the table of a text with a header, and a sample in each line after it."""
    records = _records(content, source, delimiter)
    _, header = next(records, (0, []))
    _check_header(header, source, delimiter)
    return Table(_cleaned(header), _checked(records, len(header), source), source)


def transposed_table(
    content: bytes, source: str, delimiter: str, columns: Columns
) -> tuple[Table, Columns]:
    """Return the table of a text with a feature in each line, and a sample in each column.

    The first column names the features, the header the samples. Columns that are to be left out
    may be some of either.
    """
    (_, header), *records = [*_records(content, source, delimiter)] or [(0, [])]
    if records and all(len(record) == len(header) + 1 for _, record in records):
        # R writes no name above the names of the rows.
        header = ["", *header]
    _check_header(header, source, delimiter)
    fields = [record for _, record in _checked(iter(records), len(header), source)]
    samples = _cleaned(header)
    dropped = {name for name in columns.drop if name in samples[1:]}
    names, *rows = zip(*fields, strict=True)
    named = [
        (repr(sample), [sample, *row])
        for sample, row in zip(samples[1:], rows, strict=True)
        if sample not in dropped
    ]
    table = Table([samples[0], *_cleaned(names)], named, source, row="column", column="row")
    drop = tuple(name for name in columns.drop if name not in dropped)
    return table, replace(columns, id=0 if columns.id is None else columns.id, drop=drop)


def _cleaned(names: Sequence[str]) -> list[str]:
    return [unguarded(name.strip()) for name in names]


def _checked(
    records: Iterator[tuple[int, list[str]]], n_fields: int, source: str
) -> Iterator[tuple[int, list[str]]]:
    """Yield records of which there is at least one, with as many fields as the header."""
    line = 0
    for number, (line, record) in enumerate(records):
        if len(record) != n_fields:
            _check_geo(record, source)
            if number == 0 and len(record) == n_fields + 1:
                raise ValueError(
                    f"{source}: the header has {n_fields} names, and line {line} has {len(record)} "
                    "fields, one more. R writes no name above the names of the rows: begin the "
                    "header with a name for them, such as id, and give it as id (--id id); or, if "
                    "the samples are in columns, add --transpose, which needs no such name."
                )
            raise ValueError(
                f"{source}, line {line}: there are {len(record)} fields, and the header has "
                f"{n_fields}. Correct the line; check that the file is complete."
            )
        yield line, record
    if not line:
        raise ValueError(
            f"{source}: there is a header and no line of data. Check that the file is complete."
        )


def _records(content: bytes, source: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the first line of each record that is not blank, and its fields."""
    check_text(content, source)
    text = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", newline="")
    reader = csv.reader(text, delimiter=delimiter, strict=True)
    line = 1
    try:
        for record in reader:
            if record:
                yield line, record
            line = reader.line_num + 1
    except csv.Error as error:
        remedy = "Correct the quotation marks of the record that starts there."
        header = content.partition(b"\n")[0].decode()
        if line == 1 and delimiter not in header and any(mark in header for mark in ",;\t"):
            # A header with another separator is one field: too long, or with marks inside.
            remedy = _about_separator(header)
        raise ValueError(f"{source}, line {line}: {error}. {remedy}") from None


def _check_header(header: Sequence[str], source: str, delimiter: str) -> None:
    if not header:
        raise ValueError(
            f"{source}: the file is empty. A header with the names of the columns and at least "
            "one line of data are needed."
        )
    _check_geo(header, source)
    if len(header) == 1:
        raise ValueError(
            f"{source}, header: {header[0].strip()[:60]!r} is one column; a label and at least "
            f"one feature, separated by {delimiter!r}, are needed. {_about_separator(header[0])}"
        )


def _about_separator(header: str) -> str:
    """Return what to do about a header of one column."""
    if ";" in header:
        return (
            "The header has semicolons: save the table as CSV with commas between the columns and "
            "points in the numbers, not decimal commas."
        )
    for delimiter, name, kind in (("\t", "tabs", "tsv"), (",", "commas", "csv")):
        if delimiter in header:
            return f"The header has {name}: give --format {kind} (format={kind!r} in Python)."
    return "Check the separator."


def _check_geo(record: Sequence[str], source: str) -> None:
    """Raise if a record is of the part of a GEO series matrix that is no table."""
    if record[0].lower().startswith(_GEO):
        raise ValueError(
            f"{source}: there is a line {record[0].split()[0][:60]!r}, as in a series matrix of "
            "GEO, which is no line of a table. Remove the lines that begin with '!', for example "
            "with: grep -v '^!'. If one of them has the labels, keep it as a line of the table, "
            "with a name such as class at its beginning."
        )
