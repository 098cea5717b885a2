"""Error and growth against the number of features, as drawings for a report."""

from __future__ import annotations

import io
from typing import Any

from certifeature.comparison import Comparison

__all__ = ["drawings"]


def drawings(comparison: Comparison) -> dict[str, str]:
    """Return captions and SVG texts."""
    from certifeature.plotting import ErrorCurveDisplay, GrowthCurveDisplay

    return {
        "Error on rows that were not used for training.": _svg(ErrorCurveDisplay, comparison),
        "Growth: at most so many times as large is what the model minimises on the rows that "
        "matter to it, compared with all features.": _svg(GrowthCurveDisplay, comparison),
    }


def _svg(display: Any, comparison: Comparison) -> str:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.2, 3.9), layout="constrained")
    display.from_comparison(comparison, ax=figure.subplots())
    text = io.StringIO()
    figure.savefig(text, format="svg")
    return text.getvalue()
