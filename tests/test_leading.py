"""Leading directions of many: what is known of the others, and what is measured of choices."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_rows import random_rows
from scipy import linalg, sparse
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.svm import LinearSVC

from certifeature import BSSSelector
from certifeature import _utils as _memory
from certifeature.basis.span import leading_basis
from certifeature.rows import ArrayBlocks
from certifeature.selectors import bss as covering

MODELS = [LinearSVC(random_state=0), LogisticRegression(C=3.0), RidgeClassifier(alpha=0.5)]


@pytest.fixture(autouse=True, scope="module")
def few_directions():
    """Leading directions are taken of few rows already."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_memory, "MAX_QUICK_GRAM", 20)
        patch.setattr(covering, "_FEWEST_LEADING", 8)
        patch.setattr(covering, "_MAX_LEADING", 16)
        yield


def problem(seed, n_rows=90, n_features=260, dense=False, scale=1.0):
    rng = np.random.default_rng(seed)
    X = random_rows((n_rows, n_features), 0.15, rng)
    # A few strong directions and a long tail, as texts have them.
    X = sparse.csr_array(X @ sparse.diags_array(scale * rng.pareto(1.5, n_features) + 0.1 * scale))
    y = np.where(X @ rng.standard_normal(n_features) > 0, 1, -1)
    return (X.toarray() if dense else X), y


def dense_rows(X):
    return X.toarray() if sparse.issparse(X) else X


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("scale", [1e-100, 1.0, 1e100])
def test_rows_are_what_is_inside_and_outside(dense, scale):
    X, _ = problem(0, dense=dense, scale=scale)
    basis = leading_basis(X, 12)
    V, rows = np.asarray(basis.vectors), dense_rows(X) / scale
    np.testing.assert_allclose(V.T @ V, np.eye(12), atol=1e-9)
    sizes = np.linalg.norm(rows @ V, axis=0)
    assert (sizes >= basis.singular_values / scale * (1 - 1e-9)).all()
    inside = np.linalg.norm(V * basis.singular_values / scale, axis=1) ** 2
    shares = inside / np.linalg.norm(rows, axis=0) ** 2
    np.testing.assert_allclose(basis.outside.energies, shares, rtol=1e-9)
    total = np.linalg.norm(rows)
    assert np.linalg.norm(basis.spectrum / scale) <= total * (1 + 1e-9)
    others = basis.outside.singular_values
    assert len(others) == 90 - 12
    assert (others == others[0]).all()
    assert others[0] <= basis.singular_values[-1]


def test_directions_are_nearly_the_leading_ones():
    X, _ = problem(1)
    values = np.linalg.svd(X.toarray(), compute_uv=False)
    found = leading_basis(X, 12).singular_values
    assert (found <= values[:12] * (1 + 1e-9)).all()
    assert (found[:4] >= 0.98 * values[:4]).all()
    assert np.sum(found**2) >= 0.9 * np.sum(values[:12] ** 2)


def test_directions_that_are_not_there_are_not_made_up(rng):
    X = rng.standard_normal((60, 5)) @ rng.standard_normal((5, 200))
    assert leading_basis(X, 12) is None


@pytest.mark.slow
@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    model=st.sampled_from(MODELS),
    size=st.integers(2, 80),
    trust=st.sampled_from([0, 0.5]),
    order=st.sampled_from(["coef", "leverage", "cover"]),
    rescale=st.sampled_from(["common", False]),
    dense=st.booleans(),
    factor=st.sampled_from([0.05, 1.0, 20.0]),
)
def test_measured_bounds_hold(seed, model, size, trust, order, rescale, dense, factor):
    """What is measured is above the growth that is possible."""
    X, y = problem(seed, dense=dense, scale=factor)
    order = ("coef", order) if trust else order
    selector = BSSSelector(size, estimator=model, trust=trust, order=order, rescale=rescale)
    selector.fit(X, y)
    if selector.basis_.kind != "truncated":
        return
    certificate, rows = selector.certificate_, dense_rows(X)[selector.support_rows_]
    ridge = certificate.regularised.mu * np.eye(len(rows))
    chosen = rows[:, selector.indices_] * selector.scales_
    growth = linalg.eigh(rows @ rows.T + ridge, chosen @ chosen.T + ridge, eigvals_only=True)[-1]
    assert certificate.measured_growth >= growth * (1 - 1e-9)


@pytest.mark.slow
@settings(max_examples=20)
@given(seed=st.integers(0, 2**32 - 1), dense=st.booleans())
def test_order_and_repeats_of_rows_and_columns_change_nothing(seed, dense):
    X, y = problem(seed, dense=dense)
    rng = np.random.default_rng(seed)
    expected = BSSSelector(40, order="coef").fit(X, y)
    assert expected.basis_.kind == "truncated"
    rows, columns = rng.permutation(len(y)), rng.permutation(X.shape[1])
    found = BSSSelector(40, order="coef").fit(X[rows][:, columns], y[rows])
    np.testing.assert_array_equal(columns[found.indices_], expected.indices_)
    weights = rng.integers(1, 3, len(y))
    repeated = np.repeat(np.arange(len(y)), weights)
    once = BSSSelector(40, order="coef").fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(
        once.indices_, BSSSelector(40, order="coef").fit(X[repeated], y[repeated]).indices_
    )


def test_sizes_share_directions_that_are_enough_for_the_largest():
    X, y = problem(4)
    selector = BSSSelector(50, order="coef", trust=0.5).fit(X, y)
    assert selector.basis_.n_components == 12
    assert BSSSelector(5, order="coef", trust=0.5).fit(X, y).basis_.n_components == 8
    # By default, more of the features are trusted where rows are many.
    assert BSSSelector(50, order="coef").fit(X, y).basis_.n_components == 8


@pytest.mark.parametrize("shape", [(90, 260), (400, 60)])
def test_rows_in_blocks_are_measured_too(shape):
    """Of rows that are gone, all directions are found, and nothing depends on the blocks."""
    X, y = problem(3, *shape)
    selector = BSSSelector(30, supervised=False, estimator=RidgeClassifier(alpha=5.0))
    certificate = selector.fit(ArrayBlocks(X, y, n_rows=40)).certificate_
    assert selector.basis_.exact
    chosen, ridge = dense_rows(selector.transform(X)), 5.0 * np.eye(len(y))
    kernels = (rows @ rows.T + ridge for rows in (dense_rows(X), chosen))
    growth = linalg.eigh(*kernels, eigvals_only=True)[-1]
    assert growth * (1 - 1e-9) <= certificate.measured_growth <= 1.02 * growth
    others = BSSSelector(30, supervised=False, estimator=RidgeClassifier(alpha=5.0))
    others.fit(ArrayBlocks(X, y, n_rows=17))
    assert others.indices_.tolist() == selector.indices_.tolist()
