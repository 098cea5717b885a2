"""The contents of a report as rows of text for the page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from certifeature.certificate import Certificate, NewData
from certifeature.compare import FULL_DATA, Comparison, Contender
from certifeature.report.contents import Feature
from certifeature.report.text import MISSING, decimals, duration, number, share

__all__ = [
    "ErrorRow",
    "FeatureRow",
    "Layer",
    "MethodRow",
    "error_rows",
    "feature_rows",
    "layers",
    "method_rows",
]


@dataclass(frozen=True)
class Layer:
    """One layer of a certificate; ``bar`` and ``full`` are percentages of the width of a chart."""

    name: str
    note: str
    margin: str
    objective: str
    radius: str
    bar: float
    full: float


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


@dataclass(frozen=True)
class MethodRow:
    """One method; ``low``, ``mid`` and ``high`` are percentages of the width of a chart."""

    name: str
    size: str
    asked: int | None
    error: str
    deviation: str
    time: str
    lambda_min: str
    condition: str
    reference: bool
    best: bool
    low: float
    mid: float
    high: float


def layers(certificate: Certificate) -> list[Layer]:
    """Return the layers of a certificate: promised, measured, realised."""
    values: list[tuple[str, str, float | None, str, str]] = []
    promise, realised = certificate.a_priori, certificate.realised
    if promise is not None:
        chance = "" if promise.probability == 1 else f", with probability {promise.probability:g}"
        note = f"for any data{chance}"
        values.append(("Promised", note, *_bounds(promise.lambda_min, promise.lambda_max)))
    if certificate.exact:
        bounds = _bounds(certificate.lambda_min, certificate.lambda_max)
        values.append(("Measured", "for any linear model", *bounds))
    if realised is not None:
        ratios = (realised.objective_ratio, realised.radius_ratio)
        objective, radius = (MISSING if r is None else f"{number(r)}×" for r in ratios)
        note = "for the SVM at hand"
        values.append(("Realised", note, realised.margin_ratio, objective, radius))
    widest = max([1.0, *(margin for _, _, margin, _, _ in values if margin is not None)])
    return [
        Layer(
            name,
            note,
            _margin(name, margin),
            objective,
            radius,
            100 * (margin or 0.0) / widest,
            100 / widest,
        )
        for name, note, margin, objective, radius in values
    ]


def _bounds(lambda_min: float, lambda_max: float) -> tuple[float, str, str]:
    factor = 1 / min(1.0, lambda_min) if lambda_min > 0 else math.inf
    objective = f"≤ {number(factor)}×" if lambda_min > 0 else "no bound"
    return lambda_min, objective, f"≤ {number(lambda_max)}×"


def _margin(layer: str, ratio: float | None) -> str:
    if ratio is None:
        return MISSING
    if layer == "Realised":
        return share(ratio)
    return f"≥ {share(ratio)}" if ratio > 0 else "no bound"


def error_rows(new_data: NewData) -> list[ErrorRow]:
    """Return the cross-validated errors."""
    shown = new_data.shown
    chance = f"chance: {shown(new_data.chance_error)}"
    return [
        ErrorRow("Chosen", shown(new_data.error_selected), f"{new_data.size} features"),
        ErrorRow("All", shown(new_data.error_full), f"{new_data.n_features} features"),
        ErrorRow("Difference", new_data.shown_difference(), new_data.shown_interval()),
        ErrorRow("Chosen, labels shuffled", shown(new_data.shuffled_error), chance),
    ]


def feature_rows(features: Sequence[Feature]) -> list[FeatureRow]:
    """Return the chosen features by rank."""
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
        )
        for feature, scale, weight in zip(ranked, decimals(scales), decimals(weights), strict=True)
    ]


def _exact(value: float | None) -> str:
    return "" if value is None or not math.isfinite(value) else repr(float(value))


def method_rows(comparison: Comparison) -> list[MethodRow]:
    """Return the methods: full data first, then by error, the lowest marked."""
    contenders = comparison.contenders
    widest = max((c.mean_error + c.deviation for c in contenders), default=0.0) or 1.0
    rivals = [c.mean_error for c in contenders if c.method != FULL_DATA]
    lowest = min(rivals, default=math.nan)
    ordered = sorted(contenders, key=lambda c: (c.method != FULL_DATA, c.mean_error, c.n_features))
    return [_method_row(contender, lowest, 100 / widest) for contender in ordered]


def _method_row(contender: Contender, lowest: float, stretch: float) -> MethodRow:
    mean, deviation = contender.mean_error, contender.deviation
    reference = contender.method == FULL_DATA
    chosen = round(contender.n_features)
    return MethodRow(
        contender.method,
        f"{chosen:,}",
        None if contender.size == chosen else contender.size,
        f"{100 * mean:.1f}",
        f"± {100 * deviation:.1f}" if len(contender.errors) > 1 else "",
        # Keeping all features takes no time worth a number.
        MISSING if reference else duration(contender.seconds),
        number(contender.lambda_min),
        number(contender.condition),
        reference,
        not reference and mean == lowest,
        stretch * max(0.0, mean - deviation),
        stretch * mean,
        stretch * (mean + deviation),
    )
