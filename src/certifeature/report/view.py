"""The contents of a report as rows of text for the page."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass

from certifeature._files import guarded
from certifeature.certificate import Certificate
from certifeature.certificate.certificate import measured_probability, rounded_down, rounded_up
from certifeature.comparison import FULL_DATA, Comparison, Contender
from certifeature.evaluation import NewData
from certifeature.report.contents import Feature
from certifeature.report.text import MISSING, decimals, duration, number

__all__ = [
    "ErrorRow",
    "FeatureRow",
    "Layer",
    "MethodRow",
    "constants",
    "error_rows",
    "feature_rows",
    "features_csv",
    "layers",
    "method_rows",
]

# What more than so many choices share is no distinction.
_MAX_LOWEST = 2


@dataclass(frozen=True)
class Layer:
    """One layer of a certificate; ``why`` says why there is no growth, where there is none."""

    name: str
    note: str
    growth: str
    why: str | None
    margin: str
    radius: str


@dataclass(frozen=True)
class ErrorRow:
    """One cross-validated error, or the difference of two."""

    name: str
    error: str
    note: str


@dataclass(frozen=True)
class FeatureRow:
    """One chosen feature: numbers as shown, and exactly, to sort by ("" where missing)."""

    rank: int
    name: str
    scale: str
    exact_scale: str
    weight: str
    exact_weight: str
    label: str | None
    why: str | None
    folds: str
    exact_folds: str


@dataclass(frozen=True)
class MethodRow:
    """One method; ``low``, ``mid`` and ``high`` are percentages of the width of a chart."""

    name: str
    size: str
    asked: int | None
    error: str
    deviation: str
    tuned_error: str
    time: str
    growth: str
    reference: bool
    best: bool
    low: float
    mid: float
    high: float


def layers(certificate: Certificate, sentences: Sequence[str]) -> list[Layer]:
    """Return the layers of a certificate: promised, measured, realised.

    Parameters
    ----------
    certificate : Certificate
        What to show.
    sentences : sequence of str
        The certificate in words, which say why there is no number.
    """
    promise, realised = certificate.a_priori, certificate.realised
    rows = f"the {certificate.n_rows:,} rows that matter to the model"
    if certificate.rows == "all":
        rows = f"all {certificate.n_rows:,} rows"
    promised_chance = 1.0 if promise is None else promise.probability
    return [
        Layer(
            "Promised",
            f"before anything was measured{_chance(promised_chance)}",
            _times(rounded_up(certificate.promised_growth), "at most "),
            _why("Promised", certificate.promised_growth, sentences),
            *(
                (MISSING,) * 2
                if promise is None
                else _bounds(promise.lambda_min, promise.lambda_max)
            ),
        ),
        Layer(
            "Measured",
            f"a bound for {rows}{_chance(measured_probability(certificate))}",
            _times(rounded_up(certificate.measured_growth), "at most "),
            _why("Measured", certificate.measured_growth, sentences),
            *_bounds(certificate.lambda_min, certificate.lambda_max),
        ),
        Layer(
            "Realised",
            "what it came to",
            _times(certificate.realised_growth),
            _why("Realised", certificate.realised_growth, sentences),
            _times(None if realised is None else realised.margin_ratio),
            _times(None if realised is None else realised.radius_ratio),
        ),
    ]


def constants(certificate: Certificate) -> dict[str, str]:
    """Return the measured constants that growth, margin and radius follow from."""
    shown = {
        "λ": number(certificate.lambda_min),
        "Λ": number(certificate.lambda_max),
        "κ": number(certificate.condition),
    }
    regularised = certificate.regularised
    if regularised is not None:
        shown["μ"] = number(regularised.mu)
        shown["λ with the ridge μ"] = number(regularised.lambda_min)
        shown["Λ with the ridge μ"] = number(regularised.lambda_max)
    return shown


def _why(name: str, growth: float | None, sentences: Sequence[str]) -> str | None:
    """Return the sentence about a layer, if it has no growth."""
    if growth is not None and math.isfinite(growth):
        return None
    return next(sentence for sentence in sentences if sentence.startswith(name))


def _chance(probability: float) -> str:
    return "" if probability == 1 else f", with probability {probability:g}"


def _bounds(lambda_min: float, lambda_max: float) -> tuple[str, str]:
    """Return what is sure of squared margin and radius."""
    margin = _times(rounded_down(lambda_min), "at least ") if lambda_min > 0 else "no bound"
    radius = _times(rounded_up(lambda_max), "at most ") if math.isfinite(lambda_max) else "no bound"
    return margin, radius


def _times(ratio: float | None, side: str = "") -> str:
    if ratio is None:
        return MISSING
    return f"{side}{number(ratio)} times" if math.isfinite(ratio) else "∞"


def error_rows(new_data: NewData) -> list[ErrorRow]:
    """Return the cross-validated errors."""
    shown = new_data.shown
    chance = f"chance: {shown(new_data.chance_error)}"
    return [
        ErrorRow("Chosen", shown(new_data.error_selected), f"{new_data.size} features"),
        ErrorRow("All", shown(new_data.error_full), f"{new_data.n_features} features"),
        ErrorRow("Difference", str(new_data.against_full), new_data.against_full.shown_interval()),
        ErrorRow("Chosen, labels shuffled", shown(new_data.shuffled_error), chance),
    ]


def feature_rows(features: Sequence[Feature], n_folds: int) -> list[FeatureRow]:
    """Return the chosen features by rank, given in how many folds they could be chosen."""
    ranked = sorted(features, key=lambda feature: feature.rank)
    scales = [feature.scale for feature in ranked]
    weights = [feature.weight for feature in ranked]
    return [
        FeatureRow(
            feature.rank,
            feature.name,
            scale,
            _exact(feature.scale),
            weight,
            _exact(feature.weight),
            feature.label,
            feature.why,
            "" if feature.times_chosen is None else f"{feature.times_chosen} of {n_folds}",
            "" if feature.times_chosen is None else str(feature.times_chosen),
        )
        for feature, scale, weight in zip(ranked, decimals(scales), decimals(weights), strict=True)
    ]


def _exact(value: float | None) -> str:
    return "" if value is None or not math.isfinite(value) else repr(float(value))


def features_csv(features: Sequence[Feature]) -> str:
    """Return the chosen features by rank as CSV, in which no name can become a formula."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("rank", "feature", "scale", "weight", "points_to", "why", "times_chosen"))
    for f in sorted(features, key=lambda feature: feature.rank):
        texts = (guarded(part) if part else part for part in (f.name, f.label, f.why))
        name, label, why = map(_written, texts)
        writer.writerow((f.rank, name, f.scale, f.weight, label, why, f.times_chosen))
    return text.getvalue()


