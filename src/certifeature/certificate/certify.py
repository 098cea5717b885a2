"""Certificates of given choices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

from certifeature._validation import check_choice
from certifeature.certificate.all_rows import unproven_rows
from certifeature.certificate.certificate import APriori, Certificate
from certifeature.certificate.measured import Measurable
from certifeature.certificate.realised import FullModel
from certifeature.evaluation.new_data import new_data_errors
from certifeature.models import default_model
from certifeature.models.problem import check_model, predicts_numbers
from certifeature.models.support import Support, every_row, find_support
from certifeature.rows.matrix import same_values
from certifeature.rows.rows import Rows, as_rows
from certifeature.sparsify import ColumnChoice
from certifeature.sparsify.choice import as_column_choice

__all__ = [
    "Certifier",
    "certificates_of",
    "certify",
    "measured",
    "model_of",
    "with_realised",
    "with_realised_by",
]


class Certifier:
    """Certifies selections by anything, for one model and the rows that matter to it.

    Parameters
    ----------
    X, y
        As `certify` takes them.
    estimator : estimator or None
        The linear model.
    rows : {"support", "all"}
        Which rows to certify for.
    """

    def __init__(self, X: Any, y: Any, estimator: Any, rows: str) -> None:
        if estimator is not None:
            check_model(estimator)
        self._estimator, self._which = estimator, rows
        self._all_rows = as_rows(X, y, real_valued=predicts_numbers(estimator))
        if rows == "support" and y is None and not self._all_rows.in_blocks:
            raise ValueError("y is None: certify support vectors with labels, or use rows='all'.")

    def sample_of(self, selection: Any, weights: Any = None) -> ColumnChoice:
        """Return the columns and scales of a selection from the rows, or raise."""
        all_rows = self._all_rows
        return as_column_choice(
            selection, all_rows.n_features, weights=weights, feature_names=all_rows.feature_names
        )

    def certificate(self, sample: ColumnChoice, promised_by: Any, *, realised: bool) -> Certificate:
        """Return the certificate of a selection.

        Parameters
        ----------
        sample : ColumnChoice
            The selection.
        promised_by : object
            What made it, and may have promised something; None if there is no such promise.
        realised : bool
            Whether to compute the third layer, too.
        """
        certificate = self._measurable.certificate(sample)
        certificate = replace(certificate, a_priori=_promise_of(promised_by, self._found))
        if not realised:
            return certificate
        return with_realised_by(self._yardstick, certificate, sample, self._all_rows)

    @cached_property
    def _found(self) -> Support:
        if self._which == "support":
            return find_support(self._all_rows, self._estimator)
        model = default_model(0) if self._estimator is None else self._estimator
        return every_row(self._all_rows, model)

    @cached_property
    def _measurable(self) -> Measurable:
        kind = "all" if self._which == "all" else self._found.kind
        return Measurable.of_support(self._found, kind)

    @cached_property
    def _yardstick(self) -> FullModel:
        return FullModel(self._found)


def certificates_of(
    selectors: Iterable[Any], X: Any, y: Any, *, realised: bool
) -> Iterator[Certificate]:
    """Yield the certificates of copies of one selector that were fitted to the same data.

    Parameters
    ----------
    selectors : iterable of selectors
        They may differ in the number of features that they choose.
    X, y
        The data.
    realised : bool
        Whether to compute the third layer, too.
    """
    certifier: Certifier | None = None
    yardstick: FullModel | None = None
    for selector in selectors:
        selection = getattr(selector, "fit_result_", None)
        if selection is None or selection.support is None or not selection.certificate.exact:
            if certifier is None:
                which = "support" if getattr(selector, "supervised", True) else "all"
                certifier = Certifier(X, y, model_of(selector), which)
            yield certifier.certificate(certifier.sample_of(selector), selector, realised=realised)
            continue
        # The selector has trained the model, and knows the rows that matter to it.
        certificate = selection.certificate
        if realised:
            if yardstick is None or yardstick.found.rows is not selection.rows:
                yardstick = FullModel(selection.support)
            layer = yardstick.realised(selection.sample, certificate)
            certificate = certificate.with_realised(layer)
        yield certificate


def with_realised_by(
    yardstick: FullModel, certificate: Certificate, sample: ColumnChoice, all_rows: Rows
) -> Certificate:
    """Return the certificate with what is realised, and whether it covers all rows.

    Parameters
    ----------
    yardstick : FullModel
        What all features attain on the rows that the certificate is for.
    certificate : Certificate
        What is promised and measured.
    sample : ColumnChoice
        The selection.
    all_rows : Rows
        The rows among which those of the certificate were found.
    """
    if certificate.rows == "support":
        unproven = unproven_rows(yardstick.found, sample, all_rows)
        certificate = replace(certificate, covers_all_rows=not unproven.size)
    return certificate.with_realised(yardstick.realised(sample, certificate))


def model_of(selector: Any) -> Any:
    """Return the unfitted model that a selector of this library chose for; None for any other."""
    return selector.estimator if hasattr(selector, "scales_") else None


def _promise_of(selection: Any, found: Support) -> APriori | None:
    """Return what the selector promised, if it was for these rows and for this model."""
    known, rows = getattr(getattr(selection, "fit_result_", None), "rows", None), found.rows
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
        `certifeature.evaluation.new_data_errors`. Features are chosen anew in every fold, for the
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
    selection = getattr(selector, "fit_result_", None)
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
    found = selection.support or Support(rows, None, None, rows)
    return certificate.with_realised(FullModel(found).realised(selection.sample, certificate))


def with_realised(
    certificate: Certificate, found: Support, sample: ColumnChoice, all_rows: Rows
) -> Certificate:
    """Return the certificate with what is realised, and whether it covers all rows.

    Parameters
    ----------
    certificate : Certificate
        What is promised and measured.
    found : Support
        The rows that it is for, and their SVM on all features.
    sample : ColumnChoice
        The selection.
    all_rows : Rows
        The rows among which the support was found.
    """
    return with_realised_by(FullModel(found), certificate, sample, all_rows)


def measured(found: Support, sample: ColumnChoice, kind: str) -> Certificate:
    """Return the second layer for rows in memory or in blocks.

    Parameters
    ----------
    found : Support
        The rows, and their SVM.
    sample : ColumnChoice
        The selection.
    kind : {"support", "all"}
        What the rows are.
    """
    return Measurable.of_support(found, kind).certificate(sample)
