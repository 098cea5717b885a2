"""CSV, TSV, Excel and Parquet: tables with named columns, one of which holds the labels.

Every format becomes a :class:`_Table`: a number where a field is one, and the text of all other
fields. The csv module of the standard library splits text: it is strict about quotation marks and
shows how many fields a line has, where other parsers fill short lines without an error.
"""

from __future__ import annotations

import csv
import io
import re
from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property, partial
from itertools import chain, combinations, islice
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certifeature._files import unguarded
from certifeature._utils import require, warn
from certifeature.datasets.dataset import Dataset
from certifeature.io._common import as_labels, as_utf8, checked_data, decoding, unzipped
from certifeature.rows.names import as_changed, first_few, hint_for, not_features, warn_of_roles

_Column = str | int
_LABEL_NAMES = frozenset({"y", "label", "labels", "target", "class"})
_MISSING = frozenset({"", "?", "na", "n/a", "#n/a", "nan", "null", "none"})
_DELIMITERS = {"csv": ",;\t", "tsv": "\t,;"}
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?")
# What may stand between thousands, by the decimal mark.
_SEPARATORS = {
    mark: (other, "['’]", "[ \u00a0\u2009\u202f]") for mark, other in ((".", ","), (",", r"\."))
}


def _grouped(separator: str) -> str:
    return rf"\s*[+-]?[1-9]\d{{0,2}}(?:{separator}\d{{3}})+"


# Fields that are text, by the number of the feature and then of the row.
_Texts = dict[int, dict[int, str]]
# Columns that are no features, and yet used.
_ROLES = ("target", "id", "groups")
# Where the label may be if it is not where it was looked for, by whether a file is transposed.
_OTHER_SIDE = {
    False: ("column", "line", "add --transpose (transpose=True in Python)"),
    True: ("row", "column", "leave out --transpose (transpose in Python)"),
}


# What is asked of a table


