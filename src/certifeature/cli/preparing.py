"""What is done to columns before features are chosen: impute, encode and scale.

All of it is one transformer of scikit-learn, which is fitted anew to the training rows of each
fold.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from enum import StrEnum
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.impute import SimpleImputer
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from certifeature._files import visible
from certifeature.datasets.dataset import Dataset
from certifeature.io.tables import is_prose
from certifeature.rows.matrix import column_digests, dense, scaled_columns, stored_values
from certifeature.rows.names import IDENTIFIER, is_owner
from certifeature.rows.rows import Spread, scaling_needed

NEGATIVE = "--scale tfidf is for counts, and there are negative values; change it."
# A column of text with more different values may hold names of whoever was measured.
_N_CLASSES = 10
_MEASURED = re.compile(r"[<>≤≥~]?\s*[+-]?\d[\d.,'’\s]*(?:[eE][+-]?\d+)?(?:%|\s\S+)?")
# Of so large a share of the rows, equal names are no slip.
_SLIPS = 0.1
ALIKE = (
    "equal to others, or nearly so: if these belong together, name the column that says so with "
    "--groups; otherwise errors on new data look too good"
)
# Rows of wide data closer than this share of the median distance are nearly equal. It is computed
# for so many rows and columns at most.
_NEAR, _MAX_PAIRED, _N_COMPARED = 0.25, 2000, 2000


def note(text: str) -> None:
    """Say something in one line on standard error, if anyone still reads that."""
    with suppress(OSError):
        sys.stderr.write(f"certifeature: {visible(' '.join(text.split()))}\n")


# How columns are scaled.
Scaling = StrEnum("Scaling", ["none", "standard", "tfidf"])
# How columns of text are encoded as numbers.
Encoding = StrEnum("Encoding", ["onehot"])


class Imputation(StrEnum):
    """What takes the place of missing values; or columns that have any are left out."""

    median = "median"
    mean = "mean"
    drop_columns = "drop-columns"


class _Standard(StandardScaler):
    """Standardises columns also where their squares would overflow or vanish."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        exponents = np.frexp(dense(abs(X).max(axis=0)).ravel())[1]
        self.powers_ = np.ldexp(1.0, -exponents.clip(-1000))
        return super().fit(scaled_columns(X, self.powers_), y, sample_weight)

    def transform(self, X: Any, copy: bool | None = None) -> Any:
        return super().transform(scaled_columns(X, self.powers_), copy)


def scaler_of(X: Any, scaling: Scaling) -> Any:
    """Return an unfitted scaler, or None; sparse columns are not centred, so that zeros stay."""
    if scaling is Scaling.standard:
        return _Standard(with_mean=not sparse.issparse(X))
    return TfidfTransformer() if scaling is Scaling.tfidf else None


def distinct_names(names: NDArray[np.str_] | None, n_features: int) -> NDArray[np.str_]:
    """Return a different name for each column.

    A column without a name is called by its number, from 0 as in Python. Of columns with the same
    name, the second gets " (2)" after it, and so on.
    """
    if names is None:
        return np.arange(n_features).astype(f"U{len(str(n_features))}")
    given = [str(name).strip() or str(number) for number, name in enumerate(names)]
    taken, counts = set(given), Counter[str]()
    for place, name in enumerate(given):
        counts[name] += 1
        while counts[name] > 1 and given[place] in taken:
            given[place] = f"{name} ({counts[name]})"
            counts[name] += given[place] in taken
        taken.add(given[place])
    return np.array(given, dtype=np.str_)


def complete_columns(data: Dataset) -> tuple[Dataset, list[str]]:
    """Return data without the columns that have missing values, and the names of these."""
    if sparse.issparse(data.X) or not np.isnan(data.X).any():
        return data, []
    gaps = np.flatnonzero(np.isnan(data.X).any(axis=0))
    names = distinct_names(data.feature_names, data.X.shape[1])
    return replace(data, feature_names=names).without({*gaps.tolist()}), names[gaps].tolist()


