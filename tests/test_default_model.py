"""The default model has no units: C by the scale of the rows, and a free intercept."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_rows import random_rows
from scipy import sparse
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, normalize
from sklearn.svm import SVC, LinearSVC, LinearSVR

from certifeature import (
    BSSSelector,
    LeverageScoreSelector,
    RandomSelector,
    RRQRSelector,
    SelectorCV,
    certify,
    compare,
)
from certifeature.datasets import make_relevant_features
from certifeature.models import at_scale, default_model
from certifeature.models.problem import Problem, with_scale
from certifeature.models.support import class_importance, fit_model
from certifeature.rows import ArrayBlocks
from certifeature.rows.matrix import column_digests, times_gram
from certifeature.rows.rows import Spread


@pytest.fixture(scope="module")
def genes():
    """Sixty rows of 300 columns, some of which tell three classes apart."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [30, 20, 10])
    X = rng.normal(size=(60, 300)) * rng.uniform(0.5, 2, 300)
    X[:, :30] += 1.5 * (y[:, None] == np.arange(30) % 3)
    return X, y


def _facts(X, y, size=20):
    selector = BSSSelector(size).fit(X, y)
    certificate = certify(X, y, selector, cv=3, n_repeats=1)
    growth = [certificate.measured_growth, certificate.realised_growth]
    return selector.indices_.tolist(), growth, certificate.new_data.selected


@pytest.fixture(scope="module")
def facts(genes):
    return _facts(*genes)


