"""Scores of features by rank, with the chosen ones marked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from certifeature.models import feature_weights
from certifeature.plotting._axes import COLOURS, GREY, add_legend, axes_for
from certifeature.selectors import BSSSelector
from certifeature.sparsify.choice import as_column_choice

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D


# The scores of a selector, or of an order of BSSSelector, in words.
_SCORES = {
    "coef": "|weight| in the SVM",
    "stable": "|mean| to deviation of weights",
    "leverage": "leverage score",
    "cover": "leverage score",
    "LeverageScoreSelector": "leverage score",
    "RandomSelector": "chance in one draw",
    "RRQRSelector": "relative column norm",
    "LPSVMSelector": "|weight| in the 1-norm SVM",
}


class RankDisplay:
    """Scores of the features, highest first, and which of them were chosen.

    If all chosen features are at the left, the selection is a cut by score. If some are far to the
    right, it also took features for directions that the best ones do not cover.

    Parameters
    ----------
    scores : array-like of shape (n_features,)
        Score of each feature; −inf for none.
    selection : selector, or array-like
        A fitted selector, a boolean mask, or indices of the chosen features.
    score_name : str, default="score"
        Label of the y axis.

    Attributes
    ----------
    ranks : ndarray of shape (n_features,)
        Rank of each feature, from 1; of equal scores, the lower index first.
    chosen : ndarray of shape (n_chosen,)
        Indices of the chosen features.
    ax_ : matplotlib Axes
        Axes with the curve.
    figure_ : matplotlib Figure
        Figure with the axes.
    line_ : matplotlib Line2D
        The scores of all features.
    points_ : matplotlib Line2D
        The chosen features.
    legend_ : matplotlib Legend
        The legend.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from certifeature import BSSSelector
    >>> from certifeature.datasets import make_relevant_features
    >>> X, y = make_relevant_features(100, 500, 20, random_state=0)
    >>> display = RankDisplay.from_estimator(BSSSelector(60).fit(X, y))
    >>> display.ax_.get_ylabel()
    '|weight| in the SVM'
    >>> plt.close(display.figure_)
    """

    def __init__(self, scores: ArrayLike, selection: Any, *, score_name: str = "score") -> None:
        self.scores = np.asarray(scores, dtype=np.float64)
        is_finite, is_none = np.isfinite(self.scores), np.isneginf(self.scores)
        if self.scores.ndim != 1 or not is_finite.any() or not (is_finite | is_none).all():
            needed = (
                "a number for each feature, some of them finite, and −inf for those without one"
            )
            raise ValueError(f"scores must be {needed}, not NaN or infinity; got {self.scores}.")
        self.chosen = as_column_choice(selection, len(self.scores)).indices
        self.score_name = score_name
        self.ranks = np.empty(len(self.scores), dtype=np.intp)
        self.ranks[np.argsort(-self.scores, kind="stable")] = np.arange(1, len(self.scores) + 1)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Plot the scores and the choice of a fitted selector of this library.

        Parameters
        ----------
        estimator : selector
            Fitted, with ``scores_`` or ``coef_``.
        ax : matplotlib Axes, default=None
            Axes to draw in; None makes a figure.
        **kwargs : dict
            Passed to :meth:`plot`.

        Returns
        -------
        RankDisplay
            The plot.
        """
        check_is_fitted(estimator)
        if not hasattr(estimator, "indices_"):
            name = type(estimator).__name__
            raise TypeError(f"{name} has no scores that are known; use RankDisplay(scores, mask).")
        scores = estimator.scores_ if hasattr(estimator, "scores_") else feature_weights(estimator)
        kind: Any = type(estimator).__name__
        if isinstance(estimator, BSSSelector):
            _, kind = estimator._orders()
        name = _SCORES.get(kind, "score") if isinstance(kind, str) else "score"
        return cls(scores, estimator, score_name=name).plot(ax, **kwargs)

    def plot(self, ax: Axes | None = None, *, log: bool = True, **kwargs: Any) -> Self:
        """Draw scores by rank.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw in; None makes a figure.
        log : bool, default=True
            Whether the axis of ranks has a log scale.
        **kwargs : dict
            Passed to :meth:`matplotlib.axes.Axes.plot` for the chosen features.

        Returns
        -------
        RankDisplay
            The display itself.
        """
        self.ax_ = axes_for(ax)
        self.figure_ = self.ax_.figure
        order = np.argsort(self.ranks)
        self.line_ = self._draw(order, f"all {len(order)} features", color=GREY, linewidth=1.5)
        look: dict[str, Any] = {"color": COLOURS[0], "linestyle": "none", "marker": "|"}
        look |= {"markersize": 10, "markeredgewidth": 0.8} | kwargs
        self.points_ = self._draw(self.chosen, f"{len(self.chosen)} chosen", **look)
        self.ax_.set(xlabel="rank of the feature", ylabel=self.score_name)
        if log:
            self.ax_.set_xscale("log")
        self.legend_ = add_legend(self.ax_)
        return self

    def _draw(self, features: NDArray[np.intp], name: str, **style: Any) -> Line2D:
        """Draw features, except those without a score, which the label counts."""
        shown = features[np.isfinite(self.scores[features])]
        if len(shown) < len(features):
            name += f"\n({len(features) - len(shown)} without a score)"
        return self.ax_.plot(self.ranks[shown], self.scores[shown], **{"label": name, **style})[0]
