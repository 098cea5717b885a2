"""Certificates on thirteen real sets: how much the objective of a model can grow, layer by layer.

Usage: ``python benchmarks/certificates.py FOLDER`` (the README says what FOLDER holds). Prints
Markdown tables: every set, model and C; medians of these; and what holds for any linear model. It
stops where a layer is above the one before it.
"""

import math
import sys
import warnings
from pathlib import Path
from time import process_time

import numpy as np
from sets import GENES, MAX_ROWS, SOME_TEXTS, gene_set, some_text
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.svm import SVC, LinearSVC

from certifeature import BSSSelector, certify
from certifeature.basis import exact_basis
from certifeature.certificate.promise import effective_dimension

N_GENES, N_WORDS, N_ABOVE_RANK = 100, 300, 200
COSTS = (0.1, 1, 10)
OURS = {
    "BSS": {},
    "BSS, each": {"rescale": "each", "trust": 0},
    "BSS, cover": {"rescale": "each", "order": "cover"},
}
OTHERS = ("RFE", "L1", "RFE, scaled", "L1, scaled")
# Of layers that are computed in different ways.
ROUNDING = 1e-6


def models(C):
    yield "squared hinge", LinearSVC(C=C, random_state=0)
    yield "logistic", LogisticRegression(C=C, max_iter=1000)
    yield "ridge", RidgeClassifier(alpha=1 / (2 * C))


def layers(certificate):
    """Return measured and realised growth; None for what was not computed.

    A certificate lets no layer pass the one before it; these are the numbers from before that.
    """
    found, growth = certificate.realised, certificate.measured_growth
    if found is None or not found.objective_full:
        return growth, None
    realised = found.objective_selected / found.objective_full
    assert realised <= growth * (1 + ROUNDING), f"{growth}, {realised}: {certificate}"
    return growth, realised


def certified(X, y, model, l1, r):
    """Return the growths by each method, and the facts about the rows that matter."""
    found = {}
    for method, settings in OURS.items():
        selector = BSSSelector(r, estimator=model, **settings).fit(X, y)
        found[method] = certify(X, y, selector, estimator=model)
    rows = X[selector.support_rows_]
    squares = np.asarray((rows**2).sum(axis=0)).ravel()
    rfe = RFE(model, n_features_to_select=r, step=0.1).fit(X, y)
    for method, selection in (("RFE", rfe), ("L1", l1)):
        chosen = np.flatnonzero(selection.get_support())
        # One factor makes up for what is left out, as by default in BSSSelector.
        factor = np.sqrt(squares.sum() / squares[chosen].sum())
        for name, scale in ((method, 1.0), (f"{method}, scaled", factor)):
            weights = np.full(len(chosen), scale)
            found[name] = certify(X, y, chosen, weights=weights, estimator=model)
    bss = found["BSS"]
    values = exact_basis(rows).singular_values
    facts = bss.n_rows, bss.rank, effective_dimension(values, bss.regularised.mu)
    return {name: layers(found[name]) for name in (*OURS, *OTHERS)}, facts


def soft_rows(kind, name, X, y, r):
    """Print the rows of one set; return kind, model, C and growths of each."""
    svm = LinearSVC(penalty="l1", C=10, max_iter=300, random_state=0)
    l1 = SelectFromModel(svm, max_features=r).fit(X, y)
    results = []
    for C in COSTS:
        for loss, model in models(C):
            start = process_time()
            growths, (n_rows, rank, dimension) = certified(X, y, model, l1, r)
            cells = [" / ".join(map(number, growths[method])) for method in (*OURS, *OTHERS)]
            sizes = f"{X.shape[0]} × {X.shape[1]} | {loss} | {C} | {n_rows} | {rank}"
            cells = [name, sizes, number(dimension), *cells, str(sum(l1.get_support()))]
            print("|", " | ".join(cells), "|", flush=True)
            print(name, loss, C, f"{process_time() - start:.1f} s", file=sys.stderr, flush=True)
            results.append((kind, loss, C, growths))
    return results


def medians(results):
    """Print medians over the sets, and in how many of them RFE or L1 have the smallest growth."""
    head("of", "model", "C", *OURS, *OTHERS, "others below BSS", "others below all of ours")
    for group in dict.fromkeys(result[:3] for result in results):
        growths = [result[3] for result in results if result[:3] == group]
        cells = []
        for method in (*OURS, *OTHERS):
            columns = zip(*(growth[method] for growth in growths), strict=True)
            cells.append(" / ".join(number(np.median(column)) for column in columns))
        for ours in (("BSS",), OURS):
            n_below = sum(least(growth, OTHERS) < least(growth, ours) for growth in growths)
            cells.append(f"{n_below} of {len(growths)}")
        print("|", " | ".join([*map(str, group), *cells]), "|")


def least(growths, methods):
    """Return the smallest measured growth."""
    return min(growths[method][0] for method in methods)


def any_model(name, X, y):
    """Print what is proven of an SVM with a hinge loss, and of any model on rows without labels."""
    settings = {
        "default": {},
        "leverage, each": {"order": "leverage", "trust": 0, "rescale": "each"},
        "cover, each": {"order": "cover", "rescale": "each"},
    }
    for rows, given in (
        ("support", {"estimator": SVC(kernel="linear")}),
        ("all", {"supervised": False}),
    ):
        cells = []
        for setting in settings.values():
            selector = BSSSelector(N_ABOVE_RANK, **given, **setting).fit(X, y)
            certificate = certify(selector)
            kappa = f"{certificate.lambda_min:.2g} / {number(certificate.condition)}"
            cells.append(f"{kappa} / " + " / ".join(map(number, layers(certificate))))
        size = f"{name} | {rows} | {certificate.n_rows} | {certificate.rank}"
        print("|", " | ".join([size, *cells]), "|", flush=True)


def number(value):
    if value is None:
        return "–"
    return "∞" if math.isinf(value) else f"{value:.3g}"


def head(*names):
    print("|", " | ".join(names), "|")
    print("|---" * len(names) + "|", flush=True)


def main(folder):
    warnings.simplefilter("ignore")  # Solvers of scikit-learn that stop early.
    folder = Path(folder)
    print(
        f"Growth of the training objective: measured / realised. r = {N_GENES} genes or {N_WORDS} "
        f"words; texts of at most {MAX_ROWS} rows, drawn at random, with the words that two of "
        "them have; ridge has alpha = 1/(2C).\n"
    )
    sizes = "rows × columns", "model", "C", "p", "ℓ", "D"
    head("set", *sizes, *OURS, *OTHERS, "features of L1")
    results = []
    for name in GENES:
        results += soft_rows("genes", name, *gene_set(folder, name), N_GENES)
    for name in SOME_TEXTS:
        results += soft_rows("words", name, *some_text(folder, name), N_WORDS)
    print("\nMedians over the sets.\n")
    medians(results)
    print(
        f"\nAny linear model with an l2 penalty, {N_ABOVE_RANK} genes: λ / κ / measured / realised "
        "growth. Rows: support vectors of SVC(C=1), or all rows, without labels.\n"
    )
    head("set", "rows", "p", "ℓ", "default", "leverage, each", "cover, each")
    for name in GENES:
        any_model(name, *gene_set(folder, name))


if __name__ == "__main__":
    main(sys.argv[1])
