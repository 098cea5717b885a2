"""The 1-norm SVM against a direct formulation as a linear program, and its selector."""

import pickle
import warnings
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog
from sklearn.base import clone
from sklearn.datasets import load_digits, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from certifeature import LPSVMSelector, certify
from certifeature.sparsify import LPSVMSolution, lpsvm

FORMS = [np.asarray, sparse.csr_array]
COSTS = [1e-3, 0.1, 1.0, 30.0, 1e3]


def optimum(X, signs, C):
    """Return the optimum of the dense primal program, neither scaled nor centred."""
    n, d = X.shape
    rows = signs[:, None] * X
    constraints = np.hstack([-rows, rows, -signs[:, None], -np.eye(n)])
    costs = np.r_[np.ones(2 * d), 0.0, np.full(n, C)]
    bounds = [(0, None)] * (2 * d) + [(None, None)] + [(0, None)] * n
    # With HiGHS's own tolerances, 1e-7, optima of about 1e-3 would be right to four digits.
    options = dict.fromkeys(("primal_feasibility_tolerance", "dual_feasibility_tolerance"), 1e-10)
    return linprog(costs, constraints, -np.ones(n), bounds=bounds, options=options).fun


def value(X, signs, C, solution):
    slack = np.maximum(0, 1 - signs * (X @ solution.coef + solution.intercept))
    return np.abs(solution.coef).sum() + C * slack.sum()


def assert_optimal(X, signs, C, form=np.asarray):
    solution = lpsvm(form(X), signs, C)
    expected = optimum(X, signs, C)
    assert solution.objective == pytest.approx(expected, rel=1e-6)
    assert solution.objective == pytest.approx(value(X, signs, C, solution), rel=1e-9)
    assert solution.dual_objective <= expected * (1 + 1e-9)
    assert solution.gap <= 1e-6
    return solution


def labels(rng, n, share=0.5):
    signs = np.where(rng.random(n) < share, 1.0, -1.0)
    signs[:2] = 1, -1
    return signs


def gaussian(rng, n, d):
    return rng.standard_normal((n, d))


def counts(rng, n, d):
    """Small integers, most of them zero: many equal and many empty rows and columns."""
    return rng.poisson(0.3, (n, d)).astype(float)


def repeated(rng, n, d):
    """Rows that occur several times, a constant and an empty column, two equal ones."""
    X = rng.standard_normal((n, d))
    X[:, 0] = 1.0
    X[:, 1] = 0.0
    X[:, 2] = X[:, -1]
    return X[rng.integers(0, n, n)]


def columns_of_many_scales(rng, n, d):
    return rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-4, 4, d)


def rows_of_many_scales(rng, n, d):
    return rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-3, 3, n)[:, None]


def far_from_zero(rng, n, d):
    return rng.standard_normal((n, d)) + 1000


def low_rank(rng, n, d):
    return rng.standard_normal((n, 2)) @ rng.standard_normal((2, d))


KINDS = [
    gaussian,
    counts,
    repeated,
    columns_of_many_scales,
    rows_of_many_scales,
    far_from_zero,
    low_rank,
]


@pytest.mark.slow
@settings(max_examples=120)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(KINDS),
    st.sampled_from([(12, 80), (60, 4), (30, 30), (4, 3)]),
    st.sampled_from(COSTS),
    st.sampled_from([0.5, 0.1]),
    st.sampled_from(FORMS),
)
def test_attains_the_optimum(seed, kind, shape, C, share, form):
    rng = np.random.default_rng(seed)
    assert_optimal(kind(rng, *shape), labels(rng, shape[0], share), C, form)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("noise", [0.0, 2.0])
@pytest.mark.parametrize(("n", "d"), [(40, 600), (600, 10)])
def test_finds_the_features_that_matter(n, d, noise, form, rng):
    X = rng.standard_normal((n, d))
    signs = np.sign(X[:, 3] - X[:, 7] + 0.1 + noise * rng.standard_normal(n))
    for C in COSTS:
        solution = assert_optimal(X, signs, C, form)
        # A vertex of the feasible region has no more weights than rows on the margin.
        assert np.count_nonzero(solution.coef) <= min(n, d)
    if not noise and n > d:
        assert set(np.argsort(-np.abs(solution.coef))[:2]) == {3, 7}


