"""Atomic writing of files, and CSV without text that a spreadsheet would read as a formula."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Any, TextIO


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path to write to, which replaces the file if there was no error.

    After an error or Ctrl-C, the old file is unchanged and the temporary file is removed. A link
    stays a link. A pipe or a device is written to directly.
    """
    path = Path(os.path.realpath(path))
    if path.exists() and not path.is_file():
        yield path
        return
    # Not by tempfile, whose files only their owner may read.
    unfinished = path.with_name(f".{path.stem}.{token_hex(4)}{''.join(path.suffixes)}")
    unfinished.touch(exist_ok=False)
    try:
        yield unfinished
        with unfinished.open("rb") as file:
            os.fsync(file.fileno())
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def write_text(path: Path, text: str) -> None:
    """Write a text file; a file of that name is replaced only when the new one is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8", newline="")


# White space, control characters and characters without width, which a spreadsheet may ignore.
_UNSEEN = r"[\s\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]"
# The wide forms of the signs may be read as the plain ones.
_SIGN = r"[=+\-@\uff1d\uff0b\uff0d\uff20]"
_FORMULA = re.compile(rf"'*+(?:[\t\r\n]|{_UNSEEN}*+{_SIGN})")
_NUMBER = re.compile(r"[+-]?(?:\d++(?:\.\d*+)?+|\.\d++)(?:[eE][+-]?\d++)?", re.ASCII)


def guarded(text: str) -> str:
    """Return text for a cell: with an apostrophe before it if it looks like a formula."""
    return f"'{text}" if _looks_like_formula(text) else text


def unguarded(text: str) -> str:
    """Return the text that `guarded` was given."""
    return text[1:] if text.startswith("'") and _looks_like_formula(text) else text


def write_csv(file: TextIO, rows: Iterable[Iterable[Any]], delimiter: str = ",") -> None:
    """Write rows as CSV, in which no text can become a formula."""
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    for row in rows:
        writer.writerow([guarded(cell) if isinstance(cell, str) else cell for cell in row])


def csv_text(rows: Iterable[Iterable[Any]], delimiter: str = ",") -> str:
    """Return what `write_csv` writes."""
    text = io.StringIO()
    write_csv(text, rows, delimiter)
    # No file can hold halves of surrogate pairs.
    return text.getvalue().encode(errors="replace").decode()


def _looks_like_formula(text: str) -> bool:
    return bool(_FORMULA.match(text)) and not is_number(text.lstrip("'"))


def is_number(text: str) -> bool:
    """Tell whether text is a decimal number."""
    return _NUMBER.fullmatch(text) is not None
