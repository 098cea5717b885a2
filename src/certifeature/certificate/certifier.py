"""Certificates for several selections from the same rows; what they share is computed once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

from certifeature.certificate.certificate import APriori, Certificate
from certifeature.certificate.coverage import unproven_rows
from certifeature.certificate.measurable import Measurable
from certifeature.certificate.realise import Yardstick
from certifeature.certificate.selection import as_sample
from certifeature.rows.matrix import same_values
from certifeature.rows.rows import Rows, as_rows
from certifeature.sparsify import Sample
from certifeature.support import default_model
from certifeature.support.accepted import check_model, predicts_numbers
from certifeature.support.find import Support, every_row, find_support

__all__ = ["Certifier", "certificates_of", "model_of", "with_realised_by"]


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

    def sample_of(self, selection: Any, weights: Any = None) -> Sample:
        """Return the columns and scales of a selection from the rows, or raise."""
        all_rows = self._all_rows
        return as_sample(
            selection, all_rows.n_features, weights=weights, feature_names=all_rows.feature_names
        )

    def certificate(self, sample: Sample, promised_by: Any, *, realised: bool) -> Certificate:
        """Return the certificate of a selection.

        Parameters
        ----------
        sample : Sample
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
    def _yardstick(self) -> Yardstick:
        return Yardstick(self._found)


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
    yardstick: Yardstick | None = None
    for selector in selectors:
        selection = getattr(selector, "selection_", None)
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
                yardstick = Yardstick(selection.support)
            layer = yardstick.realised(selection.sample, certificate)
            certificate = certificate.with_realised(layer)
        yield certificate


def with_realised_by(
    yardstick: Yardstick, certificate: Certificate, sample: Sample, all_rows: Rows
) -> Certificate:
    """Return the certificate with what is realised, and whether it covers all rows.

    Parameters
    ----------
    yardstick : Yardstick
        What all features attain on the rows that the certificate is for.
    certificate : Certificate
        What is promised and measured.
    sample : Sample
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
    return selector.estimator if hasattr(selector, "weights_") else None


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