def test_optimality_conditions(rng):
    """Margins of 1 are as many as weights and intercept, which they determine."""
    X = rng.standard_normal((50, 400))
    signs = labels(rng, 50)
    solution = lpsvm(X, signs, 1e3)
    margins = signs * (X @ solution.coef + solution.intercept)
    assert margins.min() >= 1 - 1e-7
    on_margin = np.sum(np.abs(margins - 1) < 1e-7)
    assert on_margin == np.count_nonzero(solution.coef) + 1


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", [counts, repeated])
def test_of_many_solutions_a_vertex_is_taken(kind, form, rng):
    for _ in range(5):
        X, signs = kind(rng, 40, 300), labels(rng, 40)
        solution = assert_optimal(X, signs, 1.0, form)
        margins = signs * (X @ solution.coef + solution.intercept)
        used = np.flatnonzero(solution.coef)
        tight = np.column_stack([X[:, used], np.ones(40)])[np.abs(margins - 1) < 1e-6]
        assert np.linalg.matrix_rank(tight) >= len(used)
        sizes = np.abs(solution.coef[used])
        assert sizes.min() > 1e-9 * sizes.max()


def test_of_equal_columns_one_is_enough(rng):
    X, signs = rng.standard_normal((30, 60)), labels(rng, 30)
    single = lpsvm(X, signs, 10.0)
    double = lpsvm(np.hstack([X, X]), signs, 10.0)
    assert double.objective == pytest.approx(single.objective)
    assert np.count_nonzero(double.coef) == np.count_nonzero(single.coef)


def test_sparse_data_give_the_same_and_are_left_alone(rng):
    X = counts(rng, 50, 300) * rng.random(300)
    signs = labels(rng, 50)
    expected = lpsvm(X, signs)
    for form in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
        data = form(X)
        found = lpsvm(data, signs)
        np.testing.assert_allclose(found.coef, expected.coef, atol=1e-6)
        np.testing.assert_array_equal(data.toarray(), X)
    once, again = (lpsvm(X, signs).coef for _ in range(2))
    np.testing.assert_array_equal(once, again)


@pytest.mark.parametrize("form", FORMS)
def test_columns_of_large_mean_are_solved_sparse_and_dense(form, rng):
    X = rng.standard_normal((30, 60)) + 1e5
    assert_optimal(X, labels(rng, 30), 1.0, form)


@pytest.mark.parametrize("C", [0.03, 1.0, 100.0])
def test_ten_classes_are_solved(C):
    X, y = (part[::2] for part in load_digits(return_X_y=True))
    selector = LPSVMSelector(C=C).fit(StandardScaler().fit_transform(X), y)
    assert selector.duality_gap_ <= 1e-6


@pytest.mark.parametrize("density", [0.03, 1.0])
def test_many_rows_are_solved(density, rng):
    values = rng.standard_normal((8000, 20)) * (rng.random((8000, 20)) < density)
    signs = np.where(values[:, :5].sum(axis=1) + rng.standard_normal(8000) > 0, 1.0, -1.0)
    for C in (0.1, 10.0):
        solution = lpsvm(sparse.csr_array(values), signs, C)
        assert solution.gap <= 1e-6


@pytest.mark.parametrize("shape", [(300, 40), (40, 300)])
def test_sparse_rows_stay_sparse_and_attain_the_optimum(shape, rng):
    X = rng.standard_normal(shape) * (rng.random(shape) < 0.05)
    for C in COSTS:
        assert_optimal(X, labels(rng, shape[0]), C, sparse.csr_array)


@pytest.mark.parametrize("exponent", [-500, -20, 0, 8])
def test_scale_of_the_data_is_a_matter_of_units(exponent, rng):
    """Values times s and C divided by s are the same problem with weights divided by s."""
    X, signs = rng.standard_normal((30, 80)), labels(rng, 30)
    plain = lpsvm(X, signs, 10.0)
    scaled = lpsvm(np.ldexp(X, exponent), signs, np.ldexp(10.0, -exponent))
    np.testing.assert_allclose(np.ldexp(scaled.coef, exponent), plain.coef, atol=1e-9)
    assert np.ldexp(scaled.objective, exponent) == pytest.approx(plain.objective)


