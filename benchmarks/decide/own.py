"""BSSSelector with several settings on the same rows."""

from dataclasses import dataclass
from functools import cached_property
from time import process_time
from typing import Any

from sklearn.svm import LinearSVC

from certifeature import BSSSelector
from certifeature.certificate.certify import Certifier
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


class Fits:
    """Fits of BSSSelector with several settings to the same rows."""

    def __init__(self, X, y, C):
        self._X, self._y = X, y
        self._svm = LinearSVC(C=C, dual=True, random_state=0)

    def choose(self, r, setting):
        """Return the choice of a setting, and the seconds that its fit takes."""
        options = {"order": setting.order, "trust": setting.trust, "rescale": setting.rescale}
        selector = BSSSelector(r, estimator=self._svm, **options)
        start = process_time()
        selector.fit(self._X, self._y)
        return Choice(selector.indices_, process_time() - start, selector.scales_)

    def certificate(self, choice, scales):
        """Return the measured certificate of a choice by any method."""
        columns = ColumnChoice(choice.indices, scales)
        return self._certifier.certificate(columns, realised=False)

    @cached_property
    def _certifier(self):
        return Certifier.of_data(self._X, self._y, self._svm, "support")
