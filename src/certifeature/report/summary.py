"""The first screen of a report: facts about the choice, and others of the same size beside it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from certifeature.certificate import Certificate
from certifeature.certificate.certificate import measured_probability, rounded_up
from certifeature.comparison import FULL_DATA, Comparison, Contender
from certifeature.evaluation import Difference, NewData
from certifeature.evaluation.engine import masks_of, nogueira_index
from certifeature.evaluation.intervals import shown_error
from certifeature.report.contents import Feature, Report
from certifeature.report.text import MISSING, class_counts, measure_name, number
from certifeature.report.verdict import difference_of, method_name, rivals_of, rows_of

__all__ = ["BesideRow", "Fact", "beside_rows", "facts"]

# Of a choice against another, whose error is subtracted.
_OUTCOMES = {"tie": "a tie", "lower": "better", "higher": "worse", "unclear": "unclear"}

_REASONS = {
    "fixed": "fixed beforehand",
    "trusted": "from the top of the order",
    "cover": "to cover what these leave out",
    "next": "next in the order",
}
# From here on a bound on the growth says little, as the docs have it.
_WEAK = 5.0


@dataclass(frozen=True)
class Fact:
    """One thing to know: what it is about, the answer, and what the answer means."""

    name: str
    value: str
    note: str = ""


@dataclass(frozen=True)
class BesideRow:
    """A choice of the same size; errors at the C of the model and at a tuned one."""

    name: str
    own: bool
    error: str
    outcome: str
    difference: str
    tuned_error: str
    tuned_outcome: str
    tuned_difference: str


def facts(report: Report) -> list[Fact]:
    """Return what a reader asks first, as far as the report knows it."""
    found = [Fact("Data", report.data)] if report.data else []
    if report.certificate is not None:
        found.append(_size(report.certificate, report.features))
    if report.new_data is not None:
        found.append(_error(report.new_data))
    if report.own is not None and report.certificate is not None and len(report.own.chosen) > 1:
        found.append(_stability(report.own, report.certificate.n_features, report.features))
    if report.certificate is not None:
        found.append(_proof(report.certificate))
    if report.new_data is not None:
        found.append(_control(report.new_data))
    return found


def beside_rows(report: Report) -> list[BesideRow]:
    """Return the choice, and beside it others of the same size and all features."""
    own, comparison = report.own, report.comparison
    if own is None or comparison is None:
        return []
    others = rivals_of(own, comparison)
    return [_row(own, own, comparison), *(_row(other, own, comparison) for other in others)]


def _row(contender: Contender, own: Contender, comparison: Comparison) -> BesideRow:
    def error(value: float) -> str:
        return MISSING if math.isnan(value) else shown_error(value, comparison.measure)

    plain, tuned = (
        None if contender is own else difference_of(own, contender, comparison, tuned=tuned)
        for tuned in (False, True)
    )
    name = method_name(contender.method)
    if contender.method == FULL_DATA:
        name = f"All {round(contender.n_features):,} features"
    elif contender is own:
        name = f"This choice ({name})"
    return BesideRow(
        f"{name[0].upper()}{name[1:]}",
        contender is own,
        error(contender.mean_error),
        *_compared(plain),
        error(contender.mean_tuned_error),
        *_compared(tuned),
    )


def _compared(difference: Difference | None) -> tuple[str, str]:
    """Return how the choice does against another, and by how much."""
    if difference is None:
        return "", ""
    size = str(difference).removesuffix(" points")
    if difference.interval is None and difference.verdict == "tie":
        return "a tie", "no difference in any fold"
    return _OUTCOMES[difference.verdict], f"{size} ({difference.shown_ends()})"


def _size(c: Certificate, features: Sequence[Feature]) -> Fact:
    counts = Counter(feature.why for feature in features)
    note = ", ".join(f"{counts[why]:,} {text}" for why, text in _REASONS.items() if counts[why])
    model = c.model or "any linear model with an ℓ2 penalty"
    return Fact("Features", f"{c.n_selected:,} of {c.n_features:,} for {model}", note)


def _error(n: NewData) -> Fact:
    name = f"{measure_name(n.measure).capitalize()} on new data"
    value = f"{n.shown(n.error_selected)}, with all features {n.shown(n.error_full)}"
    verdict = _OUTCOMES[n.against_full.verdict]
    note = f"difference {n.against_full} ({n.against_full.shown_interval()}): {verdict}"
    by_class = zip(n.classes, n.n_wrong, n.n_tested, strict=True)
    wrong = class_counts({name: f"{wrong:,} of {tested:,}" for name, wrong, tested in by_class})
    return Fact(name, value, f"{note}. Wrong with these: {wrong}" if wrong else note)


def _stability(own: Contender, n_features: int, features: Sequence[Feature]) -> Fact:
    """Return how many of the features were chosen in every fold, and an index of all choices."""
    n_folds = len(own.chosen)
    index = nogueira_index(masks_of(own.chosen, n_features))
    judged = f"{MISSING if math.isnan(index) else f'{index:.2f}'} (0 is random, 1 always the same)"
    times = [feature.times_chosen for feature in features]
    if None in times:
        return Fact("Stability", judged)
    return Fact(
        "Stability",
        f"{times.count(n_folds)} of {len(times)} chosen again in all {n_folds} folds",
        f"{times.count(0)} in none; stability {judged}",
    )


def _proof(c: Certificate) -> Fact:
    what = f"what the model minimises on {rows_of(c)}, compared with all features"
    if math.isinf(c.measured_growth):
        return Fact("Proven", "nothing", what)
    chance = measured_probability(c)
    sure = "" if chance == 1 else f", with probability {chance:g}"
    value = f"at most {number(rounded_up(c.measured_growth))} times{sure}"
    return Fact("Proven", value, f"{what}: {_judged(c.measured_growth)}{_in_fact(c)}")


def _judged(growth: float) -> str:
    if growth <= 2:
        return "a good bound"
    return "a fair bound" if growth < _WEAK else "a weak bound"


def _in_fact(c: Certificate) -> str:
    growth = c.realised_growth
    if growth is None:
        return ""
    shown = number(growth)
    why = " (below 1, since the columns are scaled up)" if growth < 1 and shown != "1" else ""
    return f"; in fact {shown} times{why}"


def _control(n: NewData) -> Fact:
    error, chance = n.shown(n.error_selected), n.shown(n.chance_error)
    if n.learnt:
        note = f"a control: far from {error} with the true labels. Chance is {chance}"
    else:
        note = f"a control: too close to {error} with the true labels. Chance is {chance}"
    return Fact("With shuffled labels", n.shown(n.shuffled_error), note)