@pytest.mark.parametrize("X", [np.zeros((5, 3)), np.eye(5, 3) * 1e-150, np.ones((5, 3))])
@pytest.mark.parametrize("form", FORMS)
def test_data_that_help_nothing_get_no_weights(X, form):
    signs = np.array([1.0, 1.0, 1.0, -1.0, -1.0])
    solution = lpsvm(form(X), signs, 2.0)
    assert not solution.coef.any()
    assert solution.intercept == 1
    assert solution.objective == solution.dual_objective == 8


@pytest.mark.parametrize(("seed", "C"), [(62, 0.3), (111, 0.3), (170, 0.35), (208, 0.35)])
def test_weights_that_are_all_rounding_are_none(seed, C):
    """The optimum is at zero, although it takes a solver to tell: no feature counts."""
    X = np.random.default_rng(seed).standard_normal((12, 8))
    solution = lpsvm(X, np.where(np.arange(12) < 4, 1, -1), C)
    assert solution.objective == pytest.approx(2 * C * 4, rel=1e-9)
    assert not solution.coef.any()
    assert solution.gap < 1e-6


@pytest.mark.parametrize("form", FORMS)
def test_values_too_large_are_refused(form, rng):
    X, signs = rng.standard_normal((20, 30)), labels(rng, 20)
    for factor in (1e15, 1e150, 1e300):
        with pytest.raises(ValueError, match=r"cannot see them.*MaxAbsScaler, or lower C"):
            lpsvm(form(X * factor), signs)


@pytest.mark.parametrize("shape", [(30, 80), (80, 30)])
def test_a_gap_that_stays_open_is_told(shape, rng, monkeypatch):
    def gives_up(*arguments, options, **others):
        return linprog(*arguments, options=options | {"maxiter": 2}, **others)

    monkeypatch.setattr(import_module("certifeature.sparsify.lpsvm"), "linprog", gives_up)
    X, signs = rng.standard_normal(shape), labels(rng, shape[0])
    with pytest.warns(ConvergenceWarning, match=r"not converged.* of itself above .* limit"):
        solution = lpsvm(X, signs, 10.0)
    assert solution.dual_objective <= optimum(X, signs, 10.0) <= solution.objective
    assert solution.gap > 1e-6


@pytest.mark.parametrize(
    ("X", "signs", "C", "message"),
    [
        (np.ones((3, 2)), [1, 1, 1], 1.0, "one class only"),
        (np.ones((3, 2)), [0, 1, 1], 1.0, "must be -1 and [+]1"),
        (np.ones((3, 2)), [1, -1], 1.0, "one value for each of the 3 rows"),
        (np.ones(3), [1, -1, 1], 1.0, "two dimensions"),
        (np.full((2, 2), np.nan), [1, -1], 1.0, "NaN"),
        (np.ones((2, 2)), [1, -1], 0.0, "C.*must be a finite positive number; got 0.0"),
        (np.ones((2, 2)), [1, -1], np.inf, "C.*must be a finite positive number"),
        (np.ones((2, 2)), [1, -1], "1", "C.*must be a finite positive number; got '1'"),
    ],
)
def test_bad_input(X, signs, C, message):
    with pytest.raises(ValueError, match=message):
        lpsvm(X, signs, C)


def test_gap_of_a_free_solution_is_zero():
    assert LPSVMSolution(np.zeros(1), 0.0, 0.0, 0.0, 0).gap == 0


@pytest.fixture
def wide():
    return make_classification(60, 300, n_informative=10, random_state=0)


@pytest.fixture
def three_classes():
    return make_classification(
        60, 100, n_informative=12, n_classes=3, n_clusters_per_class=1, random_state=0
    )


