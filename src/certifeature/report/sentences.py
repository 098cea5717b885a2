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
from certifeature.evaluation import Difference
from certifeature.evaluation.intervals import CONCLUSIONS, shown_error
from certifeature.report.contents import Report
from certifeature.report.text import class_counts, joined, measure_name, number

# What the estimate of a certificate is for; a comparison may have C tuned.
AT_COST = "at the C of the model"
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
_SCALINGS = {
    "standard": "Columns were scaled to unit variance.",
    "tfidf": "Counts were weighted by tf-idf.",
}
_HOW = {
    "bss": "by single-set spectral sparsification (BSS [1, 2])",
    "bss-paper": "by single-set spectral sparsification as published (BSS [1, 2])",
    "leverage": "by leverage-score sampling [1]",
    "rrqr": "by QR with pivoting",
    "rfe": "by recursive feature elimination",
    "l1": "by the weights of an SVM with an L1 penalty",
    "lpsvm": "by the weights of a 1-norm SVM",
    "univariate": "by univariate F tests",
    "random": "at random",
}
_MODELS = {
    "LinearSVC": "a linear support vector machine",
    "SVC": "a linear support vector machine",
    "LogisticRegression": "logistic regression",
    "RidgeClassifier": "a ridge classifier",
    "Ridge": "ridge regression",
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


def is_searched(report: Report) -> bool:
    """Tell whether the number of features was found anew in the folds of the estimate alone."""
    if report.own is None or report.new_data is None:
        return False
    return report.new_data.n_selected != tuple(map(len, report.own.chosen))


def estimate(report: Report) -> tuple[float, float, Difference, str] | None:
    """Return the error with the chosen and with all features, the difference, and at which C.

    It is that of the comparison, if there is one with the same number of features in every fold as
    the estimate of the certificate has.
    """
    own, comparison, n = report.own, report.comparison, report.new_data
    if own and comparison and comparison.full and not is_searched(report):
        difference = comparison.difference(own, comparison.full)
        return own.mean_error, comparison.full.mean_error, difference, comparison.cost
    return (n.error_selected, n.error_full, n.against_full, AT_COST) if n else None


def verdict(report: Report) -> list[str]:
    """Return two sentences at most: on new data, and on other methods and what is proven."""
    certificate, n, found = report.certificate, report.new_data, estimate(report)
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
    samples = f"{n_rows:,} samples ({counts})" if counts else f"{n_rows:,} samples"
    parts = [
        _SCALINGS.get(scaling, ""),
        _choice(certificate, samples, method, supervised),
        _proof(certificate),
    ]
    n, found = (
        certificate.new_data,
        Report("", certificate=certificate, own=own, comparison=comparison),
    )
    if n is not None:
        parts.append(_cross_validated(found, scaling))
        if own is not None and comparison is not None:
            other = "With this number of features in all folds"
            where = other if is_searched(found) else "On the same folds"
            parts.append(f"{where}, {comparison.cost}, {_others(own, comparison)}")
        parts.append(
            f"With shuffled labels, {AT_COST}, the {measure_name(n.measure)} was "
            f"{n.shown(n.shuffled_error)} (chance: {n.shown(n.chance_error)})."
        )
    text = " ".join(part for part in parts if part)
    cited = [line for line in _REFERENCES if re.search(rf"\[[^\]]*{line[1]}[^\]]*\]", text)]
    software = (
        f"Software: certifeature {certifeature.__version__}, the certifeature developers; "
        f"scikit-learn {sklearn.__version__}."
    )
    return "\n".join([text, "", *cited, software])


def _choice(c: Certificate, samples: str, method: str, supervised: bool) -> str:
    if c.n_selected == c.n_features:
        return f"All {c.n_features:,} features of {samples} were kept."
    how = _HOW.get(method, f"by {method}")
    kept = []
    if c.n_fixed:
        kept.append(f"{c.n_fixed} fixed beforehand")
    if c.n_trusted:
        kept.append(f"{c.n_trusted} that came first in a ranking of all features")
    n_others = c.n_selected - c.n_fixed - c.n_trusted
    if kept and n_others:
        kept.append(f"{n_others} {how}")
    model = c.model or "linear models"
    name, _, rest = model.partition("(")
    model = f"{_MODELS[name]} ({name}, {rest}" if name in _MODELS else model
    purpose = f"for {model}" if supervised else "without labels"
    return (
        f"Of {c.n_features:,} features of {samples}, {c.n_selected:,} were chosen {purpose}"
        f"{': ' + ', '.join(kept) if kept else ' ' + how}."
    )


def _proof(c: Certificate) -> str:
    if math.isinf(c.measured_growth):
        return ""
    rows = f"the {c.n_rows:,} support vectors" if only_support(c) else "the training samples"
    model = "" if c.model is None else f" of {c.model}"
    bound = bound_of(c, " that with all features", " {}")
    return f"The regularised training objective{model} on {rows} is certified to be {bound}."


def _cross_validated(report: Report, scaling: str) -> str:
    n, found = report.new_data, estimate(report)
    assert n is not None
    assert found is not None
    error, full, difference, cost = found
    repeats = f", repeated {n.n_repeats} times" if n.n_repeats > 1 else ""
    anew = "features were" if scaling == "none" else "columns were scaled and features"
    interval = "" if difference.interval is None else f", {difference.shown_interval()} [3]"
    tie = ", no difference that these samples can show" if difference.verdict == "tie" else ""
    return (
        f"In {n.n_folds}-fold cross-validation{repeats}, in which {anew} chosen anew from the "
        f"training samples of every fold, {cost}, the {measure_name(n.measure)} was "
        f"{n.shown(error)} with the chosen features and {n.shown(full)} with all (difference "
        f"{difference}{interval}{tie})."
    )


def _others(own: Contender, comparison: Comparison) -> str:
    """Return the errors of the choice and of others of the same size."""
    name = "error" if comparison.measure == "error" else "value"
    here, *others = (
        shown_error(c.mean_error, comparison.measure) for c in (own, *rivals_of(own, comparison))
    )
    names = (method_name(c.method) for c in rivals_of(own, comparison))
    listed = [f"{name} {error}" for name, error in zip(names, others, strict=True)]
    return f"{name}s were {here} here, and with {joined(listed)}."
