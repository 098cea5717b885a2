"""Bounds for rows that span too many directions to have a basis."""

import numpy as np
import pytest
from random_rows import random_rows
from sklearn.svm import LinearSVC

from certifeature import certify
from certifeature.basis import exact_basis
from certifeature.basis import span as _lanczos
from certifeature.certificate import measured as lanczos
from certifeature.certificate.measured import measured_in_blocks, regularised_eigenvalues
from certifeature.models.problem import ModelBound
from certifeature.rows import ArrayBlocks
from certifeature.sparsify import ColumnChoice


def problem(n_rows=150, n_features=400, n_chosen=60, scales=(1.0, 1.0), seed=0):
    rng = np.random.default_rng(seed)
    X = random_rows((n_rows, n_features), 0.1, rng)
    chosen = np.sort(rng.choice(n_features, n_chosen, replace=False))
    return X, ColumnChoice(chosen, rng.uniform(*scales, n_chosen))


@pytest.fixture
def few_directions(small_limits):
    small_limits(MAX_GRAM=50, MAX_QUICK_GRAM=50)


class TestBound:
    @pytest.mark.parametrize("scales", [(1.0, 1.0), (1.0, 4.0), (0.3, 1.3)])
    @pytest.mark.parametrize("C", [1e-2, 1.0, 1e4])
    @pytest.mark.parametrize("kind", ["sparse", "dense"])
    def test_safe_and_nearly_exact(self, scales, C, kind):
        X, sample = problem(scales=scales)
        exact = regularised_eigenvalues(exact_basis(X), sample, C, X.shape[0])
        rows = X if kind == "sparse" else X.toarray()
        bound = measured_in_blocks(ArrayBlocks(rows, n_rows=40), sample, C)
        assert bound.lambda_min <= exact.lambda_min * (1 + 1e-9)
        assert bound.lambda_max >= exact.lambda_max * (1 - 1e-9)
        # What is lost: the chance of an unlucky start, and that scales are bounded apart.
        assert 1 / bound.lambda_min <= 1.1 / exact.lambda_min + 1 / min(1, scales[0] ** 2)
        assert bound.probability == 0.99

    @pytest.mark.parametrize("factor", [1e-300, 1e-150, 1e-20, 1e20, 1e150, 1e300])
    def test_units_do_not_matter(self, factor):
        X, sample = problem()
        mu = 3.0 * factor**2 if 1e-30 < factor < 1e30 else 1.0
        bound = measured_in_blocks(ArrayBlocks(X * factor, n_rows=40), sample, mu)
        if factor <= 1e-150:
            assert bound.lambda_min == pytest.approx(1)
        elif factor >= 1e150:
            assert bound.lambda_min == 0
        else:
            plain = measured_in_blocks(ArrayBlocks(X, n_rows=40), sample, 3.0)
            assert bound.lambda_min == pytest.approx(plain.lambda_min)

    @pytest.mark.parametrize("factor", [1e30, 1e60, 1e100])
    @pytest.mark.parametrize("bound", ["in memory", "in blocks"])
    def test_a_ridge_that_drowns_in_rounding_proves_nothing(self, factor, bound):
        X, sample = problem()
        X = X.toarray() * factor
        if bound == "in memory":
            assert lanczos.bound_in_memory(X, sample, 1.0).lambda_min == 0
        else:
            assert measured_in_blocks(ArrayBlocks(X, n_rows=40), sample, 1.0).lambda_min == 0

    @pytest.mark.parametrize("weight", [1e6, 1e8, 1e10])
    def test_large_scales_of_equal_columns(self, weight):
        X = np.ones((30, 40)) + np.eye(30, 40)
        X[:, 1] = X[:, 0]
        sample = ColumnChoice(np.arange(5), np.full(5, weight))
        # The difference of two rows has norm √2, and none of it in the chosen columns.
        assert lanczos.bound_in_memory(X, sample, 1e-3).lambda_min <= 1e-3 / (1 + 1e-3)

    def test_data_of_a_common_seed_do_not_know_the_start(self):
        """A strong row that has nothing of the numbers that seed 0 gives is not overlooked."""
        numbers = np.random.default_rng(0).standard_normal((200, 4))
        numbers[0] = 0
        seen = np.linalg.qr(numbers)[0]
        row = np.where(np.arange(200) > 0, 1.0, 0.0)
        row -= seen @ (seen.T @ row)
        X = np.vstack([0.1 * np.eye(200), 10 * row / np.linalg.norm(row)])
        sample = ColumnChoice(np.array([0]), np.ones(1))
        bound = measured_in_blocks(ArrayBlocks(X, n_rows=100), sample, 1.0)
        assert bound.lambda_min <= 1 / 100

    def test_all_features_cost_nothing(self):
        X, _ = problem()
        everything = ColumnChoice(np.arange(400), np.ones(400))
        assert measured_in_blocks(ArrayBlocks(X), everything, 1.0).lambda_min == 1

    @pytest.mark.parametrize("seed", range(20))
    def test_few_directions(self, seed):
        """The Krylov space ends soon; what rounding adds to it must not count."""
        rng = np.random.default_rng(seed)
        X = np.zeros((200, 400))
        X[:, :2] = 1
        n_values = rng.integers(1, 12)
        places = rng.integers(0, 200, n_values), rng.integers(0, 400, n_values)
        X[places] = 5 * rng.standard_normal(n_values)
        sample = ColumnChoice(np.sort(rng.choice(400, 5, replace=False)), np.ones(5))
        exact = regularised_eigenvalues(exact_basis(X), sample, 1.0, X.shape[0])
        bound = measured_in_blocks(ArrayBlocks(X, n_rows=40), sample, 1.0)
        assert 0.9 * exact.lambda_min <= bound.lambda_min <= exact.lambda_min * (1 + 1e-9)

    def test_zeros(self):
        sample = ColumnChoice(np.arange(3), np.ones(3))
        assert measured_in_blocks(ArrayBlocks(np.zeros((60, 70))), sample, 1).lambda_min == (
            pytest.approx(1)
        )

    def test_number_of_passes(self):
        class Counted(ArrayBlocks):
            n_reads = 0

            def read(self, number):
                self.n_reads += 1
                return super().read(number)

        X, sample = problem()
        blocks = Counted(X, n_rows=50)
        measured_in_blocks(blocks, sample, 1.0)
        assert blocks.n_reads == 26 * len(blocks)


