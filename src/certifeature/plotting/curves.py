"""Test error and growth of the training objective against the number of features."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from certifeature.comparison import FULL_DATA, Comparison, Contender
from certifeature.plotting import _axes

_DASHES = ("-", "-.", ":")
_BASELINE = "random"
# The results of each method by number of features, and how its curve looks.
Curves = dict[str, tuple[list[Contender], dict[str, Any]]]


class ComparisonDisplay:
    """Test error, or a bound on the training objective, against the number of features.

    There is a curve for each method. The error is the share of wrong classes in percent, with bands
    of 95 % confidence intervals; where numbers are predicted, R² is drawn instead, without bands.
    Random features, the baseline for every method, are dashed and grey; full data are a horizontal
    line. A method that finds its own number of features is a point, with a bar if there are bands.
    The title of the legend says whether C was tuned.

    With ``growth``, curves are upper bounds on the ratio of the objective with the chosen features
    to that with all. They hold for any labels of the rows that determine the model
    (``measured_growth`` of a certificate), and are medians of the folds, on a logarithmic axis; at
    1 nothing is lost. Infinite bounds are left out, and the legend counts them.

    Parameters
    ----------
    comparison : Comparison
        What :func:`certifeature.compare` returns.
    growth : bool, default=False
        Whether to draw the bounds in place of the errors; methods look the same in both.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the curves.
    figure_ : matplotlib Figure
        Figure with the axes.
    lines_ : dict of str to matplotlib Line2D
        The curve of each method; with errors, also the line of "full data".
    bands_ : dict of str to matplotlib FillBetweenPolyCollection
        The interval of each method; only with errors.
    points_ : dict of str to matplotlib ErrorbarContainer
        The error of each method that finds its own number of features.
    legend_ : matplotlib Legend
        The legend.

    See Also
    --------
    certifeature.compare : Cross-validates the methods.
    CertificateDisplay : The layers of the certificates of one selector.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from certifeature import compare
    >>> from certifeature.datasets import make_relevant_features
    >>> X, y = make_relevant_features(60, 200, 10, random_state=0)
    >>> comparison = compare(X, y, [10, 30], methods=["bss", "random"], cv=3, n_repeats=1)
    >>> figure, (left, right) = plt.subplots(1, 2, layout="constrained")
    >>> errors = ComparisonDisplay(comparison).plot(left)
    >>> errors.ax_.get_ylabel(), sorted(errors.lines_)
    ('test error (%)', ['bss', 'full data', 'random'])
    >>> growth = ComparisonDisplay(comparison, growth=True).plot(right)
    >>> growth.lines_["bss"].get_color() == errors.lines_["bss"].get_color()
    True
    >>> plt.close(figure)
    """

    def __init__(self, comparison: Comparison, *, growth: bool = False) -> None:
        self.comparison, self.growth = comparison, growth

    def plot(self, ax: _axes.Axes | None = None, **kwargs: Any) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw in; None makes a figure.
        **kwargs : dict
            Passed to :meth:`matplotlib.axes.Axes.plot` for the curve of each method.

        Returns
        -------
        ComparisonDisplay
            The display itself.
        """
        contenders = [c for c in self.comparison.contenders if c.method != FULL_DATA]
        if not contenders:
            raise ValueError("the comparison holds no method but full data; compare some.")
        self.ax_ = _axes.axes_for(ax)
        self.figure_ = self.ax_.figure
        names = dict.fromkeys(contender.method for contender in contenders)
        curves = {}
        # Random features come last.
        for place, name in enumerate(sorted(names, key=lambda name: name == _BASELINE)):
            found = [c for c in contenders if c.method == name]
            curves[name] = found, _style(name, place, found[0].size is None)
        self.lines_: dict[str, Any] = {}
        self.bands_: dict[str, Any] = {}
        self.points_: dict[str, Any] = {}
        draw = self._draw_growth if self.growth else self._draw_errors
        label, title = draw(curves, kwargs)
        self.ax_.set_ylabel(label)
        _axes.label_numbers(self.ax_, [c.size for c in contenders if c.size is not None])
        n_folds = self.comparison.n_folds * self.comparison.n_repeats
        self.legend_ = _axes.add_legend(self.ax_, title.format(n_folds))
        return self

    def _draw_errors(self, curves: Curves, own: dict[str, Any]) -> tuple[str, str]:
        """Draw each method; return the label of the y axis, and the legend's title for {} folds."""
        in_percent = self.comparison.measure == "error"
        label = "test error (%)" if in_percent else "R² on test rows"
        for name, (contenders, style) in curves.items():
            places = [c.n_features for c in contenders]
            values = np.array([(c.error, *c.performance.error.ends) for c in contenders])
            errors, low, high = (100 * values if in_percent else 1 - values).T
            if contenders[0].size is None:
                lengths = errors - low, high - errors
                self.points_[name] = self.ax_.errorbar(places, errors, lengths, capsize=3, **style)
                continue
            (self.lines_[name],) = self.ax_.plot(places, errors, **(style | own))
            band = {"color": self.lines_[name].get_color(), "alpha": 0.15, "linewidth": 0}
            self.bands_[name] = self.ax_.fill_between(places, low, high, **band)
        if (full := self.comparison.full) is not None:
            line: Any = {"color": "black", "linewidth": 1, "zorder": 1.5}
            name = f"all {full.n_features:g} features"
            level = 100 * full.error if in_percent else 1 - full.error
            self.lines_[FULL_DATA] = self.ax_.axhline(level, label=name, **line)
        if not in_percent:
            return label, f"{{}} folds,\n{self.comparison.cost}"
        self.ax_.set_ylim(bottom=max(self.ax_.get_ylim()[0], 0.0))
        return label, f"95 % intervals, {{}} folds,\n{self.comparison.cost}"

    def _draw_growth(self, curves: Curves, own: dict[str, Any]) -> tuple[str, str]:
        drawn = {}
        for name, (contenders, style) in curves.items():
            places, growth = np.array([(c.n_features, c.growth) for c in contenders]).T
            drawn[name] = places, growth, style
        self.lines_ = _axes.plot_growth(self.ax_, drawn, own)
        return "growth for any labels, at most (times)", "bound, median of {} folds"


def _style(name: str, place: int, has_own_number: bool) -> dict[str, Any]:
    """Return how a curve looks; a method that finds its own number is a point without a line."""
    turn, number = divmod(place, len(_axes.COLOURS))
    look: dict[str, Any] = {"markersize": 4, "linewidth": 1.5, "label": name}
    if name == _BASELINE:
        look |= {"color": _axes.GREY, "linestyle": "--", "marker": "x", "label": "random features"}
    else:
        look |= {"color": _axes.COLOURS[number], "marker": _axes.MARKERS[number]}
        look["linestyle"] = _DASHES[turn % len(_DASHES)]
    if has_own_number:
        look |= {"linestyle": "none", "label": f"{name} (own number)"}
    return look