def _written(text: str | None) -> str:
    """Return text without halves of surrogate pairs, which no file can hold."""
    return (text or "").encode(errors="replace").decode()


def method_rows(comparison: Comparison) -> list[MethodRow]:
    """Return the methods: full data first, then by error, the lowest marked."""
    contenders = comparison.contenders
    widest = max((c.mean_error + c.deviation for c in contenders), default=0.0) or 1.0
    rivals = [c.mean_error for c in contenders if c.method != FULL_DATA]
    lowest = min(rivals, default=math.nan)
    if rivals.count(lowest) > _MAX_LOWEST:
        lowest = math.nan
    ordered = sorted(contenders, key=lambda c: (c.method != FULL_DATA, c.mean_error, c.n_features))
    in_percent = comparison.measure == "error"
    return [_method_row(contender, lowest, 100 / widest, in_percent) for contender in ordered]


def _method_row(contender: Contender, lowest: float, stretch: float, in_percent: bool) -> MethodRow:
    mean, deviation = contender.mean_error, contender.deviation
    reference = contender.method == FULL_DATA
    chosen = round(contender.n_features)

    def shown(error: float) -> str:
        return f"{100 * error:.1f}" if in_percent else f"{error:.3f}"

    return MethodRow(
        contender.method,
        f"{chosen:,}",
        None if contender.size == chosen else contender.size,
        shown(mean),
        f"± {shown(deviation)}" if len(contender.errors) > 1 else "",
        shown(contender.mean_tuned_error) if contender.tuned_errors else MISSING,
        # Keeping all features takes no time worth a number.
        MISSING if reference else duration(contender.seconds),
        number(rounded_up(contender.growth)),
        reference,
        not reference and mean == lowest,
        stretch * max(0.0, mean - deviation),
        stretch * mean,
        stretch * (mean + deviation),
    )