@pytest.fixture(scope="module", params=["with decimals", "one for each row"])
def prices(request):
    """Sixty rows with numbers to predict."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 100))
    y = X[:, :5].sum(axis=1) + 0.1 * rng.normal(size=60)
    return X, y if request.param == "with decimals" else np.argsort(np.argsort(y))


RIDGE = Ridge(alpha="scale")


@pytest.mark.parametrize("kind", [BSSSelector, LeverageScoreSelector, RRQRSelector, RandomSelector])
def test_numbers_are_chosen_for_by_ridge_regression(kind, prices):
    found, expected = kind(20).fit(*prices), kind(20, estimator=RIDGE).fit(*prices)
    assert isinstance(found.estimator_, Ridge)
    np.testing.assert_array_equal(found.indices_, expected.indices_)
    assert certify(*prices, found).realised_growth == certify(found).realised_growth


def test_numbers_are_certified_and_compared_for_ridge_regression(prices):
    X, y = prices
    folds = {"cv": 3, "n_repeats": 1}
    for rows in ("support", "all"):
        expected = certify(X, y, range(20), estimator=RIDGE, rows=rows)
        assert certify(X, y.tolist(), range(20), rows=rows) == expected
    assert certify(X, y, BSSSelector(20).fit(X, y), **folds).new_data.measure == "1 - R2"
    found, expected = (compare(X, y, [20], estimator=m, **folds) for m in (None, RIDGE))
    assert [c.error for c in found.contenders] == [c.error for c in expected.contenders]
    search = SelectorCV(cv=3, sizes=[10, 20]).fit(X, y)
    assert isinstance(search.estimator_, Ridge)


def test_many_numbers_in_blocks_are_no_classes():
    X = np.random.default_rng(0).standard_normal((1200, 5))
    with pytest.raises(ValueError, match=r"decimals, such as .*supervised=False"):
        BSSSelector(3).fit(ArrayBlocks(X, X[:, 0], n_rows=500))
    assert BSSSelector(3).fit(ArrayBlocks(X[:90], X[:90, 0], n_rows=50)).estimator_.alpha > 0


@pytest.mark.parametrize("factor", [1e-6, 3.7, 1e6])
def test_units_change_nothing(genes, facts, factor):
    X, y = genes
    (chosen, growth, errors), other = facts, _facts(factor * X, y)
    assert other[0] == chosen
    assert other[1] == pytest.approx(growth, rel=1e-6)
    assert other[2] == errors


@pytest.mark.parametrize("shift", [3.0, -1e4])
def test_the_origin_of_dense_data_changes_nothing(genes, facts, shift):
    X, y = genes
    (chosen, growth, errors), other = facts, _facts(X + shift, y)
    assert other[0] == chosen
    assert other[1] == pytest.approx(growth, rel=1e-6)
    assert other[2] == errors


def test_names_of_classes_change_nothing(genes, facts):
    X, y = genes
    renamed = np.array(["z", "a", "m"])[y]
    (chosen, growth, _), other = facts, _facts(X, renamed)
    assert other[0] == chosen
    assert other[1] == pytest.approx(growth)


def test_blocks_give_the_same_choice(genes):
    X, y = genes
    X, y = np.tile(X, (20, 1)), np.tile(y, 20)
    X += 0.1 * np.random.default_rng(1).normal(size=X.shape)
    whole = BSSSelector(20, order="coef").fit(X, y)
    parts = BSSSelector(20, order="coef").fit(ArrayBlocks(X, y, n_rows=170))
    assert parts.indices_.tolist() == whole.indices_.tolist()
    assert pytest.approx(whole.estimator_.C, rel=1e-12) == parts.estimator_.C
    assert parts.scales_ == pytest.approx(whole.scales_)


@given(seed=st.integers(0, 2**32 - 1), shift=st.sampled_from([0.0, 5.0, 1e5]))
def test_the_optimum_is_that_of_a_general_solver(seed, shift):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(25, 4)) + shift, np.where(rng.random(25) < 0.3, 1, -1)
    y[:2] = 1, -1
    model = with_scale(default_model(), Spread.of(X).size(), 10.0)
    fit_model(model, X, y)
    centred = X - X.mean(axis=0)

    def objective(point):
        excess = np.maximum(0, 1 - y * (centred @ point[:-1] + point[-1]))
        return point[:-1] @ point[:-1] / 2 + model.C * excess @ excess

    found = minimize(objective, np.zeros(5), options={"gtol": 1e-9})
    own = np.append(model.coef_[0], model.intercept_ + X.mean(axis=0) @ model.coef_[0])
    assert objective(own) <= found.fun * (1 + 1e-9)
    assert own == pytest.approx(found.x, abs=1e-4 * np.abs(found.x).max())


@pytest.mark.parametrize("shift", [0.0, 50.0])
def test_scikit_learn_reproduces_the_printed_model(genes, shift):
    X, y = genes
    estimator = BSSSelector(20).fit(X + shift, y).estimator_
    assert type(estimator) is LinearSVC
    again = LinearSVC(**estimator.get_params()).fit(X + shift, y)
    scale = np.abs(estimator.coef_).max()
    assert again.coef_ == pytest.approx(estimator.coef_, abs=1e-3 * scale)
    assert (again.predict(X + shift) == estimator.predict(X + shift)).all()


def test_the_rule_is_there_for_other_models(genes):
    X, y = genes
    square = X.var(axis=0).sum()
    assert pytest.approx(0.5 / square) == at_scale(X, LogisticRegression(C="scale")).C
    assert at_scale(X, RidgeClassifier(alpha="scale")).alpha == pytest.approx(square / (2 * 0.5))
    assert pytest.approx(0.5 / square) == at_scale(sparse.csr_array(X)).C
    weights = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    repeated = np.repeat(X, weights.astype(int), axis=0)
    weighted = at_scale(X, sample_weight=weights)
    assert pytest.approx(0.5 / repeated.var(axis=0).sum()) == weighted.C
    for model in (LogisticRegression(C="scale"), RidgeClassifier(alpha="scale")):
        first, second = (BSSSelector(20, estimator=model).fit(a * X, y) for a in (1, 1e-3))
        assert first.indices_.tolist() == second.indices_.tolist()
        expected = pytest.approx(first.certificate_.measured_growth, rel=1e-6)
        assert second.certificate_.measured_growth == expected


def test_the_spread_of_blocks_is_that_of_all_rows(genes):
    X = genes[0] * 10.0 ** np.arange(-150, 150)
    X[:40] *= 1e-3
    for rows in (X, sparse.csr_array(np.where(X > 0, X, 0))):
        whole, parts = Spread.of(rows), Spread.of(ArrayBlocks(rows, n_rows=7))
        assert parts.size() == pytest.approx(whole.size(), rel=1e-12)
        columns = np.arange(200, 210)
        assert parts.size(columns) == pytest.approx(whole.size(columns), rel=1e-9)


def test_certificates_do_not_depend_on_a_common_scale(genes):
    X, y = genes
    found = [certify(X, y, np.arange(25), weights=np.full(25, scale)) for scale in (1.0, 7.0, 1e-5)]
    for other in found[1:]:
        assert other.measured_growth == pytest.approx(found[0].measured_growth, rel=1e-6)
        assert other.realised_growth == pytest.approx(found[0].realised_growth, rel=1e-6)


def test_covering_gets_a_share_in_proportion_to_the_rows():
    X, y = make_relevant_features(200, 600, 20, random_state=0)
    for size in (20, 100, 300):
        selector = BSSSelector(size).fit(X, y)
        n_rows = len(selector.support_rows_)
        n_trusted = int((selector.reasons_ == "trusted").sum())
        assert n_trusted == np.ceil(round(size * (1 - min(1, size / n_rows) / 2), 9))


def test_standardised_columns_come_back_as_they_are(genes):
    X, y = genes
    X = StandardScaler().fit_transform(X)
    selector = BSSSelector(20).fit(X, y)
    assert (selector.transform(X) == X[:, selector.support_]).all()


def test_unit_norm_rows_come_back_to_their_size(rng):
    X = normalize(random_rows((200, 1500), 0.02, rng))
    y = X[:, :50].sum(axis=1) > X[:, 50:100].sum(axis=1)
    selector = BSSSelector(100).fit(X, y)
    size, chosen = (Spread.of(part).size() for part in (X, X[:, selector.support_]))
    assert selector.scales_ == pytest.approx(np.full(100, size / chosen))
    assert Spread.of(selector.transform(X)).size() == pytest.approx(size)
    plain = BSSSelector(100, rescale=False).fit(X, y).transform(X)
    assert (plain != X[:, selector.support_]).nnz == 0


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_copies_and_constants_are_not_chosen_while_others_are_left(genes, make):
    X, y = genes
    X = np.maximum(X, 0)
    wide = np.hstack([X, X[:, :30], np.ones((60, 5)), 1000 + np.zeros((60, 1)), X[:, :30]])
    chosen = BSSSelector(60).fit(make(wide), y).indices_
    assert len(np.unique(wide[:, chosen], axis=1).T) == 60
    assert (np.ptp(wide[:, chosen], axis=0) > 0).all()
    # If nothing else is left, they are.
    everything = BSSSelector(wide.shape[1] - 1).fit(make(wide), y)
    assert everything.n_features_ == wide.shape[1] - 1


def test_columns_with_the_same_values_elsewhere_are_no_copies():
    rows, columns, values = [0, 1, 0, 2, 0, 1, 2], [0, 0, 1, 1, 2, 2, 2], [3, 5, 3, 5, 3, 5, 0.0]
    X = sparse.csr_array((np.array(values), (rows, columns)), shape=(4, 3))
    signed = X.toarray()
    signed[signed == 0] = -0.0
    for form in (X, X.toarray(), signed):
        first, second, third = column_digests(form)
        assert first == third != second


def test_constants_are_not_chosen_however_they_rank(genes):
    X, y = genes
    scores = np.arange(301.0)
    wide = np.column_stack([X, np.full(60, 7.0)])
    assert 300 not in BSSSelector(20, order=scores, trust=1).fit(wide, y).indices_
    penalised = LinearSVC(dual=True, random_state=0)
    selector = BSSSelector(20, order=scores, trust=1, estimator=penalised).fit(wide, y)
    assert selector.indices_[0] == 300


def test_classes_count_by_their_rows():
    y = np.repeat([0, 1, 2], [9, 4, 3])
    assert class_importance(Problem.of(LinearSVC(), y)) == pytest.approx([3 / 4, 1 / 2, 3**0.5 / 4])
    pairs = class_importance(Problem.of(SVC(kernel="linear"), y))
    assert pairs**2 == pytest.approx(np.array([13, 12, 7]) / 32)
    assert class_importance(Problem.of(LinearSVC(), y > 0)) == [1]


def test_one_stray_label_does_not_take_the_picks():
    X, y = make_relevant_features(1500, 300, 20, random_state=0)
    stray = y.copy()
    stray[7] = 5
    before, after = (set(BSSSelector(20).fit(X, labels).indices_) for labels in (y, stray))
    assert len(before & after) >= 17


def test_planted_columns_are_found_among_many_sparse_ones():
    rng = np.random.default_rng(0)
    n_rows, n_features, n_planted = 6000, 20_000, 60
    y = rng.integers(2, size=n_rows)
    noise = random_rows((n_rows, n_features), 1e-3, rng).tolil()
    noise[:, :n_planted] = rng.random((n_rows, n_planted)) < 0.02 + 0.04 * y[:, None]
    X = sparse.csr_array(noise)
    chosen = BSSSelector(n_planted).fit(X, y).indices_
    assert (chosen < n_planted).sum() >= 0.95 * n_planted


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_the_columns_of_a_rare_class_are_found(class_weight, seed):
    """One row of twenty is rare; an intercept that is penalised would take the choice to noise."""
    rng, y = np.random.default_rng(seed), np.arange(400) < 20
    X = rng.standard_normal((400, 1000)) + np.outer(y, np.arange(1000) < 30)
    model = default_model().set_params(class_weight=class_weight)
    for estimator in (model, LogisticRegression(C="scale", class_weight=class_weight)):
        assert (BSSSelector(60, estimator=estimator).fit(X, y).indices_ < 30).sum() >= 26


def test_rare_classes_have_the_errors_of_plain_columns():
    """Nine classes, the smallest with three rows; an SVM with a free intercept on 100 columns."""
    rng = np.random.default_rng(0)
    counts = [24, 20, 16, 12, 8, 6, 4, 3, 3]
    centres = 1.2 * rng.normal(size=(9, 60))

    def sample(counts):
        y = np.repeat(np.arange(9), counts)
        X = rng.normal(size=(len(y), 2000))
        X[:, :60] += centres[y]
        return X, y

    (X, y), (X_test, y_test) = sample(counts), sample(np.multiply(counts, 8))
    selector = BSSSelector(100).fit(X, y)
    plain, plain_test = (part[:, selector.support_] for part in (X, X_test))
    errors = []
    for cost in (1e-3, 1e-2, 1e-1):
        svm = LinearSVC(C=cost, intercept_scaling=1e3, dual=False)
        free = make_pipeline(StandardScaler(with_std=False), svm)
        errors.append(np.mean(free.fit(plain, y).predict(plain_test) != y_test))
    model = at_scale(selector.transform(X)).fit(selector.transform(X), y)
    error = np.mean(model.predict(selector.transform(X_test)) != y_test)
    assert error <= min(errors) + 0.02


def test_methods_of_scikit_learn_are_compared_for_the_same_model(genes):
    X, y = genes
    found = compare(X, y, [15], methods=["bss", "rfe", "l1", "univariate"], cv=3, n_repeats=1)
    for contender in found.contenders[1:]:
        assert contender.n_features == 15
        assert contender.error < 0.5


def test_a_promise_is_for_the_scales_that_are_certified():
    """A promise for any model is for columns as they are; certified ones are at their own scale."""
    X = random_rows((15, 400), 0.3, np.random.default_rng(0))
    options = {"supervised": False, "random_state": 1}
    scaled, plain = (
        LeverageScoreSelector(150, estimator=model, **options).fit(X).certificate_
        for model in (default_model(), LinearSVC(random_state=0))
    )
    square = scaled.factor**2
    assert abs(square - 1) > 1e-3
    assert scaled.lambda_min == pytest.approx(square * plain.lambda_min)
    assert scaled.a_priori.lambda_min == pytest.approx(square * plain.a_priori.lambda_min)
    assert 0 < scaled.a_priori.lambda_min < scaled.lambda_min


def test_a_tube_with_a_free_intercept_is_certified(genes):
    X, _ = genes
    y = X[:, 0] + X[:, 1]
    svm = LinearSVR(loss="squared_epsilon_insensitive", epsilon=0.1, intercept_scaling=np.inf)
    certificate = certify(X, y, BSSSelector(10, estimator=svm).fit(X, y))
    assert 0 < certificate.realised_growth <= certificate.measured_growth


def test_equal_rows_have_nothing_to_choose_by():
    selector = BSSSelector(3).fit(np.ones((10, 5)), np.arange(10) % 2)
    assert selector.n_features_ == 3
    assert certify(selector).realised_growth == pytest.approx(1)


def test_parts_of_large_data_are_looked_at_as_the_whole_is(small_limits):
    rng = np.random.default_rng(0)
    X = random_rows((90, 700), 0.1, rng).toarray()
    X[:, 3] = X[:, 5]
    X = sparse.csr_array(X)
    V, expected = rng.standard_normal((90, 4)), column_digests(X)
    assert expected[3] == expected[5]
    assert len(set(expected.tolist())) >= 600
    product = times_gram(X)(V)
    np.testing.assert_allclose(product, X @ (X.T @ V))
    small_limits(VECTORS_AT_ONCE=800, SAFE_ROWS_AT_ONCE=1000)
    np.testing.assert_array_equal(column_digests(X), expected)
    np.testing.assert_allclose(times_gram(X)(V), product)


@pytest.mark.parametrize("ridge", [False, True])
@pytest.mark.parametrize("rescale", [False, "common"])
def test_what_is_said_of_the_chosen_columns_is_true_of_them(rescale, ridge, genes):
    """The objective of scikit-learn's model on the delivered columns, with all that is said."""
    X, y = genes
    X = X - X.mean(axis=0)
    y = np.where(y == 0, -1.0, 1.0)
    estimator = RidgeClassifier(alpha="scale") if ridge else None
    selector = BSSSelector(20, estimator=estimator, rescale=rescale).fit(X, y)
    certificate = certify(X, y, selector, rows="all")
    factor, reduced = certificate.factor, selector.transform(X)
    assert factor > 1.3
    model = selector.estimator_

    def objective(columns, times):
        """Return the least objective, the intercept being free and the weights penalised."""
        cost = times * (1 / (2 * model.alpha) if ridge else model.C)

        def value(weights):
            scores = columns @ weights[:-1] + weights[-1]
            losses = (y - scores) if ridge else np.maximum(0, 1 - y * scores)
            slopes = -2 * cost * losses * (1.0 if ridge else y)
            gradient = np.append(weights[:-1] + columns.T @ slopes, slopes.sum())
            return weights[:-1] @ weights[:-1] / 2 + cost * (losses**2).sum(), gradient

        found = minimize(value, np.zeros(columns.shape[1] + 1), jac=True, options={"gtol": 1e-9})
        return found.fun

    full = objective(X, 1.0)
    ratio = objective(factor * reduced, 1.0) / full
    assert certificate.realised_growth == pytest.approx(ratio, rel=1e-4)
    # As they are, C times the square gives the same model; its objective is in units of C.
    same = objective(reduced, factor**2) / factor**2 / full
    assert same == pytest.approx(ratio, rel=1e-4)
    headline, _, _, scope, *_ = str(certificate).splitlines()
    assert f"multiplied by {factor:.3g}," in headline
    times = f"{factor**2:.3g}"
    assert (f"alpha over {times}" if ridge else f"C times {times}") in scope
