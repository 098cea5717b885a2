"""Text that a spreadsheet would take for a formula, and how it is kept from doing so.

A name such as ``=HYPERLINK(...)`` in a CSV file becomes a formula when the file is opened. With an
apostrophe before it, it stays a text; and since text that begins with apostrophes before such a
name gets one more, taking one away gives back what was written.
"""

from __future__ import annotations

import re

__all__ = ["guarded", "is_number", "unguarded"]

_FORMULA = re.compile(r"'*[=+\-@\t\r]")
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
