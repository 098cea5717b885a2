"""The spectrum of the matrix that BSS builds up, and what encloses it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from certifeature.plotting._axes import COLOURS, GREY, add_legend, axes_for, require_matplotlib
from certifeature.plotting._history import History
from certifeature.selectors import BSSSelector

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["SpectrumDisplay"]

_SOFT = "$W^{1/2}MW^{1/2} + I - W$"


class SpectrumDisplay:
    r"""Eigenvalues of the matrix A that BSS builds up, with the barriers that enclose them.

    With ℓ directions and r steps, the barriers stand after step τ at

    .. math::

        \tau - \sqrt{r\ell} \quad\text{and}\quad
        \frac{1+\sqrt{\ell/r}}{1-\sqrt{\ell/r}} \left(\tau + \sqrt{r\ell}\right),

    and every eigenvalue of A lies strictly between them. The chosen scales turn A into
    VᵀRRᵀV = A·(1 − √(ℓ/r))/r.

    Where a soft model needs a share w of each direction only, W = diag(w), D = Σw and q = √(D/r),
    the eigenvalues shown are those of W^½MW^½ + I − W, with M = A·(1 − q)/r. After the last step M
    is VᵀRRᵀV, and they say how the kernel matrix of the chosen and scaled features compares to that
    of all features, a ridge added to both: that of the model, or a larger one where picks are too
    few for it. 1 is untouched. After step τ they lie between

    .. math::

        1 - q + q^2 - \left(1 - (1-q)\frac{\tau}{r}\right) \max w \quad\text{and}\quad
        1 + q + q^2 + \max_w \left((1+q)\frac{\tau}{r} - 1\right) w,

    in the end between (1 − q)² and (1 + q)². Features that are in anyway are not counted.

    Parameters
    ----------
    steps : ndarray of shape (n_shown,)
        Steps that are shown, from 0 to r.
    eigenvalues : ndarray of shape (n_shown, n_components)
        Eigenvalues after each of them, in increasing order.
    lower, upper : ndarray of shape (n_shown,)
        Barriers or bounds after each of them.
    soft : bool, default=False
        Whether directions are covered in part, so that the eigenvalues are not those of A.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the lines.
    figure_ : matplotlib Figure
        Figure with the axes.
    eigenvalues_ : matplotlib LineCollection
        A line for each eigenvalue.
    lower_, upper_ : matplotlib Line2D
        The barriers or bounds.
    legend_ : matplotlib Legend
        The legend.

    See Also
    --------
    certifeature.sparsify.bss : The algorithm.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> V, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((300, 10)))
    >>> display = SpectrumDisplay.from_vectors(V, 40)
    >>> bool((display.lower < display.eigenvalues[:, 0]).all())
    True
    >>> display.ax_.get_xlabel()
    'step'
    >>> plt.close(display.figure_)
    """

    def __init__(
        self,
        *,
        steps: ArrayLike,
        eigenvalues: ArrayLike,
        lower: ArrayLike,
        upper: ArrayLike,
        soft: bool = False,
    ) -> None:
        self.steps = np.asarray(steps)
        self.eigenvalues = np.asarray(eigenvalues, dtype=np.float64)
        self.lower = np.asarray(lower, dtype=np.float64)
        self.upper = np.asarray(upper, dtype=np.float64)
        self.soft = soft
        n_shown = len(self.steps)
        if self.eigenvalues.ndim != 2 or len(self.eigenvalues) != n_shown:
            raise ValueError(
                f"eigenvalues must have a row for each of the {n_shown} steps; "
                f"got shape {self.eigenvalues.shape}."
            )

    @classmethod
    def from_vectors(
        cls,
        vectors: ArrayLike,
        n_select: int,
        *,
        coverage: ArrayLike | None = None,
        priority: ArrayLike | None = None,
        n_shown: int = 60,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Run BSS on a basis and plot how the eigenvalues move.

        Parameters
        ----------
        vectors : array-like or ImplicitVectors of shape (n_features, n_components)
            Orthonormal columns.
        n_select : int
            Number of steps, more than ``n_components``, or than the sum of ``coverage``.
        coverage : array-like of shape (n_components,), default=None
            Share of each direction to be covered, as for :func:`certifeature.sparsify.bss`.
        priority : array-like of shape (n_features,), default=None
            Ranking among the admissible features, as for :func:`certifeature.sparsify.bss`.
        n_shown : int, default=60
            Largest number of steps to show, evenly spaced; at least 2.
        ax : matplotlib Axes, default=None
            Axes to draw in; None makes a figure.
        **kwargs : dict
            Passed to :meth:`plot`.

        Returns
        -------
        SpectrumDisplay
            The plot.
        """
        require_matplotlib()
        history = History.of_vectors(vectors, n_select, coverage, priority, n_shown)
        return cls(**vars(history)).plot(ax, **kwargs)

    @classmethod
    def from_estimator(
        cls,
        estimator: BSSSelector,
        X: Any,
        y: Any = None,
        *,
        n_shown: int = 60,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Take the steps of a fitted selector and plot how the eigenvalues move.

        Parameters
        ----------
        estimator : BSSSelector
            Fitted selector.
        X : {array-like, sparse array or matrix} of shape (n_samples, n_features)
            The data that it was fitted on.
        y : array-like of shape (n_samples,), default=None
            Ignored: the selector knows its support rows.
        n_shown : int, default=60
            Largest number of steps to show, evenly spaced; at least 2.
        ax : matplotlib Axes, default=None
            Axes to draw in; None makes a figure.
        **kwargs : dict
            Passed to :meth:`plot`.

        Returns
        -------
        SpectrumDisplay
            The plot.
        """
        require_matplotlib()
        history = History.of_selector(estimator, X, n_shown)
        return cls(**vars(history)).plot(ax, **kwargs)

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw eigenvalues and what encloses them.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw in; None makes a figure.
        **kwargs : dict
            Passed to :class:`matplotlib.collections.LineCollection` for the eigenvalues.

        Returns
        -------
        SpectrumDisplay
            The display itself.
        """
        self.ax_ = axes_for(ax)
        self.figure_ = self.ax_.figure
        from matplotlib.collections import LineCollection

        n_components = self.eigenvalues.shape[1]
        paths = [np.column_stack([self.steps, values]) for values in self.eigenvalues.T]
        style: dict[str, Any] = {"color": COLOURS[0], "linewidth": 0.8, "alpha": 0.7} | kwargs
        matrix, line, neutral = (_SOFT, "bound", 1) if self.soft else ("A", "barrier", 0)
        style.setdefault("label", f"{n_components} eigenvalues of {matrix}")
        self.eigenvalues_ = self.ax_.add_collection(LineCollection(paths, **style))
        self.ax_.axhline(neutral, color=GREY, linewidth=0.8, linestyle=":", zorder=1)
        (self.upper_,) = self.ax_.plot(
            self.steps, self.upper, color=COLOURS[4], linestyle="-.", label=f"upper {line}"
        )
        (self.lower_,) = self.ax_.plot(
            self.steps, self.lower, color=COLOURS[1], linestyle="--", label=f"lower {line}"
        )
        self.ax_.autoscale_view()
        self.ax_.margins(x=0)
        self.ax_.set(xlabel="step", ylabel=f"eigenvalue of {matrix}")
        self.legend_ = add_legend(self.ax_)
        return self
