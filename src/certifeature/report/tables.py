"""What a report shows in tables: rows of text for the page, each a dict by column."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from certifeature._files import guarded
from certifeature.certificate import Certificate
from certifeature.certificate.certificate import measured_probability, rounded_down, rounded_up
from certifeature.comparison import FULL_DATA, Comparison, Contender
from certifeature.report.contents import Feature
from certifeature.report.text import MISSING, decimals, number

Row = dict[str, Any]

# What more than so many choices share is no distinction.
_MAX_LOWEST = 2


def layers(certificate: Certificate, sentences: Sequence[str]) -> list[Row]:
    """Return the layers of a certificate: promised, measured, realised.

    Parameters
    ----------
    certificate : Certificate
        What to show.
    sentences : sequence of str
        The certificate in words, which say why there is no number.
    """
    c, promise, realised = certificate, certificate.a_priori, certificate.realised
    rows = "all" if c.rows == "all" else "the"
    matter = "" if c.rows == "all" else " that matter to the model"
    promised = "" if promise is None else _chance(promise.probability)
    measured = f"{rows} {c.n_rows:,} rows{matter}{_chance(measured_probability(c))}"
    ratios = (realised.margin_ratio, realised.radius_ratio) if realised else (None, None)
    shown = {
        "Promised": (
            c.promised_growth,
            f"before anything was measured{promised}",
            _bounds(promise),
        ),
        "Measured": (c.measured_growth, f"a bound for {measured}", _bounds(c)),
        "Realised": (c.realised_growth, "what it came to", map(_times, ratios)),
    }
    found: list[Row] = []
    for name, (growth, note, (margin, radius)) in shown.items():
        known = growth is not None and math.isfinite(growth)
        why = None if known else next(text for text in sentences if text.startswith(name))
        text = _times(growth)
        if growth is not None and name != "Realised":
            text = _times(rounded_up(growth), "at most ")
        row = {"name": name, "note": note, "growth": text, "why": why}
        found.append(row | {"margin": margin, "radius": radius})
    return found


def _chance(probability: float) -> str:
    return "" if probability == 1 else f", with probability {probability:g}"


def _bounds(proven: Any) -> tuple[str, str]:
    """Return what is sure of squared margin and radius."""
    if proven is None:
        return MISSING, MISSING
    lowest, highest = proven.lambda_min, proven.lambda_max
    margin = _times(rounded_down(lowest), "at least ") if lowest > 0 else "no bound"
    radius = _times(rounded_up(highest), "at most ") if math.isfinite(highest) else "no bound"
    return margin, radius


def _times(ratio: float | None, side: str = "") -> str:
    if ratio is None:
        return MISSING
    return f"{side}{number(ratio)} times" if math.isfinite(ratio) else "∞"


def feature_rows(features: Sequence[Feature]) -> list[Row]:
    """Return the chosen features by rank: numbers as shown, and exactly, to sort by."""
    rows = [vars(feature) for feature in sorted(features, key=attrgetter("rank"))]
    for name in ("scale", "weight"):
        values = [row[name] for row in rows]
        for place, (value, text) in enumerate(zip(values, decimals(values), strict=True)):
            exact = "" if value is None or not math.isfinite(value) else repr(float(value))
            rows[place] = rows[place] | {name: text, f"exact_{name}": exact}
    return rows


def features_csv(features: Sequence[Feature]) -> str:
    """Return the chosen features by rank as CSV, in which no name can become a formula."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("rank", "feature", "scale", "weight", "points_to", "why", "times_chosen"))
    for f in sorted(features, key=attrgetter("rank")):
        # No file can hold halves of surrogate pairs.
        name, label, why = (
            guarded(part).encode(errors="replace").decode() if part else ""
            for part in (f.name, f.label, f.why)
        )
        writer.writerow((f.rank, name, f.scale, f.weight, label, why, f.times_chosen))
    return text.getvalue()


def ranked(comparison: Comparison) -> tuple[list[Contender], float, float]:
    """Return methods by error below full data, the lowest error to mark, and the end of a chart."""
    order = sorted(comparison.contenders, key=lambda c: (c.mean_error, c.n_features))
    rivals = [c.mean_error for c in order if c.method != FULL_DATA]
    lowest = rivals[0] if rivals and rivals.count(rivals[0]) <= _MAX_LOWEST else math.nan
    widest = max((c.mean_error + c.deviation for c in order), default=0.0) or 1.0
    return sorted(order, key=lambda c: c.method != FULL_DATA), lowest, widest
