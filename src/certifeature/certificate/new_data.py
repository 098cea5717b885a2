"""What cross-validation says of new data, as numbers and as sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from scipy import stats

__all__ = ["CONFIDENCE", "NewData", "as_sentences", "corrected_interval"]

CONFIDENCE = 0.95
# Differences closer than this differ by rounding only.
_SAME = 1e-12


@dataclass(frozen=True)
class NewData:
    """Cross-validated errors with the chosen and with all features.

    They estimate the error on new rows of the same kind; unlike the bounds of a certificate, they
    prove nothing.

    Attributes
    ----------
    measure : {"error", "1 - R2"}
        What an error is: the share of rows with a wrong class or, of real-valued targets, 1 - R².
    n_folds, n_repeats : int
        Folds of a cross-validation, and how often it was repeated with other folds.
    n_features : int
        Features there are.
    n_selected : tuple of int
        How many were chosen in each fold.
    errors_selected, errors_full : tuple of float
        Test error of each fold with the chosen and with all features.
    error_selected, error_full : float
        Their means.
    difference : float
        ``error_selected - error_full``: above 0, all features did better.
    interval : tuple of (float, float), or None
        Confidence interval of the difference, by `corrected_interval`. None if the difference is
        the same in all folds, which says nothing about how much it varies.
    confidence : float
        Confidence of the interval.
    shuffled_error : float
        Error with features chosen for, and a model trained on, shuffled labels.
    chance_error : float
        Error without features: that of always the most frequent class or, of real-valued targets,
        of always their mean.
    """

    measure: str
    n_folds: int
    n_repeats: int
    n_features: int
    n_selected: tuple[int, ...]
    errors_selected: tuple[float, ...]
    errors_full: tuple[float, ...]
    error_selected: float
    error_full: float
    difference: float
    interval: tuple[float, float] | None
    confidence: float
    shuffled_error: float
    chance_error: float

    @property
    def verdict(self) -> str:
        """Which does better: "tie", "selected", "full", or "unclear" where nothing varies."""
        if abs(self.difference) <= _SAME:
            return "tie"
        if self.interval is None:
            return "unclear"
        low, high = self.interval
        if low <= 0 <= high:
            return "tie"
        return "full" if low > 0 else "selected"

    @property
    def size(self) -> str:
        """How many features were chosen, in words: "100", or "80 to 120" if folds differ."""
        fewest, most = min(self.n_selected), max(self.n_selected)
        return f"{fewest}" if fewest == most else f"{fewest} to {most}"

    def shown(self, error: float) -> str:
        """Return an error as people read it: in percent, but for 1 - R².

        Parameters
        ----------
        error : float
            An error.
        """
        return f"{100 * error:.1f} %" if self.measure == "error" else f"{error:.3g}"

    def shown_difference(self) -> str:
        """Return the difference with its sign, in points for percentages."""
        return self._signed(self.difference) + (" points" if self.measure == "error" else "")

    def shown_interval(self) -> str:
        """Return the interval of the difference, or why there is none."""
        if self.interval is None:
            return "the same in every fold"
        low, high = map(self._signed, self.interval)
        return f"{100 * self.confidence:g} % interval {low} to {high}"

    def _signed(self, value: float) -> str:
        return f"{100 * value:+.1f}" if self.measure == "error" else f"{value:+.3g}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, fit for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Return the errors that `to_dict` was called on.

        Parameters
        ----------
        values : dict
            As `to_dict` returns it; lists, as JSON has them, will do for tuples.
        """
        parts: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in values.items()
        }
        return cls(**parts)


def corrected_interval(
    differences: Sequence[float], test_share: float, confidence: float = CONFIDENCE
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
    >>> from certifeature.certificate.new_data import corrected_interval
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


_VERDICTS = {
    "tie": "a tie",
    "selected": "in favour of the chosen features",
    "full": "in favour of all features",
    "unclear": "which leaves open how much it varies",
}


def as_sentences(new_data: NewData | None) -> list[str]:
    """Return what was found in at most two sentences; none if nothing was.

    Parameters
    ----------
    new_data : NewData or None
        What was found.
    """
    if new_data is None:
        return []
    n = new_data
    repeats = f", {n.n_repeats} times" if n.n_repeats > 1 else ""
    name = "error" if n.measure == "error" else "1 - R²"
    return [
        f"New data, estimated by {n.n_folds}-fold cross-validation{repeats}, features chosen anew "
        f"in each fold: {name} {n.shown(n.error_selected)} with {n.size} features, "
        f"{n.shown(n.error_full)} with all {n.n_features}; difference {n.shown_difference()} "
        f"({n.shown_interval()}), {_VERDICTS[n.verdict]}.",
        f"With shuffled labels the {name} is {n.shown(n.shuffled_error)} "
        f"(chance: {n.shown(n.chance_error)}).",
    ]
