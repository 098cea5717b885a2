"""Certificates on a dozen real sets: promised, measured, realised, for ours and other selections.

Usage: ``python benchmarks/certificates.py FOLDER`` (the README says what FOLDER holds). Prints two
Markdown tables. C = 1, LIBSVM, on the support vectors; every method chooses r = 2ℓ features.
"""

import sys
import warnings
from itertools import islice
from pathlib import Path

import numpy as np
from scipy import sparse
from sets import data_set, directory_pairs, newsgroup_pair, used_columns
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest, f_classif
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from certifeature import BSSSelector, LeverageScoreSelector, RandomSelector, RRQRSelector, certify

EPSILON = 0.5


def sets(folder):
    """Yield name, data and labels of twelve sets, ready for an SVM."""
    for name in ("alon", "golub", "gravier", "shipp"):
        X, y = data_set(folder, f"microarray_{name}")
        yield f"{name} (genes)", StandardScaler().fit_transform(X.toarray()), y
    khan = folder / "microarray_khan"
    X = sparse.load_npz(khan / "X.npz").toarray()
    yield (
        "khan (genes, 4 classes)",
        StandardScaler().fit_transform(X),
        np.load(khan / "y_multi.npy"),
    )
    texts = {f"web pair {i}": pair for i, pair in enumerate(islice(directory_pairs(folder), 3), 1)}
    texts["graphics/autos"] = newsgroup_pair(folder, 1, 7, 200)
    texts["space/guns"] = newsgroup_pair(folder, 14, 16, 200)
    for name in ("PCMAC", "rcv1_ccat"):
        X, y = data_set(folder, name)
        rows = np.random.default_rng(0).choice(len(y), 250, replace=False)
        texts[f"{name}, 250 rows"] = used_columns(X[rows].astype(float)), y[rows]
    for name, (X, y) in texts.items():
        yield name, TfidfTransformer().fit_transform(X), y


def methods(r):
    """Yield name and selector of r features."""
    svm = SVC(kernel="linear")
    l1 = LinearSVC(penalty="l1", C=10, random_state=0)
    yield "BSS", BSSSelector(r)
    yield "BSS, paper", BSSSelector(r, order="leverage", trust=0, rescale="each")
    yield "BSS, cover", BSSSelector(r, order="cover", rescale="each")
    yield "leverage", LeverageScoreSelector(r, random_state=0)
    yield "RRQR, plain", RRQRSelector(r, rescale=False)
    yield "random", RandomSelector(r, random_state=0)
    yield "RFE", RFE(svm, n_features_to_select=r, step=0.1)
    yield "L1", SelectFromModel(l1, max_features=r, threshold=-np.inf)
    yield "univariate", SelectKBest(f_classif, k=r)


def main(folder):
    warnings.simplefilter("ignore")  # Convergence of the L1 SVM; constant words.
    svm = SVC(kernel="linear")
    layers, rivals = [], []
    for name, X, y in sets(Path(folder)):
        search = BSSSelector("certified", epsilon=EPSILON, order="cover", rescale="each")
        certified = search.fit(X, y)
        p, rank = len(certified.support_rows_), certified.basis_.rank
        r = 2 * rank
        certificates = {
            method: certify(X, y, selector.fit(X, y), estimator=svm)
            for method, selector in methods(r)
        }
        bss = certificates["BSS, paper"]
        paper = 1 - 6 * np.sqrt(p / r)
        layers.append(
            f"| {name} | {X.shape[0]} × {X.shape[1]} | {p} | {rank} | {r} "
            f"| {f'{paper:.3f}' if paper > 0 else 'vacuous'} | {bss.a_priori.lambda_min:.3f} "
            f"| {bss.lambda_min:.3f} | {bss.realised.margin_ratio:.2f} "
            f"| {np.ceil(36 * p / EPSILON**2):.0f} | {certified.n_features_to_select_} |"
        )
        cells = (
            f"{c.lambda_min:.2g} / {c.condition:.2g} / {ratio(c)}" for c in certificates.values()
        )
        rivals.append(f"| {name} | " + " | ".join(cells) + " |")
        print(name, file=sys.stderr, flush=True)
    print("| set | rows × columns | p | ℓ | r | paper | a priori | measured | realised ", end="")
    print(f"| 36p/ε² | certified, ε = {EPSILON} |")
    print("|---" * 11 + "|", *layers, "", sep="\n")
    print("| set | " + " | ".join(certificates) + " |")
    print("|---" * (len(certificates) + 1) + "|", *rivals, sep="\n")


def ratio(certificate):
    """Return the realised share of the squared margin."""
    value = certificate.realised.margin_ratio
    return "lost" if value is None else f"{value:.2g}"


if __name__ == "__main__":
    main(sys.argv[1])
