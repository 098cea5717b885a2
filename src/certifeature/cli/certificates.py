"""The certificate that a command shows, and the model on all features, trained once for both."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from certifeature.certificate import Certificate, certify
from certifeature.certificate.certificate import as_sentences
from certifeature.certificate.certify import measured, with_realised
from certifeature.cli.loading import Loaded
from certifeature.models import fit_model
from certifeature.models.problem import predicts_numbers
from certifeature.models.support import find_support
from certifeature.rows.rows import as_rows
from certifeature.selectors import FitResult
from certifeature.sparsify import ColumnChoice

__all__ = ["certificate_values", "certified"]


def certified(
    data: Loaded,
    sample: ColumnChoice,
    model: Any,
    *,
    selector: Any = None,
    unsupervised: bool = False,
    realised: bool = True,
) -> tuple[Certificate, Any]:
    """Return the certificate of a choice, and the model on all features (None without labels).

    Parameters
    ----------
    data : Loaded
        Rows that the choice was made for.
    sample : ColumnChoice
        The choice.
    model : estimator
        Unfitted linear model.
    selector : selector, default=None
        The fitted selector that chose, if there is one. What a selector of this library found in
        these rows is not computed again.
    unsupervised : bool, default=False
        Whether to certify for all rows, or for the support vectors.
    realised : bool, default=True
        Whether to compute margins, objectives and radii too.
    """
    known: FitResult | None = getattr(selector, "fit_result_", None)
    if unsupervised:
        certificate = certify(
            data.X,
            data.y,
            sample.indices if known is None else selector,
            weights=sample.scales if known is None else None,
            estimator=None if data.y is None else model,
            rows="all",
            realised=realised,
        )
        return certificate, None if data.y is None else fit_model(clone(model), data.X, data.y)
    if known is not None and str(selector.estimator) != str(model):
        # What was found is about the rows that matter to another model.
        known = None
    rows = as_rows(data.X, data.y, real_valued=predicts_numbers(model))
    support = known.support if known is not None else None
    if support is None:
        support = find_support(rows, model)
    if known is not None and known.certificate.exact:
        certificate = known.certificate
    else:
        certificate = measured(support, sample, "support")
    if realised:
        certificate = with_realised(certificate, support, sample, rows)
    return certificate, support.model


def certificate_values(certificate: Certificate) -> dict[str, Any]:
    """Return plain values for JSON: growth first, and the sentences, which say why if it is inf."""
    return {
        "promised_growth": certificate.promised_growth,
        "measured_growth": certificate.measured_growth,
        "realised_growth": certificate.realised_growth,
        "sentences": as_sentences(certificate),
        **certificate.to_dict(),
    }
