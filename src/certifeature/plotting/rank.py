"""Scores of features by rank, with the chosen ones marked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from certifeature.models import feature_weights
from certifeature.plotting._axes import COLOURS, GREY, add_legend, axes_for
from certifeature.plotting._scores import score_name
from certifeature.sparsify.choice import as_column_choice

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["RankDisplay"]


class RankDisplay:
    """Scores of the features, highest first, and which of them were chosen.

    Where all chosen features stand at the left, the selection is a cut by score; where they reach
    far to the right, it took features that cover directions which the best ones leave out.

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

    def __init__(self, *, scores: ArrayLike, selection: Any, score_name: str = "score") -> None:
        self.scores = np.asarray(scores, dtype=np.float64)
        if self.scores.ndim != 1 or not np.isfinite(self.scores).any():
            raise ValueError(
                "scores must be one number for each feature, some of them finite; "
                f"got shape {self.scores.shape}."
            )
        if np.isnan(self.scores).any() or np.isposinf(self.scores).any():
            raise ValueError("scores contain NaN or infinity; give −inf to a feature without one.")
        self.chosen = as_column_choice(selection, len(self.scores)).indices
        self.score_name = score_name
        self.ranks = np.empty(len(self.scores), dtype=np.intp)
        self.ranks[np.argsort(-self.scores, kind="stable")] = np.arange(1, len(self.scores) + 1)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Plot what a fitted selector of this library ranked and chose.

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
            raise TypeError(
                f"{type(estimator).__name__} is no selector of this library; "
                "use from_scores with its scores."
            )
        scores = estimator.scores_ if hasattr(estimator, "scores_") else feature_weights(estimator)
        name = score_name(estimator)
        return cls(scores=scores, selection=estimator, score_name=name).plot(ax, **kwargs)

    @classmethod
    def from_scores(
        cls,
        scores: ArrayLike,
        selection: Any,
        *,
        score_name: str = "score",
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Plot scores and a selection of any method.

        Parameters
        ----------
        scores : array-like of shape (n_features,)
            Score of each feature; −inf for none.
        selection : selector, or array-like
            A fitted selector of scikit-learn, a boolean mask, or indices of the chosen features.
        score_name : str, default="score"
            Label of the y axis.
        ax : matplotlib Axes, default=None
            Axes to draw in; None makes a figure.
        **kwargs : dict
            Passed to :meth:`plot`.

        Returns
        -------
        RankDisplay
            The plot.
        """
        return cls(scores=scores, selection=selection, score_name=score_name).plot(ax, **kwargs)

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
        order = order[np.isfinite(self.scores[order])]
        n_hidden = len(self.scores) - len(order)
        label = f"all {len(self.scores)} features"
        if n_hidden:
            label += f"\n({n_hidden} without a score)"
        (self.line_,) = self.ax_.plot(
            self.ranks[order], self.scores[order], color=GREY, linewidth=1.5, label=label
        )
        chosen = self.chosen[np.isfinite(self.scores[self.chosen])]
        label = f"{len(self.chosen)} chosen"
        if len(chosen) < len(self.chosen):
            label += f"\n({len(self.chosen) - len(chosen)} without a score)"
        style: dict[str, Any] = {"color": COLOURS[0], "linestyle": "none", "label": label}
        style |= {"marker": "|", "markersize": 10, "markeredgewidth": 0.8}
        (self.points_,) = self.ax_.plot(self.ranks[chosen], self.scores[chosen], **(style | kwargs))
        self.ax_.set(xlabel="rank of the feature", ylabel=self.score_name)
        if log:
            self.ax_.set_xscale("log")
        self.legend_ = add_legend(self.ax_)
        return self