@pytest.mark.slow
@parametrize_with_checks([LPSVMSelector(), LPSVMSelector(C=10)])
@pytest.mark.filterwarnings("ignore:.*no feature has weight:UserWarning")
@pytest.mark.filterwarnings("ignore:No features were selected:UserWarning")
@pytest.mark.filterwarnings("ignore:SCIPY_ARRAY_API")
def test_sklearn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("form", [*FORMS, sparse.csc_matrix])
def test_selector_keeps_the_features_with_weight(form, wide):
    X, y = wide
    selector = LPSVMSelector().fit(form(X), y)
    solution = lpsvm(X, 2.0 * y - 1)
    np.testing.assert_allclose(selector.coef_[0], solution.coef, atol=1e-7)
    assert selector.intercept_[0] == pytest.approx(solution.intercept)
    np.testing.assert_array_equal(selector.get_support(), solution.coef != 0)
    assert (np.diff(np.abs(solution.coef[selector.indices_])) <= 1e-7).all()
    assert 0 < len(selector.indices_) < 60
    reduced = selector.transform(form(X))
    reduced = reduced.toarray() if sparse.issparse(reduced) else reduced
    np.testing.assert_array_equal(reduced, X[:, selector.get_support()])
    assert 0 <= selector.duality_gap_ <= 1e-6
    assert selector.n_iter_ > 0


def test_more_classes_are_taken_one_by_one(three_classes):
    X, y = three_classes
    names = np.array(["ash", "birch", "cedar"])[y]
    selector = LPSVMSelector().fit(X, names)
    assert selector.classes_.tolist() == ["ash", "birch", "cedar"]
    singles = [lpsvm(X, np.where(y == label, 1.0, -1.0)) for label in range(3)]
    np.testing.assert_allclose(selector.coef_, [single.coef for single in singles])
    norms = np.linalg.norm(selector.coef_, axis=0)
    np.testing.assert_array_equal(np.sort(selector.indices_), np.flatnonzero(norms))
    assert (np.diff(norms[selector.indices_]) <= 1e-9).all()
    assert selector.duality_gap_ == max(single.gap for single in singles)


def test_equal_weights_keep_the_order_of_their_columns():
    X = np.diag([1.0, 1.0, 1.0, 0.0])[:, :3]
    selector = LPSVMSelector(C=10).fit(X, [1, 1, 1, 0])
    np.testing.assert_allclose(selector.coef_, [[2.0, 2.0, 2.0]], rtol=1e-6)
    assert selector.indices_.tolist() == [0, 1, 2]


def test_no_feature_at_all_says_to_raise_c(wide):
    with pytest.warns(UserWarning, match=r"C=1e-09 is so small .* Raise C"):
        selector = LPSVMSelector(C=1e-9).fit(*wide)
    assert not selector.get_support().any()
    with pytest.warns(UserWarning, match="No features were selected"):
        assert selector.transform(wide[0]).shape == (60, 0)


def test_bad_input_of_the_selector(wide):
    X, y = wide
    with pytest.raises(ValueError, match="y has one class only"):
        LPSVMSelector().fit(X, np.ones(60))
    with pytest.raises(
        ValueError, match="'C' parameter of LPSVMSelector must be a float in the range"
    ):
        LPSVMSelector(C=-1).fit(X, y)
    with pytest.raises(ValueError, match="continuous"):
        LPSVMSelector().fit(X, np.linspace(0, 1, 60))


def test_selection_can_be_certified(wide):
    X, y = wide
    selector = LPSVMSelector().fit(X, y)
    certificate = certify(X, y, selector)
    assert certificate.n_selected == len(selector.indices_)
    by_mask = certify(X, y, selector.get_support())
    assert certificate.lambda_min == by_mask.lambda_min


def test_data_frames_pipelines_and_copies(wide):
    X, y = wide
    frame = pd.DataFrame(X, columns=[f"gene {i}" for i in range(300)])
    selector = LPSVMSelector().set_output(transform="pandas").fit(frame, y)
    assert list(selector.transform(frame).columns) == list(selector.get_feature_names_out())
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(selector)).coef_, selector.coef_)
    pipeline = make_pipeline(StandardScaler(), LPSVMSelector(), SVC(kernel="linear"))
    search = GridSearchCV(pipeline, {"lpsvmselector__C": [0.1, 1.0]}, cv=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search.fit(X, y)
    assert clone(search.best_estimator_).fit(X, y).score(X, y) > 0.8
