"""What the displays share: colours, axes, legends and checks of input."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend

__all__ = [
    "BLACK",
    "COLOURS",
    "GREY",
    "MARKERS",
    "add_legend",
    "axes_for",
    "checked_sizes",
    "label_numbers",
    "log_scale",
    "require_matplotlib",
    "with_lacking",
]

# Of Okabe and Ito, distinct for colour-blind readers too; without yellow, which is too pale.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
BLACK, GREY = "#000000", "#7F7F7F"
MARKERS = "os^Dvp"
# Axes of at least this width, in inches, get the legend at their side.
_MIN_WIDTH_FOR_SIDE = 4.0
_MAX_COLUMNS = 3
# Largest share of the height of the axes that a legend inside may take.
_MAX_LEGEND_HEIGHT = 0.6
# The axis is logarithmic if the largest number is at least this many times the smallest.
_WIDE_RANGE = 8
_DIGIT_WIDTH = 0.75
_MAX_DECADES_WITH_STEPS = 3


def require_matplotlib() -> None:
    """Raise an error that says what to install, unless matplotlib is there."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'certifeature[plot]'.") from error


def axes_for(ax: Axes | None) -> Axes:
    """Return the axes of the user, or those of a new figure that lays itself out."""
    require_matplotlib()
    if ax is None:
        from matplotlib import pyplot as plt

        return plt.subplots(layout="constrained")[1]
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        raise TypeError(f"ax must be one matplotlib Axes or None; got {type(ax).__name__}.")
    return ax


def add_legend(ax: Axes, title: str | None = None, *, headroom: bool = False) -> Legend:
    """Add a legend outside the axes where the figure makes room for it, else inside.

    With headroom, the y axis grows for a legend inside, which then hides nothing.
    """
    from matplotlib.layout_engine import ConstrainedLayoutEngine, TightLayoutEngine

    width = _width(ax)
    style: dict[str, Any] = {"title": title, "fontsize": "small", "title_fontsize": "small"}
    outside = isinstance(ax.figure.get_layout_engine(), ConstrainedLayoutEngine | TightLayoutEngine)
    if outside and width >= _MIN_WIDTH_FOR_SIDE:
        style |= {"frameon": False, "borderaxespad": 0.0}
        return ax.legend(loc="upper left", bbox_to_anchor=(1.02, 1.0), **style)
    if not outside and not headroom:
        return ax.legend(loc="best", **style)
    style |= {"frameon": False, "handlelength": 1.5, "columnspacing": 1.0, "labelspacing": 0.3}
    style |= {"alignment": "left"}
    if width < _MIN_WIDTH_FOR_SIDE:
        style |= {"fontsize": "x-small", "title_fontsize": "x-small"}
    if outside:
        return _fitting_legend(ax, loc="lower left", bbox_to_anchor=(0.0, 1.0), **style)
    legend = _fitting_legend(ax, loc="upper left", **style)
    _raise_top(ax, legend)
    return legend


def _fitting_legend(ax: Axes, **style: Any) -> Legend:
    """Add a legend with as many columns as do not make it wider than the axes."""
    for n_columns in range(_MAX_COLUMNS, 1, -1):
        legend = ax.legend(ncols=n_columns, **style)
        if legend.get_window_extent().width <= ax.get_window_extent().width:
            return legend
    return ax.legend(**style)


def _raise_top(ax: Axes, legend: Legend) -> None:
    """Raise the upper end of the y axis until all that was there is below the legend."""
    share = min(
        legend.get_window_extent().height / ax.get_window_extent().height, _MAX_LEGEND_HEIGHT
    )
    scale = ax.yaxis.get_transform()
    low, high = scale.transform(np.array(ax.get_ylim()))
    top = scale.inverted().transform(np.array([low + (high - low) / (1 - share)]))
    ax.set_ylim(top=float(top[0]))


def label_numbers(ax: Axes, numbers: Iterable[float]) -> None:
    """Put plain numbers on the x axis, at those given; on a log scale if their range is wide."""
    from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter

    ticks = np.unique(np.asarray(list(numbers), dtype=np.float64))
    if not len(ticks) or ticks[0] <= 0 or ticks[-1] < _WIDE_RANGE * ticks[0]:
        return
    ax.set_xscale("log")
    if not np.isfinite(ax.dataLim.intervalx).all():
        # Nothing is drawn that has a place.
        ax.set_xlim(ticks[0], ticks[-1])
    low, high = np.log(ax.get_xlim())
    font_size = ax.xaxis.label.get_fontsize()
    letter = _DIGIT_WIDTH * float(font_size) / 72 / _width(ax)
    shown: list[float] = []
    free_from = -np.inf
    for tick in ticks:
        place, half = (np.log(tick) - low) / (high - low), letter * (len(f"{tick:g}") + 1) / 2
        if place - half >= free_from:
            shown.append(float(tick))
            free_from = place + half
    ax.xaxis.set_major_locator(FixedLocator(shown))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))


def log_scale(ax: Axes) -> None:
    """Put plain numbers on a logarithmic y axis."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    ax.set_yscale("log")
    low, high = ax.get_ylim()
    few = np.log10(high / low) <= _MAX_DECADES_WITH_STEPS
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if few else (1.0,)))
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))


def with_lacking(label: str, values: NDArray[np.float64]) -> str:
    """Return the label of a curve with the number of values that it lacks, and why."""
    for lacking, reason in ((np.isinf(values), "infinite"), (np.isnan(values), "not computed")):
        if lacking.any():
            some = "" if lacking.all() else f" for {lacking.sum()} of {len(values)}"
            label += f"\n(none{some}: {reason})"
    return label


def checked_sizes(sizes: Sequence[int]) -> list[int]:
    """Return numbers of features as a list; raise unless they are positive and increase."""
    given = list(sizes)
    if not given:
        raise ValueError("sizes is empty; give at least one number of features.")
    for size in given:
        if not isinstance(size, Integral) or isinstance(size, bool) or size < 1:
            raise ValueError(f"sizes must be positive integers; got {size!r} in {given}.")
    if any(later <= size for size, later in pairwise(given)):
        raise ValueError(f"sizes must increase from each to the next; got {given}.")
    return [int(size) for size in given]


def _width(ax: Axes) -> float:
    """Return the width of axes in inches, as it is before the figure is laid out."""
    figure: Any = ax.figure
    return float(ax.get_window_extent().width / figure.dpi)
