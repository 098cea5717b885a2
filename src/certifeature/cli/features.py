"""Lists of chosen features, to show, to write and to read again."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from certifeature._files import guarded, unguarded
from certifeature.report import Feature
from certifeature.report.tables import features_csv
from certifeature.sparsify import ColumnChoice


def features_text(features: list[Feature], path: Path) -> str:
    """Return what is written to a file: a table if its name ends in .csv, else a plain list."""
    return features_csv(features) if _is_csv(path) else feature_list(features)


def _is_csv(path: Path) -> bool:
    return path.suffix.lower() == ".csv"


def feature_list(features: list[Feature]) -> str:
    """Return a line for each feature: name, tab, scale. No name can become a formula."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter="\t", lineterminator="\n")
    writer.writerows((guarded(feature.name), repr(feature.scale)) for feature in features)
    return text.getvalue()


def read_features(path: Path, names: NDArray[np.str_]) -> ColumnChoice:
    """Read a list of names, one per line, each with a scale after a tab or without.

    A .csv file may be a table instead, with a column named feature and perhaps one named scale.
    """
    places = _places(names)
    scales: dict[int, float] = {}
    for line, row in _lines(path):
        where = f"{path}, line {line}"
        if not row:
            continue
        place = _place(row[0], places, where)
        if place in scales:
            raise ValueError(f"{where}: feature {row[0]!r} is listed twice.")
        scales[place] = _scale(row, where)
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
        raise ValueError(f"{where}: the data have no feature {name!r}.")
    return place


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of each line, and its name and scale, as far as they are there.

    A byte-order mark is no part of a name.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: this is not UTF-8 text (byte {error.start}).") from error
    rows = csv.reader(io.StringIO(text, newline=""), delimiter="\t")
    try:
        names = [name.strip('"') for name in text.partition("\n")[0].strip().split(",")]
        if _is_csv(path) and "feature" in names and len(names) > 1:
            rows = csv.reader(io.StringIO(text, newline=""))
            header = next(rows)
            for row in rows:
                yield rows.line_num, _by_name(row, header, f"{path}, line {rows.line_num}")
        for row in rows:
            yield rows.line_num, row
    except csv.Error as error:
        raise ValueError(f"{path}, line {rows.line_num}: {error}.") from error


def _by_name(row: list[str], header: list[str], where: str) -> list[str]:
    """Return name and scale in the row of a table, or nothing if the row is blank."""
    if row and len(row) != len(header):
        found = f"there are {len(row)} fields, and the header has {len(header)}"
        raise ValueError(f"{where}: {found}. Correct the line.")
    fields = dict(zip(header, row, strict=False))
    return [fields[name] for name in ("feature", "scale") if name in fields]


def _scale(row: list[str], where: str) -> float:
    if len(row) == 1:
        return 1.0
    try:
        scale = float(row[1])
    except ValueError:
        scale = np.nan
    if not (np.isfinite(scale) and scale > 0):
        raise ValueError(f"{where}: the scale {row[1]!r} is not a positive number.")
    return scale
