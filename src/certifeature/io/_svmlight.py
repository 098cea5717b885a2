"""SVMlight and LIBSVM text: each line a label and ``index:value`` pairs.

The parser of scikit-learn accepts NaN and infinity, reads ``1_0`` as ten and anything that starts
with ``qid`` as a query, and does not name the line of an error; hence this stricter one.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from certifeature import _resources as _memory
from certifeature.datasets.dataset import Dataset
from certifeature.io._checks import checked_data
from certifeature.io._columns import Columns

__all__ = ["SVMlightRows", "check_no_columns", "parse_svmlight", "read_svmlight"]

_NUMBER = rb"[+-]?(?:\d++(?:\.\d*+)?+|\.\d++)(?:[eE][+-]?\d++)?"
_LINE = re.compile(
    rb"[ \t]*(" + _NUMBER + rb")(?:[ \t]+qid:\d+)?"
    rb"((?:[ \t]+\d{1,10}:" + _NUMBER + rb")*+)[ \t]*(?:#.*)?\r?"
)
_NO_DATA = re.compile(rb"[ \t]*(?:#.*)?\r?")
_LARGEST_INDEX = int(np.iinfo(np.int32).max)


@dataclass(frozen=True, eq=False)
class SVMlightRows:
    """The rows of a file as they stand in it: indices from 0 or 1, and the line of each row."""

    labels: NDArray[np.float64]
    indptr: NDArray[np.int64]
    indices: NDArray[np.integer]
    values: NDArray[np.float64]
    lines: NDArray[np.int64]
    source: str

    def line_of(self, entry: int) -> int:
        """Return the line that an entry of `indices` stands in."""
        return int(self.lines[np.searchsorted(self.indptr, entry, "right") - 1])

    def require(self, fine: NDArray[np.bool_], needed: str) -> None:
        """Raise an error about the first entry that is not fine, if there is one."""
        if not fine.all():
            entry = int(np.argmin(fine))
            raise ValueError(
                f"{self.source}, line {self.line_of(entry)}: index {self.indices[entry]}: {needed}"
            )

    def matrix(self, columns: NDArray[np.integer], n_columns: int) -> Any:
        """Return the rows as a CSR array, given the column of each entry."""
        shape = (self.labels.size, n_columns)
        return sparse.csr_array((self.values, columns, self.indptr), shape=shape)


def read_svmlight(content: bytes, source: str, columns: Columns) -> Dataset:
    """Read SVMlight text; indices are taken to start at 1 unless one of them is 0."""
    check_no_columns(columns, source)
    rows = parse_svmlight(content, source)
    first = int(rows.indices.min(initial=1) > 0)
    numbers = rows.indices - first
    X = rows.matrix(numbers, int(numbers.max(initial=-1)) + 1)
    return checked_data(X, rows.labels, None, source)


def check_no_columns(columns: Columns, source: str) -> None:
    """Raise if a column is asked for: the label is always the first number of a line."""
    columns.refuse_but_target(source, "SVMlight")
    if columns.target is not None:
        raise ValueError(
            f"{source}: target={columns.target!r} was given, but the label of SVMlight data is the "
            "first number of each line. Leave target out."
        )


def parse_svmlight(content: bytes, source: str) -> SVMlightRows:
    """Parse all lines, or say which is the first that is wrong, and how."""
    first_line, parts = 1, []
    for text in _pieces(content.removeprefix(codecs.BOM_UTF8)):
        lines = text.split(b"\n")
        parts.append(_parse_lines(lines, first_line, source))
        first_line += len(lines)
    if not any(part.lines.size for part in parts):
        raise ValueError(
            f"{source}: there is no line with data. Lines such as '+1 3:0.5 7:1' are needed; "
            "check that the file is complete."
        )
    n_pairs = np.concatenate([np.diff(part.indptr) for part in parts])
    return SVMlightRows(
        labels=np.concatenate([part.labels for part in parts]),
        indptr=_indptr(n_pairs),
        indices=np.concatenate([part.indices for part in parts]),
        values=np.concatenate([part.values for part in parts]),
        lines=np.concatenate([part.lines for part in parts]),
        source=source,
    )


def _pieces(content: bytes) -> Iterator[bytes]:
    """Yield whole lines that are parsed together; what is made on the way takes more memory."""
    start = 0
    while start <= len(content):
        end = content.find(b"\n", start + _memory.TEXT_BYTES_AT_ONCE)
        end = len(content) if end < 0 else end
        yield content[start:end]
        start = end + 1


def _parse_lines(texts: list[bytes], first_line: int, source: str) -> SVMlightRows:
    """Return the rows in some lines, checked."""
    fields: list[bytes] = []
    lines, n_pairs = [], []
    for line, text in enumerate(texts, start=first_line):
        match = _LINE.fullmatch(text)
        if match is not None:
            fields += match.groups()
            lines.append(line)
            n_pairs.append(match[2].count(b":"))
        elif not _NO_DATA.fullmatch(text):
            _blame(text, f"{source}, line {line}")
    numbers = np.fromstring(b" ".join(fields).replace(b":", b" "), sep=" ")
    indptr = _indptr(n_pairs)
    is_label = np.zeros(numbers.size, dtype=bool)
    is_label[2 * indptr[:-1] + np.arange(len(lines))] = True
    pairs = numbers[~is_label].reshape(-1, 2)
    rows = SVMlightRows(
        labels=numbers[is_label],
        indptr=indptr,
        indices=pairs[:, 0].astype(np.int64),
        values=pairs[:, 1].copy(),
        lines=np.array(lines, dtype=np.int64),
        source=source,
    )
    _check_rows(rows)
    return replace(rows, indices=rows.indices.astype(np.int32))


def _indptr(n_pairs: Any) -> NDArray[np.int64]:
    return np.concatenate(([0], np.cumsum(n_pairs, dtype=np.int64)))


def _check_rows(rows: SVMlightRows) -> None:
    if not np.isfinite(rows.labels).all():
        line = rows.lines[np.argmin(np.isfinite(rows.labels))]
        raise ValueError(
            f"{rows.source}, line {line}: the label is too large for a 64-bit number. Use smaller "
            "numbers as labels."
        )
    rows.require(
        rows.indices <= _LARGEST_INDEX,
        f"the largest index possible is {_LARGEST_INDEX}. Number the features from 1.",
    )
    rows.require(
        np.isfinite(rows.values),
        "its value is too large for a 64-bit number. Scale or remove such values.",
    )
    increasing = np.ones(rows.indices.size, dtype=bool)
    increasing[1:] = rows.indices[1:] > rows.indices[:-1]
    starts = rows.indptr[:-1]
    increasing[starts[starts < rows.indices.size]] = True
    rows.require(
        increasing,
        "it is not above the index before it; indices must increase within a line. Sort each "
        "line, and join pairs of the same index.",
    )


def _blame(text: bytes, place: str) -> NoReturn:
    """Say what is wrong in a line that does not follow the grammar."""
    label, *pairs = text.partition(b"#")[0].split() or [b""]
    if b":" in label:
        raise ValueError(
            f"{place}: it starts with {_shown(label)}, so the label is missing. Start each line "
            "with a label, 0 if unknown."
        )
    if b"," in label:
        raise ValueError(
            f"{place}: {_shown(label)} gives several labels, and one per line is needed. Choose "
            "one, or write a file for each label."
        )
    if not re.fullmatch(_NUMBER, label):
        raise ValueError(
            f"{place}: the label {_shown(label)} is not a finite number. Number the classes, for "
            "example -1 and +1."
        )
    for pair in pairs:
        _blame_pair(pair, place)
    raise ValueError(
        f"{place}: something other than spaces and tabs stands between the pairs. Lines such as "
        "'+1 3:0.5 7:1' are needed; end each with a newline."
    )


def _blame_pair(pair: bytes, place: str) -> None:
    index, colon, value = pair.partition(b":")
    if not colon or not index or not value:
        raise ValueError(
            f"{place}: {_shown(pair)} is not a pair index:value. Correct the line; check that the "
            "file is complete."
        )
    if not re.fullmatch(rb"\d+", index) and not re.fullmatch(rb"qid:\d+", pair):
        raise ValueError(
            f"{place}: in {_shown(pair)}, the index is not a whole number of at least 0. Number "
            "the features from 1."
        )
    if len(index) > 10:
        raise ValueError(
            f"{place}: in {_shown(pair)}, the index is above {_LARGEST_INDEX}, the largest "
            "possible. Number the features from 1."
        )
    if not re.fullmatch(_NUMBER, value):
        raise ValueError(
            f"{place}: in {_shown(pair)}, the value is not a finite number. Impute or remove such "
            "values first."
        )


def _shown(token: bytes) -> str:
    return repr(token[:40].decode("utf-8", "backslashreplace"))
