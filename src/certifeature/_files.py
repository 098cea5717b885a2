"""Atomic writing of files, and escaping of text that a spreadsheet would read as a formula."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


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
    handle, name = tempfile.mkstemp(
        dir=path.parent, prefix=f".{path.stem}.", suffix="".join(path.suffixes)
    )
    os.close(handle)
    try:
        # Only the owner may read the files of mkstemp; give the file the usual mode.
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        yield Path(name)
        with open(name, "rb") as file:
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(name)
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


def _looks_like_formula(text: str) -> bool:
    return bool(_FORMULA.match(text)) and not is_number(text.lstrip("'"))


def is_number(text: str) -> bool:
    """Tell whether text is a decimal number."""
    return _NUMBER.fullmatch(text) is not None
