"""Rows in blocks give the same selection as all rows at once."""

import gzip
import os
import tracemalloc
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_rows import random_rows
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import dump_svmlight_file
from sklearn.feature_selection import f_classif
from sklearn.svm import SVC, LinearSVC

from certifeature import BSSSelector, LeverageScoreSelector, RandomSelector, RRQRSelector, certify
from certifeature.basis import exact_basis
from certifeature.basis.span import RowSummary
from certifeature.io import FileBlocks
from certifeature.models.support import cascade, fit_model, support_rows
from certifeature.rows.blocks import ArrayBlocks, RowBlocks

SELECTORS = [BSSSelector, LeverageScoreSelector, RRQRSelector, RandomSelector]


def rows(n_rows, n_features, seed=0):
    rng = np.random.default_rng(seed)
    return random_rows((n_rows, n_features), 0.05, rng)


def assert_same(selector, expected):
    np.testing.assert_array_equal(selector.indices_, expected.indices_)
    np.testing.assert_allclose(selector.scales_, expected.scales_, rtol=1e-9)
    assert selector.basis_ == expected.basis_
    assert selector.certificate_.lambda_min == pytest.approx(
        expected.certificate_.lambda_min, rel=1e-6, abs=1e-9
    )


class Pieces(RowBlocks):
    """Rows that are cut at given places."""

    def __init__(self, X, y, cuts):
        self.X, self.y = X, y
        self.places = [0, *sorted(cuts), X.shape[0]]
        self.n_features = X.shape[1]

    def __len__(self):
        return len(self.places) - 1

    def read(self, number):
        part = slice(*self.places[number : number + 2])
        return self.X[part], None if self.y is None else self.y[part]


CASES = {
    "few rows": (rows(60, 2500), {}),
    "few features": (rows(900, 80), {}),
    "sketch of many rows": (rows(2600, 2200), {"n_components": 40}),
    "sketch": (rows(700, 300), {"basis": "sketch", "n_components": 30}),
    "sketch as large as the rows": (rows(50, 300), {"basis": "sketch", "n_components": 60}),
    "truncated": (rows(900, 80), {"basis": "truncated", "n_components": 20}),
    "dense": (rows(900, 80).toarray(), {}),
    "tiny values": (1e-150 * rows(700, 300), {"basis": "sketch", "n_components": 30}),
    "huge values": (1e150 * rows(700, 300), {"basis": "sketch", "n_components": 30}),
}


@pytest.fixture(scope="module")
def all_at_once():
    X, options = CASES["sketch"]
    return BSSSelector(70, supervised=False, random_state=0, **options).fit(X)


class TestSameAsInMemory:
    @pytest.mark.parametrize("case", CASES)
    @pytest.mark.parametrize("n_rows", [17, 256, 1000])
    def test_any_block_size(self, case, n_rows):
        X, options = CASES[case]
        selector = BSSSelector(70, supervised=False, random_state=0, **options)
        expected = BSSSelector(70, supervised=False, random_state=0, **options).fit(X)
        assert_same(selector.fit(ArrayBlocks(X, n_rows=n_rows)), expected)

    @pytest.mark.parametrize("kind", SELECTORS)
    def test_every_selector(self, kind):
        X, _ = CASES["sketch of many rows"]
        options = {"supervised": False, "n_components": 30, "random_state": 3}
        assert_same(kind(80, **options).fit(ArrayBlocks(X, n_rows=300)), kind(80, **options).fit(X))

    @given(cuts=st.lists(st.integers(1, 699), max_size=6, unique=True))
    def test_cut_anywhere(self, all_at_once, cuts):
        X, _ = CASES["sketch"]
        assert_same(clone(all_at_once).fit(Pieces(X, None, cuts)), all_at_once)

    def test_rows_one_by_one(self):
        X = rows(150, 40).toarray()
        selector = BSSSelector(20, supervised=False)
        assert_same(clone(selector).fit(ArrayBlocks(X, n_rows=1)), selector.fit(X))

    def test_tall_sparse_rows_are_never_dense_at_once(self, small_limits):
        small_limits(MAX_ARRAY=0, ROWS_AT_ONCE=2**18)
        n_rows, n_features = 50_000, 200
        columns = np.random.default_rng(0).integers(0, n_features, n_rows)
        starts = np.arange(n_rows + 1)
        X = sparse.csr_array((np.ones(n_rows), columns, starts), (n_rows, n_features))
        tracemalloc.start()
        expected = exact_basis(X)
        found = RowSummary.for_basis(n_features, "auto", None, 0).taken(ArrayBlocks(X)).matrix()
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 8 * n_rows * n_features / 4
        sizes = np.sqrt(np.sort(np.bincount(columns))[::-1])
        np.testing.assert_allclose(expected.singular_values, sizes, rtol=1e-9)
        np.testing.assert_allclose(np.linalg.svd(found, compute_uv=False), sizes, rtol=1e-9)

    def test_memory_map(self, tmp_path):
        X = rows(900, 80).toarray()
        np.save(tmp_path / "X.npy", X)
        mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
        selector = BSSSelector(70, supervised=False).fit(ArrayBlocks(mapped, n_rows=100))
        assert_same(selector, BSSSelector(70, supervised=False).fit(X))


