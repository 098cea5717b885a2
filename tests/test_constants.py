"""The constants of all bounds, one by one, and cases in which the bounds are attained.

Where a bound can be attained, a case attains it to within one percent, so that a bound that is too
small by one percent is below the truth. The truth comes from formulas for rows at right angles to
each other, from dense matrices, or from derivatives.
"""

import numpy as np
import pytest
from numpy.polynomial import Chebyshev
from scipy import linalg
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.svm import SVC, LinearSVC, LinearSVR

from certifeature import BSSSelector, LeverageScoreSelector, RandomSelector, certify
from certifeature import _utils as _memory
from certifeature.basis import Basis, exact_basis
from certifeature.basis.span import largest_eigenvalue, truncated_basis
from certifeature.certificate import minimum_enclosing_ball
from certifeature.certificate.all_rows import _region
from certifeature.certificate.measured import left_out_factors
from certifeature.datasets import make_relevant_features
from certifeature.models import enclose, hard_margin, make_loss
from certifeature.models.enclosure import SafeRows, at_scale_of_rows, points
from certifeature.models.problem import Problem
from certifeature.models.solver import minimise
from certifeature.models.support import cascade, objective, support_rows
from certifeature.rows import ArrayBlocks
from certifeature.sparsify import ColumnChoice, bss

C, ALPHA, EPSILON = 0.3, 0.7, 0.5
TUBE = "squared_epsilon_insensitive"


def enclosed(name, X, targets, costs, *, intercept=0.0, epsilon=None):
    """Return bounds on the optimum of a loss, by its name."""
    return enclose(X, make_loss(name, targets, costs, epsilon), intercept=intercept)


# Strong convexity of the duals -------------------------------------------------------------------


def multinomial_loss(f):
    """Return the loss of rows of the first class."""
    return np.log(np.exp(f - f[:, :1]).sum(axis=1))


# A model, its number of classes (0 for numbers), its ridge μ, and the loss of scores f of a row.
RIDGES = {
    "squared hinge": (
        LinearSVC(C=C),
        2,
        1 / (2 * C),
        lambda f: C * np.maximum(0, 1 - f[:, 0]) ** 2,
    ),
    "ridge": (Ridge(alpha=ALPHA), 0, ALPHA, lambda f: (2 - f[:, 0]) ** 2 / (2 * ALPHA)),
    "ridge classifier": (
        RidgeClassifier(alpha=ALPHA),
        2,
        ALPHA,
        lambda f: (1 - f[:, 0]) ** 2 / (2 * ALPHA),
    ),
    "tube": (
        LinearSVR(loss=TUBE, C=C, epsilon=EPSILON),
        0,
        1 / (2 * C),
        lambda f: C * np.maximum(0, np.abs(2 - f[:, 0]) - EPSILON) ** 2,
    ),
    "logistic": (LogisticRegression(C=C), 2, 4 / C, lambda f: C * np.log1p(np.exp(-f[:, 0]))),
    "multinomial": (LogisticRegression(C=C), 3, 2 / C, lambda f: C * multinomial_loss(f)),
}


