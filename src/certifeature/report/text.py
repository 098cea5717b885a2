"""Text and numbers as a page shows them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from certifeature.certificate import certificate as words
from certifeature.comparison import FULL_DATA
from certifeature.evaluation.performance import shown_error

if TYPE_CHECKING:
    from jinja2 import Template

MISSING = "–"
# What tables call by a short name, in sentences.
_METHOD_NAMES = {
    FULL_DATA: "all features",
    "bss": "BSS",
    "rfe": "RFE",
    "l1": "the L1 penalty",
    "univariate": "the univariate test",
    "random": "random features",
}
# The counts of more classes than this are no longer read one by one.
_MAX_CLASSES = 6

# What a page would swallow (control characters), let reorder its neighbours (marks of writing
# direction) or could not be saved with (halves of surrogate pairs, non-characters).
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
)
_SPACING = re.compile("[\t\n]")
_MINUS = re.compile(r"(?<!\w)-(?=\d)")


def visible(text: str) -> str:
    r"""Return text with a visible sign for each character that cannot be shown as it is.

    Tabs and line breaks stay.

    Examples
    --------
    >>> visible("null \x00, right to left \u202e")
    'null ⟨U+0000⟩, right to left ⟨U+202E⟩'
    """
    return _UNSEEN.sub(_sign, text)


def one_line(text: str) -> str:
    r"""Return visible text with signs for tabs and line breaks too.

    Examples
    --------
    >>> one_line("two\nlines")
    'two⟨U+000A⟩lines'
    """
    return _SPACING.sub(_sign, visible(text))


def typeset(text: str) -> str:
    """Return text with signs for minus, and percent signs that stay with their numbers.

    Examples
    --------
    >>> typeset("-2.9 points, a 5-fold tie")
    '−2.9 points, a 5-fold tie'
    """
    return _MINUS.sub("−", text).replace(" %", "\u00a0%")


def _sign(match: re.Match[str]) -> str:
    return f"⟨U+{ord(match[0]):04X}⟩"


def joined(parts: Sequence[str]) -> str:
    """Return parts of a sentence as a list in words.

    Examples
    --------
    >>> joined(["BSS", "RFE", "the univariate test"])
    'BSS, RFE and the univariate test'
    """
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


def class_counts(counts: Mapping[str, str]) -> str:
    """Return how many there are of each class, or nothing if there are too many classes."""
    if len(counts) > _MAX_CLASSES:
        return ""
    return ", ".join(f"{count} {name}" for name, count in counts.items())


def measure_name(measure: str) -> str:
    """Return what an error is called, for the share of wrong classes or for 1 - R²."""
    return "error" if measure == "error" else "1 − R²"


def duration(seconds: float) -> str:
    """Return a time in the unit that suits it."""
    if seconds < 0.001:
        return "< 1 ms"
    if seconds < 1:
        return f"{1000 * seconds:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def decimals(values: Sequence[float | None]) -> list[str]:
    """Return numbers with as many decimals as the largest needs for four digits.

    Numbers too small for that keep two digits, and what is not finite counts as missing.

    Examples
    --------
    >>> decimals([12.0, 0.5, 0.00001, None])
    ['12.00', '0.50', '1.0e-05', '–']
    """
    known = [abs(value) for value in values if value is not None and math.isfinite(value)]
    largest = max(known, default=0.0)
    places = max(0, 3 - math.floor(math.log10(largest))) if largest else 0
    places = min(places, 6)

    def shown(value: float | None) -> str:
        if value is None or not math.isfinite(value):
            return MISSING
        lost = value != 0 and abs(value) < 10.0**-places
        return f"{value:.1e}" if lost or abs(value) >= 1e9 else f"{value:.{places}f}"

    return [shown(value) for value in values]


def method_name(method: str) -> str:
    """Return the name of a method as a sentence has it."""
    return _METHOD_NAMES.get(method, method)


@cache
def asset(name: str) -> str:
    """Return the text of a file of this package."""
    return files("certifeature.report").joinpath(name).read_text(encoding="utf-8")


@cache
def template(name: str) -> Template:
    """Return the template of this name; in HTML all values are escaped."""
    try:
        from jinja2 import Environment, StrictUndefined
        from markupsafe import Markup
    except ImportError as error:
        raise ImportError("reports need jinja2: pip install 'certifeature[report]'.") from error

    def shown(value: Any) -> Any:
        return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    environment = Environment(
        autoescape=name.endswith(".html"),
        # Every value passes here on its way into the page, so that none can be forgotten.
        finalize=shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    texts: list[Any] = [one_line, typeset, joined, measure_name, method_name, duration, shown_error]
    texts += [words.headline, words.scope, words.details, words.objective_of, words.proven_ratio]
    texts += [words.other_labels, words.measured_probability, words.grade, words.shown_bound]
    texts += [words.number, words.rounded_down, words.rounded_up]
    environment.filters |= {filter_.__name__: filter_ for filter_ in texts}
    environment.filters["thousands"] = "{:,}".format
    environment.globals |= {"inf": math.inf, "missing": MISSING}
    return environment.from_string(asset(name))