def noisy(n_rows, n_features, seed=0):
    """Two classes that overlap."""
    rng = np.random.default_rng(seed)
    X = random_rows((n_rows, n_features), 0.1, rng)
    scores = X @ rng.standard_normal(n_features) + 0.3 * rng.standard_normal(n_rows)
    return X, np.where(scores > 0, 1, -1)


def objective(svm, X, y):
    """Return what LIBLINEAR minimises."""
    slack = np.maximum(0, 1 - y * svm.decision_function(X))
    norm = np.sum(svm.coef_**2) + np.sum(svm.intercept_**2)
    return norm / 2 + svm.C * np.sum(slack**2)


class TestCascade:
    @pytest.mark.parametrize("n_rows", [60, 300, 1000])
    def test_it_ends_at_the_optimum_for_all_rows(self, n_rows):
        X, y = noisy(1500, 60)
        svm = LinearSVC(C=1, dual=True, tol=1e-8, max_iter=100_000, random_state=0)
        result = cascade(ArrayBlocks(X, y, n_rows=n_rows), svm)
        best = objective(svm.fit(X, y), X, y)
        assert objective(result.model, X, y) <= best * (1 + 1e-3)
        assert result.n_passes <= 6
        assert result.optimality_gap == 0
        np.testing.assert_array_equal(result.rows.y, y[result.rows.indices])
        assert abs(result.rows.X - X[result.rows.indices]).max() == 0

    def test_the_support_is_that_of_all_rows(self):
        X, y = noisy(1500, 60)
        result = cascade(ArrayBlocks(X, y, n_rows=300), LinearSVC(dual=True, random_state=0))
        expected = fit_model(LinearSVC(dual=True, random_state=0), X, y)
        np.testing.assert_array_equal(result.rows.indices, support_rows(expected, X, y))
        np.testing.assert_allclose(result.model.coef_, expected.coef_, rtol=1e-9)

    def test_hinge_loss_ends_near_the_optimum(self):
        X, y = noisy(1500, 60)
        svm = LinearSVC(loss="hinge", dual=True, tol=1e-6, max_iter=100_000, random_state=0)
        result = cascade(ArrayBlocks(X, y, n_rows=300), svm)
        assert 0 <= result.optimality_gap <= 1e-4
        expected = support_rows(svm.fit(X, y), X, y)
        assert len(np.setxor1d(result.rows.indices, expected)) <= 0.05 * len(expected)

    def test_blocks_of_one_class_each(self):
        X, y = noisy(900, 60)
        order = np.argsort(y, kind="stable")
        svm = LinearSVC(C=1, dual=True, tol=1e-6, max_iter=100_000, random_state=0)
        result = cascade(ArrayBlocks(X[order], y[order], n_rows=100), svm)
        assert objective(result.model, X, y) <= objective(svm.fit(X, y), X, y) * (1 + 1e-3)

    def test_a_class_without_support_in_a_block_is_not_lost(self, rng):
        X = np.vstack([rng.normal(5, 1, (40, 3)), rng.normal(30, 1, (4, 3))])
        y = np.repeat([0, 1], [40, 4])
        svm = LinearSVC(dual=True, max_iter=100_000, random_state=0)
        result = cascade(ArrayBlocks(X, y, n_rows=44), svm)
        assert set(y[result.rows.indices]) <= {0, 1}
        np.testing.assert_allclose(result.model.coef_, svm.fit(X, y).coef_, atol=1e-2)

    def test_weights_of_some_classes(self):
        X, y = noisy(900, 60)
        order = np.argsort(y, kind="stable")
        svm = LinearSVC(
            dual=True, tol=1e-6, max_iter=100_000, random_state=0, class_weight={1: 5.0}
        )
        result = cascade(ArrayBlocks(X[order], y[order], n_rows=100), svm)
        np.testing.assert_allclose(result.model.coef_, svm.fit(X, y).coef_, atol=0.02)

    def test_wide_indices(self):
        X, y = noisy(300, 60)
        wide = sparse.csr_array((X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)))
        assert cascade(ArrayBlocks(wide, y, n_rows=100), LinearSVC()).optimality_gap <= 1e-4

    def test_several_classes(self, rng):
        X, _ = noisy(900, 60)
        y = (X @ rng.standard_normal((60, 3))).argmax(axis=1)
        svm = LinearSVC(C=1, dual=True, tol=1e-6, max_iter=100_000, random_state=0)
        result = cascade(ArrayBlocks(X, y, n_rows=100), svm)
        np.testing.assert_allclose(result.model.coef_, svm.fit(X, y).coef_, atol=0.02)

    @pytest.mark.parametrize(
        ("svm", "message"),
        [
            (SVC(kernel="linear"), "are for sklearn.svm.LinearSVC; got SVC"),
            (LinearSVC(class_weight="balanced"), "differs from block to block"),
            (LinearSVC(penalty="l1"), "Use penalty='l2'"),
            (LinearSVC(multi_class="crammer_singer"), "Use multi_class='ovr'"),
        ],
    )
    def test_other_svms(self, svm, message):
        X, y = noisy(1100, 20)
        with pytest.raises(ValueError, match=message):
            BSSSelector(5, estimator=svm).fit(ArrayBlocks(X, y, n_rows=300))

    @pytest.mark.parametrize("n_rows", [90, 1100])
    def test_no_labels(self, n_rows):
        with pytest.raises(ValueError, match="the blocks have no labels"):
            BSSSelector(5).fit(ArrayBlocks(noisy(n_rows, 20)[0], n_rows=30))

    def test_full_guarantee_needs_all_rows(self):
        X, y = noisy(1100, 20)
        with pytest.raises(ValueError, match="guarantee='full' needs all rows at once"):
            BSSSelector(5, guarantee="full").fit(ArrayBlocks(X, y, n_rows=300))


