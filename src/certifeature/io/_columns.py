"""What the columns of a table are for: one holds the labels, one may name the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from numbers import Integral
from typing import Any

import numpy as np

__all__ = ["Columns", "Places", "find_label", "first_few"]

_LABEL_NAMES = frozenset({"y", "label", "labels", "target", "class"})
_Column = str | int
_N_SHOWN = 8


@dataclass(frozen=True)
class Places:
    """Positions of the labels and of the names of the rows, if any, and of the features."""

    label: int | None
    id: int | None
    features: list[int]


@dataclass(frozen=True)
class Columns:
    """What is asked of a table: names of columns, or positions counted from 0."""

    target: _Column | None = None
    id: _Column | None = None
    drop: Sequence[_Column] = ()
    transpose: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.drop, str | Integral):
            raise ValueError(f"drop={self.drop!r} is one column; give a list, [{self.drop!r}].")
        object.__setattr__(self, "drop", tuple(self.drop))
        _check_column("target", self.target)
        _check_column("id", self.id)
        for column in self.drop:
            _check_column("drop", column)

    def places(self, names: Sequence[str], source: str) -> Places:
        """Return where everything is, or say what is not there."""
        label = find_label(names, _typed(self.target, names), source)
        row_names = None if self.id is None else _place(names, _typed(self.id, names), source, "id")
        if label is not None and row_names == label:
            raise ValueError(
                f"{source}: column {names[label]!r} is both the label and the id. Give another "
                "column as one of them."
            )
        dropped = {_place(names, _typed(column, names), source, "drop") for column in self.drop}
        for place, role in ((label, "target"), (row_names, "id")):
            if place is not None and place in dropped:
                raise ValueError(
                    f"{source}: column {names[place]!r} is both in drop and the {role}. Take it "
                    "out of one of them."
                )
        others = {label, row_names, *dropped}
        return Places(label, row_names, [i for i in range(len(names)) if i not in others])

    def labelled(self, names: Sequence[str], source: str) -> tuple[int, Places]:
        """Return where the labels are, and everything; or say that there are no labels."""
        places = self.places(names, source)
        if places.label is None:
            # Labels are often in the last of thousands.
            last = f"; the last is {names[-1][:60]!r}" if len(names) > _N_SHOWN else ""
            raise ValueError(
                f"{source}: no {self.noun} is named y, label, target or class. The {self.noun}s "
                f"are {first_few(names)}{last}. Give the name of the {self.noun} of labels as "
                "target (--target)."
            )
        return places.label, places

    @property
    def noun(self) -> str:
        """What a column is in the file."""
        return "row" if self.transpose else "column"

    def lacks_target(self, names: Sequence[str]) -> bool:
        """Tell whether the labels have a name that is not among these."""
        target = _typed(self.target, names)
        return isinstance(target, str) and target not in names

    def refuse_but_target(self, source: str, kind: str) -> None:
        """Raise if something is asked that only tables with named columns can do."""
        asked = {"id": self.id is not None, "drop": bool(self.drop), "transpose": self.transpose}
        for name, given in asked.items():
            if given:
                kinds = "CSV and TSV" if name == "transpose" else "CSV, TSV and Parquet"
                raise ValueError(
                    f"{source}: {name} is for {kinds} files, and this is {kind}. Leave it out."
                )


def _check_column(name: str, column: Any) -> None:
    if column is not None and (
        not isinstance(column, str | Integral) or isinstance(column, bool | np.bool_)
    ):
        raise ValueError(
            f"{name}={column!r} is neither a name nor a position. Give the name of a column, or "
            "a whole number: 0 is the first column, -1 the last."
        )


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
        raise ValueError(
            f"{source}: the labels could be {first_few([names[i] for i in found])}. "
            "Give the name of one as target."
        )
    return found[0] if found else None


def _place(names: Sequence[str], column: _Column, source: str, asked: str) -> int:
    """Return the position of a column, given by its name or position."""
    if isinstance(column, str):
        n_found = list(names).count(column)
        if n_found > 1:
            raise ValueError(
                f"{source}: {asked}={column!r} is the name of {n_found} columns. Give the position "
                "of one, counted from 0."
            )
        if n_found:
            return list(names).index(column)
        # Similar names first, since the right one may be the last of thousands.
        likely = get_close_matches(column, names)
        shown = first_few([*likely, *(name for name in names if name not in likely)])
        raise ValueError(
            f"{source}: {asked}={column!r} is not there. There is {shown}. "
            f"Give one of these as {asked}."
        )
    if not -len(names) <= column < len(names):
        raise ValueError(
            f"{source}: {asked}={column} is not a position among {len(names)} columns. "
            f"Give one from 0 to {len(names) - 1}, or -1 for the last."
        )
    return int(column) % len(names)


def first_few(names: Sequence[str], n_shown: int = _N_SHOWN) -> str:
    """Return the first few names as text."""
    shown = ", ".join(repr(name[:60]) for name in names[:n_shown]) or "nothing"
    n_left = len(names) - n_shown
    return f"{shown} and {n_left} more" if n_left > 0 else shown
