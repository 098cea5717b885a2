"""The result of a comparison of methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from certifeature.certificate.wording import rounded_up
from certifeature.compare.methods import FULL_DATA

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from certifeature.plotting import ErrorCurveDisplay

__all__ = ["Comparison", "Contender"]

_GROWTH = (
    "growth: on the rows that matter to it, the training objective is at most so many times that "
    "with all features, with probability 0.99 or more; median of the folds"
)


@dataclass(frozen=True)
class Contender:
    """How one method does with one number of features.

    Attributes
    ----------
    method : str
        Name of the method.
    size : int or None
        Number of features asked for; None for a method that finds its own, and for full data.
    n_features : float
        Number of features chosen, on average over the folds.
    errors : tuple of float
        Test error of each fold: the share of wrong classes, or 1 - R² where numbers are predicted.
    seconds : float
        Median time of a selection.
    growth : float
        At most by so many times does the objective of the model grow on the training rows that
        matter to it, not on all, by the measured certificate: the median of the folds, in which a
        fold where nothing is proven counts as inf.
    tuned_errors : tuple of float
        Test error of each fold with C tuned by inner folds; empty if that was not asked for.
    chosen : tuple of tuple of int
        The features chosen in each fold, best first; empty for full data.
    """

    method: str
    size: int | None
    n_features: float
    errors: tuple[float, ...]
    seconds: float
    growth: float
    tuned_errors: tuple[float, ...] = ()
    # Hundreds of numbers for each fold are nothing to look at.
    chosen: tuple[tuple[int, ...], ...] = field(default=(), repr=False)

    @property
    def mean_error(self) -> float:
        """Mean of the errors."""
        return float(np.mean(self.errors))

    @property
    def deviation(self) -> float:
        """Standard deviation of the errors of the folds."""
        return _deviation(self.errors)

    @property
    def mean_tuned_error(self) -> float:
        """Mean of the errors with C tuned; NaN if that was not asked for."""
        return float(np.mean(self.tuned_errors)) if self.tuned_errors else np.nan

    @property
    def tuned_deviation(self) -> float:
        """Standard deviation of these errors; NaN if that was not asked for."""
        return _deviation(self.tuned_errors) if self.tuned_errors else np.nan


def _deviation(errors: Sequence[float]) -> float:
    return float(np.std(errors, ddof=1)) if len(errors) > 1 else 0.0


@dataclass(frozen=True)
class Comparison:
    """Methods compared, full data first; ``print`` shows a table.

    Attributes
    ----------
    contenders : tuple of Contender
        In the order of the methods, each by size.
    n_repeats, n_folds, seed : int
        Number of cross-validations, of folds in each, and their seed.
    measure : {"error", "1 - R2"}
        What the errors are.

    Examples
    --------
    >>> from certifeature import Comparison
    >>> from certifeature.compare import Contender
    >>> contender = Contender("bss", 20, 20.0, (0.1, 0.2), 0.03, 1.5, tuned_errors=(0.1, 0.1))
    >>> print(Comparison((contender,), 1, 2, 0))
    1 × 2-fold cross-validation
    method  asked  features          error        C tuned  seconds  growth
    bss        20        20  0.150 ± 0.071  0.100 ± 0.000     0.03     1.5
    growth: on the rows that matter to it, the training objective is at most so many times that
    with all features, with probability 0.99 or more; median of the folds
    """

    contenders: tuple[Contender, ...]
    n_repeats: int
    n_folds: int
    seed: int
    measure: str = "error"

    def __str__(self) -> str:
        columns = [
            ["method", *(c.method for c in self.contenders)],
            ["asked", *("" if c.size is None else str(c.size) for c in self.contenders)],
            ["features", *(f"{c.n_features:.0f}" for c in self.contenders)],
            [
                self.measure.replace("R2", "R²"),
                *(f"{c.mean_error:.3f} ± {c.deviation:.3f}" for c in self.contenders),
            ],
        ]
        if self.tuned:
            errors = (
                f"{c.mean_tuned_error:.3f} ± {c.tuned_deviation:.3f}" for c in self.contenders
            )
            columns.append(["C tuned", *errors])
        columns += [
            ["seconds", *(f"{c.seconds:.2f}" for c in self.contenders)],
            ["growth", *(_shown_growth(c.growth) for c in self.contenders)],
        ]
        title = f"{self.n_repeats} × {self.n_folds}-fold cross-validation"
        return "\n".join([title, *_aligned(columns), _GROWTH])

    @property
    def tuned(self) -> bool:
        """Whether there are errors with C tuned for all contenders."""
        return all(c.tuned_errors for c in self.contenders)

    def of_size(self, size: int) -> Self:
        """Return the comparison of this number of features alone, with full data.

        Parameters
        ----------
        size : int
            Number of features asked for.
        """
        kept = tuple(c for c in self.contenders if c.size == size or c.method == FULL_DATA)
        return replace(self, contenders=kept)

    def to_records(self) -> list[dict[str, Any]]:
        """Return a dict for each contender, errors as their mean and deviation."""
        return [
            {
                "method": c.method,
                "size": c.size,
                "n_features": c.n_features,
                "error": c.mean_error,
                "deviation": c.deviation,
                "tuned_error": c.mean_tuned_error,
                "tuned_deviation": c.tuned_deviation,
                "seconds": c.seconds,
                "growth": c.growth,
            }
            for c in self.contenders
        ]

    def to_frame(self) -> Any:
        """Return :meth:`to_records` as a pandas data frame, a row for each contender."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError(
                "to_frame needs pandas: pip install pandas. Without it, to_records() gives the "
                "same as dicts."
            ) from error
        return pd.DataFrame(self.to_records()).astype({"size": "Int64"})

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> ErrorCurveDisplay:
        """Plot the test errors against the number of features, a curve for each method.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw in; None makes a figure.
        **kwargs : dict
            Passed to :meth:`matplotlib.axes.Axes.plot` for the curve of each method.

        Returns
        -------
        ErrorCurveDisplay
            The plot. :class:`certifeature.plotting.GrowthCurveDisplay` draws the growth.

        Examples
        --------
        >>> import matplotlib.pyplot as plt
        >>> from certifeature import compare
        >>> from certifeature.datasets import make_relevant_features
        >>> X, y = make_relevant_features(60, 200, 10, random_state=0)
        >>> comparison = compare(X, y, [10, 30], methods=["bss", "random"], n_folds=3, n_jobs=1)
        >>> display = comparison.plot()
        >>> display.ax_.get_ylabel()
        'test error (%)'
        >>> plt.close(display.figure_)
        """
        from certifeature.plotting import ErrorCurveDisplay

        return ErrorCurveDisplay.from_comparison(self, ax=ax, **kwargs)


def _shown_growth(growth: float) -> str:
    return "∞" if growth == np.inf else f"{rounded_up(growth):.3g}"


def _aligned(columns: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table: names to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in columns]
    return [
        "  ".join([name.ljust(widths[0]), *map(str.rjust, numbers, widths[1:])])
        for name, *numbers in zip(*columns, strict=True)
    ]