class TestSupervised:
    """With labels, too, it does not matter how the rows come."""

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("shape", "n_rows"),
        [*product([(90, 200), (1000, 60), (1001, 60)], [40, 350, 5000]), ((2000, 200), 350)],
        ids=str,
    )
    def test_any_block_size(self, shape, n_rows):
        X, y = noisy(*shape)
        size = shape[1] // 2
        expected = BSSSelector(size, random_state=0).fit(X, y)
        found = BSSSelector(size, random_state=0).fit(ArrayBlocks(X, y, n_rows=n_rows))
        assert_same(found, expected)
        np.testing.assert_array_equal(found.support_rows_, expected.support_rows_)

    @pytest.mark.parametrize("kind", SELECTORS)
    def test_every_selector(self, kind):
        X, y = noisy(1500, 90)
        expected = kind(40, random_state=0).fit(X, y)
        assert_same(kind(40, random_state=0).fit(ArrayBlocks(X, y, n_rows=400)), expected)

    @pytest.mark.slow
    @settings(max_examples=5)
    @given(st.lists(st.integers(1, 1199), max_size=6, unique=True), st.integers(0, 2**32 - 1))
    def test_cut_anywhere(self, cuts, seed):
        X, y = noisy(1200, 40, seed)
        expected = BSSSelector(20, random_state=0).fit(X, y)
        assert_same(BSSSelector(20, random_state=0).fit(Pieces(X, y, cuts)), expected)

    def test_several_classes(self, rng):
        X, _ = noisy(1300, 60)
        y = (X @ rng.standard_normal((60, 3))).argmax(axis=1)
        svm = LinearSVC(class_weight={0: 2.0}, random_state=0)
        expected = BSSSelector(30, estimator=svm, random_state=0).fit(X, y)
        blocks = ArrayBlocks(X, y, n_rows=300)
        assert_same(BSSSelector(30, estimator=svm, random_state=0).fit(blocks), expected)

    @pytest.fixture
    def support_of_one_class(self, rng):
        X = 0.1 * rng.standard_normal((1200, 20))
        y = np.where(np.arange(1200) % 20 == 0, 1, 0)
        X[:, 0] = np.where(y == 1, 100, -1) + 0.1 * X[:, 0]
        return X, y

    def test_support_of_one_class(self, support_of_one_class):
        X, y = support_of_one_class
        svm = LinearSVC(class_weight={1: 5.0}, random_state=0)
        expected = BSSSelector(5, estimator=svm, random_state=0).fit(X, y)
        assert set(y[expected.support_rows_]) == {0}
        blocks = ArrayBlocks(X, y, n_rows=300)
        found = BSSSelector(5, estimator=svm, random_state=0).fit(blocks)
        assert_same(found, expected)
        assert found.certificate_.regularised == expected.certificate_.regularised
        of_blocks, of_rows = certify(blocks, None, found), certify(X, y, expected)
        # Random columns are drawn from those of the rows that are known.
        others = {"optimality": None, "random_growth": None}
        assert replace(of_blocks, **others) == replace(of_rows, **others)
        assert certify(X, y, expected).realised.margin_full is None

    @pytest.mark.parametrize("order", ["stable", f_classif])
    def test_an_order_that_needs_all_classes(self, order, support_of_one_class):
        X, y = support_of_one_class
        selector = BSSSelector(5, order=order, estimator=LinearSVC(random_state=0)).fit(X, y)
        with pytest.raises(ValueError, match="the class 1 has no support vectors"):
            selector.fit(ArrayBlocks(X, y, n_rows=300))

    def test_weights_of_classes_that_do_not_exist(self):
        X, y = noisy(1200, 20)
        svm = LinearSVC(class_weight={1: 5.0, 7: 3.0})
        with pytest.raises(ValueError, match=r"class_weight names \[7\]"):
            BSSSelector(5, estimator=svm).fit(ArrayBlocks(X, y, n_rows=300))

    def test_what_the_passes_found_is_told_and_forgotten(self):
        X, y = noisy(1500, 60)
        selector = BSSSelector(30, random_state=0).fit(ArrayBlocks(X, y, n_rows=500))
        assert selector.n_passes_ >= 2
        assert selector.optimality_gap_ == 0
        assert not hasattr(selector.fit(X, y), "n_passes_")

    @pytest.mark.slow
    @pytest.mark.ci
    def test_few_rows_may_have_any_svm_and_guarantee(self):
        X, y = noisy(300, 60)
        selector = BSSSelector(40, estimator=SVC(kernel="linear"), guarantee="full")
        assert_same(clone(selector).fit(ArrayBlocks(X, y, n_rows=70)), selector.fit(X, y))


