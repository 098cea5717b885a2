"""Comparison of selection methods on the same folds."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from joblib import delayed
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest, f_classif, f_regression
from sklearn.metrics import r2_score
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.utils import check_X_y
from sklearn.utils.multiclass import check_classification_targets
from threadpoolctl import threadpool_limits

from certifeature._resources import in_parallel
from certifeature.basis import Basis
from certifeature.basis.span import span
from certifeature.certificate.certificate import rounded_up
from certifeature.certificate.measured import Measurable, extreme_eigenvalues, without_basis
from certifeature.evaluation.splits import Split, seed_of_repeat, splits_of
from certifeature.models import default_model, fit_model
from certifeature.models.fitting import capped
from certifeature.models.problem import check_model, cost_of, predicts_numbers, with_cost_times
from certifeature.models.support import Support, find_support
from certifeature.rows.matrix import canonical_csr, refuse_dates, scaled_columns
from certifeature.rows.rows import Rows
from certifeature.selectors import (
    BSSSelector,
    LeverageScoreSelector,
    LPSVMSelector,
    RandomSelector,
    RRQRSelector,
)
from certifeature.sparsify import ColumnChoice
from certifeature.sparsify.choice import as_column_choice

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from certifeature.plotting import ErrorCurveDisplay

__all__ = [
    "FULL_DATA",
    "KEEP_ALL",
    "METHODS",
    "N_INNER",
    "SCALINGS",
    "Comparison",
    "Contender",
    "Maker",
    "Method",
    "TrainedFold",
    "WhichRows",
    "column_scaler",
    "compare",
    "draw_seed",
    "jaccard_index",
    "method_named",
    "methods_for",
    "nogueira_index",
]


FloatArray = NDArray[np.float64]


def jaccard_index(masks: FloatArray) -> float:
    """Return the mean of |A ∩ B|/|A ∪ B| over pairs of selections, which are rows of 0 and 1."""
    shares = [np.minimum(a, b).sum() / np.maximum(a, b).sum() for a, b in combinations(masks, 2)]
    return float(np.mean(shares))


def nogueira_index(masks: FloatArray) -> float:
    """Return the stability that is corrected for chance; NaN where all features are chosen."""
    frequencies, n_selections = masks.mean(axis=0), len(masks)
    share = frequencies.mean()
    if share == 1:
        return float("nan")
    spread = n_selections / (n_selections - 1) * np.mean(frequencies * (1 - frequencies))
    return float(1 - spread / (share * (1 - share)))


# (number of features or "certified", model, seed) → selector
Maker = Callable[[Any, Any, int], Any]
WhichRows = Literal["support", "all"]

FULL_DATA = "full data"


@dataclass(frozen=True)
class Method:
    """A way to choose features.

    Attributes
    ----------
    name : str
        Name in tables and on the command line.
    rows : {"support", "all"}
        Whether it looks at the rows that matter to a model on all features, or at all rows that it
        is trained on.
    make : callable or None
        Makes the selector from number of features, model and seed; None keeps all features.
    own_size : bool
        Whether it takes no number of features, but finds its own.
    ours : bool
        Whether it is a selector of this library that takes "certified" for the number of features,
        and can choose for all rows without labels.
    needs_classes : bool
        Whether it is a classifier of its own, that cannot choose for a model that predicts numbers.
    draws : bool
        Whether its choice is a draw of lots, so that each fold gets another seed.
    """

    name: str
    rows: WhichRows
    make: Maker | None
    own_size: bool = False
    ours: bool = False
    needs_classes: bool = False
    draws: bool = False


KEEP_ALL = Method(FULL_DATA, "support", None)


_LISTED = (
    Method(
        "bss",
        "support",
        lambda size, model, seed: BSSSelector(size, estimator=model, random_state=seed),
        ours=True,
    ),
    Method(
        "bss-paper",
        "support",
        lambda size, model, seed: BSSSelector(
            size,
            order="leverage",
            trust=0,
            rescale="each",
            # The paper is about hinge losses, for which all directions count alike.
            estimator=SVC(kernel="linear", C=cost_of(model)),
            random_state=seed,
        ),
        ours=True,
        needs_classes=True,
    ),
    Method(
        "leverage",
        "support",
        lambda size, model, seed: LeverageScoreSelector(size, estimator=model, random_state=seed),
        ours=True,
        draws=True,
    ),
    Method(
        "rrqr",
        "support",
        lambda size, model, seed: RRQRSelector(
            size, estimator=model, rescale=False, random_state=seed
        ),
        ours=True,
    ),
    Method("rfe", "all", lambda size, model, _: RFE(model, n_features_to_select=size, step=0.1)),
    Method(
        "lpsvm",
        "all",
        lambda _, model, __: LPSVMSelector(C=cost_of(model)),
        own_size=True,
        needs_classes=True,
    ),
    Method(
        "l1",
        "all",
        lambda size, model, seed: SelectFromModel(
            LinearSVC(penalty="l1", C=cost_of(model), random_state=seed),
            max_features=size,
            threshold=1e-12,
        ),
        needs_classes=True,
    ),
    Method(
        "univariate",
        "all",
        lambda size, model, _: SelectKBest(
            f_regression if predicts_numbers(model) else f_classif, k=size
        ),
    ),
    Method(
        "random",
        "all",
        # It looks at no row, so a basis of one direction will do.
        lambda size, _, seed: RandomSelector(
            size,
            supervised=False,
            basis="sketch",
            n_components=1,
            rescale=False,
            random_state=seed,
        ),
        ours=True,
        draws=True,
    ),
)

METHODS = {method.name: method for method in _LISTED}


def method_named(name: str) -> Method:
    """Return the method of this name, or say which names there are."""
    if name not in METHODS:
        raise ValueError(f"method {name!r} is unknown; choose from {', '.join(METHODS)}.")
    return METHODS[name]


def method_of(selector: Any) -> Method:
    """Return the method of a selector that can be asked for a number of features."""
    known = selector.get_params(deep=False)
    sizes = [name for name in ("n_features_to_select", "max_features", "k") if name in known]
    if not sizes:
        raise ValueError(
            f"{type(selector).__name__} has no parameter n_features_to_select, max_features or k, "
            "so it cannot be asked for a number of features; leave it out."
        )

    def make(size: Any, *_: Any) -> Any:
        return clone(selector).set_params(**{sizes[0]: size})

    return Method(type(selector).__name__, "all", make)


def _as_method(given: Any) -> Method:
    if isinstance(given, Method):
        return given
    return method_of(given) if hasattr(given, "get_params") else method_named(given)


def methods_for(model: Any, names: Sequence[Any] | None = None) -> list[Method]:
    """Return the methods of these names, or all that can choose for a model.

    Parameters
    ----------
    model : estimator
        Linear model.
    names : sequence of str, selector or Method, default=None
        Names of methods, selectors or methods, that must be able to choose for it.
    """
    numbers = predicts_numbers(model)
    if names is None:
        return [method for method in METHODS.values() if not (numbers and method.needs_classes)]
    if isinstance(names, str):
        raise ValueError(f"methods={names!r} is one name; give a list, [{names!r}].")
    methods = list(map(_as_method, dict.fromkeys(names)))
    for method in methods:
        if numbers and method.needs_classes:
            able = ", ".join(method.name for method in methods_for(model))
            raise ValueError(
                f"{method.name} tells classes apart, and {type(model).__name__} predicts numbers; "
                f"choose from {able}."
            )
    return methods


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


SCALINGS = ("none", "standard", "tfidf")
# C is tuned over so many inner folds, among these multiples of that of the model.
N_INNER = 3
_FACTORS = (0.01, 0.1, 1.0, 10.0, 100.0)


def draw_seed(seed: int, repeat: int, fold: int, draw: int = 0) -> int:
    """Return the seed of a random method on one fold."""
    return int(np.random.SeedSequence([seed, repeat, fold, draw]).generate_state(1)[0] >> 1)


class TrainedFold:
    """Training and test rows, the model on all features, and bases of its rows.

    Every model is trained as the selectors train theirs, so that a choice is certified for the very
    rows that it was made for.

    Parameters
    ----------
    model : estimator
        Unfitted linear model.
    X, y : {ndarray, sparse array or matrix}, ndarray
        All rows and their labels, or numbers.
    split : tuple of ndarray
        Training and test rows.
    scaling : {"none", "standard", "tfidf"}
        How the columns are scaled first, learnt from the training rows.
    seed : int
        Seed of the bases.
    """

    def __init__(
        self,
        model: Any,
        X: Any,
        y: NDArray[Any],
        split: Split,
        scaling: str,
        seed: int,
    ) -> None:
        self._model, self._seed = model, seed
        train, test = split
        self._X, self._X_test = X[train], X[test]
        self._y, self._y_test = y[train], y[test]
        if scaling != "none":
            scaler = column_scaler(scaling, self._X).fit(self._X)
            self._X, self._X_test = map(scaler.transform, (self._X, self._X_test))
        self._bases: dict[str, Basis] = {}

    @property
    def support(self) -> NDArray[np.intp]:
        """Which of the training rows matter to the model on all features."""
        return self._found.rows.places

    def n_rows(self, rows: WhichRows) -> int:
        """Return the number of support rows, or of all training rows."""
        return len(self.support) if rows == "support" else len(self._y)

    def choose(self, method: Method, size: int | None, seed: int) -> ColumnChoice:
        """Return the features that a method chooses, best first; they may be none.

        Parameters
        ----------
        method : Method
            How to choose.
        size : int or None
            Number of features; None for a method that finds its own.
        seed : int
            Seed of the selector.
        """
        if method.make is None:
            n_features = self._X.shape[1]
            return ColumnChoice(np.arange(n_features), np.ones(n_features))
        selector = method.make(0 if size is None else size, clone(self._model), seed)
        finds_support = getattr(selector, "supervised", False)
        X, y = self._rows("all" if finds_support else method.rows)
        selector.fit(X, y)
        if not selector.get_support().any():
            return ColumnChoice(np.empty(0, dtype=np.intp), np.empty(0))
        return as_column_choice(selector, self._X.shape[1])

    def error(self, sample: ColumnChoice, rows: WhichRows = "all") -> float:
        """Return the test error of a model that sees these features of these training rows only.

        It is the share of wrong classes, or 1 - R² where numbers are predicted.
        """
        return self._error(self._model, sample, rows)

    def tuned_error(
        self, method: Method, size: int | None, seed: int, sample: ColumnChoice
    ) -> float:
        """Return the test error at the C that inner folds of the training rows find best.

        Features are chosen anew in every inner fold, at the C of the model: with those chosen on
        all training rows, every C would look too good. Of equally good ones, the smallest is taken.

        Parameters
        ----------
        method, size, seed : Method, int or None, int
            How to choose, as for `choose`.
        sample : ColumnChoice
            What was chosen on all training rows.
        """
        models = [with_cost_times(self._model, factor) for factor in _FACTORS]
        errors = np.zeros(len(models))
        for inner in self._inner_folds:
            chosen = inner.choose(method, size, seed)
            errors += [inner._error(model, chosen, fit=_plain_fit) for model in models]
        return self._error(models[int(np.argmin(errors))], sample)

    def growth(self, sample: ColumnChoice) -> float:
        """Return by how many times the objective of the model can grow on the rows that matter.

        It is the measured growth of a certificate; inf if nothing is proven.
        """
        if not sample.indices.size:
            return float(np.inf)
        if self._keeps_all(sample):
            return 1.0
        return self._measurable.certificate(sample).measured_growth

    def eigenvalues(self, sample: ColumnChoice, rows: WhichRows) -> tuple[float, float]:
        """Return λ and Λ of a choice; λ = 0 proves nothing."""
        if not sample.indices.size:
            return 0.0, 0.0
        if self._keeps_all(sample):
            return 1.0, 1.0
        basis = self._basis(rows)
        if not basis.exact:
            return without_basis(sample, self._X.shape[1])
        return extreme_eigenvalues(basis, sample)

    def _keeps_all(self, sample: ColumnChoice) -> bool:
        return len(sample.indices) == self._X.shape[1] and bool((sample.scales == 1).all())

    @cached_property
    def _found(self) -> Support:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return find_support(Rows(self._X, self._y), self._model)

    @cached_property
    def _measurable(self) -> Measurable:
        return Measurable.of_support(self._found, self._found.kind)

    @cached_property
    def _inner_folds(self) -> list[TrainedFold]:
        numbers = predicts_numbers(self._model)
        splits, _ = splits_of(self._X, self._y, N_INNER, self._seed, numbers)
        return [
            TrainedFold(self._model, self._X, self._y, split, "none", self._seed)
            for split in splits
        ]

    def _error(
        self,
        model: Any,
        sample: ColumnChoice,
        rows: WhichRows = "all",
        fit: Callable[[Any, Any, NDArray[Any]], Any] = fit_model,
    ) -> float:
        predicted = self._predicted(model, sample, rows, fit)
        if predicts_numbers(model):
            return 1 - float(r2_score(self._y_test, predicted))
        return float(np.mean(predicted != self._y_test))

    def _predicted(
        self, model: Any, sample: ColumnChoice, rows: WhichRows, fit: Callable[..., Any]
    ) -> NDArray[Any]:
        X, y = self._rows(rows)
        if not sample.indices.size:
            # Without features, the best guess is the mean, or the most frequent class.
            guess = DummyRegressor() if predicts_numbers(model) else DummyClassifier()
            return np.asarray(guess.fit(X, y).predict(self._X_test))
        train, test = (
            scaled_columns(part[:, sample.indices], sample.scales) for part in (X, self._X_test)
        )
        return np.asarray(fit(clone(model), train, y).predict(test))

    def _basis(self, rows: WhichRows) -> Basis:
        if rows not in self._bases:
            matrix = Rows(self._rows(rows)[0])
            self._bases[rows], _ = span(matrix, "auto", None, self._seed)
        return self._bases[rows]

    def _rows(self, rows: WhichRows) -> tuple[Any, NDArray[Any]]:
        if rows == "all":
            return self._X, self._y
        return self._X[self.support], self._y[self.support]


def _plain_fit(model: Any, X: Any, y: NDArray[Any]) -> Any:
    """Fit as scikit-learn does: close enough to the optimum to tell which C is good."""
    return model.fit(X, y)


def column_scaler(name: str, X: Any) -> Any:
    """Return an unfitted scaler; sparse columns are not centred, so that zeros stay zeros."""
    if name == "tfidf":
        return TfidfTransformer()
    return StandardScaler(with_mean=not sparse.issparse(X))


Cell = tuple[Method, int | None]


@dataclass(frozen=True)
class _Outcome:
    """What one choice on one fold gave; nothing is tuned unless asked for."""

    chosen: tuple[int, ...]
    error: float
    tuned_error: float | None
    seconds: float
    growth: float


def compare(
    X: Any,
    y: Any,
    sizes: Sequence[int],
    *,
    methods: Sequence[Any] | None = None,
    estimator: Any = None,
    scaling: Literal["none", "standard", "tfidf"] = "none",
    tune: bool | Literal["auto"] = True,
    n_repeats: int = 1,
    n_folds: int = 5,
    n_jobs: int = -1,
    seed: int = 0,
) -> Comparison:
    """Cross-validate methods of feature selection on the same folds.

    In every fold each method chooses features in the training rows. A linear model that sees only
    these is tested on the other rows, and the choice is certified for the rows that matter to
    the model on all features.

    Parameters
    ----------
    X : {array-like, sparse array or matrix} of shape (n_samples, n_features)
        Data.
    y : array-like of shape (n_samples,)
        Labels, or numbers for a model that predicts numbers.
    sizes : sequence of int
        Numbers of features to choose, fewer than there are.
    methods : sequence of str or selector, default=None
        Some of "bss", "bss-paper" (its algorithm as published), "leverage", "rrqr", "rfe",
        "lpsvm", "l1", "univariate" and "random", or selectors with a parameter
        ``n_features_to_select``, ``max_features`` or ``k``; None takes all that have names. For a
        model that predicts numbers that is without "bss-paper", "lpsvm" and "l1", which are
        classifiers.
    estimator : estimator, default=None
        Linear model, as the selectors take it; None takes their default.
    scaling : {"none", "standard", "tfidf"}, default="none"
        How the columns are scaled first, learnt from the training rows of each fold: not at all;
        to mean 0 and variance 1 (sparse data to variance 1 only); or by tf-idf, for word counts.
    tune : bool or "auto", default=True
        Whether to find the errors at a tuned C too: with few features another C is best than with
        many, so that errors at one C for all are not the whole truth. In every fold C is the best
        of a hundredth to a hundred times that of the model, by three inner folds in which features
        are chosen anew. It takes about three times as long. "auto" does so where it is possible: it
        takes a model with a C, and some rows of each class.
    n_repeats, n_folds : int
        Number of cross-validations, and of their folds.
    n_jobs : int, default=-1
        Number of worker processes; -1 takes all cores.
    seed : int, default=0
        Seed of the folds, which are shuffled and have the classes in equal shares, and of the
        methods; those that draw lots ("leverage" and "random") get another one in every fold.

    Returns
    -------
    Comparison
        Errors, times and measured growth; print it, or see ``to_frame()``. Errors are shares of
        wrong classes, or 1 - R² where numbers are predicted.

    See Also
    --------
    certifeature.plotting.ErrorCurveDisplay : Plots the errors.
    certifeature.certify : The errors of one selector, on the same folds.

    Notes
    -----
    "bss" multiplies the chosen columns by one factor, which makes up for those left out; others do
    not. At the C of the model that is part of the difference. With C tuned it hardly counts.

    Examples
    --------
    >>> from certifeature import compare
    >>> from certifeature.datasets import make_relevant_features
    >>> X, y = make_relevant_features(60, 200, 10, random_state=0)
    >>> comparison = compare(X, y, [20], methods=["bss", "rfe"], n_folds=3, n_jobs=1)
    >>> [contender.method for contender in comparison.contenders]
    ['full data', 'bss', 'rfe']
    """
    model = default_model(seed) if estimator is None else estimator
    check_model(model)
    model = capped(model)
    chosen = methods_for(model, methods)
    X, y = _checked(X, y, model, sizes, scaling)
    cells = _cells(chosen, sizes)
    folds = {
        (repeat, fold): split
        for repeat in range(n_repeats)
        for fold, split in enumerate(_splits(X, y, model, n_folds, seed_of_repeat(seed, repeat)))
    }
    if tune:
        reason = _why_not_tuned(model, y, folds.values(), seed)
        if reason is not None and tune != "auto":
            raise ValueError(f"{reason}; compare at one C, with tune=False (--no-tune).")
        tune = reason is None
    calls = [
        delayed(_measured)(X, y, model, cells, scaling, tune, split, seed, draw_seed(seed, *place))
        for place, split in folds.items()
    ]
    outcomes = in_parallel(calls, "folds", n_jobs=n_jobs)
    by_cell = zip(cells, zip(*outcomes, strict=True), strict=True)
    contenders = (_contender(method.name, size, part) for (method, size), part in by_cell)
    measure = "1 - R2" if predicts_numbers(model) else "error"
    return Comparison(tuple(contenders), n_repeats, n_folds, seed, measure)


def _cells(methods: Sequence[Method], sizes: Sequence[int]) -> list[Cell]:
    """Return full data, and each method at each size."""
    cells: list[Cell] = [(KEEP_ALL, None)]
    for method in methods:
        asked = [None] if method.own_size else dict.fromkeys(sizes)
        cells += [(method, size) for size in asked]
    return cells


def _checked(
    X: Any, y: Any, model: Any, sizes: Sequence[int], scaling: str
) -> tuple[Any, NDArray[Any]]:
    """Return data and labels, or numbers, that every fold can be made of."""
    numbers = predicts_numbers(model)
    refuse_dates(X)
    X, y = check_X_y(X, y, accept_sparse="csr", dtype=np.float64, y_numeric=numbers)
    if not numbers:
        check_classification_targets(y)
    if sparse.issparse(X):
        X = canonical_csr(X)
    n_features = X.shape[1]
    if not isinstance(sizes, Iterable):
        raise ValueError(f"sizes={sizes!r} is one number; give a list, [{sizes!r}].")
    impossible = [size for size in sizes if not 1 <= size < n_features]
    if impossible:
        raise ValueError(
            f"{impossible[0]} features cannot be chosen from {n_features}; "
            f"ask for 1 to {n_features - 1}."
        )
    if scaling not in SCALINGS:
        raise ValueError(f"scaling={scaling!r} is unknown; choose from {', '.join(SCALINGS)}.")
    return X, y


def _splits(X: Any, y: NDArray[Any], model: Any, n_folds: int, seed: int) -> list[Split]:
    return splits_of(X, y, n_folds, seed, predicts_numbers(model))[0]


def _why_not_tuned(model: Any, y: NDArray[Any], splits: Iterable[Split], seed: int) -> str | None:
    """Return why there are no inner folds to tune C by, if so."""
    for train, _ in splits:
        try:
            splits_of(train, y[train], N_INNER, seed, predicts_numbers(model))
        except ValueError as error:
            reason = str(error).partition(";")[0]
            return f"C is tuned by {N_INNER} inner folds of the training rows, but there {reason}"
    return None


def _measured(
    X: Any,
    y: NDArray[Any],
    model: Any,
    cells: Sequence[Cell],
    scaling: str,
    tune: bool,
    split: Split,
    seed: int,
    drawn: int,
) -> list[_Outcome]:
    """Return what each cell gives on one fold."""
    # One thread, so that sums are rounded alike however many workers there are.
    with threadpool_limits(1), warnings.catch_warnings():
        # A method that does not converge is compared as it is.
        warnings.simplefilter("ignore")
        fold = TrainedFold(model, X, y, split, scaling, seed)
        return [_outcome(fold, cell, drawn if cell[0].draws else seed, tune) for cell in cells]


def _outcome(fold: TrainedFold, cell: Cell, seed: int, tune: bool) -> _Outcome:
    start = perf_counter()
    sample = fold.choose(*cell, seed)
    seconds = perf_counter() - start
    return _Outcome(
        tuple(sample.indices.tolist()),
        fold.error(sample),
        fold.tuned_error(*cell, seed, sample) if tune else None,
        seconds,
        fold.growth(sample),
    )


def _contender(method: str, size: int | None, outcomes: Sequence[_Outcome]) -> Contender:
    tuned = (outcome.tuned_error for outcome in outcomes)
    return Contender(
        method,
        size,
        float(np.mean([len(outcome.chosen) for outcome in outcomes])),
        tuple(outcome.error for outcome in outcomes),
        float(np.median([outcome.seconds for outcome in outcomes])),
        float(np.median([outcome.growth for outcome in outcomes])),
        tuple(error for error in tuned if error is not None),
        tuple(outcome.chosen for outcome in outcomes) if method != FULL_DATA else (),
    )
