"""Style of the pictures of the front page and of "How it works", for light and dark pages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from matplotlib import pyplot as plt

# Colours of Okabe and Ito, which colour-blind readers can tell apart.
BLUE, LIGHT_BLUE, ORANGE, GREEN, GREY = "#0072B2", "#56B4E9", "#D55E00", "#009E73", "#9AA5B1"
FAINT = 0.75
# Suffix of the file, colour of text.
_PAGES = (("", "#1F2933"), ("-dark", "#E4E7EB"))


def save_for_both_pages(draw: Callable[[], Any], folder: Path, name: str, **style: Any) -> None:
    """Draw a figure in dark and in light ink, and save both as SVG."""
    for suffix, ink in _PAGES:
        inked = dict.fromkeys(
            ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), ink
        )
        fixed = {"svg.fonttype": "path", "svg.hashsalt": name, "legend.frameon": False}
        clean = {"axes.spines.top": False, "axes.spines.right": False}
        with plt.rc_context(inked | fixed | clean | style):
            figure = draw()
            path = folder / f"{name}{suffix}.svg"
            figure.savefig(path, transparent=True, bbox_inches="tight", metadata={"Date": None})
            plt.close(figure)
