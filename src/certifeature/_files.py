"""Atomic writing of files, and text that no spreadsheet or terminal takes for a command."""

from __future__ import annotations

import csv
import io
import os
import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from secrets import token_hex
from typing import Any, TextIO

# Writes a file of this name, or returns its text.
_Writer = Callable[[Path], str | None]


def write_files(writers: Mapping[Path | None, _Writer]) -> None:
    """Write files under other names, and rename all of them together when they are complete.

    After an error or Ctrl-C, the old files are unchanged and the new ones removed. The mode of a
    file that is replaced stays, and a link stays a link. A pipe or a device is written to directly.

    Parameters
    ----------
    writers : dict of Path to callable
        What writes each file, given the path to write to, or returns its text. None is no file.
    """
    unfinished: dict[Path, Path] = {}
    try:
        for path, write in writers.items():
            if path is None:
                continue
            check_not_read_only(path)
            try:
                _write(Path(os.path.realpath(path)), write, unfinished)
            except OSError as error:
                raise OSError(f"{path}: not written: {error}") from error
        with ExitStack() as held:
            for old in filter(Path.exists, unfinished.values() if os.name == "posix" else ()):
                # To delete it takes longer than all renames, and waits until it is closed.
                held.enter_context(old.open("ab"))
            for new, old in unfinished.items():
                new.replace(old)
    except BaseException:
        for new in unfinished:
            new.unlink(missing_ok=True)
        raise


def _write(path: Path, write: _Writer, unfinished: dict[Path, Path]) -> None:
    """Write a file under another name, which is noted first, or to a pipe or a device."""
    new = path
    if path.is_file() or not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        # Not by tempfile, whose files only their owner may read; short, as the name may be long.
        new = path.with_name(f".{token_hex(4)}.{path.name[-20:]}")
        unfinished[new] = path
        new.touch(exist_ok=False)
        if path.exists():
            shutil.copymode(path, new)
    if (text := write(new)) is not None:
        new.write_text(text, encoding="utf-8", newline="")
    if new is not path:
        with new.open("ab") as file:
            os.fsync(file.fileno())


def check_not_read_only(path: Path) -> None:
    """Raise if a file may not be changed, even where its folder allows to replace it."""
    # The superuser may write to any file.
    if path.exists() and not (path.stat().st_mode & 0o222 and os.access(path, os.W_OK)):
        needed = "give another name, or allow writing to it"
        raise PermissionError(f"{path}: this file is read-only; {needed}.")


def write_text(path: Path, text: str) -> None:
    """Write a text file; a file of that name is replaced only when the new one is complete."""
    write_files({path: lambda _: text})


# White space, control characters and characters without width, which a spreadsheet may ignore.
_UNSEEN = r"[\s\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]"
# The wide forms of the signs may be read as the plain ones.
_SIGN = r"[=+\-@\uff1d\uff0b\uff0d\uff20]"
_FORMULA = re.compile(rf"'*+(?:[\t\r\n]|{_UNSEEN}*+{_SIGN})")
# Escape sequences of terminals begin with one of the first; the last reverse what is shown.
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
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


def visible(text: str) -> str:
    """Return text for a terminal: control characters but line ends are written as escapes."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def _looks_like_formula(text: str) -> bool:
    return bool(_FORMULA.match(text)) and not is_number(text.lstrip("'"))


def is_number(text: str) -> bool:
    """Tell whether text is a decimal number."""
    return _NUMBER.fullmatch(text) is not None
