"""Draw the picture of the front page: what goes in, what comes out, what is proven.

Run by hand, when the numbers may have changed (half a minute): ``python docs/hero.py``. It writes
``docs/_static/hero.svg`` and ``hero-dark.svg``, which are committed, and prints what they show. All
numbers are computed here, from the docstrings of SciPy and scikit-learn.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot as plt

from certifeature import BSSSelector, certify
from certifeature.datasets import load_docstrings

N_WORDS = 300
STATIC = Path(__file__).parent / "_static"
BLUE, LIGHT_BLUE, ORANGE, LIGHT_ORANGE = "#0072B2", "#56B4E9", "#D55E00", "#E69F00"
GREY, FAINT = "#9AA5B1", 0.75
# In points of a picture twelve inches wide: large enough when that is shrunk to a phone.
TITLE, WORD = 29, 24


@dataclass(frozen=True)
class Findings:
    """What the picture shows; errors in percent, with all words and with the chosen ones."""

    n_words: int
    errors: tuple[float, float]
    measured: float
    realised: float


def rounded_up(bound: float) -> float:
    return float(np.ceil(100 * bound) / 100)


def find() -> Findings:
    X, y = load_docstrings(packages=("scipy", "sklearn"), return_X_y=True)
    certificate = certify(X, y, BSSSelector(N_WORDS).fit(X, y), cv=5)
    new_data = certificate.new_data
    return Findings(
        n_words=X.shape[1],
        errors=(100 * new_data.full.error.value, 100 * new_data.selected.error.value),
        measured=rounded_up(certificate.measured_growth),
        realised=rounded_up(certificate.realised_growth),
    )


def draw(found: Findings, ink: str, paper: str) -> Any:
    style = {"text.color": ink, "font.size": WORD, "svg.fonttype": "path", "svg.hashsalt": "hero"}
    with plt.rc_context(style):
        figure = plt.figure(figsize=(12, 4.6))
        parts = [
            (0.01, "Keep few", draw_table),
            (0.355, "Lose little", draw_errors),
            (0.70, "Know the limit", draw_proof),
        ]
        for left, title, draw_part in parts:
            ax = figure.add_axes((left, 0.03, 0.29, 0.95))
            ax.set(xlim=(0, 1), ylim=(0, 1))
            ax.set_axis_off()
            ax.text(0, 0.88, title, size=TITLE, weight="bold")
            draw_part(ax, found, paper)
    return figure


def draw_table(ax: Any, found: Findings, paper: str) -> None:
    """Draw a table of thin columns, of which the share that is chosen is blue."""
    ax.text(0, 0.75, f"{N_WORDS} of {found.n_words:,} words", alpha=FAINT)
    low, high, n_columns = 0.0, 0.68, 75
    n_blue = round(n_columns * N_WORDS / found.n_words)
    blue = ((np.arange(n_blue) + 0.5) * n_columns / n_blue).astype(int)
    columns = np.arange(n_columns)
    for column in columns[~np.isin(columns, blue)]:
        place = (column / n_columns, low)
        ax.add_patch(
            plt.Rectangle(place, 0.7 / n_columns, high - low, color=GREY, alpha=0.35, lw=0)
        )
    ax.hlines(np.linspace(low, high, 10)[1:-1], 0, 1, color=paper, linewidth=2)
    for column in blue:
        place = ((column - 0.15) / n_columns, low)
        ax.add_patch(plt.Rectangle(place, 1 / n_columns, high - low, color=BLUE, lw=0))


def draw_errors(ax: Any, found: Findings, paper: str) -> None:
    """Draw errors as bars, with C tuned for each."""
    ax.text(0, 0.75, "errors on new text", alpha=FAINT)
    for place, (error, label) in enumerate(zip(found.errors, ("all", N_WORDS), strict=True)):
        middle = 0.5 - 0.26 * place
        length = 0.45 * error / max(found.errors)
        ax.text(0.19, middle, label, ha="right", va="center_baseline")
        add_bar(ax, 0.23, middle, length, 0.16, color=(LIGHT_BLUE, BLUE)[place])
        ax.text(0.26 + length, middle, f"{error:.1f} %", va="center_baseline")


def draw_proof(ax: Any, found: Findings, paper: str) -> None:
    """Write what is proven of the training objective."""
    ax.text(0, 0.75, "objective, proven", alpha=FAINT)
    rows = [
        (0.5, f"{found.realised:g} times", "for these labels", ORANGE),
        (0.16, f"≤ {found.measured:g} times", "for any other labels", LIGHT_ORANGE),
    ]
    for top, number, words, colour in rows:
        ax.text(0, top, number, size=TITLE, weight="bold", color=colour)
        ax.text(0, top - 0.12, words, alpha=FAINT)


def add_bar(
    ax: Any, left: float, middle: float, length: float, height: float, **colours: Any
) -> None:
    ax.add_patch(plt.Rectangle((left, middle - height / 2), length, height, lw=3, **colours))


def main() -> None:
    found = find()
    print(found)
    for name, ink, paper in (("hero", "#1F2933", "#FFFFFF"), ("hero-dark", "#E4E7EB", "#14181E")):
        figure = draw(found, ink, paper)
        figure.savefig(STATIC / f"{name}.svg", transparent=True, metadata={"Date": None})
        plt.close(figure)


if __name__ == "__main__":
    main()