class TestBoundInMemory:
    """The same bound where products with the rows are cheap."""

    @pytest.mark.parametrize("scales", [(1.0, 1.0), (1.0, 4.0), (0.3, 1.3), (0.01, 0.02)])
    @pytest.mark.parametrize("mu", [1e-2, 1.0, 1e4])
    @pytest.mark.parametrize("kind", ["sparse", "dense"])
    def test_safe_and_nearly_exact(self, scales, mu, kind):
        X, sample = problem(scales=scales)
        exact = regularised_eigenvalues(exact_basis(X), sample, mu, X.shape[0])
        bound = lanczos.bound_in_memory(X if kind == "sparse" else X.toarray(), sample, mu)
        assert bound.lambda_min <= exact.lambda_min * (1 + 1e-9)
        assert bound.lambda_max >= exact.lambda_max * (1 - 1e-9)
        assert 1 / bound.lambda_min <= 1.1 / min(1, exact.lambda_min)
        assert bound.probability == 0.99

    @pytest.mark.parametrize("factor", [1e-300, 1e-150, 1e-20, 1e20, 1e150, 1e300])
    def test_units_do_not_matter(self, factor):
        X, sample = problem()
        mu = 3.0 * factor**2 if 1e-30 < factor < 1e30 else 1.0
        bound = lanczos.bound_in_memory(X * factor, sample, mu)
        if factor <= 1e-150:
            assert bound.lambda_min == pytest.approx(1, abs=0.1)
        elif factor >= 1e150:
            assert bound.lambda_min == 0
        else:
            plain = lanczos.bound_in_memory(X, sample, 3.0)
            assert bound.lambda_min == pytest.approx(plain.lambda_min)

    @pytest.mark.parametrize("mu", [1e-6, 1e-9, 1e-12, 1e-15])
    def test_a_tiny_ridge_is_drowned_by_rounding_and_not_believed(self, mu):
        """Too few columns leave μ/(μ + σ²) of a direction, which goes down with μ."""
        X, sample = problem()
        exact = regularised_eigenvalues(exact_basis(X), sample, 1e-4, X.shape[0])
        bound = lanczos.bound_in_memory(X, sample, mu)
        assert 0 <= bound.lambda_min <= 1.001 * exact.lambda_min * mu / 1e-4

    def test_all_features_cost_nothing(self):
        X, _ = problem()
        everything = ColumnChoice(np.arange(400), np.ones(400))
        assert lanczos.bound_in_memory(X, everything, 1.0).lambda_min == 1


class TestShortfall:
    """The largest Ritz value from a random start is rarely below (1 − ε) times the truth."""

    @pytest.mark.parametrize("steps", [2, 4])
    def test_at_most_as_often_as_it_says(self, steps, small_limits):
        small_limits(WIDTH=1, FAILURE=0.2)
        dimension, n_trials = 200, 400
        # One large eigenvalue just above many others is the hard case.
        shortfall = _lanczos._largest_shortfall(dimension, steps)
        rest = np.linspace(0, 1 - shortfall, dimension - 1)
        eigenvalues = np.append(1.0, rest)[:, None]
        rng = np.random.default_rng(0)
        found = [
            _lanczos._largest_ritz_value(
                lambda V: eigenvalues * V, rng.standard_normal((dimension, 1)), steps
            )
            for _ in range(n_trials)
        ]
        n_failures = np.sum(np.array(found) < 1 - shortfall)
        assert 0 < n_failures <= 0.2 * n_trials

    def test_less_for_more_steps(self):
        few, more = (_lanczos._largest_shortfall(1_000_000, steps) for steps in (12, 24))
        assert 0 < more < few < 0.13


@pytest.mark.usefixtures("few_directions")
class TestCertify:
    @pytest.mark.parametrize("kind", ["memory", "blocks"])
    def test_what_is_proven(self, kind):
        X, sample = problem(scales=(1.0, 2.0))
        rows = X if kind == "memory" else ArrayBlocks(X, n_rows=40)
        given = {"weights": sample.scales, "estimator": LinearSVC(random_state=0)}
        certificate = certify(rows, None, sample.indices, rows="all", **given)
        assert (certificate.exact, certificate.rank, certificate.lambda_min) == (True, None, 0)
        assert certificate.lambda_max == sample.scales.max() ** 2
        bound = lanczos.soft_bound(rows, sample, ModelBound(mu=0.5))
        assert certificate.regularised == bound
        assert certificate.realised is None
        text, chance = str(certificate), " with probability 0.99"
        if certificate.measured_growth <= 10:
            assert text.startswith(f"Proven for any labels{chance}: ")
        assert f"times{chance} (λ = 0" in text

    def test_support_rows(self):
        X, sample = problem(n_rows=1200)
        y = np.where(X @ np.random.default_rng(1).standard_normal(400) > 0, 1, -1)
        expected = certify(X, y, sample.indices, optimality=False)
        assert expected.covers_all_rows is not None
        assert expected.regularised.probability == 0.99
        blocks = ArrayBlocks(X, y, n_rows=333)
        assert certify(blocks, None, sample.indices, optimality=False) == expected
