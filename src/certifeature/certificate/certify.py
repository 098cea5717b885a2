"""Certificates for selections made by any method."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from certifeature import _memory
from certifeature._parameters import check_choice
from certifeature.basis import exact_basis
from certifeature.basis.digest import Digest
from certifeature.certificate.certificate import APriori, Certificate, Realised
from certifeature.certificate.cross_validated import new_data_errors
from certifeature.certificate.lanczos import certificate_by_products
from certifeature.certificate.measure import basis_pays, measured_certificate
from certifeature.certificate.realise import realise
from certifeature.certificate.selection import as_sample
from certifeature.rows.matrix import same_values
from certifeature.rows.rows import Rows, as_rows
from certifeature.sparsify import Sample
from certifeature.support import default_model
from certifeature.support.accepted import check_model, predicts_numbers
from certifeature.support.find import Support, every_row, find_support, missing_rows
from certifeature.support.loss import Target

__all__ = ["certify", "measured", "with_realised"]


def certify(
    X: Any,
    y: Any = None,
    selection: Any = None,
    *,
    weights: Any = None,
    estimator: Any = None,
    rows: str = "support",
    realised: bool = True,
    cv: Any = None,
    n_jobs: int | None = None,
) -> Certificate:
    """Certify what a selection of features can cost a linear model.

    ``certify(selector)`` goes on from what a fitted selector of this library knows, and trains
    nothing again; ``certify(X, y, selection)`` takes a selection by anything.

    Parameters
    ----------
    X : array-like, sparse array or matrix, data frame, of shape (n_samples, n_features), or blocks
        Data with all features; or a fitted selector of this library, alone. Of more than 4,096
        rows and as many features only the bound for the model at hand is computed, by
        products with the rows. Of all rows of blocks (a Dask collection or
        `certifeature.rows.RowBlocks`) that takes 26 passes, and one more where the number of rows
        is not known.
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
        The linear model whose rows, loss and C count, one of those that `BSSSelector` takes. None
        takes that of a selector of this library, or else ``LinearSVC(dual=True)``.
    rows : {"support", "all"}, default="support"
        Certify for the support vectors of the SVM on all features, or for all rows.
    realised : bool, default=True
        Whether to compute margins, objectives and radii too, which takes several SVM fits. They
        are not computed of more than 4,096 rows, nor of all rows of blocks.
    cv : int, cross-validation generator or iterable, default=None
        Folds in which to estimate the error on new data, with the chosen and with all features; see
        `certifeature.certificate.new_data_errors`. Features are chosen anew in every fold, for the
        true and for shuffled labels, so ``selection`` must be a selector, and ``cv=5`` takes ten
        selections. None estimates nothing.
    n_jobs : int, default=None
        Number of processes for the folds, on which the result does not depend.

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

    What it proves is about training rows; cross-validation estimates the error on new ones:

    >>> certify(X, y, rfe, cv=5).new_data.verdict
    'tie'
    """
    check_choice("rows", rows, ("support", "all"))
    check_choice("realised", realised, (True, False))
    if cv is not None and (selection is None or weights is not None):
        raise ValueError(
            "cv chooses features and their scales anew in every fold; give certify(X, y, selector) "
            "without weights, or leave cv out."
        )
    if selection is None:
        return _of_selector(getattr(X, "selector_", X), realised)
    # A search for the size has a selector that it found; in folds, the search is repeated.
    repeatable, selection = selection, getattr(selection, "selector_", selection)
    if estimator is None and hasattr(selection, "weights_"):
        estimator = selection.estimator
    if estimator is not None:
        check_model(estimator)
    all_rows = as_rows(X, y, real_valued=predicts_numbers(estimator))
    sample = as_sample(
        selection,
        all_rows.n_features,
        weights=weights,
        feature_names=all_rows.feature_names,
    )
    if rows == "support" and y is None and not all_rows.in_blocks:
        raise ValueError("y is None: certify support vectors with labels, or use rows='all'.")
    new_data = None
    if cv is not None:
        new_data = new_data_errors(X, y, repeatable, model=estimator, cv=cv, n_jobs=n_jobs)
    if rows == "all":
        found = every_row(all_rows, default_model(0) if estimator is None else estimator)
    else:
        found = find_support(all_rows, estimator)
    kind = "all" if rows == "all" else found.kind
    certificate = replace(measured(found, sample, kind), new_data=new_data)
    if weights is None:
        certificate = replace(certificate, a_priori=_promise_of(selection, found))
    return with_realised(certificate, found, sample, all_rows) if realised else certificate


def _of_selector(selector: Any, realised: bool) -> Certificate:
    """Return the certificate of a fitted selector, with what is realised added."""
    selection = getattr(selector, "selection_", None)
    if selection is None:
        raise ValueError(
            f"{type(selector).__name__} alone is no fitted selector of this library; "
            "give certify(X, y, selection) for any other selection."
        )
    certificate: Certificate = selection.certificate
    if not realised:
        return certificate
    rows = selection.rows
    if rows is None or rows.sample_weight is not None:
        raise ValueError(
            "the selector was fitted to rows in blocks, which are gone, or to weighted rows; give "
            "certify(X, y, selector), or realised=False."
        )
    found = selection.support or Support(rows, None, np.empty(0), None, rows)
    return replace(certificate, realised=_realised(found, selection.sample, certificate))


def with_realised(
    certificate: Certificate, found: Support, sample: Sample, all_rows: Rows
) -> Certificate:
    """Return the certificate with what is realised, and whether it covers all rows.

    Parameters
    ----------
    certificate : Certificate
        What is promised and measured.
    found : Support
        The rows that it is for, and their SVM on all features.
    sample : Sample
        The selection.
    all_rows : Rows
        The rows among which the support was found.
    """
    if certificate.rows == "support":
        missing = missing_rows(found, all_rows.columns(sample.indices, sample.weights))
        certificate = replace(certificate, covers_all_rows=not missing.size)
    return replace(certificate, realised=_realised(found, sample, certificate))


def _realised(found: Support, sample: Sample, certificate: Certificate) -> Realised | None:
    """Return the third layer, of rows that are in memory and not too many."""
    rows = found.rows
    if rows.in_blocks or rows.n_rows > _memory.MAX_GRAM:
        return None
    reduced = rows.columns(sample.indices, sample.weights)
    return realise(rows.X, reduced.X, rows.y, found.model, found.costs, found.classes, certificate)


def measured(found: Support, sample: Sample, kind: str) -> Certificate:
    """Return the second layer for rows in memory or in blocks.

    Parameters
    ----------
    found : Support
        The rows, and their SVM.
    sample : Sample
        The selection.
    kind : {"support", "all"}
        What the rows are.
    """
    rows, target = found.rows, found.target
    n_rows, n_features = rows.n_rows, rows.n_features
    if not rows.in_blocks:
        return measured_in_memory(rows.X, sample, kind, n_rows, target)
    if min(n_rows, n_features) > _memory.MAX_GRAM:
        return certificate_by_products(rows.X, sample, kind, n_rows, target)
    few = {"max_features": _memory.MAX_GRAM, "max_rows": _memory.MAX_GRAM}
    X = Digest(n_features, 1, 0, may_sketch=False, **few).taken(rows.X).matrix()
    return measured_in_memory(X, sample, kind, n_rows, target)


def measured_in_memory(
    X: Any, sample: Sample, kind: str, n_rows: int, target: Target
) -> Certificate:
    """Return the second layer, by whichever way is quick and proves most.

    Parameters
    ----------
    X : {ndarray, CSR array} of shape (n_samples, n_features)
        Rows, or others with the same inner products of columns.
    sample : Sample
        The selection.
    kind : {"support", "all"}
        What the rows are.
    n_rows : int
        Their number.
    target : Target
        The model, which may be any.
    """
    n_directions = min(X.shape)
    if n_directions <= _memory.MAX_GRAM and basis_pays(n_directions, len(sample.indices)):
        return measured_certificate(exact_basis(X), sample, kind, n_rows, target)
    return certificate_by_products(X, sample, kind, n_rows, target)


def _promise_of(selection: Any, found: Support) -> APriori | None:
    """Return what the selector promised, if it was for these rows and for this model."""
    known, rows = getattr(getattr(selection, "selection_", None), "rows", None), found.rows
    if known is None or rows.in_blocks or not same_values(known.X, rows.X):
        return None
    if known.sample_weight is not None:
        return None
    promise: APriori | None = selection.certificate_.a_priori
    regularised = selection.certificate_.regularised
    is_same = regularised is not None and regularised.mu == found.mu
    if is_same and (regularised.hinge_kept is not None) != found.target.hinge:
        is_same = False
    if promise is not None and not is_same:
        promise = replace(promise, regularised_min=None) if promise.lambda_min > 0 else None
    return promise
