"""Draw the picture of the front page, with the numbers of the example of the README.

Run by hand, when the numbers may have changed (a minute): ``python docs/hero.py``. It writes
``docs/_static/hero*.svg``, which are committed, and prints what they show.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from matplotlib import pyplot as plt
from pictures import BLUE, FAINT, GREY, LIGHT_BLUE, ORANGE, save_for_both_pages

from certifeature import BSSSelector, certify, compare
from certifeature.certificate.certificate import shown_bound
from certifeature.datasets import load_docstrings

N_WORDS = 300
PACKAGES = ("scipy", "sklearn")
STATIC = Path(__file__).parent / "_static"
# In points of a picture twelve inches wide: large enough when that is shrunk to a phone.
TITLE, WORD = 27, 21


@dataclass(frozen=True)
class Findings:
    """What the picture shows; errors in percent, with all words, with ours and with those of RFE.

    ``in_every_fold`` counts the words that ours and RFE choose in every fold.
    """

    n_words: int
    errors: tuple[float, float, float]
    in_every_fold: tuple[int, int]
    realised: float
    measured: float


def find() -> Findings:
    X, y = load_docstrings(packages=PACKAGES, return_X_y=True)
    comparison = compare(X, y, [N_WORDS], methods=["bss", "rfe"])
    _, ours, rfe = comparison.contenders
    certificate = certify(BSSSelector(N_WORDS).fit(X, y))
    return Findings(
        n_words=X.shape[1],
        errors=tuple(100 * c.performance.error.value for c in comparison.contenders),
        in_every_fold=tuple(len(set.intersection(*map(set, c.chosen))) for c in (ours, rfe)),
        realised=certificate.realised_growth,
        measured=certificate.measured_growth,
    )


def draw(found: Findings, narrow: bool) -> Any:
    """Draw the three parts side by side or, for telephones, one below the other."""
    parts = [
        ("Few words,\nsmall error", draw_errors),
        ("Stable across\nfive folds", draw_stability),
        ("A proof of\nwhat you can lose", draw_proof),
    ]
    figure = plt.figure(figsize=(4.2, 12.6) if narrow else (12, 4.2))
    for number, (title, draw_part) in enumerate(parts):
        place = (0.01, 0.675 - number / 3, 0.9, 0.31)
        if not narrow:
            place = (0.005 + 0.335 * number, 0.02, 0.305, 0.96)
        ax = figure.add_axes(place)
        ax.set(xlim=(0, 1), ylim=(0, 1))
        ax.set_axis_off()
        ax.text(0, 1, title, size=TITLE, weight="bold", va="top")
        draw_part(ax, found)
    return figure


def draw_errors(ax: Any, found: Findings) -> None:
    """Draw the cross-validated errors as bars, with C tuned for each."""
    labels = (f"all {found.n_words:,} words", f"{N_WORDS}, ours", f"{N_WORDS}, RFE")
    shown = [f"{error:.1f} %" for error in found.errors]
    draw_bars(ax, labels, found.errors, shown, (LIGHT_BLUE, BLUE, GREY), max(found.errors))


def draw_stability(ax: Any, found: Findings) -> None:
    """Draw how many words are chosen in every fold."""
    shown = [f"{n} words" for n in found.in_every_fold]
    draw_bars(
        ax,
        ("in all folds, ours", "in all folds, RFE"),
        found.in_every_fold,
        shown,
        (BLUE, GREY),
        N_WORDS,
    )


def draw_bars(ax: Any, labels: Any, values: Any, shown: Any, colours: Any, longest: float) -> None:
    step = 0.22
    for place, (label, value, words, colour) in enumerate(
        zip(labels, values, shown, colours, strict=True)
    ):
        low = 0.66 - step * (place + 1)
        length = 0.68 * value / longest
        ax.add_patch(plt.Rectangle((0, low), length, 0.085, color=colour, lw=0))
        ax.text(0, low + 0.10, label, size=WORD - 3, alpha=FAINT)
        ax.text(length + 0.02, low + 0.04, words, va="center_baseline", weight="bold")


def draw_proof(ax: Any, found: Findings) -> None:
    """Write what is proven of the training objective."""
    grows = f"at most {shown_bound(found.realised)} times that"
    lines = [
        (0.60, "The training objective is", {"alpha": FAINT}),
        (0.48, "no larger" if found.realised <= 1 else grows, {"weight": "bold", "color": BLUE}),
        (
            0.36,
            "than with all words." if found.realised <= 1 else "with all words.",
            {"alpha": FAINT},
        ),
        (0.18, "For any other labels", {"alpha": FAINT}),
        (
            0.06,
            f"at most {shown_bound(found.measured)} times.",
            {"weight": "bold", "color": ORANGE},
        ),
    ]
    for height, words, look in lines:
        ax.text(0, height, words, **look)


def main() -> None:
    found = find()
    print(found)
    for name, narrow in (("hero", False), ("hero-narrow", True)):
        save_for_both_pages(partial(draw, found, narrow), STATIC, name, **{"font.size": WORD})


if __name__ == "__main__":
    main()
