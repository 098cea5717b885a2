"""What a report shows in tables: rows of text for the page, each a dict by column."""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from certifeature._files import guarded
from certifeature.certificate import Certificate
from certifeature.certificate.certificate import measured_probability, rounded_down, rounded_up
from certifeature.comparison import FULL_DATA, Comparison, Contender
from certifeature.evaluation import NewData
from certifeature.evaluation.engine import masks_of, nogueira_index
from certifeature.evaluation.intervals import shown_error
from certifeature.report.contents import Feature, Report
from certifeature.report.sentences import (
    AT_COST,
    bound_of,
    estimate,
    method_name,
    rivals_of,
    rows_of,
)
from certifeature.report.text import MISSING, class_counts, decimals, duration, measure_name, number

Row = dict[str, Any]

# How a choice does against another, whose error is subtracted.
_OUTCOMES = {"tie": "a tie", "lower": "better", "higher": "worse", "unclear": "unclear"}
_REASONS = {
    "fixed": "fixed beforehand",
    "trusted": "from the top of the order",
    "cover": "to cover what these leave out",
    "next": "next in the order",
}
# From here on a bound on the growth says little, as the docs have it.
_WEAK = 5.0
# What more than so many choices share is no distinction.
_MAX_LOWEST = 2


def facts(report: Report) -> list[Row]:
    """Return what a reader asks first, as far as the report knows it: name, value and note."""
    c, n, own = report.certificate, report.new_data, report.own
    found = [
        ("Data", report.data, "") if report.data else None,
        _size(c, report.features) if c else None,
        _error(report, n) if n else None,
        _stability(own, c.n_features, report.features)
        if own and c and len(own.chosen) > 1
        else None,
        _proof(c) if c else None,
        _control(n) if n else None,
    ]
    return [dict(zip(("name", "value", "note"), fact, strict=True)) for fact in found if fact]


def _size(c: Certificate, features: Sequence[Feature]) -> tuple[str, str, str]:
    counts = Counter(feature.why for feature in features)
    note = ", ".join(f"{counts[why]:,} {text}" for why, text in _REASONS.items() if counts[why])
    model = c.model or "any linear model with an ℓ2 penalty"
    return "Features", f"{c.n_selected:,} of {c.n_features:,} for {model}", note


def _error(report: Report, n: NewData) -> tuple[str, str, str]:
    found = estimate(report)
    assert found is not None
    error, full, against, cost = found
    note = (
        f"{cost}; difference {against} ({against.shown_interval()}): {_OUTCOMES[against.verdict]}"
    )
    by_class = zip(n.classes, n.n_wrong, n.n_tested, strict=True)
    wrong = class_counts({name: f"{wrong:,} of {tested:,}" for name, wrong, tested in by_class})
    if wrong:
        note += f". Wrong {AT_COST} ({n.shown(n.error_selected)}): {wrong}"
    value = f"{n.shown(error)}, with all features {n.shown(full)}"
    return f"{measure_name(n.measure).capitalize()} on new data", value, note


def _stability(
    own: Contender, n_features: int, features: Sequence[Feature]
) -> tuple[str, str, str]:
    """Return how many of the features were chosen in every fold, and an index of all choices."""
    n_folds, index = len(own.chosen), nogueira_index(masks_of(own.chosen, n_features))
    judged = f"{MISSING if math.isnan(index) else f'{index:.2f}'} (0 is random, 1 always the same)"
    times = [feature.times_chosen for feature in features]
    if None in times:
        return "Stability", judged, ""
    return (
        "Stability",
        f"{times.count(n_folds)} of {len(times)} chosen again in all {n_folds} folds",
        f"{times.count(0)} in none; stability {judged}",
    )


