"""What selectors do to columns: those that are chosen, times their scales, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_array
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted, validate_data

from certifeature.rows.blocks import RowBlocks
from certifeature.rows.dask import chosen_columns, column_names
from certifeature.rows.dates import refuse_dates
from certifeature.rows.matrix import original_columns, scaled_columns
from certifeature.rows.rows import come_in_blocks

__all__ = ["TakesColumns"]

FloatArray = NDArray[np.float64]


class TakesColumns(SelectorMixin):
    """Takes the columns that a fit has chosen, times their scales."""

    rescale: Any
    n_features_in_: int
    indices_: NDArray[np.intp]
    weights_: FloatArray

    def transform(self, X: Any) -> Any:
        """Return the chosen columns of X, in the order of X, times their scales.

        With ``rescale=False`` they are returned as they are, integers and booleans included.

        Parameters
        ----------
        X : array-like, sparse array or matrix, of shape (n_samples, n_features), or blocks
            Data.

        Returns
        -------
        ndarray, sparse array or matrix, of shape (n_samples, n_chosen), or blocks
            Reduced data, of the kind of X; blocks are reduced when they are read.
        """
        check_is_fitted(self)
        columns, scales = self._columns_and_scales()
        if come_in_blocks(X):
            self._check_blocks(X)
            if isinstance(X, RowBlocks):
                return X.with_columns(columns, np.ones(len(columns)) if scales is None else scales)
            return chosen_columns(X, columns, scales)
        refuse_dates(X)
        values = validate_data(
            self, X, dtype=_types(scales), accept_sparse=("csr", "csc"), reset=False
        )
        if scales is not None:
            return scaled_columns(values[:, columns], scales.astype(values.dtype))
        as_frame = _get_output_config("transform", estimator=self)["dense"] != "default"
        # An array would bring the columns of a data frame to one type.
        return X.iloc[:, columns] if as_frame and hasattr(X, "iloc") else values[:, columns]

    def inverse_transform(self, X: Any) -> Any:
        """Undo the scales and put zeros where features were left out.

        Parameters
        ----------
        X : {array-like, sparse array or matrix} of shape (n_samples, n_chosen)
            Reduced data.

        Returns
        -------
        {ndarray, sparse array or matrix} of shape (n_samples, n_features)
            Data with the original columns.
        """
        check_is_fitted(self)
        columns, scales = self._columns_and_scales()
        X = check_array(X, dtype=_types(scales), accept_sparse=("csr", "csc"))
        if X.shape[1] != len(columns):
            raise ValueError(
                f"X has {X.shape[1]} columns, but {len(columns)} features were chosen; "
                "give what transform returned."
            )
        if scales is not None:
            X = scaled_columns(X, (1 / scales).astype(X.dtype))
        return original_columns(X, columns, self.n_features_in_)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.indices_] = True
        return mask

    def _columns_and_scales(self) -> tuple[NDArray[np.intp], FloatArray | None]:
        """Return the chosen columns in the order of X, and their scales unless they have none."""
        order = np.argsort(self.indices_)
        scales = self.weights_[order]
        plain = not self.rescale and (scales == 1).all()
        return self.indices_[order], None if plain else scales

    def _check_blocks(self, X: Any) -> None:
        """Raise unless blocks have the features that the selector was fitted to."""
        n_features = X.n_features if isinstance(X, RowBlocks) else X.shape[1]
        if n_features != self.n_features_in_:
            raise ValueError(
                f"the blocks have {n_features} features, but {type(self).__name__} was fitted to "
                f"{self.n_features_in_}."
            )
        names = X.feature_names if isinstance(X, RowBlocks) else column_names(X)
        expected = getattr(self, "feature_names_in_", None)
        if names is not None and expected is not None and not np.array_equal(names, expected):
            raise ValueError(
                f"the features have other names, or another order, than those that "
                f"{type(self).__name__} was fitted to."
            )


def _types(scales: FloatArray | None) -> Any:
    """Return the types that columns may have: any that are numbers, unless they are scaled."""
    return "numeric" if scales is None else (np.float64, np.float32)
