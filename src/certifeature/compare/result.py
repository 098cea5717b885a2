"""The result of a comparison of methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from certifeature.certificate.wording import rounded_up

__all__ = ["Comparison", "Contender"]

_GROWTH = (
    "growth: at most so many times the training objective with all features; median of the folds"
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
        At most by so many times does the objective of the model grow on the training rows, by the
        certificate measured on those that matter to it: the median of the folds, in which a fold
        where nothing is proven counts as inf.
    """

    method: str
    size: int | None
    n_features: float
    errors: tuple[float, ...]
    seconds: float
    growth: float

    @property
    def mean_error(self) -> float:
        """Mean of the errors."""
        return float(np.mean(self.errors))

    @property
    def deviation(self) -> float:
        """Standard deviation of the errors of the folds."""
        return float(np.std(self.errors, ddof=1)) if len(self.errors) > 1 else 0.0


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
    >>> print(Comparison((Contender("bss", 20, 20.0, (0.1, 0.2), 0.03, 1.5),), 1, 2, 0))
    1 × 2-fold cross-validation
    method  asked  features          error  seconds  growth
    bss        20        20  0.150 ± 0.071     0.03     1.5
    growth: at most so many times the training objective with all features; median of the folds
    """

    contenders: tuple[Contender, ...]
    n_repeats: int
    n_folds: int
    seed: int
    measure: str = "error"

    def __str__(self) -> str:
        rows = [
            (
                c.method,
                "" if c.size is None else str(c.size),
                f"{c.n_features:.0f}",
                f"{c.mean_error:.3f} ± {c.deviation:.3f}",
                f"{c.seconds:.2f}",
                "∞" if c.growth == np.inf else f"{rounded_up(c.growth):.3g}",
            )
            for c in self.contenders
        ]
        error = self.measure.replace("R2", "R²")
        header = ("method", "asked", "features", error, "seconds", "growth")
        title = f"{self.n_repeats} × {self.n_folds}-fold cross-validation"
        return "\n".join([title, *_aligned([header, *rows]), _GROWTH])

    def to_records(self) -> list[dict[str, Any]]:
        """Return a dict for each contender, errors as their mean and deviation."""
        return [
            {
                "method": c.method,
                "size": c.size,
                "n_features": c.n_features,
                "error": c.mean_error,
                "deviation": c.deviation,
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


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a line for each row, in columns: names to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows
    ]
