"""Nothing false on data that nobody scaled: dates, timestamps, shifts, duplicated columns."""

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.linalg import eigh
from sklearn.svm import SVC, LinearSVC

from certifeature import BSSSelector, certify
from certifeature.basis import exact_basis

DATES = 20200101.0


def with_a_rare_indicator(n_rows, size, rng):
    """A column of dates or times, noise, and an indicator of five rows, which is the label."""
    y = np.zeros(n_rows, dtype=int)
    y[rng.permutation(n_rows)[:5]] = 1
    big = size + np.round(rng.uniform(0, 1e-4 * size, n_rows))
    return np.c_[big, rng.standard_normal(n_rows), y], y


def squared_hinge_optimum(X, y, C=1.0):
    """The optimum of LinearSVC by LIBLINEAR's primal solver, on columns of like size.

    For X = ZD the weights of Z cost ½‖D⁻¹v‖²; few features make this a small smooth problem.
    """
    from scipy.optimize import minimize

    scales = np.append(np.abs(X).max(axis=0), 1.0)
    Z = np.c_[X, np.ones(len(X))] / scales
    signs = np.where(y == 1, 1.0, -1.0)

    def value(v):
        slack = np.maximum(0.0, 1 - signs * (Z @ v))
        gradient = v / scales**2 - 2 * C * (Z.T @ (signs * slack))
        return np.sum((v / scales) ** 2) / 2 + C * np.sum(slack**2), gradient

    options = {"gtol": 1e-9, "ftol": 1e-15, "maxiter": 10_000}
    return minimize(value, np.zeros(Z.shape[1]), jac=True, method="L-BFGS-B", options=options).fun


@pytest.mark.parametrize(("n_rows", "size"), [(100_000, DATES), (1000, 1.7e9), (1000, 1.7e15)])
def test_a_large_column_does_not_hide_the_others(n_rows, size, rng):
    X, y = with_a_rare_indicator(n_rows, size, rng)
    basis = exact_basis(X)
    assert (basis.rank, basis.exact) == (3, True)
    certificate = certify(X, y, [0, 1], rows="all", estimator=LinearSVC(), realised=False)
    assert certificate.lambda_min == 0
    growth = squared_hinge_optimum(X[:, :2], y) / squared_hinge_optimum(X, y)
    assert growth > 1.1
    assert certificate.regularised.lambda_min <= 1 / growth * (1 + 1e-6)
    selector = BSSSelector("certified", supervised=False)
    with pytest.warns(UserWarning, match="all are kept"):
        selector.fit(X)
    assert selector.get_support().all()