@dataclass(frozen=True)
class Columns:
    """What is asked of a table: names of columns, or positions counted from 0.

    `accept` says what is no error, and `features` which columns are features although they seem to
    be none: see `certifeature.io.read_data`. `held_out` has the columns that are held out, and what
    they seem to be, where another file has decided it.
    """

    target: _Column | None = None
    id: _Column | None = None
    groups: _Column | None = None
    drop: Sequence[_Column] = ()
    transpose: bool = False
    encoding: str | None = None
    zero_based: bool = False
    accept: Collection[str] = ()
    features: Sequence[str] | None = None
    held_out: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.drop, str | Integral):
            raise ValueError(f"drop={self.drop!r} is one column; give a list, [{self.drop!r}].")

    @property
    def _asked(self) -> dict[str, Sequence[_Column]]:
        """The columns that each role is given to."""
        one = {"target": self.target, "id": self.id, "groups": self.groups}
        return {**{role: [] if c is None else [c] for role, c in one.items()}, "drop": self.drop}

    def places(
        self, names: Sequence[str], source: str, others: Callable[[], Sequence[str]] = tuple
    ) -> dict[str, list[int]]:
        """Return the positions of each role and of the features, or raise if one is missing.

        Parameters
        ----------
        names : sequence of str
            Names of the columns.
        source : str
            Name of the file.
        others : callable
            Returns the names that the columns would have if the file were transposed.
        """
        column, other, remedy = _OTHER_SIDE[self.transpose]
        asked = {role: [_typed(c, names) for c in cs] for role, cs in self._asked.items()}
        for target in asked["target"]:
            if isinstance(target, str) and target not in names and target in others():
                found = f"no {column} is called {target!r}, but a {other} is"
                raise ValueError(f"{source}: {found}; {remedy}.")
        label = find_label(names, next(iter(asked["target"]), None), source)
        if label is None and "unlabelled" not in self.accept:
            # Labels are often in the last of thousands.
            last = f"; the last is {names[-1][:60]!r}" if len(names) > 8 else ""
            found = f"no {column} is named y, label, target or class; there is {first_few(names)}"
            needed = f"Give the name of the {column} of labels as target (--target)"
            raise ValueError(f"{source}: {found}{last}. {needed}.")
        places = {role: [_place(names, c, source, role) for c in cs] for role, cs in asked.items()}
        places["target"] = [] if label is None else [label]
        for (role, taken), (other, wanted) in combinations(places.items(), 2):
            # What names the rows may group them, too.
            for place in set(taken) & set(wanted) if (role, other) != ("id", "groups") else ():
                twice = f"column {names[place]!r} is given as {role} and as {other}"
                raise ValueError(f"{source}: {twice}. Take it out of one of them.")
        features = sorted({*range(len(names))}.difference(*places.values()))
        return {**places, "features": features}

    def aside(
        self, X: Any, names: Sequence[str], source: str, texts: Collection[int] = ()
    ) -> dict[int, str]:
        """Return the columns to hold out of the features, and what each seems to be.

        Unless `features` says which of them to use, there are none, and a warning instead.
        """
        if self.held_out is not None:
            return {j: self.held_out[name] for j, name in enumerate(names) if name in self.held_out}
        if self.features is None:
            warn_of_roles(X, names, f"{source}: ")
            return {}
        for name in self.features:
            _place(names, name, source, "feature")
        roles = not_features(X, names, texts)
        return {j: role for j, role in roles.items() if names[j] not in self.features}

    def held_out_of(self, data: Dataset) -> Dataset:
        """Return the data without what hardly are features."""
        names = range(data.X.shape[1]) if data.feature_names is None else data.feature_names
        return data.holding_out(self.aside(data.X, list(map(str, names)), data.source))

    def check_for_arrays(self, source: str, kind: str) -> None:
        """Raise if something is asked that only tables with named columns have."""
        options = {**self._asked, "transpose": self.transpose, "encoding": self.encoding}
        for name, is_given in options.items():
            if is_given and name != "target":
                tables = "tables with named columns (CSV, TSV, Excel, Parquet)"
                found = f"{name}={getattr(self, name)!r} was given, which is for {tables}"
                raise ValueError(f"{source}: {found}; this is {kind}. Leave {name} out.")
        if isinstance(self.target, Integral):
            raise ValueError(f"{source}: target={self.target} is a position; name an array.")


def _typed(column: Any, names: Sequence[str]) -> Any:
    """Return a position where one was typed, for all that is typed on a command line is text."""
    if isinstance(column, str) and column not in names and column.removeprefix("-").isdecimal():
        return int(column)
    return column


def find_label(names: Sequence[str], target: _Column | None, source: str) -> int | None:
    """Return the position of the label among the names, or None if none looks like one."""
    if target is not None:
        return _place(names, target, source, "target")
    found = [position for position, name in enumerate(names) if name.lower() in _LABEL_NAMES]
    if len(found) > 1:
        shown = first_few([names[i] for i in found])
        raise ValueError(f"{source}: the labels could be {shown}. Give one as target.")
    return found[0] if found else None


def _place(names: Sequence[str], column: _Column, source: str, asked: str) -> int:
    """Return the position of a column, given by its name or position."""
    if isinstance(column, str):
        n_found = list(names).count(column)
        if n_found > 1:
            found = f"{asked}={column!r} is the name of {n_found} columns"
            raise ValueError(f"{source}: {found}. Give the position of one, counted from 0.")
        if n_found:
            return list(names).index(column)
        # Similar names first, since the right one may be the last of thousands.
        likely = get_close_matches(column, names)
        shown = first_few([*likely, *(name for name in names if name not in likely)])
        hint = f"not there. There is {shown}. Give one"
        if as_changed(column, names):
            hint = f"not there; {hint_for(column, names)}"
        raise ValueError(f"{source}: {asked}={column!r} is {hint}.")
    if isinstance(column, bool) or not isinstance(column, Integral):
        needed = "Give the name of a column, or its position: 0 is the first, -1 the last"
        found = f"{asked}={column!r} is neither a name nor a position"
        raise ValueError(f"{source}: {found}. {needed}.")
    if not -len(names) <= column < len(names):
        found = f"{asked}={column} is not a position among {len(names)} columns"
        raise ValueError(f"{source}: {found}. Give one from 0 to {len(names) - 1}.")
    return int(column) % len(names)


