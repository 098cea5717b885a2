"""How the gallery looks: the order of its examples, and the style of its figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib import pyplot as plt

# First what most users come for, then special cases, then what lies behind it.
ORDER = (
    "plot_pipeline_grid_search.py",
    "plot_hundred_genes.py",
    "plot_better_genes.py",
    "plot_words_against_rfe.py",
    "plot_how_many_features.py",
    "plot_stable_features.py",
    "plot_features_that_stay.py",
    "plot_groups_of_features.py",
    "plot_certify_rfe.py",
    "plot_certificate_meaning.py",
    "plot_out_of_memory.py",
    "plot_logistic_and_ridge.py",
)

# Letters and lines that can still be read in a thumbnail, and the colours of the library's own
# plots, of Okabe and Ito, which colour-blind readers can tell apart.
STYLE: dict[str, Any] = {
    "axes.prop_cycle": plt.cycler(
        color=["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]
    ),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.figsize": (7.0, 4.9),
    "font.size": 14.0,
    "legend.frameon": False,
    "lines.linewidth": 2.5,
    "lines.markersize": 8.0,
}


class ByTask:
    """Sort key of an example: its place in `ORDER`."""

    def __init__(self, src_dir: str) -> None:
        pass

    def __call__(self, filename: str) -> int:
        return ORDER.index(Path(filename).name)


def set_style(gallery_conf: dict[str, Any], fname: str | None) -> None:
    """Set the style of the figures, before each example."""
    plt.rcParams.update(STYLE)
