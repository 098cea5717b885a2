"""The methods: everything that chooses features of training rows."""

from time import process_time

import numpy as np
from sklearn.feature_selection import chi2, f_classif
from sklearn.svm import LinearSVC

from decide.choice import Choice
from decide.errors import inner_folds
from decide.own import SETTINGS, Fits
from decide.svm import weights

_RFE_STEP = 0.1
_L1_GRID = (0.04, 0.2, 1, 5, 25)


class Contenders:
    """All methods on the same training rows."""

    def __init__(self, X, y, C, sizes):
        self.X, self.y, self.C, self.sizes = X, y, C, sizes
        self.fits = Fits(X, y, C)
        self._cache = {}

    def choose(self, name, r):
        if name in SETTINGS:
            return self.fits.choose(r, SETTINGS[name])
        return _OTHERS[name](self, r)

    def _full(self, r):
        return Choice(np.arange(self.X.shape[1]), 0.0)

    def _univariate(self, r):
        start = process_time()
        scores = (f_classif if isinstance(self.X, np.ndarray) else chi2)(self.X, self.y)[0]
        best = np.argsort(-np.nan_to_num(scores, nan=-1.0), kind="stable")[:r]
        return Choice(best, process_time() - start)

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
            found[r] = Choice(ranked[:r], process_time() - start)
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
        return Choice(best, seconds)

    @staticmethod
    def _l1_svm(C, X, y):
        return LinearSVC(C=C, penalty="l1", dual=False, random_state=0, max_iter=300).fit(X, y)


_OTHERS = {
    "full": Contenders._full,
    "RFE": Contenders._rfe,
    "L1": Contenders._l1,
    "univariate": Contenders._univariate,
}
METHODS = (*_OTHERS, *SETTINGS)
