"""How stable a selection is over folds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.stats import binom
from sklearn.model_selection import check_cv

from certifeature._progress import as_one_task
from certifeature._utils import FloatArray
from certifeature.evaluation import engine
from certifeature.evaluation.splits import Splits
from certifeature.plotting import _axes
from certifeature.sparsify.choice import as_column_choice


class StabilityDisplay:
    r"""How often each feature is chosen when the data change a little.

    Features are in the order of their frequency; a selection that never changes is a rectangle. The
    dashed baseline is what random selections of the same mean size give on average. Two figures sum
    it up: the mean Jaccard index of two selections (features in both, of those in either), and the
    stability of Nogueira, Sechidis and Brown, on average 0 for random and 1 for equal selections,

    .. math::

        1 - \frac{\frac{1}{d}\sum_i \frac{m}{m-1} p_i(1-p_i)}
        {\frac{k}{d}\left(1-\frac{k}{d}\right)},

    for m selections of k of d features on average, that hold feature i with frequency p_i.

    Parameters
    ----------
    selections : sequence of array-like
        IntArray or boolean masks of the chosen features, at least two.
    n_features : int
        Number of features there are.

    Attributes
    ----------
    frequencies : ndarray of shape (n_features,)
        Share of the selections that hold each feature.
    jaccard : float
        Mean Jaccard index of the pairs of selections.
    nogueira : float
        Stability, corrected for chance; NaN where all features are chosen.
    ax_ : matplotlib Axes
        Axes with the curve.
    figure_ : matplotlib Figure
        Figure with the axes.
    line_ : matplotlib Line2D
        Frequencies, highest first.
    baseline_ : matplotlib Line2D
        What random selections give.
    legend_ : matplotlib Legend
        The legend.

    References
    ----------
    .. [1] S. Nogueira, K. Sechidis and G. Brown, *On the Stability of Feature Selection
           Algorithms*, Journal of Machine Learning Research 18, 2018.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> display = StabilityDisplay([[0, 1, 2], [0, 1, 3]], n_features=10).plot()
    >>> display.jaccard
    0.5
    >>> display.ax_.get_ylabel()
    'share of selections (%)'
    >>> plt.close(display.figure_)
    """

    def __init__(self, selections: Sequence[Any], n_features: int) -> None:
        if len(selections) < 2:
            raise ValueError(f"stability compares selections; got {len(selections)}, give two.")
        self.selections = [as_column_choice(chosen, n_features).indices for chosen in selections]
        self.n_features = n_features
        masks = engine.masks_of(self.selections, n_features)
        self.frequencies = masks.mean(axis=0)
        self.jaccard = engine.jaccard_index(masks)
        self.nogueira = engine.nogueira_index(self.frequencies, len(masks))

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        cv: Any = 5,
        ax: _axes.Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Select features on the training rows of each fold, and plot that.

        Parameters
        ----------
        estimator : selector
            Anything with ``fit`` and ``get_support``; copies of it are fitted. Its callbacks, if
            it has any, report the folds that are done:
            ``BSSSelector().set_callbacks(ProgressBar())`` shows a bar.
        X : {array-like, sparse array or matrix, data frame} of shape (n_samples, n_features)
            Data.
        y : array-like of shape (n_samples,), default=None
            Class labels.
        cv : int, cross-validation generator or iterable, default=5
            Folds; an int stratifies them by y where it is given.
        ax : matplotlib Axes, default=None
            Axes to draw in; None makes a figure.
        **kwargs : dict
            Passed to :meth:`plot`.

        Returns
        -------
        StabilityDisplay
            The plot.
        """
        _axes.require_matplotlib()
        if not hasattr(X, "iloc"):
            X = X.tocsr() if sparse.issparse(X) else np.asarray(X)
        y = None if y is None else np.asarray(y)
        splits = Splits(list(check_cv(cv, y, classifier=y is not None).split(X, y)))

        def selected(selector: Any) -> tuple[tuple[int, ...], ...]:
            candidate = engine.Candidate.of("selector", selector, "passthrough")
            return engine.cross_validate(X, y, [candidate], splits).chosen("selector")

        selections = as_one_task(estimator, "selections", selected)
        return cls(selections, X.shape[1]).plot(ax, **kwargs)

    def plot(self, ax: _axes.Axes | None = None, **kwargs: Any) -> Self:
        """Draw frequencies, highest first.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw in; None makes a figure.
        **kwargs : dict
            Passed to :meth:`matplotlib.axes.Axes.plot` for the frequencies.

        Returns
        -------
        StabilityDisplay
            The display itself.
        """
        self.ax_ = _axes.axes_for(ax)
        self.figure_ = self.ax_.figure
        n_selections = len(self.selections)
        found = f"Jaccard {self.jaccard:.2f}\nNogueira {self.nogueira:.2f}"
        label = f"{n_selections} selections\n{found}"
        heights = np.sort(self.frequencies[self.frequencies > 0])[::-1]
        corners = _corners(np.arange(1.0, len(heights) + 1), heights)
        (self.line_,) = self.ax_.step(
            *corners, **{"color": _axes.COLOURS[0], "label": label, **kwargs}
        )
        # Random selections of the same mean size, as they are expected.
        times = np.arange(n_selections, 0, -1)
        share = binom.sf(times - 1, n_selections, self.frequencies.mean())
        corners = _corners(self.n_features * share, times / n_selections)
        (self.baseline_,) = self.ax_.step(
            *corners, "--", color=_axes.GREY, label="random selections"
        )
        self.ax_.set(xlabel="features, most often chosen first", ylabel="share of selections (%)")
        self.ax_.set(xlim=(0, None), ylim=(0, 105))
        self.legend_ = _axes.add_legend(self.ax_)
        return self


def _corners(ends: FloatArray, heights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the corners, in percent, of stairs whose steps have these heights and ends."""
    places = np.concatenate([[0.0], ends, ends[-1:]])
    return places, 100 * np.concatenate([heights[:1], heights, [0.0]])
