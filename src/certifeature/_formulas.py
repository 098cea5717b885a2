"""Text that a spreadsheet would take for a formula, and how it is kept from doing so.

A name such as ``=HYPERLINK(...)`` in a CSV file becomes a formula when the file is opened, in some
programs even after white space. With an apostrophe before it, it stays a text; and since text that
begins with apostrophes before such a name gets one more, taking one away gives back what was
written.
"""

from __future__ import annotations

import re

__all__ = ["guarded", "is_number", "unguarded"]

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
