"""The certificate that a command shows, and the model on all features, trained once for both."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from certifeature.certificate import Certificate, certify
from certifeature.certificate.certificate import as_sentences
from certifeature.certificate.certify import Certifier
from certifeature.cli.loading import Loaded
from certifeature.models import fit_model
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
            weights=sample.weights if known is None else None,
            estimator=None if data.y is None else model,
            rows="all",
            realised=realised,
        )
        return certificate, None if data.y is None else fit_model(clone(model), data.X, data.y)
    certifier = Certifier.of_data(data.X, data.y, model, "support", fitted=selector)
    return certifier.certificate(sample, selector, realised=realised), certifier.support.model


def certificate_values(certificate: Certificate) -> dict[str, Any]:
    """Return plain values for JSON: growth first, and the sentences, which say why if it is inf."""
    return {
        "promised_growth": certificate.promised_growth,
        "measured_growth": certificate.measured_growth,
        "realised_growth": certificate.realised_growth,
        "sentences": as_sentences(certificate),
        **certificate.to_dict(),
    }