def _proof(c: Certificate) -> tuple[str, str, str]:
    what = f"what the model minimises on {rows_of(c)}, compared with all features"
    if math.isinf(c.measured_growth):
        return "Proven", "nothing", what
    judged = "a weak bound" if c.measured_growth >= _WEAK else "a fair bound"
    judged = "a good bound" if c.measured_growth <= 2 else judged
    fact = ""
    if c.realised_growth is not None:
        shown = number(c.realised_growth)
        below = c.realised_growth < 1 and shown != "1"
        why = " (below 1, since the columns are scaled up)" if below else ""
        fact = f"; in fact {shown} times{why}"
    return "Proven", bound_of(c), f"{what}: {judged}{fact}"


def _control(n: NewData) -> tuple[str, str, str]:
    far = "far from" if n.learnt else "too close to"
    note = f"a control {AT_COST}: {far} {n.shown(n.error_selected)} with the true labels. Chance is"
    return "With shuffled labels", n.shown(n.shuffled_error), f"{note} {n.shown(n.chance_error)}"


def beside_rows(report: Report) -> list[Row]:
    """Return the choice, and beside it others of the same size and all features."""
    own, comparison = report.own, report.comparison
    if own is None or comparison is None:
        return []
    rows = []
    for contender in (own, *rivals_of(own, comparison)):
        name = method_name(contender.method)
        outcome = size = ""
        if contender is own:
            name = f"This choice ({name})"
        else:
            difference = comparison.difference(own, contender)
            outcome = _OUTCOMES[difference.verdict]
            size = f"{str(difference).removesuffix(' points')} ({difference.shown_ends()})"
        if contender.method == FULL_DATA:
            name = f"All {round(contender.n_features):,} features"
        error = shown_error(contender.mean_error, comparison.measure)
        row = {"name": f"{name[0].upper()}{name[1:]}", "own": contender is own, "error": error}
        rows.append(row | {"outcome": outcome, "difference": size})
    return rows


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
    rows = f"all {c.n_rows:,} rows"
    if c.rows != "all":
        rows = f"the {c.n_rows:,} rows that matter to the model"
    promised_chance = _chance(1.0 if promise is None else promise.probability)
    promised = (MISSING, MISSING) if promise is None else _bounds(promise)
    measured_chance = _chance(measured_probability(c))
    margin, radius = (realised.margin_ratio, realised.radius_ratio) if realised else (None, None)
    growths = (c.promised_growth, c.measured_growth, c.realised_growth)
    shown = (
        (f"before anything was measured{promised_chance}", *promised),
        (f"a bound for {rows}{measured_chance}", *_bounds(c)),
        ("what it came to", _times(margin), _times(radius)),
    )
    found: list[Row] = []
    for name, growth, (note, *ratios) in zip(
        ("Promised", "Measured", "Realised"), growths, shown, strict=True
    ):
        known = growth is not None and math.isfinite(growth)
        why = None if known else next(text for text in sentences if text.startswith(name))
        text = _times(growth)
        if growth is not None and name != "Realised":
            text = _times(rounded_up(growth), "at most ")
        row = {"name": name, "note": note, "growth": text, "why": why}
        found.append(row | dict(zip(("margin", "radius"), ratios, strict=True)))
    return found


def constants(certificate: Certificate) -> dict[str, str]:
    """Return the measured constants that growth, margin and radius follow from."""
    c, regularised = certificate, certificate.regularised
    values = {"λ": c.lambda_min, "Λ": c.lambda_max, "κ": c.condition}
    if regularised is not None:
        values["μ"] = regularised.mu
        values["λ with the ridge μ"] = regularised.lambda_min
        values["Λ with the ridge μ"] = regularised.lambda_max
    return {name: number(value) for name, value in values.items()}


def _chance(probability: float) -> str:
    return "" if probability == 1 else f", with probability {probability:g}"


def _bounds(proven: Any) -> tuple[str, str]:
    """Return what is sure of squared margin and radius."""
    lowest, highest = proven.lambda_min, proven.lambda_max
    margin = _times(rounded_down(lowest), "at least ") if lowest > 0 else "no bound"
    radius = _times(rounded_up(highest), "at most ") if math.isfinite(highest) else "no bound"
    return margin, radius