# A table, whatever file it comes from


@dataclass(frozen=True, eq=False)
class _Table:
    """The fields of a file: samples in rows, whichever way they lie in the file.

    Attributes
    ----------
    names : list of str
        Names of all columns, whatever they are for.
    places : dict of str to list of int
        What they are for; "about" is what else a GEO series says about the samples.
    numbers : _Numbers
        The fields of the features.
    others : dict of int to list of str
        The fields of the other columns that are asked for.
    row_name : callable
        Returns the name of a row in error messages, given its number from 0.
    column : str
        What a column is called in the file.
    """

    names: list[str]
    places: dict[str, list[int]]
    numbers: _Numbers
    others: Mapping[int, list[str]]
    row_name: Callable[[int], str]
    column: str = "column"

    @property
    def feature_names(self) -> list[str]:
        """The names of the columns that are features."""
        return [self.names[place] for place in self.places["features"]]

    def fields(self, role: str) -> dict[str, NDArray[np.str_]]:
        """Return the names and fields of the columns of a role."""
        places = self.places.get(role, ())
        return {self.names[place]: np.array(_cleaned(self.others[place])) for place in places}


def read_table(content: bytes, source: str, columns: Columns, kind: str) -> Dataset:
    """Read a table of numbers with labels, row names and groups, as far as they are asked for.

    Parameters
    ----------
    content : bytes
        The file.
    source : str
        Its name.
    columns : Columns
        What is asked of it.
    kind : {"csv", "tsv", "excel", "parquet"}
        Its format.
    """
    if kind == "parquet":
        table = _parquet(content, source, columns)
    else:
        is_text = kind != "excel"
        records = _text(content, source, kind, columns) if is_text else _excel(content, source)
        columns = replace(columns, transpose=columns.transpose or records.is_geo)
        table = _with_decimals(records, columns)
    names = table.feature_names
    if not columns.transpose and "unnamed" not in columns.accept:
        _check_names(names, source)
    table.numbers.ungroup()
    if grouped := table.numbers.grouped:
        example = next(iter(grouped.values()))
        found = f"{first_few([names[j] for j in grouped], 1)}: thousands have a separator"
        warn(f"{source}, {table.column} {found}, as in {example!r}; they are read as numbers.")
    X, texts = table.numbers.matrix(), table.numbers.texts
    aside = columns.aside(X, names, source, texts)
    others = {} if "text" in columns.accept else {j: texts[j] for j in texts.keys() - aside}
    categories = _categories(X, {j: texts[j] for j in texts.keys() - others})
    _check_numbers(X, table, columns.accept, others, aside)
    y = None
    labels = next(iter(table.fields("target").values()), None)
    if labels is not None:
        fields = _as_plain(labels.tolist(), table.numbers.decimal_comma)
        y = as_labels(fields, table.row_name, missing="unlabelled" in columns.accept)
    ids, groups = (next(iter(table.fields(role).values()), None) for role in ("id", "groups"))
    named = [role for role in _ROLES if table.places[role]]
    roles = {role: table.names[table.places[role][0]] for role in named}
    if columns.transpose and columns.id is None:
        # What stands above the names of the features.
        del roles["id"]
    about = table.fields("about")
    data = Dataset(X, y, np.array(names), source, ids, groups, roles, categories, about)
    return checked_data(**vars(data.holding_out(aside)), accept=columns.accept)


def _as_plain(fields: list[str], decimal_comma: bool) -> list[str]:
    """Return numbers as Python writes them, and other fields as they are."""
    numbers = _Numbers(len(fields), across=True, decimal_comma=decimal_comma)
    numbers.add(fields)
    numbers.ungroup()
    if numbers.texts or not (decimal_comma or numbers.grouped):
        return fields
    values = zip(fields, numbers.values, strict=True)
    return [text if np.isnan(value) else f"{value:.17g}" for text, value in values]


