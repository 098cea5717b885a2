"""Certificates: of the fewest features that have one, and of what others chose."""

from measure import Case
from sets import GENES, MAX_ROWS, data_set, gene_set, some_text
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.feature_selection import RFE
from sklearn.svm import LinearSVC

from certifeature import BSSSelector, certify
from certifeature.models import at_scale
from certifeature.models.support import fit_model

# Of sets whose search takes more than three minutes with as many rows as the others.
FEWER_ROWS = {"movie_reviews": 200, "graphics/autos": 200, "farm_ads": 200}


def certified(name, folder):
    """The search for the fewest features, against one selection of the number that it finds."""
    if name in GENES:
        X, y = gene_set(folder, name)
    else:
        X, y = some_text(folder, name, FEWER_ROWS.get(name, MAX_ROWS))
    found = BSSSelector("certified")

    def search():
        found.fit(X, y)
        return lambda: {"note": f"r = {found.n_features_to_select_:,}"}

    def select():
        BSSSelector(found.n_features_to_select_, order="cover", rescale="each").fit(X, y)

    bars = {"certified ≤ 5 selections": lambda s: s["certified"] <= 5 * s["one selection"]}
    if name == "movie_reviews":
        bars["certified ≤ 15 s"] = lambda s: s["certified"] <= 15
    return Case(
        f"certified, {'' if name in GENES else 'rows of '}{size(name, X)}",
        {"certified": search, "one selection": select},
        repeats=3 if name in GENES else 1,
        bars=bars,
    )


def certificate(name, folder):
    """A certificate, measured, of what RFE chose, against an SVM fit."""
    if name in GENES:
        X, y = gene_set(folder, name)
    else:
        X, y = data_set(folder, name)
        X = TfidfTransformer().fit_transform(X)
    svm = LinearSVC(random_state=0)
    r = 100 if name in GENES else 300
    rfe = RFE(svm, n_features_to_select=r, step=0.1).fit(X, y)

    def fit():
        clone(svm).fit(X, y)

    def fit_to_optimum():
        fit_model(at_scale(X), X, y)

    def certify_it():
        growth = certify(X, y, rfe, realised=False).measured_growth
        return lambda: {"note": f"growth at most {growth:.3g}"}

    return Case(
        f"certify, {size(name, X)}, r = {r}",
        {"LinearSVC": fit, "LinearSVC, to its optimum": fit_to_optimum, "certify": certify_it},
        bars={"certify ≤ LinearSVC + 0.2 s": lambda s: s["certify"] <= s["LinearSVC"] + 0.2},
    )


def size(name, X):
    return f"{name}, {X.shape[0]:,} × {X.shape[1]:,}"
