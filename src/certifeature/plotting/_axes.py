"""What the displays share: colours, axes, legends and ticks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from certifeature._utils import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from matplotlib.legend import Legend

# The palette of Okabe and Ito, which colour-blind readers can tell apart; without its yellow, which
# is too pale for lines.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
GREY = "#7F7F7F"
MARKERS = "os^Dvp"
# Legends of narrower figures, in inches, have one column.
_MIN_WIDTH_FOR_TWO = 5.0
# The axis is logarithmic if the largest number is at least this many times the smallest.
_WIDE_RANGE = 8
# Width of a digit, as a share of the font size.
_DIGIT_WIDTH = 0.75
_MAX_DECADES_WITH_STEPS = 3


def require_matplotlib() -> None:
    """Raise an error that says what to install if matplotlib is missing."""
    require("matplotlib", "plots", "plot")


def axes_for(ax: Axes | None) -> Axes:
    """Return the given axes, or those of a new figure with a constrained layout."""
    require_matplotlib()
    from matplotlib import axes, pyplot

    if ax is None:
        return pyplot.subplots(layout="constrained")[1]
    if not isinstance(ax, axes.Axes):
        raise TypeError(f"ax must be one matplotlib Axes or None; got {type(ax).__name__}.")
    return ax


def add_legend(ax: Axes, title: str | None = None) -> Legend:
    """Add a legend above axes that are alone in a figure with a constrained layout, else inside."""
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    figure: Any = ax.figure
    style: dict[str, Any] = {"title": title, "fontsize": "small", "title_fontsize": "small"}
    if len(figure.axes) > 1 or not isinstance(figure.get_layout_engine(), ConstrainedLayoutEngine):
        return ax.legend(loc="best", **style)
    style |= {"ncols": 1 + (figure.get_figwidth() >= _MIN_WIDTH_FOR_TWO), "frameon": False}
    return figure.legend(*ax.get_legend_handles_labels(), loc="outside upper left", **style)


def _width(ax: Axes) -> float:
    """Return the width of the axes in inches, before the figure is laid out."""
    figure: Any = ax.figure
    return float(ax.get_window_extent().width / figure.dpi)


def label_numbers(ax: Axes, numbers: Iterable[float]) -> None:
    """Label the x axis with numbers of features; if they range widely, it is logarithmic.

    There are ticks at those numbers whose labels fit.
    """
    from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter

    ax.set_xlabel("number of features chosen")
    ticks = np.unique(np.asarray(list(numbers), dtype=np.float64))
    if not len(ticks) or ticks[0] <= 0 or ticks[-1] < _WIDE_RANGE * ticks[0]:
        return
    ax.set_xscale("log")
    if not np.isfinite(ax.dataLim.intervalx).all():
        # Nothing that was drawn has a place, so there is no range to take over.
        ax.set_xlim(ticks[0], ticks[-1])
    low, high = np.log(ax.get_xlim())
    digit = _DIGIT_WIDTH * float(ax.xaxis.label.get_fontsize()) / 72 / _width(ax)
    shown: list[float] = []
    free_from = -np.inf
    for tick in ticks:
        place, half = (np.log(tick) - low) / (high - low), digit * (len(f"{tick:g}") + 1) / 2
        if place - half >= free_from:
            shown.append(float(tick))
            free_from = place + half
    ax.xaxis.set_major_locator(FixedLocator(shown))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))


def plot_growth(
    ax: Axes,
    curves: Mapping[str, tuple[Any, NDArray[np.float64], dict[str, Any]]],
    own: Mapping[str, Any],
) -> dict[str, Any]:
    """Draw curves of growth (x, y and style of each) on a logarithmic axis, with a line at 1.

    Values that are not finite are left out, and the legend says how many and why. The style that
    the user asks for comes last.
    """
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    ax.axhline(1.0, color=GREY, linewidth=0.8, linestyle=":", zorder=1)
    lines = {}
    for name, (places, growth, style) in curves.items():
        label = style["label"]
        for missing, reason in ((np.isinf(growth), "infinite"), (np.isnan(growth), "not computed")):
            if missing.any():
                some = "" if missing.all() else f" for {missing.sum()} of {len(growth)}"
                label += f"\n(none{some}: {reason})"
        shown = np.where(np.isfinite(growth), growth, np.nan)
        (lines[name],) = ax.plot(places, shown, **{**style, "label": label, **own})
    ax.set_yscale("log")
    low, high = ax.get_ylim()
    few = np.log10(high / low) <= _MAX_DECADES_WITH_STEPS
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if few else (1.0,)))
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    return lines
