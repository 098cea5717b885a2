"""Figures of test errors: a panel for each method, a dot for each task."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from certifeature._files import write_files
from certifeature.comparison import FULL_DATA
from paper.summary import group, mean_and_deviation

__all__ = ["error_panels"]

_ROWS = {"support": "supervised", "all": "unsupervised"}
_N_COLUMNS = 3
# Blue and orange of Okabe and Ito, which all eyes tell apart.
_DOTS, _LINE = "#0072B2", "#E69F00"


def error_panels(records: list[dict[str, Any]], sizes: Sequence[int], out: Path) -> list[Path]:
    """Draw test errors by task, with the full data as a line; return the files.

    Tasks are in the order of the error on the full data. Bars are deviations of the means of the
    repeats.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("figures need matplotlib: pip install 'certifeature[plot]'.") from error
    paths = []
    for rows, kind in _ROWS.items():
        for size in sizes:
            used = [r for r in records if r["size"] == size and r["rows"] == rows]
            full = _curve([r for r in records if r["size"] == size and r["method"] == FULL_DATA])
            panels = {m: _curve(p) for (m,), p in group(used, "method").items() if m != FULL_DATA}
            n_lines = -(-len(panels) // _N_COLUMNS)
            figure = Figure(figsize=(10, 2.6 * n_lines), layout="constrained")
            axes = figure.subplots(n_lines, _N_COLUMNS, sharex=True, sharey=True, squeeze=False)
            order = np.argsort(full[0], kind="stable")
            for axis, (method, (means, deviations)) in zip(axes.flat, panels.items(), strict=False):
                place = np.arange(1, len(order) + 1)
                axis.step(place, 100 * full[0][order], color=_LINE, where="mid", label=FULL_DATA)
                axis.errorbar(
                    place,
                    100 * means[order],
                    100 * deviations[order],
                    fmt="o",
                    markersize=3,
                    linewidth=1,
                    color=_DOTS,
                )
                axis.set_title(f"{method}: {100 * means.mean():.1f} %", fontsize=10)
            for axis in axes.flat[len(panels) :]:
                axis.set_visible(False)
            axes.flat[0].legend(frameon=False, fontsize=8)
            figure.supxlabel("task, in the order of the error on full data", fontsize=10)
            figure.supylabel("test error, %", fontsize=10)
            path = out / f"errors-{kind}-{size}.svg"
            # No date and fixed ids, so that the same records give the same file.
            with _fixed_ids():
                write_files({path: partial(figure.savefig, metadata={"Date": None})})
            paths.append(path)
    return paths


def _curve(records: list[dict[str, Any]]) -> Any:
    """Return means and deviations by task, in the order of the study."""
    parts = group(records, "task").values()
    found = (mean_and_deviation(part) for part in parts)
    return np.array([(mean, deviation or 0.0) for mean, deviation in found]).T


def _fixed_ids() -> Any:
    from matplotlib import rc_context

    return rc_context({"svg.hashsalt": "certifeature", "svg.fonttype": "none"})
