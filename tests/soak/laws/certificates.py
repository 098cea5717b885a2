"""Certificates of selections, against the truth in many digits."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from certifeature import BSSSelector, LeverageScoreSelector, RandomSelector, RRQRSelector, certify
from soak import library
from soak.data import Case, draw_case, draw_model, draw_selection
from soak.digits import exact
from soak.laws.enclosures import CLEAR_MARGIN, LAST_DIGIT
from soak.oracles import margin_truth, radius_truth
from soak.problems import problems_of, total_objective
from soak.spectra import Spectrum
from soak.verdict import Undecided, Violation

_ROWS, _FEATURES, _CLASSES = (3, 12), (1, 9), (2, 3)
_SELECTORS = (BSSSelector, LeverageScoreSelector, RRQRSelector, RandomSelector)
# What solvers that stop at a tolerance may leave between layers.
_BETWEEN_LAYERS = 1e-4
_ROUNDING = 1e-9


def certificates_are_true(rng):
    """λ, Λ and their regularised kin hold for the rows given, and so does what is said of P."""
    drawn = _draw(rng)
    certificate = drawn.certificate
    spectrum = Spectrum(drawn.full, drawn.indices, drawn.weights, rounded=drawn.case.rounded)
    _check_eigenvalues(spectrum, certificate.lambda_min, certificate.lambda_max, 0.0)
    if certificate.regularised is not None:
        soft = certificate.regularised
        _check_eigenvalues(spectrum, soft.lambda_min, soft.lambda_max, soft.mu)
    check_growth(drawn, drawn.rows, "these rows")
    if certificate.covers_all_rows:
        check_growth(drawn, np.arange(len(drawn.case.y)), "all rows")
    if drawn.case.plain and certificate.lambda_min < spectrum.least() - 1e-6:
        raise Violation(f"λ = {certificate.lambda_min} of plain data is {spectrum.least()}")


def layers_nest(rng):
    """What was promised is no better than what is measured, and that than what is realised."""
    certificate = _draw(rng).certificate
    promise, realised = certificate.a_priori, certificate.realised
    low, high = certificate.lambda_min, certificate.lambda_max
    if promise is not None and promise.probability == 1:
        _order("promised λ and λ", promise.lambda_min, low + _ROUNDING)
        _order("Λ and promised Λ", high, promise.lambda_max * (1 + _ROUNDING))
        _order("growths", certificate.measured_growth, certificate.promised_growth)
    if not certificate.exact or realised is None:
        return
    if realised.margin_full is not None and low > CLEAR_MARGIN:
        if realised.margin_ratio is None:
            raise Violation(f"λ = {low}, but the chosen columns are said not to separate")
        _order("λ and margin ratio", low * (1 - _BETWEEN_LAYERS), realised.margin_ratio)
    _order("radius ratio and Λ", realised.radius_ratio, high * (1 + _BETWEEN_LAYERS))
    if realised.objective_ratio is not None:
        most = certificate.measured_growth * (1 + _BETWEEN_LAYERS)
        _order("objective ratio and factor", realised.objective_ratio, most)


def realised_values_enclose(rng):
    """Margins, objectives and radii are rounded to the side that makes the selection look worse."""
    drawn = _draw(rng)
    check_realised(drawn.certificate.realised, drawn)


def check_realised(realised, drawn):
    """Raise where margins, objectives and radii are not on that side of the truth."""
    X, reduced = drawn.full, drawn.reduced
    _order("full radius", realised.radius_full, radius_truth(X).upper)
    _order("selected radius", radius_truth(reduced).lower, realised.radius_selected)
    if is_classifier(drawn.model) and set(drawn.case.y[drawn.rows]) < set(drawn.case.y):
        raise Undecided("the support lacks a class")
    problems = problems_of(drawn.model, drawn.case.y, drawn.rows)
    _check_margins(realised, X, reduced, problems)
    if realised.objective_full is not None:
        full = total_objective(X, problems)
        _order("full objective", realised.objective_full, full.upper)
        selected = total_objective(reduced, problems)
        _order("selected objective", selected.lower, realised.objective_selected)


@dataclass(frozen=True)
class Drawn:
    """A certificate, and what it is about."""

    case: Case
    model: Any
    indices: np.ndarray
    weights: np.ndarray
    rows: np.ndarray
    certificate: Any

    @property
    def full(self):
        """The rows that are certified."""
        return self.case.X[self.rows]

    @property
    def reduced(self):
        """The chosen columns of these rows, times their scales."""
        return exact(self.full[:, self.indices]) * exact(self.weights)


def _draw(rng):
    case = draw_case(rng, _ROWS, _FEATURES, _CLASSES)
    model, y = draw_model(rng, case.y, wild=not case.plain)
    case = replace(case, y=y)
    which = ["support", "all"][rng.integers(2)]
    n_features = case.X.shape[1]
    options = {"estimator": model, "rows": which}
    if rng.random() < 0.5:
        indices, weights = draw_selection(rng, n_features)
        selection = np.isin(np.arange(n_features), indices) if rng.random() < 0.3 else indices
        if selection is not indices:
            indices, weights = np.flatnonzero(selection), np.ones(len(indices))
        certificate = certify(case.X, case.y, selection, weights=weights, **options)
    else:
        size = int(rng.integers(1, n_features + 1)) if rng.random() < 0.7 else "certified"
        selector = _SELECTORS[rng.integers(len(_SELECTORS))](
            size,
            estimator=clone(model),
            supervised=which == "support",
            rescale=["common", "each", False][rng.integers(3)],
            random_state=0,
        ).fit(case.X, case.y)
        indices, weights = selector.indices_, selector.scales_
        certificate = certify(case.X, case.y, selector, **options)
    rows = np.arange(len(case.y))
    if which == "support":
        rows = library.support(clone(model), case.X, case.y)
    if len(rows) != certificate.n_rows:
        raise Violation(f"{certificate.n_rows} rows are certified, and {len(rows)} are support")
    return Drawn(case, model, indices, weights, rows, certificate)


def _check_eigenvalues(spectrum, low, high, ridge):
    if not 0 <= low <= high < np.inf:
        raise Violation(f"eigenvalues from {low} to {high}")
    if spectrum.refutes_lower(low, ridge):
        raise Violation(f"λ = {low:.9g} with μ = {ridge:.3g} is refuted")
    if spectrum.refutes_upper(high, ridge):
        raise Violation(f"Λ = {high:.9g} with μ = {ridge:.3g} is refuted")


def check_growth(drawn, rows, which):
    factor = drawn.certificate.measured_growth
    if not np.isfinite(factor):
        return
    X = exact(drawn.case.X[rows])
    problems = problems_of(drawn.model, drawn.case.y, rows)
    full = total_objective(X, problems)
    selected = total_objective(X[:, drawn.indices] * exact(drawn.weights), problems)
    if selected.lower > full.upper * factor * (1 + _ROUNDING):
        growth = float(selected.lower / full.upper)
        raise Violation(
            f"on {which} P grows {growth:.9g} times, at most {factor:.9g} were certified"
        )


def _check_margins(realised, X, reduced, problems):
    """Check the margins of the problem that loses most, or that no problem has any."""
    both = [
        (problem.rows, signs)
        for problem in problems
        for signs in problem.separations
        if len(np.unique(signs)) == 2
    ]
    truths = [
        (margin_truth(X[rows], signs), margin_truth(reduced[rows], signs)) for rows, signs in both
    ]
    clear = [
        (full, selected)
        for (rows, _), (full, selected) in zip(both, truths, strict=True)
        if full.lower > CLEAR_MARGIN * radius_truth(X[rows]).upper
    ]
    if realised.margin_full is None:
        if clear:
            raise Violation(f"said to overlap; the margin is {float(clear[0][0].lower):.9g}")
        return
    if len(both) == 1:
        full, selected = truths[0]
        _order("full margin", full.lower, realised.margin_full)
        _order("selected margin", realised.margin_selected or 0.0, selected.upper)
    ratio = (realised.margin_selected or 0.0) / realised.margin_full
    worst = min((selected.upper / full.lower for full, selected in clear), default=np.inf)
    _order("margin ratio", ratio, worst)


def _order(what, smaller, larger):
    if not smaller * (1 - LAST_DIGIT) <= larger * (1 + LAST_DIGIT):
        raise Violation(f"{what}: {float(smaller):.12g} is not below {float(larger):.12g}")