def _categories(X: NDArray[np.float64], texts: _Texts) -> dict[int, NDArray[np.str_]]:
    """Replace the text of each feature in X by the number of the category, and return these."""
    categories = {}
    for feature, fields in sorted(texts.items()):
        numbers = enumerate(X[:, feature].tolist())
        column = [fields.get(i, "" if np.isnan(x) else f"{x:.15g}").strip() for i, x in numbers]
        names = np.unique([text for text in column if text])
        codes = {str(name): float(code) for code, name in enumerate(names)}
        X[:, feature] = [codes.get(text, np.nan) for text in column]
        categories[feature] = names
    return categories


def _check_names(names: Sequence[str], source: str) -> None:
    if "" in names:
        remedy = "Name it; or, if it names the rows, give its position as id (--id 0)"
        raise ValueError(f"{source}, header: a column has no name. {remedy}.")
    # Different whole numbers are the names that pandas gives; other numbers are data.
    given = all(name.isdecimal() for name in names) and len(set(names)) == len(names)
    if not given and all(_number(name) is not None for name in names):
        found = f"a header is needed; there is {first_few(names)}"
        raise ValueError(f"{source}, header: {found}. Add a line of names.")


def is_prose(values: Collection[str]) -> bool:
    """Tell whether texts are sentences rather than categories: five words or more on average."""
    return sum(len(value.split()) for value in values) >= 5 * max(1, len(values))


def _check_numbers(
    X: NDArray[np.float64],
    table: _Table,
    accept: Collection[str],
    texts: _Texts,
    aside: Collection[int],
) -> None:
    """Raise if there is text, or else if a value of a feature is missing or infinite."""
    names = table.feature_names
    bad = np.isinf(X) if "missing" in accept else ~np.isfinite(X)
    bad[:, list(aside)] = False
    gap = "If it stands for a missing value, leave the field empty and --impute."
    remedy = (
        "Leave text out with drop (--drop), keep one as the names of the rows with id (--id), or "
        "encode it (--categorical onehot); if this is the label, give its name as target."
    )
    if texts:
        feature, *others = sorted(texts)
        row, text = min(texts[feature].items())
        also = f" There is text in {first_few([names[j] for j in others], 4)}, too."
        problem = f"{text[:60]!r} is not a finite number.{also if others else ''}"
        if is_prose(texts[feature].values()):
            remedy = "These are texts: count words first; certifeature doctor prints the lines."
        elif 2 * len(texts[feature]) < len(X):
            remedy = gap
    elif bad.any():
        row, feature = map(int, np.argwhere(bad)[0])
        problem, remedy = f"'{X[row, feature]}' is not a finite number.", gap
        if np.isnan(X[row, feature]):
            problem = "the value is missing."
            remedy = f"Impute it (--impute), or leave out the sample, or drop the {table.column}."
    else:
        return
    place = f"{table.row_name(row)}, {table.column} {names[feature]!r}"
    raise ValueError(f"{place}: {problem} {remedy}")


# Text and Excel: records of fields


@dataclass(frozen=True, eq=False)
class _Records:
    """The lines of a file, split in fields: `lines` gives them anew, with their numbers."""

    lines: Callable[[], Iterator[tuple[int, list[str]]]]
    source: str
    decimal_comma: bool = False
    is_geo: bool = False

    @cached_property
    def header(self) -> list[str]:
        """The names above the columns."""
        (_, header), (_, first) = islice(chain(self.lines(), 2 * [(0, [])]), 2)
        if not header:
            needed = "A header and lines of data are needed"
            raise ValueError(f"{self.source}: the file is empty. {needed}.")
        if len(header) == 1:
            found = f"{header[0].strip()[:60]!r} is one column"
            needed = "a label and features, separated by commas, semicolons or tabs, are needed"
            raise ValueError(f"{self.source}, header: {found}; {needed}. Check the separator.")
        # R writes no name above the names of the rows.
        return _cleaned([""] * (len(first) == len(header) + 1) + header)

    def data(self) -> Iterator[tuple[int, list[str]]]:
        """Yield what follows the header, at least one line, all with as many fields."""
        line, n_fields = 0, len(self.header)
        for line, record in islice(self.lines(), 1, None):
            if len(record) != n_fields:
                found = f"there are {len(record)} fields, and the header has {n_fields}"
                raise ValueError(f"{self.source}, line {line}: {found}. Correct the line.")
            yield line, record
        if not line:
            raise ValueError(f"{self.source}: there is a header and no line of data. Add the data.")


