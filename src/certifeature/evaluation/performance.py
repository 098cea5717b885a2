"""How well pipelines predict rows that they were not trained on, with confidence intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.special import expit, logit

from certifeature._utils import FloatArray
from certifeature.evaluation.splits import Splits

CONFIDENCE = 0.95
# Differences closer than this differ by rounding only.
_SAME = 1e-12
# A choice is at par with another if the interval of the difference has no more than these points.
PAR = 0.02
# Chance to see a difference of the size that `Difference.visible` gives.
_POWER = 0.8


@dataclass(frozen=True)
class Estimate:
    """A number that was estimated, and its confidence interval.

    Attributes
    ----------
    value : float
        The estimate.
    low, high : float or None
        Ends of the 95 % interval, within what is possible; None for 1 - R², of which no interval
        covers what it says.
    """

    value: float
    low: float | None = None
    high: float | None = None

    @property
    def ends(self) -> tuple[float, float]:
        """Ends of the interval, the value itself if there is none."""
        if self.low is None or self.high is None:
            return self.value, self.value
        return self.low, self.high

    def shown(self, measure: str) -> str:
        """Return the estimate with its interval, "5.0 % (2.1 to 11.2 %)", or as R²: "0.62".

        Parameters
        ----------
        measure : {"error", "1 - R2"}
            What the error is.
        """
        value, low, high = (shown_error(end, measure) for end in (self.value, *self.ends))
        if self.low is None:
            return value
        return f"{value} ({low.removesuffix(' %')} to {high})"


def share_interval(share: float, n: float) -> Estimate:
    """Return a share of n independent rows with Wilson's 95 % interval.

    Parameters
    ----------
    share : float
        The share.
    n : float
        Number of rows; for rows that are not independent, how many independent ones they are worth.

    Examples
    --------
    >>> share_interval(0.05, 100).shown("error")
    '5.0 % (2.2 to 11.2 %)'
    """
    share, z = float(share), float(stats.norm.ppf((1 + CONFIDENCE) / 2))
    centre, scale = share + z * z / (2 * n), 1 + z * z / n
    half = z * np.sqrt(share * (1 - share) / n + (z / (2 * n)) ** 2)
    low, high = (float(np.clip(end / scale, 0, 1)) for end in (centre - half, centre + half))
    return Estimate(share, min(low, share), max(high, share))


@dataclass(frozen=True)
class Performance:
    """Cross-validated performance of one pipeline.

    Attributes
    ----------
    error : Estimate
        Share of rows with a wrong class or, of real-valued targets, 1 - R².
    n_rows : int
        Rows that were tested.
    n_wrong : float or None
        Rows with a wrong class, on average over the repeats; None for real-valued targets.
    recalls : dict of str to Estimate
        For each class, the share of its rows that is found. For two classes, that of the second is
        the sensitivity and that of the first the specificity.
    n_of_class : dict of str to int
        Rows of each class.
    balanced_error : Estimate or None
        Mean over the classes of the share of rows that is not found.
    auc : Estimate or None
        Area under the ROC curve; of several classes, the mean of each against the others. None for
        real-valued targets, and if no fold tests two classes.
    mae : float or None
        Mean absolute error of real-valued targets.
    beats_mean : bool or None
        Whether real-valued targets are predicted better than by their mean, by more than luck.
    """

    error: Estimate
    n_rows: int
    n_wrong: float | None = None
    recalls: dict[str, Estimate] = field(default_factory=dict, repr=False)
    n_of_class: dict[str, int] = field(default_factory=dict, repr=False)
    balanced_error: Estimate | None = None
    auc: Estimate | None = None
    mae: float | None = None
    beats_mean: bool | None = None

    def to_record(self) -> dict[str, float | None]:
        """Return the main numbers, as a row of a table has them."""
        found: dict[str, float | None] = {}
        for name in ("error", "balanced_error", "auc"):
            estimate = getattr(self, name)
            values = (None, None, None) if estimate is None else astuple(estimate)
            found |= zip((name, f"{name}_low", f"{name}_high"), values, strict=True)
        return found | {"mae": self.mae}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Return the performance that `dataclasses.asdict` was called on.

        Parameters
        ----------
        values : dict
            Plain values.
        """
        parts = dict(values)
        for name in ("error", "balanced_error", "auc"):
            parts[name] = None if values[name] is None else Estimate(**values[name])
        parts["recalls"] = {name: Estimate(**value) for name, value in values["recalls"].items()}
        return cls(**parts)