def test_blocks_made_of_others_have_their_values_in_order(rng):
    """SciPy sorts indices that several arrays share, but the values of one of them only."""
    X = sparse.random_array((50, 30), density=0.3, format="csr", rng=rng)
    weighed = ArrayBlocks(X, n_rows=20).mapped(lambda rows: rows @ sparse.diags_array(scales), 30)
    scales = rng.uniform(1, 2, 30)
    for block in weighed:
        assert block.X.has_canonical_format


class TestCertify:
    @pytest.mark.slow
    @pytest.mark.parametrize("shape", [(300, 60), (1100, 40)])
    def test_blocks_get_the_certificate_of_all_rows(self, shape):
        X, y = noisy(*shape)
        selection = np.arange(0, shape[1], 2)
        expected = certify(X, y, selection, optimality=False)
        blocks = ArrayBlocks(X, y, n_rows=400)
        assert certify(blocks, None, selection, optimality=False) == expected

    def test_the_promise_of_the_selector_is_kept(self):
        X, y = noisy(600, 300)
        blocks = ArrayBlocks(X, y, n_rows=200)
        svm = LinearSVC(dual=True, tol=1e-8, max_iter=100_000, random_state=0)
        selector = BSSSelector(290, estimator=svm, random_state=0).fit(blocks)
        certificate = certify(blocks, None, selector, realised=False)
        assert certificate.lambda_min == pytest.approx(selector.certificate_.lambda_min)
        assert certificate.a_priori == selector.certificate_.a_priori

    @pytest.mark.parametrize("case", ["few rows", "few features", "dense"])
    def test_all_rows(self, case):
        X, _ = CASES[case]
        selection = np.arange(0, X.shape[1], 2)
        blocks = ArrayBlocks(X, n_rows=37)
        # By default dense rows in memory are centred, which those in blocks are not.
        options = {"rows": "all", "estimator": LinearSVC()}
        found = certify(blocks, None, selection, **options)
        expected = certify(X, None, selection, realised=False, **options)
        assert (found.rank, found.n_rows, found.exact) == (expected.rank, X.shape[0], True)
        for name in ("lambda_min", "lambda_max"):
            assert getattr(found, name) == pytest.approx(getattr(expected, name), rel=1e-6)
            assert getattr(found.regularised, name) == pytest.approx(
                getattr(expected.regularised, name), rel=1e-6
            )

    def test_labels_beside_the_blocks(self):
        X, y = noisy(90, 20)
        with pytest.raises(ValueError, match="contain their labels"):
            certify(ArrayBlocks(X, y), y, [1, 2])

    def test_no_labels_no_weights_of_classes(self):
        X, _ = noisy(300, 60)
        svm = LinearSVC(C=2, class_weight={1: 5.0})
        blocks = ArrayBlocks(X, n_rows=90)
        assert certify(blocks, None, [1, 2], estimator=svm, rows="all").regularised is None

    def test_nothing_is_realised_of_many_rows(self):
        X = np.random.default_rng(0).standard_normal((4100, 3))
        certificate = certify(X, None, [0, 1, 2], rows="all")
        assert certificate.realised is None
        assert certificate.lambda_min == pytest.approx(1)

    def test_weights_of_classes_count(self):
        X, y = noisy(300, 60)
        svm = LinearSVC(C=2, class_weight={1: 5.0})
        found = certify(ArrayBlocks(X, y, n_rows=90), None, [1, 2], estimator=svm, rows="all")
        assert found.regularised.mu == 1 / (2 * 10)
        expected = certify(X, y, [1, 2], estimator=svm, rows="all").regularised
        assert found.regularised.lambda_min == pytest.approx(expected.lambda_min)


