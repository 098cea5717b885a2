"""How features were chosen and tested, as a paragraph for a paper."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

import sklearn

import certifeature
from certifeature.certificate import Certificate
from certifeature.certificate.certificate import measured_probability, only_support, rounded_up
from certifeature.comparison import Comparison, Contender
from certifeature.evaluation import NewData
from certifeature.evaluation.intervals import shown_error
from certifeature.report.text import class_counts, joined, measure_name, number
from certifeature.report.verdict import method_name, rivals_of

__all__ = ["methods_paragraph"]

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
_REFERENCES = (
    "[1] S. Paul, M. Magdon-Ismail and P. Drineas. Feature Selection for Linear SVM with Provable "
    "Guarantees. AISTATS, PMLR 38:735–743, 2015.",
    "[2] J. D. Batson, D. A. Spielman and N. Srivastava. Twice-Ramanujan Sparsifiers. STOC, pages "
    "255–262, 2009.",
    "[3] C. Nadeau and Y. Bengio. Inference for the Generalization Error. Machine Learning "
    "52:239–281, 2003.",
)
_MODELS = {
    "LinearSVC": "a linear support vector machine",
    "SVC": "a linear support vector machine",
    "LogisticRegression": "logistic regression",
    "RidgeClassifier": "a ridge classifier",
    "Ridge": "ridge regression",
}


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
        Of the choice, with estimates for new data if there are any.
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
    parts = [
        _SCALINGS.get(scaling, ""),
        _choice(certificate, _samples(n_rows, classes), method, supervised),
        _proof(certificate),
    ]
    if certificate.new_data is not None:
        parts.append(_new_data(certificate.new_data, scaling))
        if own is not None and comparison is not None:
            same = own.errors == certificate.new_data.errors_selected
            other = "In a cross-validation with this number of features in all folds"
            parts.append(f"{'On the same folds' if same else other}, {_beside(own, comparison)}")
        parts.append(_control(certificate.new_data))
    text = " ".join(part for part in parts if part)
    cited = [line for line in _REFERENCES if re.search(rf"\[[^\]]*{line[1]}[^\]]*\]", text)]
    software = (
        f"Software: certifeature {certifeature.__version__}, the certifeature developers; "
        f"scikit-learn {sklearn.__version__}."
    )
    return "\n".join([text, "", *cited, software])


def _samples(n_rows: int, classes: Mapping[str, int] | None) -> str:
    counts = class_counts({name: f"{count:,}" for name, count in (classes or {}).items()})
    return f"{n_rows:,} samples ({counts})" if counts else f"{n_rows:,} samples"


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
    purpose = f"for {_model(c)}" if supervised else "without labels"
    return (
        f"Of {c.n_features:,} features of {samples}, {c.n_selected:,} were chosen {purpose}"
        f"{': ' + ', '.join(kept) if kept else ' ' + how}."
    )


def _model(c: Certificate) -> str:
    if c.model is None:
        return "linear models"
    name, _, rest = c.model.partition("(")
    return f"{_MODELS[name]} ({name}, {rest}" if name in _MODELS else c.model


def _proof(c: Certificate) -> str:
    if math.isinf(c.measured_growth):
        return ""
    rows = f"the {c.n_rows:,} support vectors" if only_support(c) else "the training samples"
    model = "" if c.model is None else f" of {c.model}"
    chance = measured_probability(c)
    sure = "" if chance == 1 else f" with probability {chance:g}"
    return (
        f"The regularised training objective{model} on {rows} is certified to be at most "
        f"{number(rounded_up(c.measured_growth))} times that with all features{sure}."
    )


def _new_data(n: NewData, scaling: str) -> str:
    repeats = f", repeated {n.n_repeats} times" if n.n_repeats > 1 else ""
    anew = "features were" if scaling == "none" else "columns were scaled and features"
    name = measure_name(n.measure)
    interval = "" if n.interval is None else f", {n.against_full.shown_interval()} [3]"
    tie = ", no difference that these samples can show" if n.verdict == "tie" else ""
    chosen, full = n.shown(n.error_selected), n.shown(n.error_full)
    return (
        f"In {n.n_folds}-fold cross-validation{repeats}, in which {anew} chosen anew from the "
        f"training samples of every fold, the {name} was {chosen} with the chosen features and "
        f"{full} with all (difference {n.against_full}{interval}{tie})."
    )


def _beside(own: Contender, comparison: Comparison) -> str:
    """Return the errors of others of the same size, at the C of the model and tuned."""

    def errors(contender: Contender) -> str:
        plain = shown_error(contender.mean_error, comparison.measure)
        if not contender.tuned_errors:
            return plain
        return f"{plain} ({shown_error(contender.mean_tuned_error, comparison.measure)})"

    at = "at this C (with C tuned by inner folds)" if own.tuned_errors else "at this C"
    name = "error" if comparison.measure == "error" else "value"
    others = [f"{method_name(c.method)} {errors(c)}" for c in rivals_of(own, comparison)]
    return f"{name}s {at} were {errors(own)} here, and with {joined(others)}."


def _control(n: NewData) -> str:
    name = measure_name(n.measure)
    return (
        f"With shuffled labels the {name} was {n.shown(n.shuffled_error)} (chance: "
        f"{n.shown(n.chance_error)})."
    )
