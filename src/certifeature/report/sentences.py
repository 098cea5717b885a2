"""What a report says in sentences: a verdict to open with, and a paragraph for a paper."""

from __future__ import annotations

from collections.abc import Mapping

import sklearn

import certifeature
from certifeature.certificate import Certificate
from certifeature.comparison import FULL_DATA, Comparison, Contender
from certifeature.report.contents import Report
from certifeature.report.text import class_counts, method_name, template


def rivals_of(own: Contender, comparison: Comparison) -> list[Contender]:
    """Return the others of the same size, then full data."""
    others = [c for c in comparison.contenders if c.method != own.method and c.size == own.size]
    return others if comparison.full is None else [*others, comparison.full]


def verdict(report: Report) -> list[str]:
    """Return two sentences at most: on new data, and on other methods and what is proven."""
    comparison, own = report.comparison, report.own
    rivals: dict[str, list[str]] = {}
    chosen, n_ties = [], 0
    if comparison is not None:
        chosen = [other for other in comparison.contenders if other.method != FULL_DATA]
        chosen.sort(key=lambda other: other.error)
        differences = (comparison.difference(chosen[0], other) for other in chosen[1:])
        n_ties = sum(difference.verdict != "lower" for difference in differences)
        for rival in chosen:
            if own and rival.method != own.method and rival.size == own.size:
                how = comparison.difference(own, rival).verdict
                rivals.setdefault(how, []).append(method_name(rival.method))
    text = template("verdict.txt").render(
        report=report, rivals=rivals, chosen=chosen, n_ties=n_ties
    )
    parts = (" ".join(part.split()) for part in text.split("\n\n"))
    return [f"{part[0].upper()}{part[1:]}" for part in parts if part]


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
    text = template("methods.txt").render(
        report=Report("", certificate=certificate, own=own, comparison=comparison),
        samples=f"{n_rows:,} samples ({counts})" if counts else f"{n_rows:,} samples",
        method=method,
        scaling=scaling,
        supervised=supervised,
        others=rivals_of(own, comparison) if own and comparison else [],
        version=certifeature.__version__,
        scikit_learn=sklearn.__version__,
    )
    return text.strip()
