"""BSSSelector with many settings on the same rows: what its fits share is found once."""

from dataclasses import dataclass
from functools import cached_property
from time import process_time
from typing import Any

from sklearn.svm import LinearSVC

from certifeature import BSSSelector
from certifeature.basis.span import leading_span, span
from certifeature.certificate.certify import measured
from certifeature.models.support import find_support
from certifeature.rows.rows import as_rows
from certifeature.selectors.fit import rescaled
from certifeature.sparsify import ColumnChoice
from decide.choice import Choice


@dataclass(frozen=True)
class Setting:
    """Parameters of BSSSelector."""

    order: Any
    trust: float
    rescale: str = "common"


SETTINGS = {
    "top of w": Setting("coef", 1),
    "paper": Setting("leverage", 0, "each"),
    "default so far": Setting("coef", 0, "each"),
    **{f"stable {t}": Setting("stable", t) for t in (0, 0.25, 0.5, 0.75, 1)},
    **{f"stable, coef {t}": Setting(("stable", "coef"), t) for t in (0, 0.25, 0.5, 0.75)},
    "stable, arom 0.5": Setting(("stable", "arom"), 0.5),
    "stable, cover 0.5": Setting(("stable", "cover"), 0.5),
    "arom 0.25": Setting("arom", 0.25),
}
_SEED = BSSSelector()._seed()


class Fits:
    """Fits to the same rows; the seconds of each are those that it would take alone."""

    def __init__(self, X, y, C):
        self._C = C
        self._rows = as_rows(X, y)
        self._bases, self._rankings = {}, {}

    def selector(self, r, setting):
        """Return the selector that `choose` stands for."""
        return BSSSelector(
            r,
            order=setting.order,
            trust=setting.trust,
            rescale=setting.rescale,
            estimator=self._svm(),
        )

    def choose(self, r, setting):
        method = self.selector(r, setting)._method().of_features(self._rows.n_features, None)
        support, support_seconds = self._support
        basis, basis_seconds = self._basis(method.n_leading(r))
        ranking, ranking_seconds = self._ranking(setting, method, basis)
        start = process_time()
        choice = method.choose(basis, support.target.soft_mu, r, ranking, _SEED)
        sample = rescaled(choice.sample, basis, setting.rescale)
        seconds = support_seconds + basis_seconds + ranking_seconds + process_time() - start
        return Choice(sample.indices, seconds, sample.scales)

    def certificate(self, choice, scales):
        """Return that of a choice by any method."""
        return measured(self._support[0], ColumnChoice(choice.indices, scales), "support")

    def _svm(self):
        return LinearSVC(C=self._C, dual=True, random_state=0)

    @cached_property
    def _support(self):
        return _timed(lambda: find_support(self._rows, self._svm(), _SEED))

    def _basis(self, n_leading):
        if n_leading not in self._bases:
            rows = self._support[0].rows
            self._bases[n_leading] = _timed(lambda: _basis(rows, n_leading))
        return self._bases[n_leading]

    def _ranking(self, setting, method, basis):
        # Nothing is trusted at 0, so that only the second order of a pair is found.
        key = setting.order, setting.trust > 0
        if key not in self._rankings:
            support = self._support[0]
            self._rankings[key] = _timed(lambda: method.rank(support.rows, support, basis, _SEED))
        return self._rankings[key]


def _basis(rows, n_leading):
    leading = None if n_leading is None else leading_span(rows, "auto", None, n_leading)
    return (leading or span(rows, "auto", None, _SEED))[0]


def _timed(function):
    start = process_time()
    return function(), process_time() - start
