"""Measurements on disk: one JSON object a line, only ever added to."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

__all__ = ["Store", "alone"]

Key = tuple[tuple[str, Any], ...]

_BEGINNING = b'{"key": {'


class Store:
    """A file of records that survives a kill at any moment.

    A record begins with its ``"key"``, a dict of numbers and strings; a later record with the same
    key takes its place.
    Records are added in whole lines. A line that a kill cut short is no record: it is dropped when
    the file is opened again.

    Parameters
    ----------
    path : Path
        The file; made when the first record is added.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._records: dict[Key, dict[str, Any]] = {}
        if path.exists():
            self._read()

    def get(self, key: dict[str, Any]) -> dict[str, Any] | None:
        """Return the record of a key, if there is one."""
        return self._records.get(_hashable(key))

    def add(self, records: Iterable[dict[str, Any]]) -> None:
        """Write records down for good."""
        new = list(records)
        lines = "".join(json.dumps(record) + "\n" for record in new)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with open(self._path, "a", encoding="utf-8") as file:
            file.write(lines)
            file.flush()
            os.fsync(file.fileno())
        self._records.update((_hashable(record["key"]), record) for record in new)

    def _read(self) -> None:
        with open(self._path, "rb+") as file:
            *lines, rest = file.read().split(b"\n")
            for number, line in enumerate(lines, 1):
                try:
                    record = json.loads(line)
                    record["measured"].keys()
                    self._records[_hashable(record["key"])] = record
                except (ValueError, KeyError, TypeError, AttributeError) as error:
                    raise self._no_record(number) from error
            if rest:
                if rest[: len(_BEGINNING)] != _BEGINNING[: len(rest)]:
                    raise self._no_record(len(lines) + 1)
                file.seek(-len(rest), os.SEEK_END)
                file.truncate()

    def _no_record(self, number: int) -> ValueError:
        return ValueError(
            f"{self._path}, line {number}: this is no record of an experiment. "
            "Name another folder, or remove the line."
        )


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Raise if another process is inside for the same file of records.

    The lock is that of an empty database, which every system drops when its process ends.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = path.with_suffix(".lock")
    with closing(sqlite3.connect(lock, timeout=0, isolation_level=None)) as database:
        try:
            database.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            raise ValueError(
                f"{path}: another run adds to it ({lock}: {error}). Wait for its end, or name "
                "another folder with --out."
            ) from error
        yield


def _hashable(key: dict[str, Any]) -> Key:
    return tuple(sorted(key.items()))
