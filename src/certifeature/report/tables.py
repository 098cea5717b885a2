"""What a report shows in tables: rows of text for the page, each a dict by column."""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Any

from certifeature._files import guarded
from certifeature.certificate import Certificate
from certifeature.certificate.certificate import measured_probability, rounded_down, rounded_up
from certifeature.comparison import FULL_DATA, Comparison
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


def facts(report: Report) -> list[tuple[str, str, str]]:
    """Return what a reader asks first, as far as the report knows it: name, value and note."""
    found = _data(report), _error(report), _stability(report), _proof(report), _control(report)
    return [fact for facts in found for fact in facts]


def _data(report: Report) -> Iterator[tuple[str, str, str]]:
    c, counts = report.certificate, Counter(feature.why for feature in report.features)
    if report.data:
        yield "Data", report.data, ""
    if c is not None:
        note = ", ".join(f"{counts[why]:,} {text}" for why, text in _REASONS.items() if counts[why])
        model = c.model or "any linear model with an ℓ2 penalty"
        yield "Features", f"{c.n_selected:,} of {c.n_features:,} for {model}", note


def _error(report: Report) -> Iterator[tuple[str, str, str]]:
    n, found = report.new_data, estimate(report)
    if n is not None and found is not None:
        error, full, against, cost = found
        note = f"{cost}; difference {against} ({against.shown_interval()}): "
        note += _OUTCOMES[against.verdict]
        by_class = zip(n.classes, n.n_wrong, n.n_tested, strict=True)
        wrong = class_counts({name: f"{wrong:,} of {tested:,}" for name, wrong, tested in by_class})
        if wrong:
            note += f". Wrong {AT_COST} ({n.shown(n.error_selected)}): {wrong}"
        name = f"{measure_name(n.measure).capitalize()} on new data"
        yield name, f"{n.shown(error)}, with all features {n.shown(full)}", note


def _stability(report: Report) -> Iterator[tuple[str, str, str]]:
    """Yield how many of the features were chosen in every fold, and an index of all choices."""
    c, own = report.certificate, report.own
    if c is None or own is None or len(own.chosen) < 2:
        return
    n_folds, index = len(own.chosen), nogueira_index(masks_of(own.chosen, c.n_features))
    judged = f"{MISSING if math.isnan(index) else f'{index:.2f}'} (0 is random, 1 always the same)"
    times = [feature.times_chosen for feature in report.features]
    if None in times:
        yield "Stability", judged, ""
    else:
        again = f"{times.count(n_folds)} of {len(times)} chosen again in all {n_folds} folds"
        yield "Stability", again, f"{times.count(0)} in none; stability {judged}"


def _proof(report: Report) -> Iterator[tuple[str, str, str]]:
    c = report.certificate
    if c is None:
        return
    what = f"what the model minimises on {rows_of(c)}, compared with all features"
    if math.isinf(c.measured_growth):
        yield "Proven", "nothing", what
        return
    judged = "weak" if c.measured_growth >= _WEAK else "good" if c.measured_growth <= 2 else "fair"
    fact = ""
    if c.realised_growth is not None:
        shown = number(c.realised_growth)
        below = c.realised_growth < 1 and shown != "1"
        why = " (below 1, since the columns are scaled up)" if below else ""
        fact = f"; in fact {shown} times{why}"
    yield "Proven", bound_of(c), f"{what}: a {judged} bound{fact}"


def _control(report: Report) -> Iterator[tuple[str, str, str]]:
    n = report.new_data
    if n is not None:
        far = "far from" if n.learnt else "too close to"
        note = f"a control {AT_COST}: {far} {n.shown(n.error_selected)} with the true labels. "
        note += f"Chance is {n.shown(n.chance_error)}"
        yield "With shuffled labels", n.shown(n.shuffled_error), note


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


def error_rows(n: NewData) -> list[tuple[str, str, str]]:
    """Return the cross-validated errors: name, error and note."""
    against, chance = n.against_full, f"chance: {n.shown(n.chance_error)}"
    return [
        ("Chosen", n.shown(n.error_selected), f"{n.size} features"),
        ("All", n.shown(n.error_full), f"{n.n_features} features"),
        ("Difference", str(against), against.shown_interval()),
        ("Chosen, labels shuffled", n.shown(n.shuffled_error), chance),
    ]


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


def method_rows(comparison: Comparison) -> list[Row]:
    """Return the methods: full data first, then by error, the lowest marked.

    ``low``, ``mid`` and ``high`` are percentages of the width of a chart.
    """
    contenders, in_percent = comparison.contenders, comparison.measure == "error"
    widest = max((c.mean_error + c.deviation for c in contenders), default=0.0) or 1.0
    rivals = [c.mean_error for c in contenders if c.method != FULL_DATA]
    lowest = min(rivals, default=math.nan)
    if rivals.count(lowest) > _MAX_LOWEST:
        lowest = math.nan
    rows = []
    for c in sorted(contenders, key=lambda c: (c.method != FULL_DATA, c.mean_error, c.n_features)):
        mean, deviation, reference = c.mean_error, c.deviation, c.method == FULL_DATA
        error, spread = (f"{100 * x:.1f}" if in_percent else f"{x:.3f}" for x in (mean, deviation))
        size, ends = round(c.n_features), (max(0.0, mean - deviation), mean, mean + deviation)
        row = {
            "name": c.method,
            "size": f"{size:,}",
            "asked": None if c.size == size else c.size,
            "error": error,
            "deviation": f"± {spread}" if len(c.errors) > 1 else "",
            # Keeping all features takes no time worth a number.
            "time": MISSING if reference else duration(c.seconds),
            "growth": number(rounded_up(c.growth)),
            "reference": reference,
            "best": not reference and mean == lowest,
        }
        places = (100 / widest * end for end in ends)
        rows.append(row | dict(zip(("low", "mid", "high"), places, strict=True)))
    return rows