class TestTransform:
    def test_blocks_stay_blocks(self):
        X, _ = CASES["few features"]
        selector = BSSSelector(70, supervised=False).fit(X)
        y = np.arange(900)
        reduced = selector.transform(ArrayBlocks(X, y, n_rows=123))
        blocks = list(reduced)
        whole = sparse.vstack([block.X for block in blocks])
        assert abs(whole - selector.transform(X)).max() == 0
        np.testing.assert_array_equal(np.concatenate([block.y for block in blocks]), y)
        with pytest.raises(ValueError, match="blocks have 30 features"):
            selector.transform(ArrayBlocks(X[:, :30]))


class TestFiles:
    @pytest.mark.parametrize("kind", ["svm", "svm.gz", "npz", "csv", "parquet"])
    def test_same_as_in_memory(self, kind, tmp_path):
        X, _ = CASES["few features"]
        y = np.arange(900) % 2
        for number, start in enumerate(range(0, 900, 250)):
            part, labels = X[start : start + 250], y[start : start + 250]
            path = tmp_path / f"part-{number}.{kind}"
            if kind == "npz":
                np.savez(path, X=part.toarray(), y=labels)
            elif kind.startswith("svm"):
                dump_svmlight_file(part, labels, str(tmp_path / "plain"), zero_based=False)
                text = (tmp_path / "plain").read_bytes()
                path.write_bytes(gzip.compress(text) if kind.endswith("gz") else text)
                (tmp_path / "plain").unlink()
            else:
                names = [f"f{j}" for j in range(80)]
                frame = pd.DataFrame(part.toarray(), columns=names).assign(y=labels)
                frame.to_csv(path, index=False) if kind == "csv" else frame.to_parquet(path)
        blocks = FileBlocks(tmp_path)
        assert len(blocks) == 4
        np.testing.assert_array_equal(np.concatenate([block.y for block in blocks]), y)
        selector = BSSSelector(60, supervised=False).fit(blocks)
        assert_same(selector, BSSSelector(60, supervised=False).fit(X))
        if kind in ("csv", "parquet"):
            assert blocks.feature_names[7] == "f7"

    def test_a_truncated_file_in_the_middle_is_named(self, tmp_path):
        for number in range(3):
            np.savez(tmp_path / f"part-{number}.npz", X=np.eye(4) + number)
        path = tmp_path / "part-1.npz"
        path.write_bytes(path.read_bytes()[:-40])
        with pytest.raises(ValueError, match=r"part-1\.npz: not an NPZ file that can"):
            BSSSelector(2, supervised=False).fit(FileBlocks(tmp_path))

    def test_different_names_are_an_error(self, tmp_path):
        (tmp_path / "a.csv").write_text("u,v,y\n1,2,0\n3,4,1\n")
        (tmp_path / "b.csv").write_text("v,u,y\n1,2,0\n3,4,1\n")
        for n_features in (None, 2):
            with pytest.raises(ValueError, match=r"block 1 .*other feature names"):
                list(FileBlocks(tmp_path, n_features=n_features))

    def test_an_index_beyond_the_features_is_named(self, tmp_path):
        (tmp_path / "a.svm").write_text("1 1:2\n-1 7:1\n")
        with pytest.raises(ValueError, match="line 2: index 7"):
            list(FileBlocks(tmp_path, n_features=5))

    @pytest.mark.parametrize(
        ("make", "message"),
        [
            (lambda folder: None, "there are no files"),
            (lambda folder: (folder / "a.txt").write_text("1"), "does not tell the format"),
            (
                lambda folder: [
                    (folder / name).write_text("1 1:1\n") for name in ("a.svm", "b.csv")
                ],
                "different formats",
            ),
        ],
    )
    def test_bad_folders(self, make, message, tmp_path):
        make(tmp_path)
        with pytest.raises(ValueError, match=message):
            FileBlocks(tmp_path)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"target": "y"}, r"label of SVMlight data .* Leave target out"),
            ({"target": 1.5}, r"label of SVMlight data .* Leave target out"),
            ({"n_features": 0}, "n_features must be a positive integer; got 0"),
            ({"n_features": 2.0}, "n_features must be a positive integer"),
        ],
    )
    def test_bad_options(self, options, message, tmp_path):
        (tmp_path / "a.svm").write_text("1 1:2\n-1 2:1\n")
        with pytest.raises(ValueError, match=message):
            FileBlocks(tmp_path, **options)

    def test_no_row_counts_twice(self, tmp_path):
        paths = [tmp_path / name for name in ("a.svm", "b.svm", "c.svm")]
        paths[0].write_text("1 1:2\n-1 2:1\n")
        paths[1].write_text("1 1:2\n-1 2:1\n")
        assert len(list(FileBlocks(tmp_path))) == 2
        for link in (paths[2].symlink_to, paths[2].hardlink_to):
            link(paths[0])
            with pytest.raises(ValueError, match=r"c\.svm is the same file as .*a\.svm.*twice"):
                FileBlocks(tmp_path)
            paths[2].unlink()
        with pytest.raises(ValueError, match="same file"):
            FileBlocks([*paths[:2], paths[0]])

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
    def test_blocks_are_files(self, tmp_path):
        (tmp_path / "a.svm").write_text("1 1:2\n-1 2:1\n")
        os.mkfifo(tmp_path / "b.svm")
        with pytest.raises(ValueError, match=r"b\.svm: this is no file.*again and again"):
            FileBlocks(tmp_path)

    def test_missing_folder(self, tmp_path):
        with pytest.raises(FileNotFoundError, match="nowhere"):
            FileBlocks(tmp_path / "nowhere")


