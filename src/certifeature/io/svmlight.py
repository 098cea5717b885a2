"""SVMlight and LIBSVM text: each line a label and ``index:value`` pairs.

scikit-learn parses it. Its parser accepts NaN and infinity, reads ``1_0`` as ten and anything that
starts with ``qid`` as a query, and does not name the line of an error; hence the checks here.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from certifeature._utils import warn
from certifeature.datasets.dataset import Dataset
from certifeature.io._common import checked_data, decoding
from certifeature.io.tables import Columns

_NUMBER = rb"[+-]?(?:\d++(?:\.\d*+)?+|\.\d++)(?:[eE][+-]?\d++)?"
_PAIR = rb"\d{1,10}:" + _NUMBER
_LINE = re.compile(rb"\s*+" + _NUMBER + rb"(?:\s++qid:\d++)?(?:\s++" + _PAIR + rb")*+\s*+")
_LARGEST_INDEX = int(np.iinfo(np.int32).max)


@dataclass(frozen=True, eq=False)
class SVMlightRows:
    """The rows of a file as they stand in it: indices from 0 or 1, and the text."""

    labels: NDArray[np.float64]
    X: Any
    content: bytes
    source: str

    def require(self, fine: NDArray[np.bool_], needed: str) -> None:
        """Raise an error about the first entry that is not fine, if there is one."""
        if not fine.all():
            entry = int(np.argmin(fine))
            row = int(np.searchsorted(self.X.indptr, entry, "right")) - 1
            line, _ = list(_data_lines(self.content))[row]
            place = f"{self.source}, line {line}: index {self.X.indices[entry]}"
            raise ValueError(f"{place}: {needed}")

    def matrix(self, columns: NDArray[np.integer], n_columns: int) -> Any:
        """Return the rows as a CSR array, given the column of each entry."""
        shape = (self.labels.size, n_columns)
        return sparse.csr_array((self.X.data, columns, self.X.indptr), shape=shape)


def read_svmlight(
    content: bytes, source: str, columns: Columns, n_features: int | None = None
) -> Dataset:
    """Read SVMlight text; indices start at 1 if the number of features is given or none is 0.

    They start at 0 where `columns` says so.
    """
    check_no_columns(columns, source)
    rows = parse_svmlight(content, source)
    indices = rows.X.indices
    first = 0 if columns.zero_based else int(n_features is not None or indices.min(initial=1) > 0)
    if n_features is None:
        n_features = int(indices.max(initial=first - 1)) + 1 - first
    within = (indices >= first) & (indices - first < n_features)
    needed = f"it must be between {first} and {n_features - 1 + first}."
    if indices.min(initial=first) < first:
        needed += " If the first index is 0, say so with --zero-based (zero_based=True in Python)."
    rows.require(within, needed)
    return checked_data(rows.matrix(indices - first, n_features), rows.labels, None, source)


def check_no_columns(columns: Columns, source: str) -> None:
    """Raise if a column is asked for: the label is always the first number of a line."""
    if columns.target is not None:
        found = f"target={columns.target!r} is given; the label of SVMlight data is"
        raise ValueError(f"{source}: {found} the first number of each line. Leave target out.")
    if columns.features:
        found = f"feature={columns.features[0]!r} is given; all columns of SVMlight data are"
        raise ValueError(f"{source}: {found} features. Leave it out.")
    columns.check_for_arrays(source, "SVMlight")


def parse_svmlight(content: bytes, source: str) -> SVMlightRows:
    """Parse all lines, or say which is the first that is wrong, and how."""
    content = content.removeprefix(codecs.BOM_UTF8)
    try:
        X, labels = load_svmlight_file(io.BytesIO(content), zero_based=True)
    except (ValueError, OverflowError) as error:
        _check_lines(content, source)
        with decoding(source, "SVMlight text"):
            raise error
    is_finite = np.isfinite(labels).all() and np.isfinite(X.data).all()
    if not is_finite or b"_" in content or b"qid" in content:
        _check_lines(content, source)
    if not labels.size:
        raise ValueError(f"{source}: there is no line with data, such as '+1 3:0.5 7:1'.")
    if not content.endswith((b"\n", b"\r")):
        warn(f"{source}: the last line has no end; check that the file was not cut short.")
    return SVMlightRows(labels, X, content, source)


def _data_lines(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the number and the text of each line that is not blank, without its comment."""
    for line, text in enumerate(io.BytesIO(content), start=1):
        data = text.partition(b"#")[0]
        if data.strip():
            yield line, data


def _check_lines(content: bytes, source: str) -> None:
    """Raise an error about the first line that is wrong, if there is one."""
    for line, text in _data_lines(content):
        if problem := _problem(text):
            raise ValueError(f"{source}, line {line}: {problem}.")


def _problem(text: bytes) -> str | None:
    """Return what is wrong in a line, if anything, and what to do."""
    label, *pairs = text.split()
    if _LINE.fullmatch(text):
        too_large = "too large for a 64-bit number"
        if np.isinf(float(label)):
            return f"the label is {too_large}. Use smaller ones"
        before = -1
        for number, value in re.findall(rb"\s(\d++):(\S++)", text):
            index = int(number)
            if index > _LARGEST_INDEX:
                return f"index {index}: the largest index possible is {_LARGEST_INDEX}"
            if index <= before:
                return f"index {index}: it is not above the index before it. Sort the line"
            if np.isinf(float(value)):
                return f"index {index}: its value is {too_large}. Scale or remove such values"
            before = index
        return None
    if b":" in label:
        return f"it starts with {_shown(label)}, so the label is missing. Start with a label"
    if b"," in label:
        return f"{_shown(label)} gives several labels, and one per line is needed. Choose one"
    if not re.fullmatch(_NUMBER, label):
        return f"the label {_shown(label)} is not a finite number. Number the classes, as -1 and +1"
    if pairs and re.fullmatch(rb"qid:\d+", pairs[0]):
        pairs = pairs[1:]
    wrong = next(pair for pair in pairs if not re.fullmatch(_PAIR, pair))
    number, _, value = wrong.partition(b":")
    if not number or not value:
        return f"{_shown(wrong)} is not a pair index:value. Correct the line"
    if not re.fullmatch(rb"\d{1,10}", number):
        return f"in {_shown(wrong)}, the index is not a whole number from 0 to {_LARGEST_INDEX}"
    return f"in {_shown(wrong)}, the value is not a finite number. Impute or remove such values"


def _shown(token: bytes) -> str:
    return repr(token[:40].decode("utf-8", "backslashreplace"))
