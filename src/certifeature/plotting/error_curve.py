"""Test error against the number of features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from certifeature.comparison import FULL_DATA, Comparison, compare
from certifeature.plotting._axes import (
    BLACK,
    Curve,
    add_legend,
    axes_for,
    checked_sizes,
    curves_of,
    label_numbers,
    require_matplotlib,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# A label that starts so is not in the legend.
_TUNED = {"linestyle": ":", "linewidth": 1, "markerfacecolor": "none", "label": "_tuned"}


class ErrorCurveDisplay:
    """Test error against the number of features, a curve for each method.

    It is the share of wrong classes in percent, or 1 − R² where numbers are predicted.
    Curves are means over the folds, bands a standard deviation to either side. Random features, the
    baseline for every method, are dashed and grey; full data are a horizontal line. A method that
    finds its own number of features is a point with a bar.

    Parameters
    ----------
    comparison : Comparison
        What :func:`certifeature.compare` returns.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the curves.
    figure_ : matplotlib Figure
        Figure with the axes.
    lines_ : dict of str to matplotlib Line2D
        The curve of each method, and the line of "full data".
    bands_ : dict of str to matplotlib FillBetweenPolyCollection
        The band of each method whose folds differ.
    points_ : dict of str to matplotlib ErrorbarContainer
        The point of each method that finds its own number of features.
    tuned_ : dict of str to matplotlib Line2D
        The same with C tuned, dotted and with hollow markers, where the comparison has that.
    legend_ : matplotlib Legend
        The legend.

    See Also
    --------
    certifeature.compare : Cross-validates the methods.
    GrowthCurveDisplay : What the certificates of the same comparison say.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from certifeature import compare
    >>> from certifeature.datasets import make_relevant_features
    >>> X, y = make_relevant_features(60, 200, 10, random_state=0)
    >>> comparison = compare(X, y, [10, 30], methods=["bss", "random"], cv=3)
    >>> display = ErrorCurveDisplay.from_comparison(comparison)
    >>> display.ax_.get_ylabel(), sorted(display.lines_)
    ('test error (%)', ['bss', 'full data', 'random'])
    >>> plt.close(display.figure_)
    """

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison

    @classmethod
    def from_comparison(
        cls, comparison: Comparison, *, ax: Axes | None = None, **kwargs: Any
    ) -> Self:
        """Plot a comparison.

        Parameters
        ----------
        comparison : Comparison
            What :func:`certifeature.compare` returns.
        ax : matplotlib Axes, default=None
            Axes to draw in; None makes a figure.
        **kwargs : dict
            Passed to :meth:`plot`.

        Returns
        -------
        ErrorCurveDisplay
            The plot.
        """
        return cls(comparison).plot(ax, **kwargs)

    @classmethod
    def from_data(
        cls, X: Any, y: Any, sizes: Sequence[int], *, ax: Axes | None = None, **options: Any
    ) -> Self:
        """Compare methods on data, and plot that.

        Parameters
        ----------
        X : {ndarray, sparse array or matrix} of shape (n_samples, n_features)
            Data.
        y : array-like of shape (n_samples,)
            Labels.
        sizes : sequence of int
            Numbers of features, increasing.
        ax : matplotlib Axes, default=None
            Axes to draw in; None makes a figure.
        **options : dict
            Passed to :func:`certifeature.compare`: methods, estimator, cv, random_state, n_jobs and
            the like.

        Returns
        -------
        ErrorCurveDisplay
            The plot; its ``comparison`` can be plotted again without computing it again.
        """
        require_matplotlib()
        return cls(compare(X, y, checked_sizes(sizes), **options)).plot(ax)

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw in; None makes a figure.
        **kwargs : dict
            Passed to :meth:`matplotlib.axes.Axes.plot` for the curve of each method.

        Returns
        -------
        ErrorCurveDisplay
            The display itself.
        """
        curves = curves_of(self.comparison)
        self.ax_ = axes_for(ax)
        self.figure_ = self.ax_.figure
        self.lines_: dict[str, Any] = {}
        self.bands_: dict[str, Any] = {}
        self.points_: dict[str, Any] = {}
        self.tuned_: dict[str, Any] = {}
        in_percent = self.comparison.measure == "error"
        unit, label = (100, "test error (%)") if in_percent else (1, "1 − R² on test rows")
        for curve in curves:
            self._add(curve, unit, kwargs)
        for contender in self.comparison.contenders:
            if contender.method == FULL_DATA:
                name = f"all {contender.n_features:g} features"
                line: dict[str, Any] = {"color": BLACK, "linewidth": 1, "zorder": 1.5}
                self.lines_[FULL_DATA] = self.ax_.axhline(
                    unit * contender.mean_error, label=name, **line
                )
                if self.comparison.tuned:
                    self.tuned_[FULL_DATA] = self.ax_.axhline(
                        unit * contender.mean_tuned_error, linestyle=":", **line
                    )
        self.ax_.set(xlabel="number of features chosen", ylabel=label)
        self.ax_.set_ylim(bottom=max(self.ax_.get_ylim()[0], 0.0))
        label_numbers(self.ax_, [c.size for c in self.comparison.contenders if c.size is not None])
        n_folds = self.comparison.n_folds * self.comparison.n_repeats
        tuned = "\ndotted: C tuned" if self.comparison.tuned else ""
        self.legend_ = add_legend(self.ax_, f"mean ± s.d., {n_folds} folds{tuned}", headroom=True)
        return self

    def _add(self, curve: Curve, unit: int, own: dict[str, Any]) -> None:
        """Draw one method: a curve and its band, or a point."""
        name, contenders = curve.name, curve.contenders
        means = unit * np.array([contender.mean_error for contender in contenders])
        deviations = unit * np.array([contender.deviation for contender in contenders])
        if self.comparison.tuned:
            tuned = unit * np.array([contender.mean_tuned_error for contender in contenders])
            (self.tuned_[name],) = self.ax_.plot(curve.places, tuned, **(curve.style | _TUNED))
        if contenders[0].size is None:
            self.points_[name] = self.ax_.errorbar(
                curve.places, means, deviations, capsize=3, **curve.style
            )
            return
        (self.lines_[name],) = self.ax_.plot(curve.places, means, **(curve.style | own))
        if deviations.any():
            low, high = np.maximum(means - deviations, 0), means + deviations
            colour = self.lines_[name].get_color()
            self.bands_[name] = self.ax_.fill_between(
                curve.places, low, high, color=colour, alpha=0.15, linewidth=0
            )
