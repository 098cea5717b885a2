"""What cross-validation says of new data, as numbers and as sentences."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Self

from scipy.stats import binom

from certifeature.certificate.difference import Difference, shown_error

__all__ = ["NewData", "as_sentences"]


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
        Confidence interval of the difference, by `corrected_interval`, that of shares within -1 and
        1. None if the difference is the same in all folds, which says nothing about how much it
        varies.
    confidence : float
        Confidence of the interval.
    test_share : float
        n_test/n_train of the folds.
    errors_shuffled : tuple of float
        Test error of each fold with features chosen for, and a model trained on, shuffled labels.
    shuffled_error : float
        Their mean.
    classes : tuple of str
        Names of the classes; none of real-valued targets.
    n_tested, n_wrong : tuple of int
        How many test rows of all folds belong to each class, and how many of them the model on the
        chosen features takes for another.
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
    test_share: float
    errors_shuffled: tuple[float, ...]
    shuffled_error: float
    classes: tuple[str, ...]
    n_tested: tuple[int, ...]
    n_wrong: tuple[int, ...]
    chance_error: float

    @property
    def against_full(self) -> Difference:
        """The difference to all features, and how sure it is."""
        return Difference(self.difference, self.interval, self.confidence, self.measure)

    @property
    def verdict(self) -> str:
        """Which does better: "tie", "selected", "full", or "unclear" where nothing varies."""
        verdict = self.against_full.verdict
        return {"lower": "selected", "higher": "full"}.get(verdict, verdict)

    @property
    def learnt(self) -> bool:
        """Whether the error is below that of shuffled labels or of chance by more than luck.

        Few folds say little of the first. The second is a binomial test of the rows that are put
        into a wrong class, against always the most frequent one.
        """
        against = self.against_shuffled
        if against.verdict == "lower" or (against.verdict == "unclear" and against.mean < 0):
            return True
        n_rows = sum(self.n_tested) // self.n_repeats
        n_wrong = round(sum(self.n_wrong) / self.n_repeats)
        return bool(n_rows and binom.cdf(n_wrong, n_rows, self.chance_error) <= 1 - self.confidence)

    @property
    def against_shuffled(self) -> Difference:
        """The difference to shuffled labels."""
        return Difference.of(
            self.errors_selected, self.errors_shuffled, self.test_share, self.measure
        )

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
        return shown_error(error, self.measure)

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
        f"{n.shown(n.error_full)} with all {n.n_features}; difference {n.against_full} "
        f"({n.against_full.shown_interval()}), {_VERDICTS[n.verdict]}.",
        f"With shuffled labels the {name} is {n.shown(n.shuffled_error)} "
        f"(chance: {n.shown(n.chance_error)}).",
    ]
