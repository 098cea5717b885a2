"""Choose 1,024 of 47,236 words of RCV1 news for a CCAT classifier.

Usage: ``python examples/rcv1_ccat.py [FOLDER]``. FOLDER holds ``X.npz`` (SciPy sparse) and
``y.npy``; without it scikit-learn downloads its copy of RCV1.
"""

import sys
from pathlib import Path
from time import perf_counter

import numpy as np
from scipy import sparse
from sklearn.datasets import fetch_rcv1
from sklearn.feature_selection import RFE
from sklearn.model_selection import train_test_split
from sklearn.svm import LinearSVC

from certifeature import BSSSelector, certify

N_TRAIN, N_WORDS, C = 22_000, 1_024, 10


def load(folder=None):
    if folder is None:
        news = fetch_rcv1(subset="train")
        ccat = list(news.target_names).index("CCAT")
        return news.data, np.where(news.target[:, [ccat]].toarray().ravel() == 1, 1, -1)
    folder = Path(folder)
    return sparse.load_npz(folder / "X.npz").tocsr(), np.load(folder / "y.npy")


def main():
    X, y = load(*sys.argv[1:2])
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, train_size=N_TRAIN, stratify=y, random_state=0
    )
    svm = LinearSVC(C=C, random_state=0)
    print(
        f"{X_train.shape[0]:,} training rows, {X_test.shape[0]:,} test rows, {X.shape[1]:,} words"
    )
    print(f"{'method':30}{'words':>7}{'seconds':>9}{'test error':>12}{'objective at most':>20}")

    def report(name, fit):
        start = perf_counter()
        selector = fit()
        seconds = perf_counter() - start
        train, test = (
            (selector.transform(X_train), selector.transform(X_test))
            if selector
            else (X_train, X_test)
        )
        error = 1 - LinearSVC(C=C, random_state=0).fit(train, y_train).score(test, y_test)
        bound = "" if selector is None else f"{growth(selector):.0f} times"
        print(f"{name:30}{train.shape[1]:7,}{seconds:9.1f}{error:12.4f}{bound:>20}", flush=True)

    def growth(selector):
        """Return by what factor the SVM's objective can grow, on the support vectors."""
        certificate = certify(X_train, y_train, selector, estimator=svm, realised=False)
        return certificate.measured_growth

    report("full data (one SVM fit)", lambda: svm.fit(X_train, y_train) and None)
    settings = {
        "BSS": {},
        "BSS, order='coef'": {"order": "coef"},
        "BSS, the paper's order": {"order": "leverage", "trust": 0, "rescale": "each"},
    }
    for name, setting in settings.items():
        selector = BSSSelector(N_WORDS, estimator=svm, **setting)
        report(name, lambda selector=selector: selector.fit(X_train, y_train))
    rfe = RFE(svm, n_features_to_select=N_WORDS, step=0.1)
    report("RFE(LinearSVC, step=0.1)", lambda: rfe.fit(X_train, y_train))


if __name__ == "__main__":
    main()
