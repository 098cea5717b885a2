"""What a report says in sentences: a verdict to open with, and a paragraph for a paper."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

import sklearn

import certifeature
from certifeature.certificate import Certificate
from certifeature.certificate.certificate import measured_probability, only_support, rounded_up
from certifeature.comparison import FULL_DATA, Comparison, Contender
from certifeature.evaluation.intervals import CONCLUSIONS, shown_error
from certifeature.report.contents import AT_COST, Report
from certifeature.report.text import class_counts, joined, measure_name, number, template

# What tables call by a short name, in sentences.
_METHOD_NAMES = {
    FULL_DATA: "all features",
    "bss": "BSS",
    "rfe": "RFE",
    "l1": "the L1 penalty",
    "univariate": "the univariate test",
    "random": "random features",
}
# How others do, by the sign of the error of the choice minus theirs.
_OTHERS = {
    "tie": "did not differ significantly",
    "lower": "did worse",
    "higher": "did better",
    "unclear": "differed by the same in every fold",
}
_REFERENCES = (
    "[1] S. Paul, M. Magdon-Ismail and P. Drineas. Feature Selection for Linear SVM with Provable "
    "Guarantees. AISTATS, PMLR 38:735–743, 2015.",
    "[2] J. D. Batson, D. A. Spielman and N. Srivastava. Twice-Ramanujan Sparsifiers. STOC, pages "
    "255–262, 2009.",
    "[3] C. Nadeau and Y. Bengio. Inference for the Generalization Error. Machine Learning "
    "52:239–281, 2003.",
)


def rows_of(c: Certificate) -> str:
    """Return which rows a certificate is about."""
    return "the rows that matter to it" if only_support(c) else "its training rows"


def bound_of(c: Certificate, what: str = "", probability: str = ", {}") -> str:
    """Return the bound on the growth, of something, and its probability unless it is 1."""
    chance = measured_probability(c)
    sure = "" if chance == 1 else probability.format(f"with probability {chance:g}")
    return f"at most {number(rounded_up(c.measured_growth))} times{what}{sure}"


def method_name(method: str) -> str:
    """Return the name of a method as a sentence has it."""
    return _METHOD_NAMES.get(method, method)


def rivals_of(own: Contender, comparison: Comparison) -> list[Contender]:
    """Return the others of the same size, then full data."""
    others = [c for c in comparison.contenders if c.method != own.method and c.size == own.size]
    return others if comparison.full is None else [*others, comparison.full]


def verdict(report: Report) -> list[str]:
    """Return two sentences at most: on new data, and on other methods and what is proven."""
    certificate, n, found = report.certificate, report.new_data, report.estimate
    if certificate is None:
        return [] if report.comparison is None else [_lowest(report.comparison)]
    proven = f"nothing is proven of what the choice can cost on {rows_of(certificate)}."
    if math.isfinite(certificate.measured_growth):
        bound = bound_of(certificate, " that with all features", " ({})")
        proven = f"what the model minimises on {rows_of(certificate)} is proven to be {bound}."
    if n is None or found is None:
        said = "Nothing was cross-validated, so nothing is said about new data."
        return [_sentence(proven), said]
    if not n.learnt:
        said = (
            f"Do not rely on this choice: with {n.size} features the {measure_name(n.measure)} "
            f"{AT_COST} is {n.shown(n.error_selected)} with the true labels and "
            f"{n.shown(n.shuffled_error)} with shuffled ones; chance has "
            f"{n.shown(n.chance_error)}. That is no significant difference."
        )
        return [said, _sentence(proven)]
    error, full, difference, cost = found
    said = (
        f"With {n.size} of {n.n_features:,} features, the {measure_name(n.measure)} on new data is "
        f"{n.shown(error)}, and with all of them {n.shown(full)}, {cost}: difference {difference} "
        f"({difference.shown_interval()}), {CONCLUSIONS[difference.verdict]}."
    )
    return [said, _sentence(f"{_beside(report)}{proven}")]


def _sentence(clause: str) -> str:
    return f"{clause[0].upper()}{clause[1:]}"


def _beside(report: Report) -> str:
    """Return how other methods of the same size do, with a joint to what follows."""
    own, comparison = report.own, report.comparison
    if own is None or comparison is None:
        return ""
    groups: dict[str, list[str]] = {}
    for rival in rivals_of(own, comparison):
        if rival.method != FULL_DATA:
            how = _OTHERS[comparison.difference(own, rival).verdict]
            groups.setdefault(how, []).append(method_name(rival.method))
    clauses = [f"{joined(names)} {how}" for how, names in groups.items()]
    return f"with as many features, {joined(clauses)}; " if clauses else ""


def _lowest(comparison: Comparison) -> str:
    """Return which choice has the lowest error, and how many show no difference from it."""
    chosen = [c for c in comparison.contenders if c.method != FULL_DATA]
    if not chosen:
        return "No method was compared."
    best = min(chosen, key=lambda c: c.mean_error)
    measure, full = comparison.measure, comparison.full
    with_all = f" ({shown_error(full.mean_error, measure)} with all)" if full else ""
    start = (
        f"The lowest {measure_name(measure)} of {len(chosen)} "
        f"{'choice' if len(chosen) == 1 else 'choices'} is "
        f"{shown_error(best.mean_error, measure)}, by {method_name(best.method)} with "
        f"{round(best.n_features):,} features{with_all}, {comparison.cost}"
    )
    if len(chosen) == 1:
        return f"{start}."
    differences = (comparison.difference(best, c) for c in chosen if c is not best)
    n_ties = sum(difference.verdict != "lower" for difference in differences)
    if n_ties == 0:
        return f"{start}, significantly lower than all others."
    return f"{start}; {n_ties} of the others did not differ significantly from it."


def methods_paragraph(
    certificate: Certificate,
    *,
    n_rows: int,
    classes: Mapping[str, int] | None = None,
    method: str = "bss",
    scaling: str = "none",
    supervised: bool = True,
    own: Contender | None = None,
    comparison: Comparison | None = None,
) -> str:
    """Return how features were chosen and tested, and what was found, with references.

    Parameters
    ----------
    certificate : Certificate
        Certificate of the choice, with estimates for new data if there are any.
    n_rows : int
        How many rows the features were chosen from.
    classes : mapping of str to int, default=None
        How many of them belong to each class.
    method : str, default="bss"
        Name of the method, as `certifeature.compare` knows it.
    scaling : {"none", "standard", "tfidf"}, default="none"
        How columns were scaled, learnt from the training rows of every fold; leave it at "none" for
        columns that were scaled beforehand, by all rows.
    supervised : bool, default=True
        Whether they were chosen for the labels and a model, or without.
    own : Contender, default=None
        The choice in a comparison.
    comparison : Comparison, default=None
        Methods that were tested on the same folds.

    Examples
    --------
    >>> from certifeature import BSSSelector, certify
    >>> from certifeature.datasets import make_relevant_features
    >>> X, y = make_relevant_features(60, 200, 10, random_state=0)
    >>> text = methods_paragraph(certify(BSSSelector(30).fit(X, y)), n_rows=60)
    >>> text.partition(" for ")[0]
    'Of 200 features of 60 samples, 30 were chosen'
    """
    counts = class_counts({name: f"{count:,}" for name, count in (classes or {}).items()})
    lines = template("methods.txt").render(
        c=certificate,
        n=certificate.new_data,
        report=Report("", certificate=certificate, own=own, comparison=comparison),
        samples=f"{n_rows:,} samples ({counts})" if counts else f"{n_rows:,} samples",
        method=method,
        scaling=scaling,
        supervised=supervised,
        others=rivals_of(own, comparison) if own and comparison else [],
        bound=bound_of(certificate, " that with all features", " {}"),
        support=only_support(certificate),
        method_name=method_name,
    )
    text = " ".join(lines.split())
    cited = [line for line in _REFERENCES if re.search(rf"\[[^\]]*{line[1]}[^\]]*\]", text)]
    software = (
        f"Software: certifeature {certifeature.__version__}, the certifeature developers; "
        f"scikit-learn {sklearn.__version__}."
    )
    return "\n".join([text, "", *cited, software])
