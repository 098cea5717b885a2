"""The methods: everything that chooses features of training rows."""

from time import process_time

import numpy as np
from prototype import Choice, Prototype, Setting
from sklearn.feature_selection import chi2, f_classif
from sklearn.svm import LinearSVC

from certifeature import BSSSelector
from decide.errors import inner_folds
from decide.svm import weights

_RFE_STEP = 0.1
_L1_GRID = (0.04, 0.2, 1, 5, 25)


def own_settings(selection):
    """Return the settings of the prototype by name."""
    found = {}
    for head, fill, trusts in (
        ("coef", "coef", (0, 0.25, 0.5, 0.75, 1)),
        ("arom", "arom", (0, 0.25, 0.5, 0.75, 1)),
        ("stable", "stable", (0, 0.25, 0.5, 0.75, 1)),
        ("stable", "arom", (0.25, 0.5, 0.75)),
        ("stable", "coef", (0.25, 0.5)),
        ("jack", "jack", (0, 0.25, 0.5, 0.75, 1)),
        ("jack", "arom", (0.25, 0.5)),
        ("jack", "coef", (0.25, 0.5)),
        ("stablew", "stablew", (0.5, 1)),
        ("stable12", "stable12", (0.5, 1)),
        ("arome", "arome", (0.5, 1)),
    ):
        for trust in trusts:
            found[f"{head}>{fill} {trust:g}"] = Setting(head, fill, trust)
    found["leverage>leverage 0"] = Setting("leverage", "leverage", 0)
    if selection == "aims":
        for head, fill in (("stable", "arom"), ("arom", "arom"), ("stable", "stable")):
            for trust in (0.25, 0.5):
                name = f"{head}>{fill} {trust:g}"
                for share in (0.4, 0.8):
                    found[f"{name} share {share}"] = Setting(head, fill, trust, share=share)
                for aim in ("ridge", "sigma", "none"):
                    found[f"{name} {aim}"] = Setting(head, fill, trust, aim=aim)
                found[f"{name} all rows"] = Setting(head, fill, trust, rows="all")
        found["arom>arom 1 all rows"] = Setting("arom", "arom", 1, rows="all")
        found["stable>stable 1 all rows"] = Setting("stable", "stable", 1, rows="all")
    return found


class Contenders:
    """All methods on the same training rows."""

    def __init__(self, X, y, C, sizes, selection):
        self.X, self.y, self.C, self.sizes = X, y, C, sizes
        self.prototype = Prototype(X, y, C)
        self._settings = own_settings(selection)
        self._cache = {}

    @staticmethod
    def all_names(selection):
        return [*_OTHERS, *own_settings(selection)]

    def choose(self, name, r):
        if name in _OTHERS:
            return _OTHERS[name](self, r)
        return self.prototype.choose(r, self._settings[name])

    def _full(self):
        d = self.X.shape[1]
        return Choice(np.arange(d), np.ones(d), 0.0)

    def _bss(self, r, order):
        start = process_time()
        svm = LinearSVC(C=self.C, dual=True, random_state=0)
        selector = BSSSelector(r, order=order, estimator=svm, random_state=0).fit(self.X, self.y)
        return Choice(selector.indices_, selector.weights_, process_time() - start)

    def _univariate(self, r):
        start = process_time()
        scores = (f_classif if isinstance(self.X, np.ndarray) else chi2)(self.X, self.y)[0]
        best = np.argsort(-np.nan_to_num(scores, nan=-1.0), kind="stable")[:r]
        return Choice(best, np.ones(len(best)), process_time() - start)

    def _rfe(self, r):
        """One path for all sizes: until its last step RFE does not depend on the size."""
        if "rfe" not in self._cache:
            self._cache["rfe"] = self._rfe_path()
        return self._cache["rfe"][r]

    def _rfe_path(self):
        start, found = process_time(), {}
        columns, ranked = np.arange(self.X.shape[1]), None
        step = max(1, int(_RFE_STEP * len(columns)))
        for r in sorted(self.sizes, reverse=True):
            while ranked is None or len(columns) - step > r:
                if ranked is not None:
                    columns = np.sort(ranked[: len(columns) - step])
                w = np.abs(weights(self.X[:, columns], self.y, self.C))
                ranked = columns[np.argsort(-w, kind="stable")]
            found[r] = Choice(ranked[:r], np.ones(r), process_time() - start)
        return found

    def _l1(self, r):
        """The largest weights at the C of the least error in inner folds, as far as not zero."""
        if "l1" not in self._cache:
            start = process_time()
            errors = np.zeros(len(_L1_GRID))
            for train, test in inner_folds(self.y):
                for i, C in enumerate(_L1_GRID):
                    svm = self._l1_svm(C * self.C, self.X[train], self.y[train])
                    errors[i] += np.sum(svm.predict(self.X[test]) != self.y[test])
            w = np.abs(self._l1_svm(_L1_GRID[np.argmin(errors)] * self.C, self.X, self.y).coef_[0])
            self._cache["l1"] = w, process_time() - start
        w, seconds = self._cache["l1"]
        best = np.argsort(-w, kind="stable")[: min(r, np.count_nonzero(w))]
        return Choice(best, np.ones(len(best)), seconds)

    @staticmethod
    def _l1_svm(C, X, y):
        return LinearSVC(C=C, penalty="l1", dual=False, random_state=0, max_iter=300).fit(X, y)


_OTHERS = {
    "full": lambda own, r: own._full(),
    "RFE": Contenders._rfe,
    "L1": Contenders._l1,
    "univariate": Contenders._univariate,
    "BSS leverage each": lambda own, r: own._bss(r, "leverage"),
    "BSS coef each": lambda own, r: own._bss(r, "coef"),
}
