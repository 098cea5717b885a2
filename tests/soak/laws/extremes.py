"""Columns far from the origin, and costs from almost nothing to almost infinite."""

from time import process_time

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.svm import SVC, LinearSVC, LinearSVR

from certifeature import BSSSelector, certify
from soak.data import Case, draw_model, draw_selection
from soak.laws.certificates import Drawn, check_growth, check_realised
from soak.verdict import Violation

_TUBE = {"loss": "squared_epsilon_insensitive", "random_state": 0}
# Every solver of every model, without its cost.
_MODELS = (
    SVC(kernel="linear"),
    LinearSVC(loss="hinge", random_state=0),
    *(LinearSVC(dual=dual, random_state=0) for dual in (True, False)),
    LinearSVC(dual=False, intercept_scaling=np.inf),
    *(
        LogisticRegression(solver=solver, random_state=0)
        for solver in ("lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga")
    ),
    *(RidgeClassifier(solver=solver) for solver in ("auto", "svd", "cholesky", "lsqr")),
    *(Ridge(solver=solver) for solver in ("auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag")),
    *(LinearSVR(dual=dual, **_TUBE) for dual in (True, False)),
    LinearSVR(dual=False, epsilon=0.1, intercept_scaling=np.inf, **_TUBE),
)
# Of a core, for some ten rows.
_SECONDS = 10


def far_columns_keep_their_digits(rng):
    """A free intercept takes in where columns are, and scales round no more than what is left."""
    n, d = int(rng.integers(4, 11)), int(rng.integers(2, 7))
    spread, offset = 10 ** rng.uniform([-3, 3], [1, 13], (d, 2)).T
    y = np.arange(n) % 2
    X = offset + spread * (rng.standard_normal((n, d)) + rng.uniform(0, 3) * y[:, None])
    if rng.random() < 0.5:
        model = LogisticRegression(C=float(10 ** rng.uniform(-3, 4)))
    else:
        model, y = draw_model(rng, y)
    indices, weights = draw_selection(rng, d)
    if rng.random() < 0.5:
        size, rescale = int(rng.integers(1, d + 1)), ["common", "each"][rng.integers(2)]
        selector = BSSSelector(size, estimator=model, supervised=False, rescale=rescale).fit(X, y)
        indices, weights = selector.indices_, selector.scales_
    certificate = certify(X, y, indices, weights=weights, estimator=model, rows="all")
    drawn = Drawn(Case(X, y), model, indices, weights, np.arange(n), certificate)
    check_growth(drawn, drawn.rows, "these rows")
    check_realised(certificate.realised, drawn)


def extreme_costs_end(rng):
    """Whatever the cost and the solver are, a certificate takes moments, and it is true."""
    n, d = int(rng.integers(3, 11)), int(rng.integers(1, 7))
    X = rng.standard_normal((n, d)) * 10 ** rng.uniform(-60, 15, d if rng.random() < 0.3 else 1)
    model = clone(_MODELS[rng.integers(len(_MODELS))])
    # LIBLINEAR's logistic regression is for two classes.
    y = np.arange(n) % (2 if getattr(model, "solver", "") == "liblinear" else rng.integers(2, 4))
    cost = "scale" if rng.random() < 0.2 else float(10 ** rng.uniform(-100, 100))
    model.set_params(**{"C" if hasattr(model, "C") else "alpha": cost})
    indices, weights = draw_selection(rng, d)
    start = process_time()
    certificate = certify(X, y, indices, weights=weights, estimator=model, rows="support")
    seconds = process_time() - start
    if seconds > _SECONDS:
        raise Violation(f"{model!r} took {seconds:.0f} seconds")
    if cost != "scale" and certificate.n_rows == n:
        drawn = Drawn(Case(X, y), model, indices, weights, np.arange(n), certificate)
        check_growth(drawn, drawn.rows, "these rows")
        check_realised(certificate.realised, drawn)
