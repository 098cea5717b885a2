"""Certificates for selections made by any method."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from certifeature._parameters import check_choice
from certifeature.certificate.certificate import Certificate
from certifeature.certificate.certifier import Certifier, model_of, with_realised_by
from certifeature.certificate.cross_validated import new_data_errors
from certifeature.certificate.measurable import Measurable
from certifeature.certificate.realise import Yardstick
from certifeature.rows.rows import Rows
from certifeature.sparsify import Sample
from certifeature.support.find import Support

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
        return _known(getattr(X, "selector_", X), realised)
    # A search for the size has a selector that it found; in folds, the search is repeated.
    repeatable, selection = selection, getattr(selection, "selector_", selection)
    if estimator is None:
        estimator = model_of(selection)
    certifier = Certifier(X, y, estimator, rows)
    sample = certifier.sample_of(selection, weights)
    new_data = None
    if cv is not None:
        new_data = new_data_errors(X, y, repeatable, model=estimator, cv=cv, n_jobs=n_jobs)
    promised_by = selection if weights is None else None
    certificate = certifier.certificate(sample, promised_by, realised=realised)
    return replace(certificate, new_data=new_data)


def _known(selector: Any, realised: bool) -> Certificate:
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
    return certificate.with_realised(Yardstick(found).realised(selection.sample, certificate))


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
    return with_realised_by(Yardstick(found), certificate, sample, all_rows)


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
    return Measurable.of_support(found, kind).certificate(sample)