def _text(content: bytes, source: str, kind: str, columns: Columns) -> _Records:
    """Return the records of CSV or TSV text; a header without its separator may have another."""
    content = as_utf8(content, source, columns.encoding)
    if content.startswith((b"!", b'"!')):
        return _Records(partial(_series_matrix, content, source), source, is_geo=True)
    if content and not content.endswith((b"\n", b"\r")):
        warn(f"{source}: the last line has no end; check that the file was not cut short.")
    header = re.sub('"[^"]*"', "", content.partition(b"\n")[0].decode("utf-8", "replace"))
    candidates = _DELIMITERS[kind]
    delimiter = candidates[0] if candidates[0] in header else max(candidates, key=header.count)
    # Where numbers have decimal commas, columns are separated by semicolons.
    number = rb'(?m)(?:^|;)"?' + _DECIMAL_COMMA.pattern.encode() + rb'"?(?=;|\r?$)'
    decimal_comma = delimiter == ";" and re.search(number, content) is not None
    return _Records(partial(_split, content, source, delimiter), source, decimal_comma)


def _split(content: bytes, source: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the first line of each record that is not blank, and its fields."""
    text = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", newline="")
    reader = csv.reader(text, delimiter=delimiter, strict=True)
    line = 1
    try:
        for record in reader:
            if record:
                yield line, record
            line = reader.line_num + 1
    except csv.Error as error:
        problem = f"{error}. Correct the quotation marks from there on"
        if "field limit" in str(error):
            longest = f"a field has more than {csv.field_size_limit():,} characters"
            problem = f"{longest}. Shorten it, or close its quotation mark"
        raise ValueError(f"{source}, line {line}: {problem}.") from None


def _series_matrix(content: bytes, source: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the header of a GEO series matrix, what it says about the samples, and its values.

    Characteristics such as "tissue: liver" are called by what stands before the colon.
    """
    about = []
    for line, (name, *fields) in _split(content, source, "\t"):
        if name.startswith("!Sample_"):
            keys = {field.partition(": ")[0] for field in fields if field}
            if len(keys) == 1 and all(": " in field for field in fields if field):
                name, fields = *keys, [field.partition(": ")[2] for field in fields]
            about.append((line, [name.removeprefix("!Sample_"), *fields]))
        elif not name.startswith("!"):
            yield line, [name, *fields]
            yield from about
            about = []


def _excel(content: bytes, source: str) -> _Records:
    """Return the records of the first sheet of a workbook."""
    openpyxl = require("openpyxl", "Excel files", "cli")
    with decoding(source, "an Excel file"):
        unzipped(content, source)
        book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True)
        sheet = book.worksheets[0]
        # One stray cell far away would make all rows as long as its own.
        sheet.reset_dimensions()
        rows = [
            (line, [_shown(cell) for cell in row])
            for line, row in enumerate(sheet.iter_rows(values_only=True), start=1)
            if any(cell is not None for cell in row)
        ]
    # Sheets may have empty columns on the right, and rows end with their last cell.
    width = max((i + 1 for i, name in enumerate(rows[0][1]) if name), default=0) if rows else 0
    for _, row in rows:
        row[width:] = [cell for cell in row[width:] if cell]
        row += [""] * (width - len(row))
    return _Records(lambda: iter(rows), source)


