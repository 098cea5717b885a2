"""Certificates in plain English."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from certifeature.certificate.new_data import as_sentences as new_data_sentences

if TYPE_CHECKING:
    from certifeature.certificate.certificate import Certificate

__all__ = ["as_html", "as_sentences"]


def as_sentences(certificate: Certificate) -> list[str]:
    """Return the certificate as a list of sentences."""
    return [
        _subject(certificate),
        *_promised(certificate),
        *_measured(certificate),
        *_regularised(certificate),
        *_realised(certificate),
        *_coverage(certificate),
        *new_data_sentences(certificate.new_data),
    ]


def as_html(certificate: Certificate) -> str:
    """Return the certificate as an HTML fragment."""
    first, *others = (escape(sentence) for sentence in as_sentences(certificate))
    items = "".join(f"<li>{sentence}</li>" for sentence in others)
    return f"<div><strong>{first}</strong><ul>{items}</ul></div>"


def _subject(c: Certificate) -> str:
    rows = f"{c.n_rows} support vectors" if c.rows == "support" else f"all {c.n_rows} rows"
    rank = "" if c.rank is None else f" (rank {c.rank})"
    counts = {"fixed": c.n_fixed, "trusted": c.n_trusted}
    kept = ", ".join(f"{count} {reason}" for reason, count in counts.items() if count)
    features = f"{c.n_features} features{f' ({kept})' if kept else ''}"
    return f"Certificate for {c.n_selected} of {features}, on {rows}{rank}."


def _promised(c: Certificate) -> list[str]:
    if c.a_priori is None:
        return ["Beforehand: no promise."]
    promise = c.a_priori
    return [
        f"Beforehand{_chance(promise.probability)}: {promise.method} with {promise.n_picks} picks "
        f"for {promise.n_components} directions keeps at least {_share(promise.lambda_min)} of the "
        f"squared hard margin and at most {promise.lambda_max:.3g} times the squared radius."
    ]


def _measured(c: Certificate) -> list[str]:
    if not c.exact or c.rank is None:
        reason = "than were looked at" if not c.exact else "than λ can be measured for"
        return [
            f"Measured: no guarantee for the margin, because the rows span more directions "
            f"{reason}; the squared radius grows at most {c.lambda_max:.3g} times."
        ]
    if c.lambda_min == 0:
        reason = (
            f"{c.n_selected} features cannot span {c.rank} directions"
            if c.n_selected < c.rank
            else "the selection loses a direction of the rows, or keeps it too faintly to tell"
        )
        return [f"Measured: no guarantee for the margin (λ = 0), because {reason}."]
    return [
        f"Measured (λ = {c.lambda_min:.3g}, Λ = {c.lambda_max:.3g}, κ = {c.condition:.3g}): the "
        f"squared hard margin keeps at least {_share(c.lambda_min)}, the objective of any "
        f"ℓ2-regularised linear model grows at most {c.objective_factor:.3g} times, the squared "
        f"radius at most {c.lambda_max:.3g} times."
    ]


def _regularised(c: Certificate) -> list[str]:
    if c.regularised is None:
        return []
    if c.regularised.lambda_min == 0:
        return [
            f"For a squared-hinge SVM or ridge with C = {c.regularised.C:g}: no guarantee, since C "
            "is so large for these rows that nothing is left of the bound after rounding; scale "
            "the columns."
        ]
    factor = 1 / min(1.0, c.regularised.lambda_min)
    return [
        f"For a squared-hinge SVM or ridge with C = {c.regularised.C:g} the objective grows at "
        f"most {factor:.3g} times{_chance(c.regularised.probability)}."
    ]


def _realised(c: Certificate) -> list[str]:
    r = c.realised
    if r is None:
        return ["Realised: not computed."]
    found = []
    if r.margin_ratio is not None:
        found.append(f"squared hard margin {r.margin_ratio:.3g}")
    if r.objective_ratio is not None:
        found.append(f"objective ({r.loss}, C = {r.C:g}) {r.objective_ratio:.3g}")
    found.append(f"squared radius {r.radius_ratio:.3g}")
    sentences = [f"Realised, as multiples of the full features': {', '.join(found)}."]
    if r.loss is not None and r.margin_full is None:
        sentences.append(
            "The classes overlap on these rows, or there is only one, so there is no hard margin."
        )
    if r.loss is not None and r.margin_full is not None and r.margin_selected is None:
        sentences.append("The selected features no longer separate the classes.")
    return sentences


def _coverage(c: Certificate) -> list[str]:
    if c.covers_all_rows is None or not c.exact:
        return []
    if c.covers_all_rows:
        return [
            "The support vectors of the reduced model are among these rows, so the bounds hold for "
            "all rows."
        ]
    return [
        "The reduced model has other support vectors too, so the bounds hold for these rows, not "
        "for all."
    ]


def _chance(probability: float) -> str:
    return "" if probability == 1 else f" with probability {probability:g}"


def _share(value: float) -> str:
    return f"{100 * value:.3g} %"
