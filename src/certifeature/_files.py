"""Files that are written atomically, and text that no spreadsheet takes for a formula."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = [
    "guarded",
    "is_number",
    "replacing",
    "unguarded",
    "write_text",
]


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a path beside the file to write to, and put it in its place when all went well.

    Whatever happens in between, Ctrl-C included, the old file stays whole, and nothing else is left
    behind. A link stays a link. What is not a file (a pipe, a device) is written to as it is.
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
        # mkstemp makes files that nobody else may read; a file of the user has the usual mode.
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
    """Write a text file, and replace the one that is there only when it is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8", newline="")


# White space, control characters and characters without width, which a spreadsheet may drop.
_UNSEEN = r"[\s\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]"
# Signs in their wide forms, which a spreadsheet may take for the plain ones.
_SIGN = r"[=+\-@\uff1d\uff0b\uff0d\uff20]"
_FORMULA = re.compile(rf"'*+(?:[\t\r\n]|{_UNSEEN}*+{_SIGN})")
_NUMBER = re.compile(r"[+-]?(?:\d++(?:\.\d*+)?+|\.\d++)(?:[eE][+-]?\d++)?", re.ASCII)


def guarded(text: str) -> str:
    """Return text for a file of values: with an apostrophe first if it looks like a formula."""
    return f"'{text}" if _looks_like_formula(text) else text


def unguarded(text: str) -> str:
    """Return what was guarded."""
    return text[1:] if text.startswith("'") and _looks_like_formula(text) else text


def _looks_like_formula(text: str) -> bool:
    return bool(_FORMULA.match(text)) and not is_number(text.lstrip("'"))


def is_number(text: str) -> bool:
    """Tell whether text is a decimal number."""
    return _NUMBER.fullmatch(text) is not None
