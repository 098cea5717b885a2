"""Results of cross-validation, made up for tests of what shows them."""

from dataclasses import replace
from typing import Any

import numpy as np

from certifeature.comparison import Comparison, Contender
from certifeature.evaluation import Difference, NewData, Performance
from certifeature.evaluation.performance import Estimate, share_interval
from certifeature.evaluation.splits import Splits


def performed(error: float, n_rows: int = 100, **more: Any) -> Performance:
    """Return a performance with this error of so many rows."""
    return Performance(share_interval(error, n_rows), n_rows, error * n_rows, **more)


def contender(
    method: str,
    size: int | None,
    n_features: float,
    errors: tuple[float, ...],
    seconds: float = 0.1,
    growth: float = 2.0,
    chosen: tuple[tuple[int, ...], ...] = (),
) -> Contender:
    """Return a contender with these errors in its folds."""
    performance = performed(float(np.mean(errors)))
    return Contender(method, size, n_features, performance, errors, seconds, growth, chosen)


def comparison(*contenders: Contender, n_folds: int = 2, **more: Any) -> Comparison:
    """Return a comparison in so many folds of a hundred rows."""
    rows = np.arange(100)
    pairs = [(np.setdiff1d(rows, test), test) for test in np.array_split(rows, n_folds)]
    return Comparison(contenders, Splits(pairs), **more)


def of_numbers(compared: Comparison) -> Comparison:
    """Return a comparison with the same errors, for numbers, which have no intervals."""
    contenders = tuple(
        replace(c, performance=Performance(Estimate(c.error), 100, mae=2.5, beats_mean=True))
        for c in compared.contenders
    )
    return replace(compared, measure="1 - R2", contenders=contenders)


def new_data(
    errors: tuple[float, ...] = (0.12, 0.1), full: tuple[float, ...] = (0.1, 0.09), **more: Any
) -> NewData:
    """Return what folds with these errors say."""
    n_folds = len(errors)
    recalls = {"sick": share_interval(37 / 40, 40), "well": share_interval(52 / 60, 60)}
    values: dict[str, Any] = {
        "measure": "error",
        "n_folds": n_folds,
        "n_repeats": 1,
        "n_groups": None,
        "n_features": 9000,
        "n_selected": (290, *[300] * (n_folds - 1)),
        "times_chosen": dict.fromkeys(range(290), n_folds) | dict.fromkeys(range(290, 300), 1),
        "selected": performed(
            float(np.mean(errors)), recalls=recalls, n_of_class={"sick": 40, "well": 60}
        ),
        "full": performed(float(np.mean(full))),
        "against_full": Difference.of(errors, full, 1 / (n_folds - 1)),
        "shuffled_error": 0.51,
        "chance_error": 0.48,
        "tuned": True,
    }
    return NewData(**values | more)