def performance(
    y: NDArray[Any],
    splits: Splits,
    predicted: Sequence[NDArray[Any]],
    scores: Sequence[FloatArray | None] = (),
    *,
    regression: bool = False,
) -> Performance:
    """Return how well a pipeline predicts the test rows of its folds.

    Folds share training rows, so that the errors of n rows vary more than those of n independent
    rows. Wilson's interval gets 2n/3 rows for it (n if there is one split only) and, with groups of
    rows, fewer by their design effect. What the intervals cover in simulations is printed by
    ``benchmarks/intervals.py``.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Classes, or targets.
    splits : Splits
        Training and test rows.
    predicted : sequence of ndarray
        Predictions for the test rows of the first splits, or of all.
    scores : sequence of ndarray of shape (n_test, n_classes) or None, default=()
        How much the test rows seem to belong to each class, in sorted order, on these splits; NaN
        for a class that the training rows lack. Without it there is no area under the ROC curve.
    regression : bool, default=False
        Whether there are targets instead of classes.
    """
    tests = [test for _, test in splits.pairs[: len(predicted)]]
    if regression:
        return _of_numbers(y, tests, splits, predicted)
    tested, wrong = np.zeros(len(y)), np.zeros(len(y))
    for test, labels in zip(tests, predicted, strict=True):
        tested[test] += 1
        wrong[test] += labels != y[test]
    rows = np.flatnonzero(tested)
    tested, wrong, labels = tested[rows], wrong[rows], y[rows]
    groups = np.arange(len(rows)) if splits.groups is None else splits.groups[rows]

    def missed(mask: NDArray[np.bool_]) -> tuple[float, float]:
        effect = _design_effect(wrong[mask] / tested[mask], groups[mask])
        return wrong[mask].sum() / tested[mask].sum(), mask.sum() * splits.independent / effect

    names = np.unique(labels).tolist()
    of_class = {str(name): missed(labels == name) for name in names}
    shares, sizes = np.array(list(of_class.values())).T
    error = share_interval(*missed(np.ones(len(rows), dtype=bool)))
    has_scores = len(scores) > 0 and all(part is not None for part in scores)
    return Performance(
        error,
        len(rows),
        n_wrong=error.value * len(rows),
        recalls={name: share_interval(1 - share, n) for name, (share, n) in of_class.items()},
        n_of_class={str(name): int((labels == name).sum()) for name in names},
        # The mean of shares of so many rows varies like a share of their harmonic sum.
        balanced_error=share_interval(shares.mean(), len(names) ** 2 / (1 / sizes).sum()),
        auc=_area(y, tests, scores, splits) if has_scores else None,
    )


def _design_effect(losses: FloatArray, groups: NDArray[Any]) -> float:
    """Return how many times as much a mean varies as that of independent rows, at least 1.

    With one group there is nothing to tell it by, and all rows count as one.
    """
    names, group = np.unique(groups, return_inverse=True)
    centred = losses - losses.mean()
    spread = float(centred @ centred)
    if len(names) == len(losses):
        return 1.0
    if len(names) == 1 or spread <= _SAME:
        # Equal losses say nothing, and a group is worth one row.
        return len(losses) / len(names)
    sums = np.bincount(group, weights=centred)
    return max(1.0, float(sums @ sums) / spread * len(names) / (len(names) - 1))


