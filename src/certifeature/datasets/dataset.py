"""The type that readers of data files return."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certifeature.rows.matrix import dense


@dataclass(frozen=True, eq=False)
class Dataset:
    """Samples, their labels, and where they come from.

    Attributes
    ----------
    X : ndarray or CSR array of shape (n_samples, n_features), dtype float64
        The samples: finite numbers, and NaN for missing values where these are accepted.
    y : ndarray of shape (n_samples,) or None
        The labels: int64 where all are whole numbers, else float64 or str. None where the
        source has none.
    feature_names : ndarray of str, shape (n_features,), or None
        The names of the columns of `X`, where the source has them.
    source : str
        The file, folder or member of an archive that was read.
    ids, groups : ndarray of str, shape (n_samples,), or None
        The names of the rows of `X`, and the groups that they belong to, where columns hold them.
    roles : mapping of str to str
        The names of the columns of labels, names of rows and groups, by "target", "id" and
        "groups", where they have any.
    categories : mapping of int to ndarray of str
        The values of columns of text, where these are accepted, by their index in `X`, which has
        the place of each value among them.
    about : mapping of str to ndarray of str
        What else the source says about the samples, as a GEO series matrix does, and the columns
        that are held out of the features.
    held_out : mapping of str to str
        What the columns that are held out seem to be, by their names.
    """

    X: Any
    y: NDArray[Any] | None
    feature_names: NDArray[np.str_] | None
    source: str
    ids: NDArray[np.str_] | None = None
    groups: NDArray[np.str_] | None = None
    roles: Mapping[str, str] = field(default_factory=dict)
    categories: Mapping[int, NDArray[np.str_]] = field(default_factory=dict)
    about: Mapping[str, NDArray[np.str_]] = field(default_factory=dict)
    held_out: Mapping[str, str] = field(default_factory=dict)

    def fields(self, feature: int) -> NDArray[np.str_]:
        """Return a column as text, "" where a value is missing.

        Parameters
        ----------
        feature : int
            Number of the column.
        """
        column = dense(self.X[:, [feature]]).ravel()
        names = self.categories.get(feature)
        if names is None:
            shown = [f"{value:.15g}" for value in column.tolist()]
            return np.where(np.isnan(column), "", shown)
        return np.where(
            np.isnan(column), "", np.append(names, "")[np.nan_to_num(column).astype(int)]
        )

    def without(self, columns: Collection[int]) -> Dataset:
        """Return the data without some columns; a column without a name keeps its number.

        Parameters
        ----------
        columns : collection of int
            Numbers of the columns.
        """
        kept = [j for j in range(self.X.shape[1]) if j not in columns]
        names = np.arange(self.X.shape[1]).astype(str)
        names = names if self.feature_names is None else self.feature_names
        places = {j: place for place, j in enumerate(kept)}
        texts = {places[j]: values for j, values in self.categories.items() if j in places}
        return replace(self, X=self.X[:, kept], feature_names=names[kept], categories=texts)

    def holding_out(self, columns: Mapping[int, str]) -> Dataset:
        """Return the data with some columns in ``about``.

        Parameters
        ----------
        columns : mapping of int to str
            Numbers of the columns, and what each seems to be.
        """
        if not columns:
            return self
        names = self.feature_names
        named = {j: ("" if names is None else str(names[j])) or str(j) for j in columns}
        about = {**self.about, **{name: self.fields(j) for j, name in named.items()}}
        roles = {name: columns[j] for j, name in named.items()}
        return replace(self.without(columns), about=about, held_out=roles)