def test_bounds_count_what_a_basis_leaves_out(rng):
    """Two times in nanoseconds that differ by milliseconds: the difference is one direction."""
    start = 1.7e18 + rng.uniform(0, 1e15, 400)
    X = np.c_[start, start + 1e6 * rng.uniform(1, 2, 400), rng.standard_normal(400)]
    assert exact_basis(X).rank == 3
    assert certify(X, None, [0, 2], rows="all", realised=False).lambda_min == 0


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_rows=st.integers(2, 40),
    n_features=st.integers(2, 12),
    log_spread=st.integers(0, 14),
    as_sparse=st.booleans(),
)
def test_duplicated_columns_of_any_size_add_no_rank(
    seed, n_rows, n_features, log_spread, as_sparse
):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_features)) * np.logspace(0, log_spread, n_features)
    twice = np.hstack([X, X * 3, X[:, :1] + X[:, 1:2]])
    basis = exact_basis(sparse.csr_array(twice) if as_sparse else twice)
    assert basis.exact
    assert basis.rank == min(n_rows, n_features)
    V = np.asarray(basis.vectors)
    np.testing.assert_allclose(V.T @ V, np.eye(V.shape[1]), atol=1e-10)


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_rows=st.integers(2, 30),
    n_features=st.integers(2, 30),
    log_spread=st.integers(0, 6),
    log_cost=st.integers(-8, 4),
)
@example(seed=0, n_rows=5, n_features=3, log_spread=5, log_cost=-1)
def test_regularised_bounds_hold_for_columns_of_any_size(
    seed, n_rows, n_features, log_spread, log_cost
):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_features)) * np.logspace(0, log_spread, n_features)
    columns = rng.permutation(n_features)[: max(1, n_features // 2)]
    weights = rng.lognormal(size=len(columns))
    svm = LinearSVC(C=10.0**log_cost)
    # Beyond that the dense eigenvalues, which are the truth here, drown in rounding.
    assume(np.linalg.norm(X) ** 2 * 2 * svm.C < 1e12)
    y = np.arange(n_rows) % 2
    certificate = certify(X, y, columns, weights=weights, rows="all", estimator=svm, realised=False)
    reduced = X[:, columns] * weights
    ridge = np.eye(n_rows) / (2 * svm.C)
    values = eigh(reduced @ reduced.T + ridge, X @ X.T + ridge, eigvals_only=True)
    rounding = 1e-13 * max(1.0, np.linalg.norm(X) ** 2 * 2 * svm.C)
    assert certificate.regularised.lambda_min <= values[0] + rounding
    assert certificate.regularised.lambda_max >= values[-1] - rounding


def test_contradictory_rows_of_huge_values_have_a_certificate():
    X, y = np.repeat(1e8 * np.eye(2), 2, axis=0), np.array([0, 1, 0, 1])
    certificate = certify(X, y, [0], rows="all", estimator=LinearSVC())
    assert certificate.realised.objective_ratio == pytest.approx(1, abs=1e-6)


def test_unscaled_rows_have_a_certificate(rng):
    X = np.c_[1.7e9 + rng.integers(0, 10**7, 1200), rng.integers(0, 5, (1200, 6))]
    y = (X[:, 1] + X[:, 2] > 4).astype(int)
    certificate = certify(X, y, [0, 1, 2])
    assert certificate.lambda_min == 0
    ratio = certificate.realised.objective_ratio
    assert ratio is None or ratio >= 1 - 1e-6


@pytest.mark.parametrize("shift", [0.0, 1e3, 1e6, 1e8])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_layers_nest_for_all_columns_wherever_the_origin_is(shift, form, rng):
    X = rng.standard_normal((40, 60)) + shift
    y = np.arange(40) % 2
    svm = SVC(kernel="linear")
    certificate = certify(form(X), y, np.arange(60), estimator=svm, rows="all")
    assert certificate.lambda_min == certificate.lambda_max == 1
    assert certificate.realised.margin_ratio == pytest.approx(1, abs=1e-5)
    assert certificate.realised.objective_ratio == pytest.approx(1, abs=1e-5)
    assert certificate.realised.radius_ratio == pytest.approx(1, abs=1e-5)


def test_attributes_count_rows_that_depend_on_each_other(rng):
    """K and K̃ are both zero on such rows, so 1 is a generalised eigenvalue of the sums with μI."""
    X = np.repeat(rng.standard_normal((5, 20)), 3, axis=0)
    y = np.arange(15) % 2
    certificate = certify(
        X, y, np.arange(20), weights=np.full(20, 3.0), rows="all", estimator=LinearSVC()
    )
    assert certificate.regularised.lambda_min == 1
    assert certificate.to_dict()["regularised"]["lambda_min"] == 1


def test_class_weights_of_several_classes_are_those_of_liblinear(rng):
    X, y = rng.standard_normal((60, 5)), np.arange(60) % 3
    X[:, 0] += y
    svm = LinearSVC(C=0.5, class_weight={0: 1.0, 1: 5.0, 2: 0.2}, tol=1e-8, max_iter=100_000)
    svm.fit(X, y)
    value = (np.sum(svm.coef_**2) + np.sum(svm.intercept_**2)) / 2
    for place, label in enumerate(svm.classes_):
        own = y == label
        slack = np.maximum(0, 1 - np.where(own, 1, -1) * svm.decision_function(X)[:, place])
        value += 0.5 * np.sum(np.where(own, svm.class_weight[label], 1.0) * slack**2)
    realised = certify(X, y, np.arange(5), rows="all", estimator=svm).realised
    assert realised.objective_full == pytest.approx(value, rel=1e-6)


def test_equal_sparse_rows_have_a_linear_kernel_like_any_other():
    """The variance of equal values may be negative by rounding, and gamma="scale" with it."""
    X, y = sparse.csr_array(np.full((6, 3), 54268.79428696)), np.arange(6) % 2
    assert BSSSelector(2, estimator=SVC(kernel="linear")).fit(X, y).get_support().sum() == 2


def test_a_promise_counts_the_rounding_of_weak_directions(rng):
    """Beside a huge column nothing is known to the last digits of the others."""
    X = rng.standard_normal((4, 7))
    X[:, 2] *= 1e18
    options = {"supervised": False, "trust": 0, "order": "leverage", "rescale": "each"}
    certificate = BSSSelector(6, **options).fit(X).certificate_
    promise = certificate.a_priori
    assert promise.lambda_min <= certificate.lambda_min
    assert promise.lambda_max >= certificate.lambda_max
