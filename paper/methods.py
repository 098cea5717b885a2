"""The methods of the experiments: those of the library, named and set as the paper has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from sklearn.feature_selection import chi2, f_classif

from certifeature.comparison import FULL_DATA, METHODS, Maker

__all__ = ["KEEP_ALL", "PaperMethod", "WhichRows", "ccat_methods", "paper_methods", "today_methods"]

WhichRows = Literal["support", "all"]

# The paper does not say which. On tf-idf vectors C = 1 leaves LPSVM a dozen features and twice the
# error; from 10 on, rows that can be separated are.
_LPSVM_C = 10.0


@dataclass(frozen=True)
class PaperMethod:
    """A way to choose features, and how often it is repeated with other seeds.

    Attributes
    ----------
    name : str
        Name in tables.
    rows : {"support", "all"}
        Whether it looks at the rows that matter to a model on all features, or at all rows that it
        is trained on.
    make : callable or None
        Makes the selector from number of features, model and seed; None keeps all features.
    own_size : bool
        Whether it takes no number of features, but finds its own.
    n_draws : int
        Number of repetitions.
    """

    name: str
    rows: WhichRows
    make: Maker | None
    own_size: bool = False
    n_draws: int = 1


KEEP_ALL = PaperMethod(FULL_DATA, "support", None)


def paper_methods(rows: WhichRows, n_draws: int = 5) -> list[PaperMethod]:
    """Return the methods of the paper, with its rules and settings.

    Parameters
    ----------
    rows : {"support", "all"}
        What it calls supervised and unsupervised. RFE and LPSVM use labels in both.
    n_draws : int, default=5
        Repetitions of the random methods.
    """
    supervised = rows == "support"
    return [
        _variant("bss-paper", "BSS, paper", rows, supervised=supervised),
        _variant("leverage", "leverage sampling", rows, n_draws, supervised=supervised),
        _variant("rfe", "RFE", rows),
        _variant("lpsvm", "LPSVM", rows, C=_LPSVM_C),
        _variant("rrqr", "RRQR", rows, supervised=supervised),
        _variant("random", "random", rows, n_draws),
    ]


def today_methods(rows: WhichRows, *, counts: bool) -> list[PaperMethod]:
    """Return what users pick today: an L1 SVM, a univariate test, and our default.

    Parameters
    ----------
    rows : {"support", "all"}
        Rows to look at. Our default needs the support vectors.
    counts : bool
        Whether the data are counts or frequencies, so that a χ² test applies.
    """
    default = [_variant("bss", "BSS", rows)] if rows == "support" else []
    return [
        *default,
        _variant("l1", "L1 SVM", rows),
        _variant("univariate", "univariate", rows, score_func=chi2 if counts else f_classif),
    ]


def ccat_methods(n_projections: list[int], n_draws: int = 5) -> list[PaperMethod]:
    """Return the methods of Table 4: BSS on Gaussian sketches, and its rivals.

    Parameters
    ----------
    n_projections : list of int
        Rows of the Gaussian matrices.
    n_draws : int, default=5
        Number of Gaussian matrices.
    """
    sketched = [
        _variant(
            "bss",
            f"{name} (t = {t})",
            "support",
            n_draws,
            order=order,
            basis="sketch",
            n_components=t,
        )
        for name, order in (("BSS, paper", "leverage"), ("BSS", "coef"))
        for t in n_projections
    ]
    return [
        *sketched,
        PaperMethod("RRQR", "support", _rrqr_of_sketch),
        *(m for m in paper_methods("support") if m.name in ("RFE", "LPSVM")),
        *(m for m in today_methods("support", counts=True) if m.name != "BSS"),
    ]


def _rrqr_of_sketch(size: int, svm: Any, seed: int) -> Any:
    return METHODS["rrqr"].make(size, svm, seed).set_params(basis="sketch", n_components=size)


def _variant(
    listed: str, name: str, rows: WhichRows, n_draws: int = 1, **parameters: Any
) -> PaperMethod:
    """Return a method of the library by the paper's name, for these rows, with its settings."""

    def make(size: int, svm: Any, seed: int) -> Any:
        return METHODS[listed].make(size, svm, seed).set_params(**parameters)

    return PaperMethod(name, rows, make, METHODS[listed].own_size, n_draws=n_draws)
