"""Growth of the training objective against the number of features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from certifeature.comparison import Comparison
from certifeature.plotting._axes import add_legend, axes_for, curves_of, label_numbers, plot_growth

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class GrowthCurveDisplay:
    """By how many times the training objective grows at most, a curve for each method.

    The growth is that of measured certificates, the median of the folds, on a logarithmic axis; at
    1 nothing is lost. Methods look as they do in :class:`ErrorCurveDisplay`. What is infinite, as
    nothing is proven, is left out, and the legend says of how many sizes.

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
        The curve of each method; a point, if it finds its own number of features.
    legend_ : matplotlib Legend
        The legend.

    See Also
    --------
    ErrorCurveDisplay : The test errors of the same comparison.
    CertificateDisplay : The layers of the certificates of one selector.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from certifeature import compare
    >>> from certifeature.datasets import make_relevant_features
    >>> from certifeature.plotting.error_curve import ErrorCurveDisplay
    >>> X, y = make_relevant_features(60, 200, 10, random_state=0)
    >>> comparison = compare(X, y, [10, 30], methods=["bss", "random"], cv=3)
    >>> figure, (left, right) = plt.subplots(1, 2, layout="constrained")
    >>> errors = ErrorCurveDisplay.from_comparison(comparison, ax=left)
    >>> growth = GrowthCurveDisplay.from_comparison(comparison, ax=right)
    >>> growth.lines_["bss"].get_color() == errors.lines_["bss"].get_color()
    True
    >>> plt.close(figure)
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
        GrowthCurveDisplay
            The plot.
        """
        return cls(comparison).plot(ax, **kwargs)

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
        GrowthCurveDisplay
            The display itself.
        """
        curves = curves_of(self.comparison)
        self.ax_ = axes_for(ax)
        self.figure_ = self.ax_.figure
        growth = {
            curve.name: (curve.places, np.array([c.growth for c in curve.contenders]), curve.style)
            for curve in curves
        }
        self.lines_ = plot_growth(self.ax_, growth, kwargs)
        self.ax_.set_ylabel("growth on the rows that matter (times)")
        label_numbers(self.ax_, [c.size for c in self.comparison.contenders if c.size is not None])
        n_folds = self.comparison.n_folds * self.comparison.n_repeats
        self.legend_ = add_legend(self.ax_, f"at most, median of {n_folds} folds", headroom=True)
        return self
