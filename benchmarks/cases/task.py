"""Rows to train and test on, and who selects features of them."""

import numpy as np
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.feature_selection import SelectFromModel
from sklearn.model_selection import train_test_split
from sklearn.svm import LinearSVC

from certifeature.models.support import fit_model

# What those show that select nothing.
ALL_FEATURES = "all features"


class Task:
    """Training and test rows, and the SVM that is trained on what was selected."""

    def __init__(self, X, y, X_test, y_test, svm):
        self.X, self.y, self.X_test, self.y_test = X, y, X_test, y_test
        self.svm = svm

    def fit_full(self):
        return self._full(clone(self.svm).fit(self.X, self.y))

    def fit_to_optimum(self):
        """Fit the SVM as closely as selectors do."""
        return self._full(fit_model(clone(self.svm), self.X, self.y))

    def _full(self, svm):
        def show():
            error = 1 - svm.score(self.X_test, self.y_test)
            return {"test_error": error, "note": ALL_FEATURES}

        return show

    def select(self, selector):
        """Return a contender that fits the selector; its show trains and tests the SVM."""

        def work():
            fitted = clone(selector).fit(self.X, self.y)

            def show():
                svm = clone(self.svm).fit(fitted.transform(self.X), self.y)
                return {"test_error": 1 - svm.score(fitted.transform(self.X_test), self.y_test)}

            return show

        return work


def tfidf_task(X, y, svm, test_size):
    """Return a task of word counts, weighted by what the training rows tell."""
    train, test = train_test_split(
        np.arange(len(y)), test_size=test_size, stratify=y, random_state=0
    )
    tfidf = TfidfTransformer().fit(X[train])
    return Task(tfidf.transform(X[train]), y[train], tfidf.transform(X[test]), y[test], svm)


def in_turn(contenders):
    """Return a contender that does the work of all and shows the mean error."""

    def work():
        shows = [contender() for contender in contenders]

        def show():
            shown = [show() for show in shows]
            return shown[0] | {"test_error": float(np.mean([one["test_error"] for one in shown]))}

        return show

    return work


class Dense:
    """A selector that takes dense data only; the copy counts."""

    def __init__(self, selector):
        self.selector = selector

    def __sklearn_clone__(self):
        return Dense(clone(self.selector))

    def fit(self, X, y):
        self.selector.fit(X.toarray(), y)
        return self

    def transform(self, X):
        return X[:, np.flatnonzero(self.selector.get_support())]


def l1(n_features):
    return SelectFromModel(
        LinearSVC(penalty="l1", C=10, random_state=0), max_features=n_features, threshold=-np.inf
    )


def others(n_features):
    """Selectors of other libraries (extra ``bench``)."""
    from abess import LogisticRegression
    from fastcan import FastCan
    from skglm import SparseLogisticRegression

    return {
        "fastcan": Dense(FastCan(n_features, verbose=0)),
        "skglm, L1 logistic": SelectFromModel(
            SparseLogisticRegression(alpha=1e-3), max_features=n_features, threshold=-np.inf
        ),
        "abess, at most 60": SelectFromModel(
            LogisticRegression(support_size=60), max_features=n_features, threshold=1e-12
        ),
    }
