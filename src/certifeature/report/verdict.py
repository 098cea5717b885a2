"""What a report says first: two sentences that a reader can take away."""

from __future__ import annotations

import math

from certifeature.certificate import Certificate
from certifeature.certificate.certificate import measured_probability, only_support, rounded_up
from certifeature.comparison import FULL_DATA, Comparison, Contender
from certifeature.evaluation import Difference, NewData
from certifeature.evaluation.intervals import shown_error
from certifeature.report.contents import Report
from certifeature.report.text import joined, measure_name, number

__all__ = ["difference_of", "method_name", "rivals_of", "rows_of", "verdict"]

# What tables call by a short name, in sentences.
_METHOD_NAMES = {
    FULL_DATA: "all features",
    "bss": "BSS",
    "rfe": "RFE",
    "l1": "the L1 penalty",
    "univariate": "the univariate test",
    "random": "random features",
}
_CONCLUSIONS = {
    "tie": "a tie, as far as these rows can tell",
    "selected": "the chosen features do better",
    "full": "something is lost",
    "unclear": "the same difference in every fold, which leaves open how much it varies",
}
# How others do, where the error of the choice minus theirs is so.
_OTHERS = {
    "tie": "cannot be told from it",
    "lower": "did worse",
    "higher": "did better",
    "unclear": "differed by the same in every fold",
}


def verdict(report: Report) -> list[str]:
    """Return two sentences at most: on new data, and on other methods and what is proven."""
    certificate, new_data = report.certificate, report.new_data
    if certificate is None:
        return [] if report.comparison is None else [_lowest(report.comparison)]
    proven = _proof(certificate)
    if new_data is None:
        return [
            _sentence(proven),
            "Nothing was cross-validated, so nothing is said about new data.",
        ]
    if not new_data.learnt:
        return [_chance(new_data), _sentence(proven)]
    return [_new_data(new_data), _sentence(f"{_beside(report)}{proven}")]


def rows_of(c: Certificate) -> str:
    """Return which rows a certificate is about."""
    return "the rows that matter to it" if only_support(c) else "its training rows"


def _proof(c: Certificate) -> str:
    """Return what is proven, as a clause."""
    rows = rows_of(c)
    if math.isinf(c.measured_growth):
        return f"nothing is proven of what the choice can cost on {rows}"
    chance = measured_probability(c)
    sure = "" if chance == 1 else f" (with probability {chance:g})"
    return (
        f"what the model minimises on {rows} is proven to be at most "
        f"{number(rounded_up(c.measured_growth))} times that with all features{sure}"
    )


def method_name(method: str) -> str:
    """Return the name of a method as a sentence has it."""
    return _METHOD_NAMES.get(method, method)


def rivals_of(own: Contender, comparison: Comparison) -> list[Contender]:
    """Return the others of the same size, then full data."""
    others = [c for c in comparison.contenders if c.method not in (own.method, FULL_DATA)]
    full = [c for c in comparison.contenders if c.method == FULL_DATA]
    return [c for c in others if c.size == own.size] + full


def difference_of(
    first: Contender, second: Contender, comparison: Comparison, *, tuned: bool = False
) -> Difference | None:
    """Return the first error minus the second; None where C was not tuned for both."""
    one, other = (c.tuned_errors if tuned else c.errors for c in (first, second))
    if not one or not other:
        return None
    return Difference.of(one, other, 1 / (comparison.n_folds - 1), comparison.measure)


def _sentence(clause: str) -> str:
    return f"{clause[0].upper()}{clause[1:]}."


def _new_data(n: NewData) -> str:
    return (
        f"With {n.size} of {n.n_features:,} features, the {measure_name(n.measure)} on new data is "
        f"{n.shown(n.error_selected)}, and with all of them {n.shown(n.error_full)}: "
        f"{_CONCLUSIONS[n.verdict]}."
    )


def _chance(n: NewData) -> str:
    return (
        f"Do not rely on this choice: with {n.size} features the {measure_name(n.measure)} is "
        f"{n.shown(n.error_selected)} with the true labels and {n.shown(n.shuffled_error)} with "
        f"shuffled ones; chance has {n.shown(n.chance_error)}. These rows cannot tell them apart."
    )


def _beside(report: Report) -> str:
    """Return how other methods of the same size do, with a joint to what follows."""
    own, comparison = report.own, report.comparison
    if own is None or comparison is None:
        return ""
    rivals = [c for c in rivals_of(own, comparison) if c.method != FULL_DATA]
    groups: dict[str, list[str]] = {}
    for rival in rivals:
        how = _how(own, rival, comparison)
        groups.setdefault(how, []).append(method_name(rival.method))
    clauses = [f"{joined(names)} {how}" for how, names in groups.items()]
    return f"with as many features, {joined(clauses)}; " if clauses else ""


def _how(own: Contender, rival: Contender, comparison: Comparison) -> str:
    """Return how a rival does, at both C where the two disagree."""
    plain = difference_of(own, rival, comparison)
    tuned = difference_of(own, rival, comparison, tuned=True)
    assert plain is not None
    if tuned is None or tuned.verdict == plain.verdict:
        return _OTHERS[plain.verdict]
    return f"{_OTHERS[plain.verdict]} at this C and, with C tuned, {_OTHERS[tuned.verdict]}"


def _lowest(comparison: Comparison) -> str:
    """Return which choice has the lowest error, and how many cannot be told from it."""
    chosen = [c for c in comparison.contenders if c.method != FULL_DATA]
    if not chosen:
        return "No method was compared."
    best = min(chosen, key=lambda c: c.mean_error)
    choices = "choice" if len(chosen) == 1 else "choices"
    start = (
        f"The lowest {measure_name(comparison.measure)} of {len(chosen)} {choices} is "
        f"{shown_error(best.mean_error, comparison.measure)}, by {method_name(best.method)} with "
        f"{round(best.n_features):,} features{_with_all(comparison)}"
    )
    if len(chosen) == 1:
        return f"{start}."
    differences = (difference_of(best, c, comparison) for c in chosen if c is not best)
    n_ties = sum(d is not None and d.verdict != "lower" for d in differences)
    if n_ties == 0:
        return f"{start}, and these rows tell it from all others."
    return f"{start}; these rows cannot tell {n_ties} of the others from it."


def _with_all(comparison: Comparison) -> str:
    full = [c for c in comparison.contenders if c.method == FULL_DATA]
    shown = (shown_error(c.mean_error, comparison.measure) for c in full)
    return "".join(f" ({error} with all)" for error in shown)
