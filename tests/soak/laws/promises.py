"""What is promised before anything is measured, itself: not what rounding leaves of it."""

import numpy as np
from sklearn.svm import SVC

from certifeature import BSSSelector
from soak.spectra import smallest_ratio
from soak.verdict import Undecided, Violation

_ROUNDING, _NOTHING = 1e-7, 1e-12


def promises_are_kept(rng):
    """λ is no less than BSS promised, and that is no better than what theorem 5 says of the picks.

    Picks are better than promised on all data that are known, so the theorem is told from the
    number of directions and that of picks.
    """
    n, d = int(rng.integers(4, 30)), int(rng.integers(6, 60))
    X = rng.standard_normal((n, d)) * 10 ** rng.uniform(-rng.choice([0, 1, 2]), 0, d)
    X *= 10 ** rng.uniform(-rng.choice([0, 1]), 0, (n, 1))
    selector = BSSSelector(
        int(rng.integers(1, d)),
        estimator=SVC(kernel="linear", C=float(10 ** rng.uniform(-3, 1))),
        order=["coef", "leverage", "cover"][rng.integers(3)],
        fixed_features=[0] if rng.random() < 0.2 else None,
        rescale="each",
    )
    if selector.order != "cover":
        selector.set_params(trust=float(rng.choice([0, 0.3])))
    selector.fit(X, np.arange(n) % 2)
    promise = selector.certificate_.a_priori
    if promise is None:
        raise Undecided("nothing is promised")
    rows, n_fixed = X[selector.support_rows_], selector.certificate_.n_fixed
    _order(promise.lambda_min, smallest_ratio(rows, selector.indices_, selector.scales_), selector)
    n_picks = selector.n_features_to_select_ - n_fixed - selector.certificate_.n_trusted
    ratio = np.sqrt(np.linalg.matrix_rank(rows) / n_picks)
    _order(promise.lambda_min, (1 - ratio) ** 2, selector)
    if n_picks == selector.n_features_to_select_:
        _order(min((1 + ratio) ** 2, selector.scales_.max() ** 2), promise.lambda_max, selector)


def _order(smaller, larger, selector):
    if smaller > larger * (1 + _ROUNDING) + _NOTHING:
        raise Violation(f"{smaller:.9g} is not below {larger:.9g}. {selector}")
