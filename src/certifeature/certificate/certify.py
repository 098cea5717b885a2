"""Certificates for selections made by any method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.multiclass import check_classification_targets

from certifeature._labels import one_dimensional
from certifeature._matrix import canonical_csr, fingerprint, scaled_columns
from certifeature._parameters import check_choice
from certifeature.basis import Basis, exact_basis
from certifeature.basis.digest import Digest
from certifeature.blocks import ArrayBlocks, RowBlocks
from certifeature.certificate.lanczos import regularised_bound
from certifeature.certificate.measure import (
    extreme_eigenvalues,
    regularised_eigenvalues,
    without_basis,
)
from certifeature.certificate.model import APriori, Certificate
from certifeature.certificate.realise import realise
from certifeature.certificate.selection import as_sample
from certifeature.dask import DaskBlocks, is_dask
from certifeature.sparsify import Sample
from certifeature.svm import cascade, default_svm, fit_svm, row_costs, support_rows
from certifeature.svm.checks import check_svm, cost_of
from certifeature.svm.fitting import FEW_ROWS

__all__ = ["certify", "measured_certificate"]

# Beyond so many rows nothing is realised; beyond as many features, too, there is no basis.
_MOST_DIRECTIONS = 4096


def certify(
    X: Any,
    y: Any,
    selection: Any,
    *,
    weights: Any = None,
    estimator: Any = None,
    rows: str = "support",
    realised: bool = True,
) -> Certificate:
    """Certify what a selection of features can cost a linear model.

    Parameters
    ----------
    X : array-like, sparse array or matrix, data frame, of shape (n_samples, n_features), or blocks
        Data with all features. Of more than 4,096 rows and as many features only the bound for
        squared-hinge SVMs and ridge is computed, by products with the rows. Of all rows of blocks
        (a Dask collection or `certifeature.blocks.RowBlocks`) that takes 26 passes, and one more
        where the number of rows is not known.
    y : array-like of shape (n_samples,) or None
        Class labels; may be None with ``rows="all"``, and must be with row blocks, which bring them
        along.
    selection : selector, or array-like
        A fitted selector of this library or of scikit-learn (anything with ``get_support``), a
        boolean mask, indices, or names of columns of a data frame.
    weights : array-like of shape (n_selected,), default=None
        Positive scales of the selected features, in the order of ``selection``. None takes the
        scales of a selector of this library, and plain columns otherwise.
    estimator : estimator, default=None
        The linear SVM whose support vectors, loss and C count. None takes that of a selector of
        this library, or else ``SVC(kernel="linear")`` up to 1,000 rows and ``LinearSVC(dual=True)``
        beyond.
    rows : {"support", "all"}, default="support"
        Certify for the support vectors of the SVM on all features, or for all rows.
    realised : bool, default=True
        Whether to compute margins, objectives and radii too, which takes several SVM fits. They
        are not computed of more than 4,096 rows, nor of all rows of blocks.

    Returns
    -------
    Certificate
        Its three layers nest: what the method promised is never better than what is measured, and
        that never better than what is realised.

    Examples
    --------
    Scikit-learn's RFE, certified:

    >>> from sklearn.feature_selection import RFE
    >>> from sklearn.svm import SVC
    >>> from certifeature import certify
    >>> from certifeature.datasets import make_relevant_features
    >>> X, y = make_relevant_features(100, 500, 20, random_state=0)
    >>> rfe = RFE(SVC(kernel="linear"), n_features_to_select=60, step=0.2).fit(X, y)
    >>> certificate = certify(X, y, rfe)
    >>> 0 < certificate.lambda_min <= certificate.realised.margin_ratio
    True
    """
    check_choice("rows", rows, ("support", "all"))
    check_choice("realised", realised, (True, False))
    if estimator is None and hasattr(selection, "weights_"):
        estimator = selection.estimator
    if estimator is not None:
        check_svm(estimator)
    svm_for = partial(_svm_for, estimator)
    if isinstance(X, RowBlocks) or is_dask(X):
        if isinstance(X, RowBlocks) and y is not None:
            raise ValueError("row blocks bring their labels along; leave y out (None).")
        blocks = X if isinstance(X, RowBlocks) else DaskBlocks(X, y)
        sample = as_sample(selection, weights, blocks.n_features, blocks.feature_names)
        found = _find_in_blocks(blocks, sample, svm_for, rows, realised)
    else:
        names = np.asarray(X.columns) if hasattr(X, "columns") else None
        X, y = _checked(X, y)
        sample = as_sample(selection, weights, X.shape[1], names)
        found = _find_in_memory(X, y, sample, svm_for, rows, realised)
    C = cost_of(found.svm) if found.costs is None else float(found.costs.max())
    certificate = _measured(found.X, sample, rows, C)
    layer = promise = None
    if not isinstance(found.X, RowBlocks):
        if realised and found.X.shape[0] <= _MOST_DIRECTIONS:
            reduced = scaled_columns(found.X[:, sample.indices], sample.weights)
            layer = realise(
                found.X, reduced, found.y, found.svm, found.costs, found.classes, certificate
            )
        promise = _promise_of(selection, found.X) if weights is None else None
    return replace(certificate, a_priori=promise, realised=layer, covers_all_rows=found.covers)


@dataclass(frozen=True, eq=False)
class _Found:
    """The rows to certify for, and whether they are all that matter in the end."""

    X: Any
    y: Any
    svm: Any
    costs: NDArray[np.float64] | None
    classes: NDArray[Any] | None
    covers: bool | None = None


def _checked(X: Any, y: Any) -> tuple[Any, Any]:
    X = check_array(X, accept_sparse="csr", dtype=np.float64)
    if sparse.issparse(X):
        X = canonical_csr(X)
    if y is not None:
        y = one_dimensional(y)
        check_consistent_length(X, y)
        check_classification_targets(y)
    return X, y


def _find_in_memory(
    X: Any, y: Any, sample: Sample, svm_for: Callable[[int], Any], rows: str, realised: bool
) -> _Found:
    svm = svm_for(X.shape[0])
    if rows == "all":
        if y is None:
            return _Found(X, None, svm, None, None)
        return _Found(X, y, svm, row_costs(svm, y), np.unique(y))
    if y is None:
        raise ValueError("y is None: certify support vectors with labels, or use rows='all'.")
    costs = row_costs(svm, y)
    chosen, covers = support_rows(fit_svm(svm, X, y), X, y), None
    if realised:
        reduced = scaled_columns(X[:, sample.indices], sample.weights)
        needed = support_rows(fit_svm(clone(svm), reduced, y), reduced, y)
        covers = bool(np.isin(needed, chosen).all())
    if costs is not None:
        costs = costs[chosen]
    return _Found(X[chosen], y[chosen], svm, costs, np.unique(y), covers)


def _find_in_blocks(
    blocks: RowBlocks, sample: Sample, svm_for: Callable[[int], Any], rows: str, realised: bool
) -> _Found:
    if rows == "all":
        svm = svm_for(blocks.n_rows)
        if getattr(svm, "class_weight", None) is None:
            return _Found(blocks, None, svm, None, None)
        labels = blocks.collect(attrgetter("y"))
        if any(part is None for part in labels):
            return _Found(blocks, None, svm, None, None)
        return _Found(blocks, None, svm, row_costs(svm, np.concatenate(labels)), None)
    few = blocks.if_few(FEW_ROWS)
    if few is not None:
        return _find_in_memory(*few, sample, svm_for, rows, realised)
    svm = svm_for(FEW_ROWS + 1)
    found, covers = cascade(blocks, svm), None
    if realised:
        needed = cascade(blocks.with_columns(sample.indices, sample.weights), clone(svm)).indices
        covers = bool(np.isin(needed, found.indices).all())
    classes = found.svm.classes_
    costs = row_costs(svm, found.y, classes=classes)
    return _Found(found.X, found.y, found.svm, costs, classes, covers)


def _measured(X: Any, sample: Sample, rows: str, C: float | None) -> Certificate:
    """Return the second layer for rows in memory or in blocks."""
    blocks = X if isinstance(X, RowBlocks) else ArrayBlocks(X)
    n_rows, n_features = blocks.n_rows, blocks.n_features
    if min(n_rows, n_features) <= _MOST_DIRECTIONS:
        if X is blocks:
            few = {"most_features": _MOST_DIRECTIONS, "most_rows": _MOST_DIRECTIONS}
            X = Digest(n_features, 1, 0, may_sketch=False, **few).taken(blocks).matrix()
        return measured_certificate(exact_basis(X), sample, rows, n_rows, C)
    regularised = None if C is None else regularised_bound(blocks, sample, C)
    sizes = (n_rows, None, n_features, len(sample.indices))
    return Certificate(rows, *sizes, True, *without_basis(sample, n_features), regularised)


def measured_certificate(
    basis: Basis, sample: Sample, rows: str, n_rows: int, C: float | None
) -> Certificate:
    """Return the second layer for rows whose basis is known."""
    n_features = len(basis.vectors)
    bounds = (
        extreme_eigenvalues(basis, sample) if basis.exact else without_basis(sample, n_features)
    )
    regularised = None if C is None else regularised_eigenvalues(basis, sample, C, n_rows)
    if regularised is not None:
        # Where λK ≼ K̃ ≼ ΛK, the same holds with μI added to both, once λ ≤ 1 ≤ Λ.
        regularised = replace(
            regularised,
            lambda_min=max(regularised.lambda_min, min(1.0, bounds[0])),
            lambda_max=min(regularised.lambda_max, max(1.0, bounds[1])),
        )
    sizes = (n_rows, basis.rank, n_features, len(sample.indices))
    return Certificate(rows, *sizes, basis.exact, *bounds, regularised)


def _svm_for(estimator: Any, n_rows: int) -> Any:
    return default_svm(n_rows, 0) if estimator is None else clone(estimator)


def _promise_of(selection: Any, rows: Any) -> APriori | None:
    """Return what the selector promised, if these are the rows that it promised it for."""
    if getattr(selection, "_rows_fingerprint", None) != fingerprint(rows):
        return None
    promise: APriori | None = selection.certificate_.a_priori
    return promise
