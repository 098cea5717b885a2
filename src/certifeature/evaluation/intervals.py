"""Confidence intervals of errors and their differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy import stats

_CONFIDENCE = 0.95
# Differences closer than this differ by rounding only.
_SAME = 1e-12
# What follows from the error with the chosen features minus that with all.
CONCLUSIONS = {
    "tie": "a tie",
    "lower": "in favour of the chosen features",
    "higher": "in favour of all features",
    "unclear": "which leaves open how much it varies",
}


@dataclass(frozen=True)
class Difference:
    """The mean difference of two errors on the same folds; ``str`` gives it with its sign.

    Attributes
    ----------
    mean : float
        The first error minus the second.
    interval : tuple of (float, float), or None
        Confidence interval, by `corrected_interval`, that of shares within -1 and 1; None if the
        difference is the same in all folds.
    confidence : float
        Confidence of the interval.
    measure : {"error", "1 - R2"}
        What the errors are: shares, that are shown as percentages, or 1 - R².

    Examples
    --------
    >>> difference = Difference.of((0.10, 0.13, 0.12), (0.11, 0.10, 0.11), test_share=1 / 2)
    >>> print(difference, difference.shown_interval(), difference.verdict, sep="; ")
    +1.0 points; 95 % interval -6.9 to +8.9; tie
    """

    mean: float
    interval: tuple[float, float] | None
    confidence: float = _CONFIDENCE
    measure: str = "error"

    @classmethod
    def of(
        cls,
        first: Sequence[float],
        second: Sequence[float],
        test_share: float,
        measure: str = "error",
    ) -> Self:
        """Return the difference of the errors of two methods on the same folds.

        Parameters
        ----------
        first, second : sequence of float
            Errors of each fold.
        test_share : float
            n_test/n_train: 1/(k - 1) for k folds.
        measure : {"error", "1 - R2"}, default="error"
            What the errors are.
        """
        differences = np.subtract(first, second)
        interval = corrected_interval(differences.tolist(), test_share)
        if interval is not None and measure == "error":
            # Few folds may have an interval that is wider than all that two shares can differ by.
            interval = max(interval[0], -1.0), min(interval[1], 1.0)
        return cls(float(differences.mean()), interval, measure=measure)

    @property
    def verdict(self) -> str:
        """Whether the first is "lower", "higher", a "tie", or "unclear" where nothing varies."""
        if abs(self.mean) <= _SAME:
            return "tie"
        if self.interval is None or np.isnan(self.mean):
            return "unclear"
        low, high = self.interval
        return "tie" if low <= 0 <= high else "higher" if low > 0 else "lower"

    def __str__(self) -> str:
        return self._signed(self.mean) + (" points" if self.measure == "error" else "")

    def shown_interval(self) -> str:
        """Return the interval, or why there is none."""
        ends = self.shown_ends()
        return ends if self.interval is None else f"{100 * self.confidence:g} % interval {ends}"

    def shown_ends(self) -> str:
        """Return from where to where the interval reaches, or that nothing varies."""
        if self.interval is None:
            return "the same in every fold"
        low, high = map(self._signed, self.interval)
        return f"{low} to {high}"

    def _signed(self, value: float) -> str:
        text = f"{100 * value:+.1f}" if self.measure == "error" else f"{value:+.3g}"
        return text.lstrip("+-") if abs(value) <= _SAME else text


def shown_error(error: float, measure: str) -> str:
    """Return an error as text: a percentage, or 1 - R² as it is."""
    return f"{100 * error:.1f} %" if measure == "error" else f"{error:.3g}"


def corrected_interval(
    differences: Sequence[float], test_share: float, confidence: float = _CONFIDENCE
) -> tuple[float, float] | None:
    """Return a confidence interval of the mean difference of cross-validated errors.

    The J differences are not independent, since training rows overlap. The corrected resampled
    t-test [1]_ allows for it by the variance (1/J + n_test/n_train)·s², with s² that of the
    differences, instead of s²/J; for folds that are drawn several times, J counts them all [2]_.
    The interval is approximate.

    Parameters
    ----------
    differences : sequence of float
        Difference of two errors in each fold.
    test_share : float
        n_test/n_train: 1/(k - 1) for k folds.
    confidence : float, default=0.95
        Confidence of the interval.

    Returns
    -------
    tuple of (float, float), or None
        Both ends; None if all differences are the same.

    References
    ----------
    .. [1] C. Nadeau and Y. Bengio, *Inference for the Generalization Error*, Machine Learning 52,
           2003.
    .. [2] R. R. Bouckaert and E. Frank, *Evaluating the Replicability of Significance Tests for
           Comparing Learning Algorithms*, Advances in Knowledge Discovery and Data Mining, 2004.

    Examples
    --------
    >>> low, high = corrected_interval([0.01, 0.03, 0.00, 0.02, -0.01], test_share=1 / 4)
    >>> f"{low:.4f} to {high:.4f}"
    '-0.0194 to 0.0394'
    """
    values = np.asarray(differences, dtype=np.float64)
    if np.ptp(values) <= _SAME:
        return None
    deviation = np.sqrt((1 / len(values) + test_share) * values.var(ddof=1))
    half = float(stats.t.ppf((1 + confidence) / 2, len(values) - 1) * deviation)
    mean = float(values.mean())
    return mean - half, mean + half
