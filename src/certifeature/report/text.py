"""Text and numbers as a page shows them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from certifeature._utils import require
from certifeature.certificate import certificate as words
from certifeature.certificate.rounding import number, rounded_down
from certifeature.comparison import FULL_DATA
from certifeature.evaluation.performance import measure_name, shown_error

if TYPE_CHECKING:
    from jinja2 import Template

MISSING = "–"
# What tables call by a short name, in sentences.
_METHOD_NAMES = {
    FULL_DATA: "all features",
    "bss": "BSS",
    "subset": "the best subset",
    "rfe": "RFE",
    "l1": "the L1 penalty",
    "univariate": "the univariate test",
    "random": "random features",
}
_MODELS = {
    "LinearSVC": "a linear support vector machine",
    "SVC": "a linear support vector machine",
    "LogisticRegression": "logistic regression",
    "RidgeClassifier": "a ridge classifier",
    "Ridge": "ridge regression",
    "LinearSVR": "linear support vector regression",
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


def samples(n_rows: int, classes: Mapping[str, int], word: str = "rows") -> str:
    """Return how many rows there are, and of which class, unless classes are many."""
    counts = ", ".join(f"{count:,} {name}" for name, count in classes.items())
    of_classes = counts if len(classes) <= _MAX_CLASSES else f"{len(classes)} classes"
    return f"{n_rows:,} {word} ({of_classes})" if classes else f"{n_rows:,} {word}"


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
    sizes = [abs(v) if v is not None and math.isfinite(v) else 0.0 for v in values]
    largest = max(sizes, default=0.0)
    places = min(max(0, 3 - math.floor(math.log10(largest))), 6) if largest else 0

    def shown(value: float | None) -> str:
        if value is None or not math.isfinite(value):
            return MISSING
        lost = value != 0 and abs(value) < 10.0**-places
        return f"{value:.1e}" if lost or abs(value) >= 1e9 else f"{value:.{places}f}"

    return [shown(value) for value in values]


def ticks(highest: float) -> list[float]:
    """Return round numbers at equal distances, from 0 to the highest one or just above.

    Examples
    --------
    >>> ticks(0.23)
    [0.0, 0.05, 0.1, 0.15, 0.2, 0.25]
    """
    unit = 10.0 ** math.floor(math.log10(highest)) if highest > 0 else 0.01
    step = next(part * unit for part in (0.2, 0.5, 1.0, 2.0) if highest <= 5 * part * unit)
    n_steps = max(1, math.ceil(highest / step - 1e-9))
    return [round(place * step, 12) for place in range(n_steps + 1)]


def method_name(method: str) -> str:
    """Return the name of a method as a sentence has it."""
    return _METHOD_NAMES.get(method, method)


def model_name(model: str | None) -> str:
    """Return the name of a model as a sentence has it, with its parameters.

    Examples
    --------
    >>> model_name("Ridge(alpha=1)")
    'ridge regression (Ridge, alpha=1)'
    """
    if model is None:
        return "linear models with an ℓ2 penalty"
    name, _, parameters = model.removesuffix(")").partition("(")
    if name not in _MODELS:
        return model
    return f"{_MODELS[name]} ({', '.join(filter(None, [name, parameters]))})"


@cache
def asset(name: str) -> str:
    """Return the text of a file of this package."""
    return files("certifeature.report").joinpath(name).read_text(encoding="utf-8")


@cache
def template(name: str) -> Template:
    """Return the template of this name; in HTML all values are escaped."""
    require("jinja2", "reports", "report")
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

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
    texts: list[Any] = [one_line, typeset, joined, samples, measure_name, method_name, model_name]
    texts += [
        duration,
        shown_error,
        ticks,
        words.headline,
        words.statements,
        words.scope,
        words.details,
    ]
    texts += [words.shown_bound, rounded_down, number]
    environment.filters |= {filter_.__name__: filter_ for filter_ in texts}
    environment.filters["thousands"] = "{:,}".format
    environment.globals["missing"] = MISSING
    return environment.from_string(asset(name))