def _shown(cell: Any) -> str:
    return "" if cell is None else str(int(cell) if isinstance(cell, bool) else cell)


@dataclass
class _Numbers:
    """Numbers of fields that come in lists, each a row or, if `across`, a feature."""

    n_fields: int
    across: bool
    decimal_comma: bool = False
    values: array[float] = field(default_factory=lambda: array("d"))
    texts: _Texts = field(default_factory=dict)
    n_lists: int = 0
    grouped: dict[int, str] = field(default_factory=dict)

    def add(self, fields: Sequence[str]) -> None:
        """Convert a list of fields; those that are neither numbers nor missing are texts."""
        numbers: list[float] = []
        points = [_with_point(text) for text in fields] if self.decimal_comma else fields
        if _is_plain("".join(points)):
            with suppress(ValueError):
                numbers = list(map(float, points))
        if not numbers:
            for place, text in enumerate(fields):
                number = _number(points[place])
                numbers.append(np.nan if number is None else number)
                if number is None and text.strip().lower() not in _MISSING:
                    feature, row = (self.n_lists, place) if self.across else (place, self.n_lists)
                    self.texts.setdefault(feature, {})[row] = text
        self.values.extend(numbers)
        self.n_lists += 1

    @property
    def mark(self) -> str:
        """The decimal mark."""
        return "," if self.decimal_comma else "."

    def shows(self, mark: str) -> bool:
        """Tell whether a field has both marks, for "3.095" alone does not say what they mean."""
        both = re.compile(rf"{_grouped(_SEPARATORS[mark][0])}[{mark}]\d+")
        return any(both.fullmatch(t) for fields in self.texts.values() for t in fields.values())

    def ungroup(self) -> None:
        """Read texts with separators between thousands, where all of a feature have the same."""
        is_shown = self.shows(self.mark)
        for feature, fields in list(self.texts.items()):
            for place, separator in enumerate(_SEPARATORS[self.mark]):
                number = rf"{_grouped(separator)}(?:[{self.mark}]\d+)?"
                twice = rf"{_grouped(separator)}{separator}\d{{3}}.*"
                texts = fields.values()
                clear = is_shown or place or any(re.fullmatch(twice, text) for text in texts)
                if clear and all(re.fullmatch(number, text) for text in texts):
                    self._read_grouped(feature, separator)
                    break

    def _read_grouped(self, feature: int, separator: str) -> None:
        fields = self.texts.pop(feature)
        self.grouped[feature] = next(iter(fields.values()))
        for row, text in fields.items():
            number, place = (feature, row) if self.across else (row, feature)
            plain = re.sub(separator, "", text).replace(self.mark, ".")
            self.values[number * self.n_fields + place] = float(plain)

    def matrix(self) -> NDArray[np.float64]:
        """Return a row for each sample."""
        lists = np.asarray(self.values).reshape(self.n_lists, self.n_fields)
        return np.ascontiguousarray(lists.T) if self.across else lists


def _with_point(text: str) -> str:
    """Return a number with a decimal comma as Python writes it, and one with points as text."""
    return "text" if "." in text else text.replace(",", ".")


def _is_plain(text: str) -> bool:
    # Python reads 1_0 as ten, and digits of other scripts as numbers; no other reader does.
    return "_" not in text and text.isascii()


def _number(text: str) -> float | None:
    """Return a number that every reader would read, else None."""
    with suppress(ValueError):
        return float(text) if _is_plain(text) else None
    return None


def _cleaned(names: Sequence[str]) -> list[str]:
    return [unguarded(name.strip()) for name in names]


def _with_decimals(records: _Records, columns: Columns) -> _Table:
    """Return what is in a file, with the other decimal mark if numbers with thousands show it."""
    reading = _transposed if columns.transpose else _upright
    table = reading(records, columns)
    if not table.numbers.shows("." if records.decimal_comma else ","):
        return table
    other = reading(replace(records, decimal_comma=not records.decimal_comma), columns)
    for each in (table, other):
        each.numbers.ungroup()
    return min(table, other, key=lambda each: len(each.numbers.texts))