def _concordant_pairs(
    y: NDArray[Any], classes: NDArray[Any], scores: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return, for each row and class, its concordant pairs of one row in and one out of the class.

    A pair is concordant if the row in the class has the larger score; ties count a half. The second
    array has the number of all pairs, so that the area under the ROC curve is the share of the
    first in the second.
    """
    concordant, pairs = np.zeros(scores.shape), np.zeros(scores.shape)
    for place, name in enumerate(classes):
        inside, column = y == name, scores[:, place]
        if np.isnan(column).any():
            continue
        for here, sign in ((inside, 1), (~inside, -1)):
            own, others = sign * column[here], np.sort(sign * column[~here])
            below = np.searchsorted(others, own), np.searchsorted(others, own, side="right")
            concordant[here, place], pairs[here, place] = sum(below) / 2, len(others)
    return concordant, pairs


def _area(
    y: NDArray[Any], tests: Sequence[Any], scores: Sequence[Any], splits: Splits
) -> Estimate | None:
    """Return the area under the ROC curve, the mean over classes, each against the others.

    Only rows of one fold are compared, since scores of different models need not be on one scale.
    The variance is that of DeLong, DeLong and Clarke-Pearson, from the mean share of pairs of each
    row, with the rows of a group together; the interval is on the logit scale.
    """
    classes = np.unique(y)
    # With two classes, one area is the other.
    used = slice(1, None) if len(classes) == 2 else slice(None)
    n_folds = splits.n_folds
    n_repeats = -(-len(tests) // n_folds)
    concordant, pairs = np.zeros((2, n_repeats, len(y), len(classes[used])))
    for place, (test, own) in enumerate(zip(tests, scores, strict=True)):
        counts = _concordant_pairs(y[test], classes[used], own[:, used])
        concordant[place // n_folds, test] += counts[0]
        pairs[place // n_folds, test] += counts[1]
    totals = pairs.sum(axis=1, keepdims=True)
    known = (totals > 0).all(axis=(0, 1))
    if not known.any():
        return None
    concordant, pairs, totals = (part[..., known] for part in (concordant, pairs, totals))
    areas = concordant.sum(axis=1, keepdims=True) / totals
    # Each row moves the mean area by its own share of pairs, less what it would have by the mean.
    influence = (2 * (concordant - areas * pairs) / totals).mean(axis=2)
    area = float(areas.mean())
    # With an area of 0 or 1 nothing varies; then half a pair, of as many as there are rows.
    n_rows = len(y) * splits.independent
    variance = _variance(influence, splits.groups) / splits.independent
    variance = max(variance, 0.25 / n_rows**2)
    inner = float(np.clip(area, 0.5 / n_rows, 1 - 0.5 / n_rows))
    half = stats.norm.ppf((1 + CONFIDENCE) / 2) * np.sqrt(variance) / (inner * (1 - inner))
    low, high = expit(logit(inner) - half), expit(logit(inner) + half)
    return Estimate(area, min(float(low), area), max(float(high), area))


def _variance(influences: FloatArray, groups: NDArray[Any] | None) -> float:
    """Return the variance of a mean from what each row adds to it in each cross-validation.

    It is that of one cross-validation, on average: repeats with the same rows are hardly less sure
    to be off in the same direction. The rows of a group count together.
    """
    if groups is not None:
        _, group = np.unique(groups, return_inverse=True)
        influences = np.array([np.bincount(group, weights=row) for row in influences])
    return float((influences**2).sum(axis=1).mean())


def _of_numbers(
    y: FloatArray, tests: Sequence[Any], splits: Splits, predicted: Sequence[FloatArray]
) -> Performance:
    """Return 1 - R² over all test rows, whether it is below 1, and the mean absolute error.

    R² compares with always the mean of all targets. What is below 1 is the upper end of an interval
    of the logarithm of a ratio of means, with a variance that allows for folds that share training
    rows. The lower end would be too high: a model of all rows has more to learn from than those of
    the folds, and how much better it is cannot be told from them.
    """
    # Only ratios count, and squares must not overflow.
    scale, n_folds = float(np.abs(y - y.mean()).max()), splits.n_folds
    tested, squares, absolute = np.zeros((3, -(-len(tests) // n_folds), len(y)))
    for place, (test, numbers) in enumerate(zip(tests, predicted, strict=True)):
        residuals = np.abs(numbers - y[test])
        tested[place // n_folds, test] += 1
        squares[place // n_folds, test] += (residuals / scale) ** 2
        absolute[place // n_folds, test] += residuals
    totals = tested * ((y - y.mean()) / scale) ** 2
    ratio = float(squares.sum() / totals.sum())
    sums = totals.sum(axis=1, keepdims=True)
    influence = (squares - squares.sum(axis=1, keepdims=True) / sums * totals) / sums
    n_rows = int(tested.any(axis=0).sum())
    n_groups = n_rows if splits.groups is None else len(np.unique(splits.groups))
    variance = _variance(influence, splits.groups) * n_groups / (n_groups - 1)
    variance /= splits.independent
    quantile = stats.t.ppf((1 + CONFIDENCE) / 2, n_groups - 1)
    half = quantile * variance**0.5 / ratio if ratio > 0 else 0.0
    beats_mean = bool(ratio * np.exp(min(half, 700)) < 1)
    mae = float(absolute.sum() / tested.sum())
    return Performance(Estimate(ratio), n_rows, mae=mae, beats_mean=beats_mean)


@dataclass(frozen=True)
class Difference:
    """The mean difference of two errors on the same folds; ``str`` gives it with its sign.

    Attributes
    ----------
    mean : float
        The first error minus the second.
    interval : tuple of (float, float), or None
        95 % interval, by `corrected_interval`, that of shares within -1 and 1; None if the
        difference is the same in all folds. That of 1 - R² is for the verdict only: it covers less
        often than it says.
    visible : float
        The smallest true difference that folds like these show as significant in four of five
        cases; 0 if the difference is the same in all folds.
    measure : {"error", "1 - R2"}
        What the errors are: shares, that are shown as percentages, or 1 - R².

    Examples
    --------
    >>> difference = Difference.of((0.10, 0.13, 0.12), (0.11, 0.10, 0.11), test_share=1 / 2)
    >>> print(difference, difference.shown_interval(), difference.verdict, sep="; ")
    +1.0 points; 95 % interval -6.9 to +8.9; not shown
    """

    mean: float
    interval: tuple[float, float] | None
    visible: float = 0.0
    measure: str = "error"

    @classmethod
    def of(
        cls,
        first: Sequence[float],
        second: Sequence[float],
        test_share: float,
        measure: str = "error",
        weights: Sequence[float] | None = None,
    ) -> Self:
        """Return the difference of the errors of two methods on the same folds.

        Parameters
        ----------
        first, second : sequence of float
            Errors of each fold. If one has more, only the folds that both have count.
        test_share : float
            n_test/n_train: 1/(k - 1) for k folds.
        measure : {"error", "1 - R2"}, default="error"
            What the errors are.
        weights : sequence of float, default=None
            Number of test rows of each fold, or what is proportional to it; None is the same for
            all.
        """
        n_folds = min(len(first), len(second))
        differences = np.subtract(first[:n_folds], second[:n_folds])
        shares = None if weights is None else weights[:n_folds]
        mean = float(np.average(differences, weights=shares))
        interval = corrected_interval(differences, test_share)
        if interval is None:
            return cls(mean, None, measure=measure)
        shift = mean - float(differences.mean())
        interval = interval[0] + shift, interval[1] + shift
        quantiles = stats.t.ppf([(1 + CONFIDENCE) / 2, _POWER], len(differences) - 1)
        visible = (interval[1] - mean) * float(quantiles.sum() / quantiles[0])
        if measure == "error":
            # Few folds may have an interval that is wider than all that two shares can differ by.
            interval = max(interval[0], -1.0), min(interval[1], 1.0)
        return cls(mean, interval, min(visible, 1.0) if measure == "error" else visible, measure)

    @classmethod
    def of_rows(cls, first: FloatArray, second: FloatArray, groups: Any = None) -> Self:
        """Return the difference of the errors of two models on the same independent rows.

        The interval is that of Agresti and Min for matched pairs, with half a row more that only
        the first, and half a row more that only the second gets wrong [1]_.

        Parameters
        ----------
        first, second : ndarray of shape (n_samples,)
            1 for each row that a model gets wrong, and 0 for the others.
        groups : ndarray of shape (n_samples,), default=None
            Group of each row; the rows of a group are not independent.

        References
        ----------
        .. [1] A. Agresti and Y. Min, *Simple improved confidence intervals for comparing matched
               proportions*, Statistics in Medicine 24, 2005.

        Examples
        --------
        >>> first, second = np.zeros(200), np.zeros(200)
        >>> first[:6], second[:2] = 1, 1
        >>> print(Difference.of_rows(first, second).shown_interval())
        95 % interval -0.2 to +4.1
        """
        differences = np.subtract(first, second)
        effect = 1.0 if groups is None else _design_effect(differences, np.asarray(groups))
        n_rows = len(differences) / effect
        worse, better = (np.sum(differences == sign) / effect + 0.5 for sign in (1, -1))
        centre, total = (worse - better) / (n_rows + 2), n_rows + 2
        deviation = float(np.sqrt(((worse + better) / total - centre**2) / total))
        quantiles = stats.norm.ppf([(1 + CONFIDENCE) / 2, _POWER])
        mean, half = float(differences.mean()), float(quantiles[0]) * deviation
        low, high = max(-1.0, centre - half), min(1.0, centre + half)
        return cls(mean, (float(low), float(high)), min(1.0, float(quantiles.sum()) * deviation))

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Return the difference that `dataclasses.asdict` was called on.

        Parameters
        ----------
        values : dict
            Plain values.
        """
        ends = values["interval"]
        return cls(**values | {"interval": None if ends is None else tuple(ends)})

    @property
    def verdict(self) -> str:
        """What is shown of the first error: "lower", "higher", "at par", or "not shown".

        At par is an interval that contains 0 and ends at most 2 points above it.
        """
        if abs(self.mean) <= _SAME and self.interval is None:
            return "at par"
        if self.interval is None or np.isnan(self.mean):
            return "not shown"
        low, high = self.interval
        if low <= 0 <= high:
            return "at par" if high <= PAR else "not shown"
        return "higher" if low > 0 else "lower"

    def __str__(self) -> str:
        return self.signed(self.mean) + (" points" if self.measure == "error" else "")

    def shown_interval(self) -> str:
        """Return the interval, or why there is none; nothing for a difference of R²."""
        ends = self.shown_ends()
        return ends if self.interval is None or not ends else f"95 % interval {ends}"

    def shown_ends(self) -> str:
        """Return from where to where the interval reaches, or that nothing varies."""
        if self.interval is None:
            return "the same in every fold"
        if self.measure != "error":
            return ""
        low, high = map(self.signed, self.interval)
        return f"{low} to {high}"

    def signed(self, value: float) -> str:
        """Return a difference with its sign: in points where errors are shares, or of R²."""
        text = f"{100 * value:+.1f}" if self.measure == "error" else f"{-value:+.3g}"
        return text.lstrip("+-") if abs(value) <= _SAME else text


def shown_error(error: float, measure: str) -> str:
    """Return an error as text: a percentage or, of 1 - R², R²."""
    return f"{100 * error:.1f} %" if measure == "error" else f"{1 - error:.3g}"


def measure_name(measure: str) -> str:
    """Return what `shown_error` shows: "error", or "R²"."""
    return "error" if measure == "error" else "R²"


def corrected_interval(
    differences: Sequence[float] | FloatArray, test_share: float
) -> tuple[float, float] | None:
    """Return a 95 % confidence interval of the mean difference of cross-validated errors.

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
    half = float(stats.t.ppf((1 + CONFIDENCE) / 2, len(values) - 1) * deviation)
    mean = float(values.mean())
    return mean - half, mean + half