def encoder_of(
    data: Dataset, names: NDArray[np.str_], impute: Imputation | None
) -> tuple[Any, NDArray[np.str_], list[str]]:
    """Return an unfitted transformer of data to numbers, or None, and what its columns are.

    That is the name of each, and the name of the column of text that it is made of, or nothing.
    Columns of text become a column for each category, such as ``site=Boston``, after all others. A
    missing category is none of them.
    """
    imputer: Any = "passthrough"
    if impute in (Imputation.median, Imputation.mean) and not sparse.issparse(data.X):
        imputer = SimpleImputer(strategy=impute, keep_empty_features=True)
    elif not data.categories:
        return None, names, len(names) * [""]
    numeric = [j for j in range(len(names)) if j not in data.categories]
    # The categories are known beforehand, so that columns are the same in every fold.
    codes = [np.arange(float(len(values))) for values in data.categories.values()]
    texts = OneHotEncoder(categories=codes, handle_unknown="ignore", sparse_output=False)
    steps = [("numbers", imputer, numeric), ("texts", texts, list(data.categories))]
    encoded = [(str(names[j]), value) for j, values in data.categories.items() for value in values]
    indicators = [f"{name}={value}" for name, value in encoded]
    found = np.array([*names[numeric], *indicators], dtype=np.str_)
    return ColumnTransformer(steps), found, len(numeric) * [""] + [name for name, _ in encoded]


def scaling_or_note(X: Any, asked: Scaling | None) -> Scaling:
    """Return the scaling that is asked for, or none, with a note if the columns need one."""
    if asked is Scaling.tfidf and stored_values(X).min(initial=0.0) < 0:
        raise ValueError(NEGATIVE)
    if asked is not None:
        return asked
    _, why = scaling_for(X, Spread.of(X).deviations)
    if why:
        note(f"{why} (--scale none leaves them, without this note)")
    return Scaling.none


def scaling_for(X: Any, deviations: NDArray[np.float64]) -> tuple[Scaling | None, str]:
    """Return the scaling that columns need, and why; None and "" if none."""
    scaling, found = scaling_needed(X, deviations)
    if not scaling:
        return None, ""
    gain = "weighs rare ones more" if scaling == "tfidf" else "gives all the same weight"
    return Scaling(scaling), f"{found}; --scale {scaling} {gain}"


def owners(data: Dataset, names: Sequence[str]) -> dict[str, NDArray[np.str_]]:
    """Return the columns that may say which rows are of one patient or the like, by their names."""
    found = {name: data.about[name] for name in data.about if _may_own(name, data.held_out)}
    for j, values in data.categories.items():
        if len(values) > _N_CLASSES and not (are_measured(values) or is_prose(values)):
            found[names[j]] = data.fields(j)
    for j in () if sparse.issparse(data.X) else np.flatnonzero([*map(is_owner, names)]).tolist():
        if (data.X[:, j] % 1 == 0).all():
            found[names[j]] = data.fields(j)
    return {name: f for name, f in found.items() if 1 < len(np.unique(f)) < len(f)}


def _may_own(name: str, held_out: Mapping[str, str]) -> bool:
    return is_owner(name) or held_out.get(name) == IDENTIFIER


def are_measured(values: Iterable[str]) -> bool:
    """Tell whether most values of a column of text are like numbers, such as '<0.5' or '3 mg'."""
    numbers = [bool(_MEASURED.fullmatch(value)) for value in values]
    return 2 * sum(numbers) > len(numbers)


def equal_names(names: NDArray[np.str_]) -> str:
    """Return which rows share a name, in words, if so few do that it seems a slip, else nothing."""
    different, codes, counts = np.unique(names, return_inverse=True, return_counts=True)
    if not 0 < counts[counts > 1].sum() <= _SLIPS * len(names):
        return ""
    rows = ((str(different[k]), np.flatnonzero(codes == k) + 1) for k in np.flatnonzero(counts > 1))
    shown = (f"{name!r} is the name of rows {', '.join(map(str, at))}" for name, at in rows)
    return f"{'; '.join(shown)} (counted from 1): a slip?"


def alike_rows(X: Any, groups: NDArray[Any] | None = None) -> NDArray[np.intp]:
    """Return the rows that equal a row of another group, or in wide data nearly so."""
    n_rows, n_features = X.shape
    rows = np.arange(n_rows)
    numbers = rows if groups is None else np.unique(groups, return_inverse=True)[1]
    if sparse.issparse(X) or not n_rows <= min(n_features, _MAX_PAIRED):
        equal = np.unique(column_digests(X.T), return_inverse=True)[1]
        owners = np.unique(np.column_stack([equal, numbers]), axis=0)[:, 0]
        return rows[np.bincount(owners)[equal] > 1]
    Z = X[:, np.random.default_rng(0).permutation(n_features)[:_N_COMPARED]]
    with np.errstate(all="ignore"):
        Z = np.nan_to_num((Z - np.nanmean(Z, axis=0)) / np.nanstd(Z, axis=0), posinf=0, neginf=0)
    distances = euclidean_distances(Z, squared=True)
    others = numbers[:, None] != numbers
    if not others.any():
        return rows[:0]
    near = others & (distances <= _NEAR**2 * np.median(distances[others]))
    return rows[near.any(axis=1)]