class _Listed(RowBlocks):
    def __init__(self, *blocks):
        self.n_features = 5
        self._listed = blocks

    def __len__(self):
        return len(self._listed)

    def read(self, number):
        return self._listed[number]


class TestBadBlocks:
    @pytest.mark.parametrize(
        ("bad", "message"),
        [
            ((np.ones((2, 4)), None), r"block 2 has shape \(2, 4\), but the rows have 5"),
            ((np.ones((0, 5)), None), "block 2 is empty"),
            ((np.full((2, 5), np.nan), None), "block 2 contains NaN"),
            ((sparse.csr_array(np.full((2, 5), np.inf)), None), "block 2 contains NaN or infinity"),
            ((np.ones((2, 5)), np.ones(3)), r"block 2 has 2 rows and labels of shape \(3,\)"),
            ((np.ones((2, 5)), np.ones((2, 1))), r"labels of shape \(2, 1\)"),
        ],
    )
    def test_they_are_named(self, bad, message):
        good = np.eye(5), None
        selector = BSSSelector(3, supervised=False)
        with pytest.raises(ValueError, match=message):
            selector.fit(_Listed(good, good, bad, good))
        assert not hasattr(selector, "indices_")

    def test_no_blocks(self):
        with pytest.raises(ValueError, match="there are no rows"):
            BSSSelector(3, supervised=False).fit(_Listed())

    def test_labels_beside_the_blocks(self):
        with pytest.raises(ValueError, match="row blocks contain their labels"):
            BSSSelector(3).fit(_Listed((np.eye(5), None)), np.arange(5) % 2)

    def test_exact_basis_of_too_many_rows(self):
        X = rows(2100, 2100)
        with pytest.raises(ValueError, match="use basis='sketch' or 'auto'"):
            BSSSelector(30, supervised=False, basis="exact").fit(ArrayBlocks(X, n_rows=500))

    def test_an_order_that_needs_rows(self):
        selector = BSSSelector(3, supervised=False, order=lambda X, y: X.sum(axis=0))
        with pytest.raises(ValueError, match="come in blocks"):
            selector.fit(_Listed((np.eye(5), None)))