def labelled_rows(n_classes):
    """Return some rows, and labels of so many classes, or numbers."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 5))
    return X, (np.arange(12) % n_classes if n_classes else rng.standard_normal(12))


def ridge_of(model, n_classes):
    """Return the μ that a certificate names."""
    X, y = labelled_rows(n_classes)
    return certify(X, y, [0, 1], estimator=model, rows="all", realised=False).regularised.mu


def largest_curvature(loss, n_outputs):
    """Return the largest second derivative of a loss, by differences, in any direction."""
    rng, step = np.random.default_rng(0), 1e-3
    points = rng.uniform(-4, 4, (2000, n_outputs))
    # Two classes that are alike, beside others that are out of the question.
    points[:2] = np.where(np.arange(n_outputs) < 2, 0.0, -20.0)
    hessians = np.empty((len(points), n_outputs, n_outputs))
    for i, first in enumerate(np.eye(n_outputs) * step):
        for j, second in enumerate(np.eye(n_outputs) * step):
            signs = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
            values = [s * t * loss(points + s * first + t * second) for s, t in signs]
            hessians[:, i, j] = sum(values) / (4 * step**2)
    return np.linalg.eigvalsh(hessians)[:, -1].max()


@pytest.mark.parametrize("kind", RIDGES)
def test_ridge_is_one_over_the_largest_curvature_of_the_loss(kind):
    model, n_classes, mu, loss = RIDGES[kind]
    found = ridge_of(model, n_classes)
    assert found == pytest.approx(mu, rel=1e-12)
    n_outputs = 3 if kind == "multinomial" else 1
    assert found * largest_curvature(loss, n_outputs) == pytest.approx(1, rel=1e-4)


@pytest.mark.parametrize("model", [SVC(kernel="linear", C=C), LinearSVC(loss="hinge", C=C)])
def test_ridge_of_the_hinge_is_that_of_the_squared_hinge(model):
    assert ridge_of(model, 2) == pytest.approx(1 / (2 * C), rel=1e-12)


@pytest.mark.parametrize("kind", ["squared hinge", "ridge classifier", "logistic", "multinomial"])
def test_ridge_is_that_of_the_heaviest_class(kind):
    model, n_classes, mu, _ = RIDGES[kind]
    weighted = type(model)(**{**model.get_params(), "class_weight": {1: 5.0, 0: 2.0}})
    assert ridge_of(weighted, n_classes) == pytest.approx(mu / 5, rel=1e-12)


def test_ridge_of_balanced_classes_is_that_of_the_rarest():
    X, y = np.random.default_rng(0).standard_normal((12, 5)), np.arange(12) < 2
    model = LinearSVC(C=C, class_weight="balanced")
    found = certify(X, y, [0, 1], estimator=model, rows="all", realised=False).regularised.mu
    assert found == pytest.approx(1 / (2 * C * 12 / (2 * 2)), rel=1e-12)


def test_ridge_without_labels_holds_for_any_number_of_classes():
    X, _ = labelled_rows(2)
    model = LogisticRegression(C=C)
    found = certify(ArrayBlocks(X), None, [0, 1], estimator=model, rows="all", realised=False)
    assert found.regularised.mu == pytest.approx(2 / C, rel=1e-12)


def test_of_several_values_of_alpha_the_least_counts():
    X, y = labelled_rows(3)
    model = RidgeClassifier(alpha=np.array([3.0, ALPHA, 2.0]))
    found = certify(X, y, [0, 1], estimator=model, rows="all", realised=False).regularised.mu
    assert found == pytest.approx(ALPHA, rel=1e-12)


def test_weighted_rows_are_rows_times_the_roots_of_their_weights():
    X, y = labelled_rows(2)
    weights = np.linspace(0.5, 3.0, 12)
    selector = BSSSelector(3, estimator=RidgeClassifier(alpha=ALPHA), rescale=False)
    certificate = selector.fit(X, y, sample_weight=weights).certificate_
    assert certificate.regularised.mu == pytest.approx(ALPHA / 3.0, rel=1e-12)
    rows, ridge = X * np.sqrt(weights)[:, None], ALPHA * np.eye(12)
    part = rows[:, selector.indices_]
    growth = linalg.eigvalsh(rows @ rows.T + ridge, part @ part.T + ridge)[-1]
    assert certificate.measured_growth == pytest.approx(growth, rel=1e-9)


def test_costs_are_those_that_the_models_multiply_losses_by():
    y = np.array([0, 1, 1])
    weights = np.array([1.0, 2.0, 0.5])
    heavy = {"class_weight": {1: 10.0}}
    for model in (SVC(C=C, **heavy), LinearSVC(C=C, **heavy), LogisticRegression(C=C, **heavy)):
        np.testing.assert_allclose(
            Problem.of(model, y, weights).costs[:, 0], C * np.array([1, 20, 5])
        )
    ridge = RidgeClassifier(alpha=ALPHA, **heavy)
    np.testing.assert_allclose(
        Problem.of(ridge, y, weights).costs[:, 0], np.array([1, 20, 5]) / (2 * ALPHA)
    )
    np.testing.assert_allclose(Problem.of(Ridge(alpha=ALPHA), y).costs[:, 0], 1 / (2 * ALPHA))
    np.testing.assert_allclose(Problem.of(LinearSVR(C=C), y).costs[:, 0], C)
    # One class against the rest: only its own rows have its weight.
    found = Problem.of(LinearSVC(C=C, **heavy), np.array([0, 1, 2])).costs
    np.testing.assert_allclose(found, C * np.array([[1, 1, 1], [1, 10, 1], [1, 1, 1]]))


BALANCED = {"class_weight": "balanced", "tol": 1e-10}


@pytest.mark.parametrize(
    "model",
    [
        SVC(kernel="linear", C=C, **BALANCED),
        LinearSVC(C=C, dual=True, random_state=0, max_iter=100_000, **BALANCED),
        LogisticRegression(C=C, **BALANCED),
        RidgeClassifier(alpha=ALPHA, **BALANCED),
    ],
    ids=lambda model: type(model).__name__,
)
def test_costs_of_balanced_classes_are_those_of_the_models(model, rng):
    """The same model on rows with these costs, and classes that are not balanced."""
    X, y = rng.standard_normal((20, 3)), np.arange(20) % 5 == 0
    weights = np.linspace(0.2, 3.0, 20)
    unit = 1 / (2 * ALPHA) if isinstance(model, RidgeClassifier) else C
    costs = Problem.of(model, y, weights).costs[:, 0] / unit
    balanced = clone(model).fit(X, y, sample_weight=weights)
    plain = clone(model).set_params(class_weight=None).fit(X, y, sample_weight=costs)
    np.testing.assert_allclose(balanced.coef_, plain.coef_, rtol=1e-4)


def test_balanced_classes_of_weighted_rows_have_no_ridge():
    """The weights that balance the classes are not known from the weighted rows."""
    X, y = labelled_rows(2)
    model = RidgeClassifier(alpha=ALPHA, class_weight="balanced")
    fit = BSSSelector(3, estimator=model).fit(X, y, sample_weight=np.linspace(0.5, 3.0, 12))
    assert fit.certificate_.regularised is None


# Bounds that are attained ------------------------------------------------------------------------

# Rows at right angles to each other, each with a part in a chosen and in another column.
PARTS = 1.0, 2.0
KERNEL = PARTS[0] ** 2 + PARTS[1] ** 2
CHOSEN = np.array([0, 2])
ROWS = np.kron(np.eye(2), PARTS)
SIGNS = np.array([1.0, -1.0])

QUADRATIC = {
    "squared hinge": (LinearSVC(C=C, fit_intercept=False, random_state=0), 1 / (2 * C)),
    "ridge": (Ridge(alpha=ALPHA, fit_intercept=False), ALPHA),
    "ridge classifier": (RidgeClassifier(alpha=ALPHA, fit_intercept=False), ALPHA),
    "tube": (LinearSVR(loss=TUBE, C=C, epsilon=EPSILON, fit_intercept=False), 1 / (2 * C)),
}


@pytest.mark.parametrize("scale", [0.5, 1.0, 1.5])
@pytest.mark.parametrize("kind", QUADRATIC)
def test_quadratic_losses_attain_their_bound(kind, scale):
    """A row of the kernel k and the target t has the optimum ½t²/(k + μ)."""
    model, mu = QUADRATIC[kind]
    options = {"weights": [scale, scale], "estimator": model, "rows": "all"}
    certificate = certify(ROWS, SIGNS, CHOSEN, **options)
    target = 1 - EPSILON if kind == "tube" else 1.0
    optima = [target**2 / (k + mu) for k in (KERNEL, (scale * PARTS[0]) ** 2)]
    assert certificate.realised.objective_full == pytest.approx(optima[0], rel=1e-6)
    assert certificate.realised.objective_selected == pytest.approx(optima[1], rel=1e-6)
    # Rounded to the side that makes the selection look worse.
    assert certificate.realised.objective_full < optima[0]
    assert certificate.realised.objective_selected > optima[1]
    growth = optima[1] / optima[0]
    assert growth * (1 - 1e-9) <= certificate.measured_growth <= growth * (1 + 1e-6)


def memory_limits(monkeypatch, path):
    """Lower the limits of memory so that a bound is found in a certain way."""
    if path != "basis":
        monkeypatch.setattr(_memory, "MAX_QUICK_GRAM", 1)
    if path == "passes":
        monkeypatch.setattr(_memory, "MAX_GRAM", 1)


# By how much each way to a bound may exceed the truth here.
PATHS = {"basis": 1e-6, "Lanczos": 0.012, "passes": 0.008}


def certificate_by(path, X, chosen, scale, mu, monkeypatch):
    """Return the measured bound for ridge regression, found in a certain way."""
    memory_limits(monkeypatch, path)
    return certify(
        ArrayBlocks(X, n_rows=1) if path == "passes" else X,
        None,
        chosen,
        weights=np.full(len(chosen), scale),
        estimator=Ridge(alpha=mu),
        rows="all",
        realised=False,
    )


@pytest.mark.parametrize("mu", [1e-3, 1.0])
@pytest.mark.parametrize("scale", [0.5, 1.0, 1.5])
@pytest.mark.parametrize("path", PATHS)
def test_every_way_to_the_bound_is_next_to_the_truth(path, scale, mu, monkeypatch):
    # With a row of zeros there are more rows than chosen columns.
    X = np.vstack([ROWS, np.zeros(4)])
    certificate = certificate_by(path, X, CHOSEN, scale, mu, monkeypatch)
    growth = (KERNEL + mu) / ((scale * PARTS[0]) ** 2 + mu)
    assert growth * (1 - 1e-9) <= certificate.measured_growth
    # Rows in blocks pay for small scales apart from the ridge, and gain nothing by large ones.
    if path != "passes" or scale == 1 or (scale < 1 and mu < 1):
        assert certificate.measured_growth <= growth * (1 + PATHS[path])
    is_random = path in ("Lanczos", "passes")
    assert certificate.regularised.probability == (0.99 if is_random else 1.0)
    # What holds with a probability is no proof.
    assert np.isinf(certificate.certain_growth) == is_random


def test_bounds_by_products_count_the_shortfall_of_lanczos(monkeypatch):
    """It is that of 12 steps in as many dimensions as the operator has that is not zero."""
    X, growth = np.vstack([ROWS, np.zeros(4)]), (KERNEL + 1) / (PARTS[0] ** 2 + 1)

    def factor(size):
        return largest_eigenvalue(lambda V: V, size, 12, identity="any")

    with monkeypatch.context() as patch:
        found = certificate_by("Lanczos", X, CHOSEN, 1.0, 1.0, patch)
        # Chosen columns and rows.
        assert found.measured_growth == pytest.approx(growth * factor(2 + 3), rel=1e-6)
    found = certificate_by("passes", X, CHOSEN, 1.0, 1.0, monkeypatch)
    # Columns that are not chosen.
    assert found.measured_growth == pytest.approx(1 + (growth - 1) * factor(2), rel=1e-6)


@pytest.mark.parametrize("path", ["Lanczos", "passes"])
def test_products_are_believed_only_as_far_as_rounding_lets_them(path, monkeypatch):
    """A tiny ridge blows up the rounding errors of the chosen columns."""
    X, mu = np.diag([1.0, 1.0, 1e-9, 0.0]), 1e-7
    found = certificate_by(path, X, [0, 1], 1.0, mu, monkeypatch)
    blown_up = 8 * 2 * np.finfo(float).eps * (2 / mu) * (1 / mu) ** 1.5
    assert blown_up > 100
    assert found.measured_growth >= 0.99 * blown_up


@pytest.mark.parametrize("path", ["basis", "passes"])
def test_scales_of_all_columns_count_by_their_squares(path, monkeypatch):
    mu = 1e-6
    certificate = certificate_by(path, ROWS, np.arange(4), 0.5, mu, monkeypatch)
    growth = (KERNEL + mu) / (KERNEL / 4 + mu)
    assert growth * (1 - 1e-9) <= certificate.measured_growth <= growth * (1 + 1e-5)
    certificate = certificate_by(path, ROWS, np.arange(4), 2.0, mu, monkeypatch)
    assert certificate.regularised.lambda_max == pytest.approx(4, rel=1e-6)
    assert certificate.regularised.lambda_max >= (4 * KERNEL + mu) / (KERNEL + mu) * (1 - 1e-9)
    assert certificate.lambda_max == pytest.approx(4, rel=1e-9)
    # A row of zeros stays as it is.
    X = np.vstack([ROWS, np.zeros(4)])
    certificate = certificate_by(path, X, np.arange(4), 2.0, mu, monkeypatch)
    assert certificate.regularised.lambda_min == pytest.approx(1, rel=1e-9)


@pytest.mark.parametrize("path", ["Cholesky factor", "Lanczos"])
def test_columns_that_are_scaled_up_are_counted_above(path, monkeypatch):
    X = np.vstack([ROWS, np.zeros(4)])
    certificate = certificate_by(path, X, CHOSEN, 3.0, 1e-3, monkeypatch)
    assert certificate.regularised.lambda_max == 9
    assert certificate.lambda_max == 9


def test_all_directions_attain_the_bound_of_any_model():
    """Two rows that a hard margin keeps apart, with only a part of the column between them."""
    X, y = np.array([[1.0, 2.0], [-1.0, -2.0]]), np.array([1, 0])
    hard = SVC(kernel="linear", C=1e6)
    certificate = certify(X, y, [0], estimator=hard)
    share = 1 / 5
    assert certificate.lambda_min == pytest.approx(share, rel=1e-9)
    assert certificate.lambda_min <= share
    assert (1 / min(1.0, certificate.lambda_min)) == pytest.approx(5, rel=1e-9)
    assert certificate.realised.margin_ratio == pytest.approx(share, rel=1e-6)
    assert certificate.realised.objective_ratio == pytest.approx(5, rel=1e-6)
    assert certificate.measured_growth == pytest.approx(5, rel=1e-4)
    assert certificate.measured_growth >= 5 * (1 - 1e-12)


def test_margin_and_radius_attain_the_bounds_of_all_directions():
    """The rows differ along one column, whose scale is all that counts."""
    y = np.array([1, 0])
    for scale in (0.5, 3.0):
        X = np.array([[1.0, 0.0], [-1.0, 0.0]])
        certificate = certify(X, y, [0], weights=[scale], estimator=SVC(kernel="linear", C=10.0))
        assert certificate.lambda_min == pytest.approx(scale**2, rel=1e-9)
        assert certificate.lambda_max == pytest.approx(scale**2, rel=1e-9)
        assert certificate.condition == pytest.approx(1, rel=1e-9)
        assert certificate.realised.margin_full == pytest.approx(1, rel=1e-6)
        assert certificate.realised.margin_selected == pytest.approx(scale, rel=1e-6)
        assert certificate.realised.radius_full == pytest.approx(1, rel=1e-6)
        assert certificate.realised.radius_selected == pytest.approx(scale, rel=1e-6)
        assert certificate.realised.radius_ratio == pytest.approx(scale**2, rel=1e-5)


def test_radii_are_rounded_to_make_the_selection_look_worse(rng):
    X, y = rng.standard_normal((12, 4)), np.arange(12) % 2
    found = certify(X, y, np.arange(4), estimator=Ridge(), rows="all").realised
    assert found.radius_full < found.radius_selected
    assert found.radius_full == minimum_enclosing_ball(X).lower_bound


def test_of_several_classes_the_margin_that_loses_most_counts():
    """The classes 0 and 1 differ along the first column, the others along the second too."""
    X, y = np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 6.0]]), np.array([0, 1, 2])
    model = SVC(kernel="linear", C=10.0)
    realised = certify(X, y, [0, 1], weights=[0.5, 1.0], estimator=model).realised
    assert realised.margin_full == pytest.approx(1, rel=1e-6)
    assert realised.margin_ratio == pytest.approx(0.25, rel=1e-6)


def test_objectives_of_several_problems_are_summed():
    """Rows at right angles: a row has the loss of each problem that it takes part in."""
    X, y = np.diag([1.0, 2.0, 3.0]), np.array([0, 1, 2])
    model = LinearSVC(C=C, fit_intercept=False, random_state=0)
    realised = certify(X, y, [0, 1, 2], estimator=model, rows="all").realised
    optima = 1 / (2 * (np.diag(X) ** 2 + 1 / (2 * C)))
    assert realised.objective_full == pytest.approx(3 * optima.sum(), rel=1e-6)


# Two more rows of the first class, far beyond the margin, that differ along a column that is not
# chosen, so that no part of that direction is kept.
BESIDE = np.zeros((2, 6))
BESIDE[:, 4:] = [[100.0, 1e-3], [100.0, -1e-3]]
HINGE_ROWS = np.vstack([np.hstack([np.kron(np.eye(2), [1.0, 3.0]), np.zeros((2, 2))]), BESIDE])
HINGE_SIGNS = np.array([1.0, -1.0, 1.0, 1.0])
HINGE_MODEL = LinearSVC(loss="hinge", C=1.0, fit_intercept=False, random_state=0)


def test_the_hinge_needs_more_than_its_ridge_says():
    """The kernel 10 becomes 1, and so the growth is 10, above 1/λ = 10.5/1.5."""
    certificate = certify(HINGE_ROWS, HINGE_SIGNS, [0, 2, 4], estimator=HINGE_MODEL, rows="all")
    assert certificate.lambda_min == 0
    kept = 1.5 / 10.5
    assert certificate.regularised.lambda_min == pytest.approx(kept, rel=1e-6)
    assert certificate.measured_growth == pytest.approx(2 / (kept * (1 + kept)), rel=1e-6)
    signs, costs, both = HINGE_SIGNS, np.ones(4), [HINGE_ROWS, HINGE_ROWS[:, [0, 2, 4]]]
    full, part = (enclosed("hinge", X, signs, costs, intercept=0.0) for X in both)
    assert part.lower / full.upper == pytest.approx(10, rel=1e-2)
    assert 1 / kept < part.lower / full.upper <= certificate.measured_growth


@pytest.mark.parametrize("path", PATHS)
def test_the_factor_of_the_hinge_is_there_on_every_way(path, monkeypatch):
    memory_limits(monkeypatch, path)
    rows = HINGE_ROWS
    if path == "passes":
        rows = ArrayBlocks(HINGE_ROWS, HINGE_SIGNS, n_rows=2)
    labels = None if path == "passes" else HINGE_SIGNS
    certificate = certify(
        rows, labels, [0, 2, 4], estimator=HINGE_MODEL, rows="all", realised=False
    )
    kept = certificate.regularised.lambda_min
    assert certificate.measured_growth == pytest.approx(2 / (kept * (1 + kept)), rel=1e-9)
    assert certificate.measured_growth >= 10


# Intercepts --------------------------------------------------------------------------------------

PENALISED = {
    "squared hinge": LinearSVC(C=C, random_state=0),
    "hinge": LinearSVC(loss="hinge", C=C, random_state=0),
    "tube": LinearSVR(loss=TUBE, C=C, epsilon=0.1),
    "logistic": LogisticRegression(C=C, solver="liblinear", random_state=0),
}


@pytest.mark.parametrize("kind", PENALISED)
@pytest.mark.parametrize("scaling", [0.2, 5.0])
def test_a_penalised_intercept_is_the_weight_of_a_constant_column(kind, scaling):
    X, y = make_relevant_features(30, 6, 3, random_state=0)
    y = y + 0.5 * X[:, 0] if kind == "tube" else y
    chosen = [0, 2, 4]
    model = PENALISED[kind].set_params(intercept_scaling=scaling, fit_intercept=True)
    found = certify(X, y, chosen, estimator=model, rows="all").realised
    constant = np.full((len(X), 1), scaling)
    model = PENALISED[kind].set_params(fit_intercept=False)
    columns = certify(
        np.hstack([X, constant]), y, [*chosen, 6], estimator=model, rows="all"
    ).realised
    assert found.objective_full == pytest.approx(columns.objective_full, rel=1e-5)
    assert found.objective_selected == pytest.approx(columns.objective_selected, rel=1e-5)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_blocks_minimise_the_same_objective(loss):
    X, y = make_relevant_features(60, 6, 3, random_state=0)
    # Some rows are on the wrong side, and the origin is beside all of them.
    X, y = X + 1.0, np.where(np.arange(60) % 5 == 0, -y, y)
    options = {"intercept_scaling": 3.0, "random_state": 0, "tol": 1e-8, "max_iter": 100_000}
    found = cascade(ArrayBlocks(X, y, n_rows=25), LinearSVC(loss=loss, C=C, **options))
    bounds = enclosed(loss, X, y.astype(float), np.full(60, C), intercept=3.0)
    attained = objective(found.model, Problem.of(found.model, y), X)
    assert attained == pytest.approx(bounds.upper, rel=1e-3)
    assert attained >= bounds.lower * (1 - 1e-9)


# What a basis leaves out -------------------------------------------------------------------------


@pytest.mark.parametrize(("weight", "left_out", "mu"), [(1.0, 0.3, 2.0), (2.0, 0.1, 0.25)])
def test_what_a_basis_leaves_out_costs_what_the_lemma_says(weight, left_out, mu):
    basis = Basis(np.eye(3)[:, :2], np.ones(2), 2, exact=True, left_out=left_out)
    sample = ColumnChoice(np.array([0, 1]), np.array([weight, weight / 2]))
    lower, upper = left_out_factors(basis, sample, mu)
    share = weight * left_out / np.sqrt(mu)
    assert lower == pytest.approx((1 - share) / (1 + left_out**2 / mu), rel=1e-12)
    assert upper == pytest.approx(1 + share + share**2, rel=1e-12)


# The second row, of norm 1, is below the rounding of the first.
DROWNED = np.array([[5e16, 5e16, 5e16, 5e16], [0.0, 0.0, 0.5**0.5, -(0.5**0.5)]])


def test_a_direction_that_drowns_beside_a_huge_one_still_counts():
    """No part of it is kept."""
    options = {"weights": np.sqrt([2.0, 2.0]), "rows": "all", "realised": False}
    square = exact_basis(DROWNED).left_out ** 2
    for mu in (2.5, 10.0, 1000.0, 2.5 * square, 10.0 * square, 1000.0 * square):
        certificate = certify(DROWNED, None, [0, 1], estimator=Ridge(alpha=mu), **options)
        assert certificate.rank == 1
        assert certificate.measured_growth >= 1 + 1 / mu
        if mu > square:
            most = (1 + square / mu) / (1 - np.sqrt(2 * square / mu))
            assert certificate.measured_growth <= most * (1 + 1e-9)


def test_a_hinge_pays_for_what_a_basis_leaves_out_by_the_best_ridge():
    """With a ridge of c/(2C), λ(1 − c(1 − λ)/2) is left, and λ depends on c."""
    # A ridge of 100 times the square of what is left out.
    model = SVC(kernel="linear", C=0.005 / exact_basis(DROWNED).left_out ** 2)
    certificate = certify(DROWNED, [0, 1], [0, 1], estimator=model, rows="all", realised=False)
    parts = np.logspace(-6, 0, 10_001)
    missed = np.sqrt(1 / (parts * 100.0))
    kept = 0.5 * np.maximum(0.0, 1 - missed) / (1 + missed**2)
    assert 0 < certificate.regularised.hinge_kept <= (kept * (1 - parts * (1 - kept) / 2)).max()


# Promises ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def data():
    return make_relevant_features(30, 200, 8, random_state=0)


def test_promise_of_bss(data):
    X, _ = data
    options = {"supervised": False, "trust": 0, "rescale": "each"}
    selector = BSSSelector(100, **options).fit(X)
    promise = selector.certificate_.a_priori
    ratio = np.sqrt(selector.basis_.n_components / promise.n_picks)
    assert selector.basis_.n_components == 30
    # Rounding of the basis, which counts most for the weakest direction, is allowed for.
    values = np.linalg.svd(X, compute_uv=False)
    rounding = 8 * 30 * np.finfo(float).eps * values[0] / values[-1]
    slack = rounding * selector.scales_.max() ** 2
    assert promise.lambda_min == pytest.approx((1 - ratio) ** 2 - slack, rel=1e-12)
    assert promise.lambda_max == pytest.approx((1 + ratio) ** 2 + slack, rel=1e-12)
    growth = selector.certificate_.promised_growth
    assert 1 / growth == pytest.approx(promise.lambda_min, rel=1e-12)
    # A feature that is in anyway takes a pick, and adds no more than 1 above.
    selector = BSSSelector(101, fixed_features=[3], **options).fit(X)
    promise, largest = selector.certificate_.a_priori, selector.scales_.max() ** 2
    assert promise.n_picks == 100
    slack = rounding * largest
    assert promise.lambda_min == pytest.approx((1 - ratio) ** 2 - slack, rel=1e-12)
    most = min((1 + ratio) ** 2 + 1 + slack, largest)
    assert promise.lambda_max == pytest.approx(most, rel=1e-12)


def test_features_that_are_in_anyway_and_picked_too_add_their_squared_scales(data):
    X, _ = data
    X, kept = X[:, :40], np.arange(30)
    options = {"supervised": False, "trust": 0, "order": "leverage", "rescale": "each"}
    selector = BSSSelector(39, fixed_features=kept, basis="truncated", n_components=5, **options)
    selector.fit(X)
    picked = bss(truncated_basis(X, 5).vectors, 9, chosen=kept)
    expected = np.isin(np.arange(40), kept).astype(float)
    expected[picked.indices] += picked.scales**2
    assert np.isin(picked.indices, kept).any()
    np.testing.assert_allclose(selector.scales_**2, expected[selector.indices_], rtol=1e-9)


def test_nothing_is_promised_of_other_scales(data):
    X, _ = data
    plain = BSSSelector(100, supervised=False, trust=0, rescale=False).fit(X)
    assert plain.certificate_.a_priori is None


@pytest.mark.parametrize("kind", [LeverageScoreSelector, RandomSelector])
def test_promise_of_random_draws(kind, rng):
    """Each side fails with a chance of 0.005, by the bounds of Chernoff for matrices."""
    X = rng.uniform(0.5, 1.5, (4, 200)) * rng.choice([-1, 1], (4, 200))
    n_picks = 150
    selector = kind(n_picks, supervised=False, random_state=0).fit(X)
    promise = selector.certificate_.a_priori
    scores = np.linalg.norm(np.linalg.svd(X, full_matrices=False)[2], axis=0) ** 2
    coherence = 4 if kind is LeverageScoreSelector else 200 * scores.max()
    low, high = promise.lambda_min, promise.lambda_max
    chances = [4 * np.exp(-n_picks / coherence * (e * np.log(e) + 1 - e)) for e in (low, high)]
    assert chances[0] == pytest.approx(0.005, rel=1e-6)
    # No eigenvalue is above the largest squared scale, either.
    if high < selector.scales_.max() ** 2:
        assert chances[1] == pytest.approx(0.005, rel=1e-6)
    else:
        assert kind is RandomSelector
        assert high == selector.scales_.max() ** 2
    assert promise.probability == 0.99


# Lanczos' method ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "n_steps"), [(50, 4), (2000, 12), (10**5, 6)])
def test_shortfall_is_where_all_starts_may_fail_in_one_case_of_a_hundred(size, n_steps):
    """A unit start has a share below b in one direction with a chance of at most b·√(2d/π)."""
    reached = 3 / largest_eigenvalue(lambda V: 3 * V, size, n_steps, identity="any")
    polynomial = Chebyshev.basis(2 * n_steps - 1)
    share = 1 / polynomial(1 / np.sqrt(reached))
    assert (share * np.sqrt(2 * size / np.pi)) ** 4 == pytest.approx(0.01, rel=1e-6)


def test_rounding_and_zeros_count_in_the_bound_of_lanczos():
    plain = largest_eigenvalue(lambda V: V, 60, 3, identity="any")
    rounded = largest_eigenvalue(lambda V: V, 60, 3, identity="any", rounding=0.5)
    assert rounded == pytest.approx(1.5 * plain, rel=1e-9)
    small = largest_eigenvalue(lambda V: V, 40, 3, identity="any")
    without = largest_eigenvalue(lambda V: V, 60, 3, identity="any", zeros=np.arange(20))
    assert without == pytest.approx(small, rel=1e-9)


# Rows that matter --------------------------------------------------------------------------------


def test_rows_on_the_margin_matter_and_a_little_beyond():
    X = np.array([[0.5], [0.999], [1.0], [1.0009], [1.0011], [2.0], [-1.0]])
    y = np.array([1, 1, 1, 1, 1, 1, 0])
    for model in (SVC(kernel="linear"), LinearSVC(random_state=0)):
        model.fit(np.array([[1.0], [-1.0]]), [1, 0])
        if isinstance(model, LinearSVC):
            model.coef_, model.intercept_ = np.array([[1.0]]), np.zeros(1)
        else:
            model.support_ = np.array([2, 6])
        np.testing.assert_array_equal(support_rows(model, X, y), [0, 1, 2, 3, 6])


def test_rows_at_the_edge_of_a_tube_matter_and_a_little_within():
    model = LinearSVR(loss=TUBE, epsilon=0.5).fit([[0.0], [1.0], [3.0]], [0.0, 1.0, 3.0])
    model.coef_, model.intercept_ = np.array([1.0]), np.zeros(1)
    targets = np.array([0.0, 0.499, 0.4996, -0.4996, 0.5, -2.0])
    found = support_rows(model, np.zeros((6, 1)), targets)
    np.testing.assert_array_equal(found, [2, 3, 4, 5])


# The optimum of the reduced model on the first two rows is known; the third is just beyond its
# margin, or just within.
KNOWN = {
    "squared hinge": (LinearSVC(C=0.1, fit_intercept=False, random_state=0), 0.4 / 1.4),
    "hinge": (LinearSVC(loss="hinge", C=0.1, fit_intercept=False, random_state=0), 0.2),
    "free intercept": (SVC(kernel="linear", C=10.0), 1.0),
}


@pytest.mark.parametrize("kind", KNOWN)
def test_rows_just_within_the_margin_of_the_reduced_model_are_not_passed_over(kind):
    model, weight = KNOWN[kind]
    y = np.array([1, 0, 1])
    for change, covers in ((1e-4, True), (-1e-9, False), (-1e-4, False)):
        X = np.array([[1.0, 1.0], [-1.0, -1.0], [(1 + change) / weight, 10.0]])
        certificate = certify(X, y, [0], estimator=model)
        assert certificate.n_rows == 2
        assert certificate.covers_all_rows is covers


def move_solutions(monkeypatch, change, multiple=1.0):
    """Let the check of all rows start from solutions that are changed, at their true value.

    ``change`` takes weights and intercept, and returns others; multipliers are multiplied.
    """

    def moved(rows, loss, *, free, close):
        *_, best = points(rows, loss, free=free, close=close)
        weights, shift = change(best.weights, best.shift)
        upper = (weights**2).sum() / 2 + loss.value(rows.scores(weights)[0] + shift)
        beta = multiple * best.beta
        yield best._replace(weights=weights, shift=shift, beta=beta, upper=upper)

    monkeypatch.setattr("certifeature.certificate.all_rows.points", moved)


@pytest.mark.parametrize("side", [1, -1])
def test_a_hinge_solution_is_no_further_from_the_optimum_than_its_gap_allows(side, monkeypatch):
    """All rows have a loss, whose slope is the same near the optimum: the gap is ½ distance²."""
    model, weight = KNOWN["hinge"]
    move_solutions(monkeypatch, lambda weights, shift: (1.3 * weights, shift))
    for change, covers in ((1e-4, True), (-1e-6, False)):
        X = np.array([[1.0, 1.0], [-1.0, -1.0], [side * (1 + change) / weight, side * 10.0]])
        certificate = certify(X, [1, 0, (1 + side) // 2], [0], estimator=model)
        assert certificate.n_rows == 2
        assert certificate.covers_all_rows is covers


def test_a_smooth_solution_is_no_further_from_the_optimum_than_its_gap_allows(monkeypatch):
    """The loss has next to no curvature beside that of ½‖w‖²."""
    model = LinearSVC(C=1e-5, fit_intercept=False, random_state=0)
    weight = 4e-5 / (1 + 4e-5)
    move_solutions(monkeypatch, lambda weights, shift: (1.3 * weights, shift))
    for change, covers in ((1e-4, True), (-1e-6, False)):
        X = np.array([[1.0, 1.0], [-1.0, -1.0], [(1 + change) / weight, 1 / weight]])
        certificate = certify(X, [1, 0, 1], [0], estimator=model)
        assert certificate.n_rows == 2
        assert certificate.covers_all_rows is covers


@pytest.mark.parametrize(("cost", "factor"), [(0.1, 1.3), (1e4, 2.0)])
def test_multipliers_of_other_weights_widen_the_region(cost, factor, monkeypatch):
    """The weights are those of the multipliers, but the losses are not: less, or none."""
    model = LinearSVC(C=cost, fit_intercept=False, random_state=0)
    weight = 4 * cost / (1 + 4 * cost)
    move_solutions(monkeypatch, lambda weights, shift: (factor * weights, shift), factor)
    X = np.array([[1.0, 1.0], [-1.0, -1.0], [(1 - 1e-3) / weight, 10.0]])
    certificate = certify(X, [1, 0, 1], [0], estimator=model)
    assert certificate.n_rows == 2
    assert certificate.covers_all_rows is False


@pytest.mark.parametrize("side", [1, -1])
def test_a_free_intercept_is_as_far_from_the_best_as_its_loss_allows(side, monkeypatch):
    """Moved to the side of the cheap class, it is nearly all that the bound allows away."""
    model = SVC(kernel="linear", C=1.0, class_weight={1: 100.0})
    # The last row is at the origin of the reduced model, and on its margin for an intercept of ±1.
    X = np.array([[1.0, 1.0], [-1.0, -1.0], [0.0, side * 10.0]])
    for move in (side * 1e6, 0.0):
        move_solutions(monkeypatch, lambda weights, shift, move=move: (weights, shift + move))
        certificate = certify(X, [1, 0, (1 + side) // 2], [0], estimator=model)
        assert certificate.n_rows == 2
        assert certificate.covers_all_rows is False


@pytest.mark.parametrize("move", [-0.02, 0.0, 0.02])
@pytest.mark.parametrize("cost", [0.3, 5.0])
def test_a_free_intercept_of_the_squared_hinge_is_within_its_bounds(cost, move, monkeypatch, rng):
    signs = np.where(np.arange(12) % 3 == 0, 1.0, -1.0)
    rows = SafeRows.of(rng.standard_normal((12, 2)) + 0.3 * signs[:, None], None)
    loss = make_loss("squared_hinge", signs, np.full(12, cost))
    best, reached = minimise(rows.values, at_scale_of_rows(rows, loss, None)[1], None)
    assert reached
    move_solutions(monkeypatch, lambda weights, shift: (weights, shift + move))
    region = _region(rows, loss, free=True)
    assert np.linalg.norm(region.weights[:-1] - best[:-1, 0]) <= region.radius
    assert region.intercepts[0] <= best[-1, 0] <= region.intercepts[1]
    assert region.intercepts[1] - region.intercepts[0] < 2


@pytest.mark.parametrize("side", [1, -1])
def test_rows_just_outside_the_tube_of_the_reduced_model_are_not_passed_over(side):
    """Two rows with targets ±t have the weight 4Ct'/(1 + 4C), with t' = t − ε."""
    model = LinearSVR(loss=TUBE, C=0.1, epsilon=0.5, fit_intercept=False)
    weight = 0.4 * 1.5 / 1.4
    both = 0.4 * 1.5 / 1.8
    for change, covers in ((-1e-4, True), (1e-9, False), (1e-4, False)):
        # Within the tube of all features, whose weights are equal.
        score = 3 * weight
        other = (score + 0.5 * (1 + change)) / both - 3
        X = np.array([[1.0, 1.0], [-1.0, -1.0], [side * 3.0, side * other]])
        y = np.array([2.0, -2.0, side * (score + 0.5 * (1 + change))])
        certificate = certify(X, y, [0], estimator=model)
        assert certificate.n_rows == 2
        assert certificate.covers_all_rows is covers


# Optima that are known ---------------------------------------------------------------------------


def assert_encloses(bounds, truth, rel=1e-6):
    assert bounds.lower <= truth * (1 + 1e-12)
    assert bounds.upper >= truth * (1 - 1e-12)
    assert bounds.upper - bounds.lower <= rel * truth


COSTS = np.array([0.05, 0.3, 4.0])
SIZES = np.array([1.0, 2.0, 0.5])


def test_optima_of_rows_at_right_angles_are_enclosed():
    """Each row has the optimum of a problem of its own, of the kernel k."""
    X, kernels = np.diag(SIZES), SIZES**2
    signs = np.array([1.0, -1.0, 1.0])
    alpha = np.minimum(COSTS, 1 / kernels)
    truth = (alpha - alpha**2 * kernels / 2).sum()
    assert_encloses(enclosed("hinge", X, signs, COSTS, intercept=0.0), truth)
    truth = (1 / (2 * (kernels + 1 / (2 * COSTS)))).sum()
    assert_encloses(enclosed("squared_hinge", X, signs, COSTS, intercept=0.0), truth)
    # Near the origin and far from it.
    for targets in (np.array([2.0, -1.5, 0.2]), np.array([20.0, 21.5, 20.2])):
        truth = np.maximum(0, np.abs(targets) - 0.4) ** 2 / (2 * (kernels + 1 / (2 * COSTS)))
        assert_encloses(enclosed(TUBE, X, targets, COSTS, epsilon=0.4), truth.sum())


def entropy(p):
    return -(p * np.log(p)).sum(axis=-1)


def test_optima_of_logistic_losses_are_enclosed():
    """A row of the kernel k has the share q of its cost c with log(1/q − 1) = c·k·q."""
    costs, kernels = COSTS, SIZES**2
    low, high = np.zeros(3), np.full(3, 0.5)
    for _ in range(100):
        q = (low + high) / 2
        rises = np.log(1 / q - 1) > costs * kernels * q
        low, high = np.where(rises, q, low), np.where(rises, high, q)
    truth = (costs * entropy(np.stack([q, 1 - q], axis=-1)) - (costs * q) ** 2 * kernels / 2).sum()
    signs = np.array([1.0, -1.0, 1.0])
    bounds = enclosed("logistic", np.diag(SIZES), signs, costs, intercept=0.0)
    assert_encloses(bounds, truth)
    # Two classes with the weights ±w/√2, which are as long as w together.
    own = np.column_stack([signs > 0, signs < 0])
    X = np.diag(SIZES) / np.sqrt(2)
    assert_encloses(enclosed("multinomial", X, own, costs, intercept=0.0), truth)


LOSSES = ["hinge", "squared_hinge", "squared", TUBE, "logistic", "multinomial"]


def random_loss(name, rng, n_rows=8):
    """Return a loss with small and large costs."""
    targets = rng.standard_normal(n_rows)
    if name == "multinomial":
        targets = np.eye(3, dtype=bool)[np.arange(n_rows) % 3]
    elif name not in ("squared", TUBE):
        targets = np.sign(targets)
    return make_loss(name, targets, rng.uniform(0.05, 2.0, n_rows), 0.2)


def weights_of(X, loss):
    """Return the optimal weights, without an intercept."""
    if loss.smooth:
        return minimise(X, loss, 0.0)[0][:-1]
    svm = LinearSVC(loss="hinge", fit_intercept=False, tol=1e-10, max_iter=10**6, random_state=0)
    return svm.fit(X, loss.targets, sample_weight=loss.costs).coef_.T


def assert_dual_is_below(X, loss, weights, multipliers):
    """No multipliers have a dual value above the objective of any weights."""
    upper = loss.value(X @ weights) + (weights**2).sum() / 2
    for beta in multipliers:
        found = loss.feasible(beta)
        half_square = ((X.T @ found) ** 2).sum() / 2 * (1 + 1e-12)
        assert loss.dual(found, half_square) <= upper * (1 + 1e-9)


@pytest.mark.parametrize("name", LOSSES)
def test_no_multipliers_are_above_any_weights(name, rng):
    # All of small rows have a loss, and their multipliers are as large as they may be.
    for size in (0.1, 0.1, 2.0, 2.0, 2.0):
        X, loss = size * rng.standard_normal((8, 3)), random_loss(name, rng)
        best = weights_of(X, loss)
        beta = -loss.at(X @ best).slopes
        multipliers = [factor * beta for factor in (-1.0, 0.3, 0.9, 1.0, 1.1, 3.0, 30.0)]
        multipliers += [np.exp(size) * rng.standard_normal(beta.shape) for size in range(-4, 4)]
        if loss.n_columns == 1:
            # The multipliers of a squared loss, some of which pull at rows with no loss.
            system = X @ X.T + np.diag(1 / (2 * loss.costs))
            multipliers += [np.linalg.solve(system, loss.targets)[:, None]]
            multipliers += [size * loss.targets[:, None] for size in (1e-3, 0.1, 1.0, 100.0)]
        for weights in (best, 0 * best, rng.standard_normal(best.shape)):
            assert_dual_is_below(X, loss, weights, multipliers)


@pytest.mark.parametrize("name", ["logistic", "multinomial"])
def test_multipliers_above_their_costs_are_cut(name):
    """Of two rows at one place the cheap one has too low a cost to make up for the other."""
    X, costs = np.full((2, 1), 100.0), np.array([1.0, 100.0])
    own = np.eye(2, dtype=bool)
    signs = np.array([1.0, -1.0])
    loss = make_loss(name, own if name == "multinomial" else signs, costs)
    beta = 2 * signs[:, None] * (signs if name == "multinomial" else np.ones(1))
    assert_dual_is_below(X, loss, weights_of(X, loss), [beta, 2 * beta])


@pytest.mark.parametrize("name", LOSSES)
def test_values_of_losses_count_errors_of_scores(name, rng):
    loss = random_loss(name, rng)
    scores = rng.standard_normal((8, loss.n_columns))
    errors = rng.uniform(0.1, 1.0, scores.shape)
    worst = scores + np.sign(loss.at(scores).slopes) * errors
    assert loss.value(worst) > loss.value(scores)
    assert loss.value(scores, errors) >= loss.value(worst) * (1 - 1e-12)


def test_a_class_without_rows_counts_without_a_free_intercept():
    """Scores of 0 leave each of three classes a third; an intercept leaves nothing to the last."""
    own, costs = np.eye(3, dtype=bool)[[0, 1, 1]], np.array([1.0, 2.0, 3.0])
    X = np.zeros((3, 1))
    assert_encloses(enclosed("multinomial", X, own, costs), 6 * np.log(3))
    truth = 6 * entropy(np.array([1 / 6, 5 / 6]))
    assert_encloses(enclosed("multinomial", X, own, costs, intercept=None), truth, 1e-5)


def test_a_free_intercept_costs_nothing():
    """Rows at the same place: the best intercept leaves the entropy of the classes."""
    X, costs = np.full((4, 2), 3.0), np.array([1.0, 2.0, 3.0, 4.0])
    signs = np.array([1.0, 1.0, -1.0, -1.0])
    shares = np.array([0.3, 0.7])
    assert_encloses(enclosed("logistic", X, signs, costs, intercept=None), 10 * entropy(shares))
    own = np.eye(3, dtype=bool)[[0, 0, 1, 2]]
    shares = np.array([0.3, 0.3, 0.4])
    assert_encloses(enclosed("multinomial", X, own, costs, intercept=None), 10 * entropy(shares))
    assert_encloses(enclosed("hinge", X, signs, costs, intercept=None), 2 * 3.0)
    mean = costs @ signs / costs.sum()
    truth = costs @ (signs - mean) ** 2
    assert_encloses(enclosed("squared", X, signs, costs, intercept=None), truth)


def test_a_solver_that_does_not_start_leaves_a_free_intercept_balanced(monkeypatch):
    """Weights of zero have multipliers of half of the costs, which do not sum to zero."""

    def unmoved(X, loss, intercept):
        return np.zeros((X.shape[1] + 1, loss.n_columns)), False

    monkeypatch.setattr("certifeature.models.enclosure.minimise", unmoved)
    signs = np.append(1.0, -np.ones(9))
    bounds = enclosed("logistic", np.zeros((10, 1)), signs, np.ones(10), intercept=None)
    assert 0 < bounds.lower <= 10 * entropy(np.array([0.1, 0.9])) <= bounds.upper


def test_margins_and_balls_of_known_shapes():
    X = np.array([[0.0, 1.0], [0.0, 5.0], [3.0, -1.0], [-3.0, -1.0]])
    signs = np.array([1.0, 1.0, -1.0, -1.0])
    assert_encloses(hard_margin(X, signs), 1.0)
    ball = minimum_enclosing_ball(np.array([[3.0, 0.0], [-1.0, 0.0], [1.0, 1.9], [1.0, 0.3]]))
    assert ball.lower_bound <= 2.0 <= ball.radius
    assert ball.radius - ball.lower_bound <= 1e-5