def _upright(records: _Records, columns: Columns) -> _Table:
    """Return what is in a file with a sample in each line."""
    names, source = records.header, records.source
    places = columns.places(
        names, source, lambda: [record[0].strip() for _, record in records.data()]
    )
    numbers = _Numbers(len(places["features"]), False, records.decimal_comma)
    lines, others = [], {place: list[str]() for role in _ROLES for place in places[role]}
    for line, record in records.data():
        lines.append(line)
        for place, fields in others.items():
            fields.append(record[place])
        numbers.add([record[place] for place in places["features"]])
    return _Table(names, places, numbers, others, lambda row: f"{source}, line {lines[row]}")


def _transposed(records: _Records, columns: Columns) -> _Table:
    """Return what is in a file with a feature in each line, and a sample in each column.

    The first column names the features, the header the samples. Columns that are to be left out
    may be some of either.
    """
    samples, source = records.header, records.source
    header_line, _ = next(records.lines())
    lines, names = [header_line], [samples[0]]
    for line, record in records.data():
        lines.append(line)
        names += _cleaned(record[:1])
    dropped = {name for name in columns.drop if name in samples[1:]}
    kept = [place for place in range(1, len(samples)) if samples[place] not in dropped]
    others = {0: [samples[place] for place in kept]}
    drop = [name for name in columns.drop if name not in dropped]
    columns = replace(columns, id=0 if columns.id is None else columns.id, drop=drop)
    places = columns.places(names, source, lambda: samples[1:])
    # What a GEO series says about its samples stands above the header.
    places["about"] = [place for place in places["features"] if lines[place] < header_line]
    places["features"] = [place for place in places["features"] if lines[place] > header_line]
    numbers = _Numbers(len(kept), True, records.decimal_comma)
    features = set(places["features"])
    used = {place for role in (*_ROLES, "about") for place in places[role]}
    for number, (_, record) in enumerate(records.data(), start=1):
        fields = [record[place] for place in kept]
        if number in features:
            numbers.add(fields)
        elif number in used:
            others[number] = fields
    return _Table(
        names, places, numbers, others, lambda row: f"{source}, column {others[0][row]!r}", "row"
    )


# Parquet


def _parquet(content: bytes, source: str, columns: Columns) -> _Table:
    """Return what is in a file, without the row names that pandas put there."""
    if columns.transpose:
        raise ValueError(f"{source}: transpose is for CSV, TSV and Excel files. Leave it out.")
    parquet = require("pyarrow.parquet", "Parquet files", "cli")
    pyarrow = require("pyarrow", "Parquet files", "cli")
    with decoding(source, "a Parquet file"):
        # With threads, a table of 20,000 columns takes five times the memory and twice the time.
        table = parquet.read_table(
            pyarrow.BufferReader(content), use_threads=False, page_checksum_verification=True
        )
        table.validate(full=True)
        # pandas stores the row names as a column, which is not a feature.
        index_columns = (table.schema.pandas_metadata or {}).get("index_columns", [])
        unasked = [name for name in index_columns if isinstance(name, str) and name != columns.id]
        table = table.drop_columns(unasked)
    names = table.column_names
    places = columns.places(names, source)
    numbers = _Numbers(table.num_rows, across=True)
    for place in places["features"]:
        column, types = table.column(place), pyarrow.types
        is_number = types.is_integer(column.type) or types.is_floating(column.type)
        if is_number or types.is_boolean(column.type):
            values = column.cast(pyarrow.float64(), safe=False).to_numpy()
            numbers.values.frombytes(np.ascontiguousarray(values).tobytes())
            numbers.n_lists += 1
        else:
            numbers.add(_as_text(column))
    others = {p: _as_text(table.column(p)) for role in _ROLES for p in places[role]}
    return _Table(
        names, places, numbers, others, lambda row: f"{source}, row {row} (counted from 0)"
    )


def _as_text(column: Any) -> list[str]:
    return [_shown(value) for value in column.to_pylist()]