CHANGES = {
    "a value": lambda X, y: (X + np.eye(*X.shape), y),
    "labels": lambda X, y: (X, -y),
    "names of labels": lambda X, y: (X, np.where(y > 0, "yes", "no")),
    "names of labels, as objects": lambda X, y: (X, np.where(y > 0, "yes", "no").astype(object)),
    "the order of rows": lambda X, y: (X[::-1], y[::-1]),
    "one row more": lambda X, y: (np.vstack([X, X[:1]]), np.append(y, y[0])),
    "one row less": lambda X, y: (X[1:], y[1:]),
}


def _many_rows():
    """Return more rows than are gathered, and their labels."""
    X, y = noisy(1050, 8)
    return X.toarray(), y


class _Changing(Pieces):
    """Pieces of which the one that is read at a moment has changed, for good."""

    def __init__(self, X, y, cuts, change, moment=10**9):
        super().__init__(X, y, cuts)
        self.change, self.moment, self.n_reads, self.changed = change, moment, 0, None

    def read(self, number):
        if self.n_reads == self.moment:
            self.changed = number
        self.n_reads += 1
        part = super().read(number)
        return self.change(*part) if number == self.changed else part


class TestChanges:
    """Rows that are not the same in every pass are an error, and never a certificate."""

    @pytest.mark.parametrize("change", CHANGES)
    @pytest.mark.parametrize("supervised", [True, False])
    def test_they_are_noticed_in_any_pass(self, change, supervised):
        X, y = _many_rows()
        rows = "support" if supervised else "all"
        selector = BSSSelector(5, supervised=supervised)
        still = _Changing(X, y, [350, 700], CHANGES[change])
        certify(still, None, selector.fit(still), rows=rows)
        assert still.n_reads >= 9
        for moment in (3, still.n_reads // 2, still.n_reads - 1):
            blocks = _Changing(X, y, [350, 700], CHANGES[change], moment)
            with pytest.raises(ValueError, match=rf"^block {moment % 3} changed while it was read"):
                certify(blocks, None, selector.fit(blocks), rows=rows)

    def test_a_selector_is_certified_for_the_rows_that_it_was_fitted_to(self):
        X, y = _many_rows()
        selector = BSSSelector(5).fit(blocks := ArrayBlocks(X, y, n_rows=350))
        X[500] += 1
        with pytest.raises(ValueError, match=r"^block 1 changed while it was read"):
            certify(blocks, None, selector)

    @pytest.mark.parametrize("moment", [0, 2, 4])
    @pytest.mark.parametrize("change", ["labels", "width", "cut", "gone", "touched", "same state"])
    def test_files_are_named(self, change, moment, tmp_path):
        X, y = _many_rows()

        class Files(FileBlocks):
            n_reads = 0

            def dataset(self, number):
                # What tells nothing by when it was written must have been read before.
                if self.n_reads == moment + 3 * (change == "same state"):
                    _change(tmp_path / "p1.npz", change, X[350:700], -y[350:700])
                self.n_reads += 1
                return super().dataset(number)

        for number in range(3):
            part = slice(350 * number, 350 * (number + 1))
            np.savez(tmp_path / f"p{number}.npz", X=X[part], y=y[part])
        files = Files(tmp_path)
        with pytest.raises(ValueError, match=r"p1\.npz\)? changed while it was read"):
            BSSSelector(5).fit(files)

    def test_a_folder_of_arrays_is_compared(self, tmp_path):
        for name in ("a", "b"):
            (tmp_path / name).mkdir()
            np.savez(tmp_path / name / "X.npz", X=np.eye(4))
            np.save(tmp_path / name / "y.npy", np.arange(4))
        blocks = FileBlocks(tmp_path, format="npz")
        list(blocks)
        np.save(tmp_path / "b" / "y.npy", np.arange(4))
        with pytest.raises(ValueError, match="b changed while it was read"):
            list(blocks)


def _change(path, change, X, y):
    """Change a file, or only when it was written; or its labels but not when, nor its size."""
    state = path.stat()
    if change == "touched":
        os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns + 1))
    elif change == "gone":
        path.unlink()
    elif change == "cut":
        path.write_bytes(path.read_bytes()[:-40])
    else:
        other = path.with_name("other") if change == "labels" else path
        with open(other, "r+b" if change == "same state" else "wb") as file:
            np.savez(file, X=X[:, :-1] if change == "width" else X, y=y)
        os.replace(other, path)
        if change == "same state":
            os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
            now = path.stat()
            assert (now.st_size, now.st_ino) == (state.st_size, state.st_ino)