def _times(ratio: float | None, side: str = "") -> str:
    if ratio is None:
        return MISSING
    return f"{side}{number(ratio)} times" if math.isfinite(ratio) else "∞"


def error_rows(new_data: NewData) -> list[Row]:
    """Return the cross-validated errors."""
    n, shown = new_data, new_data.shown
    rows = [
        ("Chosen", shown(n.error_selected), f"{n.size} features"),
        ("All", shown(n.error_full), f"{n.n_features} features"),
        ("Difference", str(n.against_full), n.against_full.shown_interval()),
        ("Chosen, labels shuffled", shown(n.shuffled_error), f"chance: {shown(n.chance_error)}"),
    ]
    return [dict(zip(("name", "error", "note"), row, strict=True)) for row in rows]


def feature_rows(features: Sequence[Feature]) -> list[Row]:
    """Return the chosen features by rank: numbers as shown, and exactly, to sort by."""
    ranked = _ranked(features)
    shown = {
        name: decimals([getattr(feature, name) for feature in ranked])
        for name in ("scale", "weight")
    }
    return [
        vars(feature)
        | {name: texts[place] for name, texts in shown.items()}
        | {f"exact_{name}": _exact(getattr(feature, name)) for name in shown}
        for place, feature in enumerate(ranked)
    ]


def _ranked(features: Sequence[Feature]) -> list[Feature]:
    return sorted(features, key=lambda feature: feature.rank)


def _exact(value: float | None) -> str:
    return "" if value is None or not math.isfinite(value) else repr(float(value))


def features_csv(features: Sequence[Feature]) -> str:
    """Return the chosen features by rank as CSV, in which no name can become a formula."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("rank", "feature", "scale", "weight", "points_to", "why", "times_chosen"))
    for f in _ranked(features):
        # No file can hold halves of surrogate pairs.
        name, label, why = (
            guarded(part).encode(errors="replace").decode() if part else ""
            for part in (f.name, f.label, f.why)
        )
        writer.writerow((f.rank, name, f.scale, f.weight, label, why, f.times_chosen))
    return text.getvalue()


def method_rows(comparison: Comparison) -> list[Row]:
    """Return the methods: full data first, then by error, the lowest marked.

    ``low``, ``mid`` and ``high`` are percentages of the width of a chart.
    """
    contenders = comparison.contenders
    widest = max((c.mean_error + c.deviation for c in contenders), default=0.0) or 1.0
    rivals = [c.mean_error for c in contenders if c.method != FULL_DATA]
    lowest = min(rivals, default=math.nan)
    if rivals.count(lowest) > _MAX_LOWEST:
        lowest = math.nan
    ordered = sorted(contenders, key=lambda c: (c.method != FULL_DATA, c.mean_error, c.n_features))

    def shown(error: float) -> str:
        return f"{100 * error:.1f}" if comparison.measure == "error" else f"{error:.3f}"

    def row(c: Contender) -> Row:
        mean, deviation, reference = c.mean_error, c.deviation, c.method == FULL_DATA
        size = round(c.n_features)
        return {
            "name": c.method,
            "size": f"{size:,}",
            "asked": None if c.size == size else c.size,
            "error": shown(mean),
            "deviation": f"± {shown(deviation)}" if len(c.errors) > 1 else "",
            # Keeping all features takes no time worth a number.
            "time": MISSING if reference else duration(c.seconds),
            "growth": number(rounded_up(c.growth)),
            "reference": reference,
            "best": not reference and mean == lowest,
            "low": 100 / widest * max(0.0, mean - deviation),
            "mid": 100 / widest * mean,
            "high": 100 / widest * (mean + deviation),
        }

    return [row(contender) for contender in ordered]
