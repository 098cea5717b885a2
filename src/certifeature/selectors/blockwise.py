"""Selection from rows that come in blocks, or little by little."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import validate_data

from certifeature.basis.digest import Digest
from certifeature.blocks import Block, RowBlocks, checked_rows
from certifeature.dask import DaskBlocks, chosen_columns, column_names
from certifeature.selectors.data import Rows
from certifeature.selectors.parameters import requested_size
from certifeature.selectors.subspace import BasisFacts, empty_digest, row_space
from certifeature.svm import cascade, default_svm
from certifeature.svm.fitting import FEW_ROWS

__all__ = ["BlockwiseMixin"]


def _is_unsupervised(selector: Any) -> bool:
    if selector.supervised:
        raise AttributeError(
            "the support vectors of rows to come are not known, so partial_fit needs "
            "supervised=False."
        )
    return True


class BlockwiseMixin:
    """What a selector does with rows that are not all there at once."""

    @available_if(_is_unsupervised)
    def partial_fit(self: Any, X: Any, y: Any = None) -> Any:
        """Choose features again, with more rows.

        What is kept of the rows before are random combinations (and the rows themselves, while they
        are few), so this works with ``supervised=False`` only. All rows at once give the same
        choice.

        Parameters
        ----------
        X : {array-like, sparse array or matrix} of shape (n_samples, n_features)
            More rows.
        y : Ignored
            For the sake of the interface.

        Returns
        -------
        self : object
            Fitted selector.
        """
        self._check_parameters()
        digest = getattr(self, "_digest", None)
        X = validate_data(self, X, dtype=np.float64, accept_sparse="csr", reset=digest is None)
        self._check_width()
        settings = (self.basis, self.n_components)
        if digest is None:
            self._digest_settings, self._digest_seed = settings, self._seed()
            digest = empty_digest(self.n_features_in_, *settings, self._digest_seed)
        if settings != self._digest_settings:
            raise ValueError(
                "basis or n_components changed since the first rows; call fit to start again."
            )
        X = checked_rows(X, self.n_features_in_, "X")
        digest = digest.added(Block(X, None, digest.n_rows))
        self._digest = digest
        self._fit_digest(digest, self._digest_seed)
        return self

    def _fit_blocks(self: Any, X: Any, y: Any, sample_weight: Any, tasks: Any) -> None:
        """Choose features for rows in blocks."""
        if sample_weight is not None:
            raise ValueError("rows in blocks have no weights; leave sample_weight out.")
        if isinstance(X, RowBlocks):
            if y is not None:
                raise ValueError("row blocks bring their labels along; leave y out.")
            blocks = X
        else:
            blocks = DaskBlocks(X, y if self.supervised else None)
        self.n_features_in_ = blocks.n_features
        self._check_width()
        self._learn_names(blocks.feature_names)
        if not self.supervised:
            seed = self._seed()
            with self._task(tasks, "read rows"):
                digest = empty_digest(blocks.n_features, self.basis, self.n_components, seed)
                digest = digest.taken(blocks)
            self._fit_digest(digest, seed)
            return
        few = blocks.if_few(FEW_ROWS)
        if few is not None:
            self._fit_arrays(*few, None, tasks)
            return
        if self.guarantee == "full":
            raise ValueError(
                "guarantee='full' needs all rows at once, and they come in blocks; use 'support'."
            )
        seed = self._seed()
        svm = default_svm(FEW_ROWS + 1, seed) if self.estimator is None else self.estimator
        with self._task(tasks, "find support rows"):
            found = cascade(blocks, clone(svm))
        self.estimator_ = found.svm
        self.n_passes_, self.optimality_gap_ = found.n_rounds, found.gap
        rows = Rows(found.X, found.y, None, found.indices)
        self._select(rows, rows, seed, tasks)

    def _learn_names(self: Any, names: Any) -> None:
        """Set the names of the features, or forget those of other data."""
        if names is not None:
            self.feature_names_in_ = np.asarray(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _transform_blocks(self: Any, X: Any) -> Any:
        """Return blocks of the chosen columns, which are made when they are read."""
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
        columns, scales = self._columns_and_scales()
        if isinstance(X, RowBlocks):
            return X.with_columns(columns, scales)
        return chosen_columns(X, columns, scales)

    def _fit_digest(self: Any, digest: Digest, seed: int) -> None:
        """Choose features for all rows that a digest stands for."""
        n_select = requested_size(self.n_features_to_select, self.n_features_in_)
        whole, kind = row_space(digest, self.basis, self.n_components, seed)
        basis, kind = self._cut(whole, kind, n_select)
        self.estimator_ = None
        self.n_rounds_ = 1
        self.basis_ = BasisFacts(kind, digest.n_rows, basis.n_components, basis.rank, basis.exact)
        nothing = Rows(None, None, None, np.arange(digest.n_rows))
        self.scores_ = self._rank(nothing, basis, whole)
        self._learn(self._choose(basis, n_select, seed), basis, whole, nothing, None)