def test_blocks_tell_where_rows_come_from_and_how_many_there_are(tmp_path):
    X, y = rows(7, 5), np.array([1, -1, 1, -1, 1, 1, -1])
    assert repr(ArrayBlocks(X, n_rows=7)) == (
        "<ArrayBlocks: 1 block, 7 rows, 5 features, without labels>"
    )
    folder = tmp_path / "a folder whose name is of no interest"
    folder.mkdir()
    for number, cut in enumerate([slice(0, 4), slice(4, 7)]):
        dump_svmlight_file(
            X[cut], y[cut], str(folder / f"{'p' * 60}-{number}.svm"), zero_based=False
        )
    blocks = FileBlocks(folder, n_features=5)
    unread = repr(blocks)
    assert "rows" not in unread
    assert "-0.svm … " in unread
    assert "-1.svm)" in unread
    assert "no interest" not in unread
    assert len(unread) < 160
    assert blocks.n_rows == 7
    assert repr(blocks) == unread.replace(", 5 features", ", 7 rows, 5 features")
    assert repr(blocks).endswith("with labels>")
    chosen = blocks.with_columns(np.array([0, 3]), np.ones(2))
    assert repr(chosen) == f"<2 columns of {blocks!r}>"


def test_blocks_of_files_tell_whether_there_are_labels(tmp_path):
    table, array = tmp_path / "one.csv", tmp_path / "two.npz"
    pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 5.0], "y": [0, 1]}).to_csv(table, index=False)
    assert repr(FileBlocks(table)) == "<FileBlocks: 1 file (one.csv), 2 features, with labels>"
    np.savez(array, X=np.eye(3))
    assert repr(FileBlocks([array])) == "<FileBlocks: 1 file (two.npz), 3 features, without labels>"


def test_blocks_of_unknown_labels_say_nothing_of_them():
    assert repr(Pieces(rows(7, 5), None, [3])) == "<Pieces: 2 blocks, 5 features>"
