"""Dask collections give the same selection as arrays, on threads, processes and clusters."""

import os
import signal
import threading
import time

import cloudpickle
import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask.sizeof import sizeof
from distributed import Client, LocalCluster
from random_rows import random_rows
from scipy import sparse
from sklearn.base import clone
from sklearn.svm import LinearSVC

from certifeature import BSSSelector, LeverageScoreSelector, certify, compare
from certifeature.basis.span import RowSummary
from certifeature.rows import ArrayBlocks
from certifeature.rows.dask import DaskBlocks

# Dask and Distributed warn of ports, memory and configuration that are none of our business.
pytestmark = [pytest.mark.ci, pytest.mark.filterwarnings("default")]

OPTIONS = {"supervised": False, "basis": "sketch", "n_components": 30, "random_state": 0}


@pytest.fixture(scope="module", name="X")
def rows():
    rng = np.random.default_rng(0)
    return random_rows((900, 300), 0.05, rng).toarray()


@pytest.fixture(scope="module")
def y(X):
    return np.where(X @ np.random.default_rng(1).standard_normal(300) > 0, 1, -1)


@pytest.fixture(scope="module")
def expected(X):
    return BSSSelector(70, **OPTIONS).fit(X)


@pytest.fixture(scope="module")
def labelled():
    """More rows than one block may train an SVM on, and their labels."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((1500, 80))
    return X, np.where(X[:, 0] + X[:, 1] + rng.standard_normal(1500) > 0, 1, -1)


def sparse_chunks(X):
    return X.map_blocks(sparse.csr_array)


def assert_same(selector, expected):
    np.testing.assert_array_equal(selector.indices_, expected.indices_)
    np.testing.assert_allclose(selector.scales_, expected.scales_, rtol=1e-9)
    assert selector.basis_ == expected.basis_


class TestSchedulers:
    @pytest.mark.parametrize("chunks", [(100, 300), (77, 300), (250, 120), (900, 300)])
    @pytest.mark.parametrize("kind", [lambda X: X, sparse_chunks], ids=["dense", "sparse"])
    def test_threads(self, chunks, kind, X, expected):
        collection = kind(da.from_array(X, chunks=chunks))
        assert_same(BSSSelector(70, **OPTIONS).fit(collection), expected)

    @pytest.mark.slow
    def test_processes(self, X, expected):
        with dask.config.set(scheduler="processes", num_workers=2):
            assert_same(
                BSSSelector(70, **OPTIONS).fit(da.from_array(X, chunks=(300, 300))), expected
            )

    @pytest.mark.slow
    @pytest.mark.parametrize("n_workers", [1, 2, 4])
    def test_cluster(self, n_workers, X, expected, labelled):
        cluster = LocalCluster(
            n_workers=n_workers, threads_per_worker=1, processes=False, dashboard_address=None
        )
        with cluster, Client(cluster):
            collection = sparse_chunks(da.from_array(X, chunks=(100, 300)))
            assert_same(BSSSelector(70, **OPTIONS).fit(collection), expected)
            rows, labels = labelled
            supervised = BSSSelector(40, random_state=0)
            supervised.fit(da.from_array(rows, chunks=(200, 80)), labels)
        assert_same(supervised, BSSSelector(40, random_state=0).fit(rows, labels))

    @pytest.mark.ci
    def test_a_killed_worker_changes_nothing(self, X, expected, tmp_path):
        killed = tmp_path / "killed"

        def slow(chunk):
            (tmp_path / str(os.getpid())).touch()
            while not killed.exists():
                time.sleep(0.05)
            return chunk

        cluster = LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        )
        with cluster, Client(cluster) as client:
            victim = next(iter(client.run(os.getpid).values()))

            def kill():
                while not (tmp_path / str(victim)).exists():
                    time.sleep(0.05)
                os.kill(victim, signal.SIGKILL)
                killed.touch()

            killer = threading.Thread(target=kill)
            killer.start()
            # Without an example of its result, dask would call the function here.
            collection = da.from_array(X, chunks=(100, 300)).map_blocks(slow, meta=X[:0])
            selector = BSSSelector(70, **OPTIONS).fit(collection)
            killer.join()
        assert_same(selector, expected)


class TestKinds:
    @pytest.mark.parametrize("kind", [BSSSelector, LeverageScoreSelector])
    def test_exact_basis_of_few_features(self, kind, X):
        collection = da.from_array(X[:, :80], chunks=(130, 80))
        options = {"supervised": False, "random_state": 0}
        assert_same(kind(70, **options).fit(collection), kind(70, **options).fit(X[:, :80]))

    def test_data_frames(self, X, expected):
        frame = pd.DataFrame(X, columns=[f"word {j}" for j in range(300)])
        collection = dd.from_pandas(frame, npartitions=5)
        selector = BSSSelector(70, **OPTIONS).fit(collection)
        assert_same(selector, expected)
        reduced = selector.transform(collection)
        assert isinstance(reduced, dd.DataFrame)
        np.testing.assert_allclose(reduced.compute().to_numpy(), expected.transform(X))

    def test_names_are_kept_and_checked(self, X):
        frame = pd.DataFrame(X, columns=[f"word {j}" for j in range(300)])
        collection = dd.from_pandas(frame, npartitions=3)
        selector = BSSSelector(70, **OPTIONS).fit(collection)
        assert selector.get_feature_names_out()[0].startswith("word ")
        with pytest.raises(ValueError, match="other names, or another order"):
            selector.transform(collection[frame.columns[::-1]])
        selector.fit(da.from_array(X, chunks=(300, 300)))
        assert not hasattr(selector, "feature_names_in_")

    @pytest.mark.parametrize("kind", [bool, np.int16, np.float32])
    def test_plain_columns_keep_their_type(self, X, kind):
        values = (X[:, :30] > 0).astype(kind)
        frame = pd.DataFrame(values, columns=[f"c{j}" for j in range(30)])
        selector = BSSSelector(9, supervised=False, rescale=False).fit(values)
        expected = values[:, selector.get_support()]
        reduced = selector.transform(da.from_array(values, chunks=(200, 30)))
        assert reduced.dtype == reduced.compute().dtype == kind
        np.testing.assert_array_equal(reduced.compute(), expected)
        reduced = selector.transform(dd.from_pandas(frame, npartitions=2)).compute()
        assert (reduced.dtypes == kind).all()
        np.testing.assert_array_equal(reduced.to_numpy(), expected)

    def test_columns_of_the_same_name(self, X):
        frame = pd.DataFrame(X[:, :4], columns=["a", "b", "a", "c"])
        selector = BSSSelector(2, supervised=False).fit(X[:, :4])
        reduced = selector.transform(dd.from_pandas(frame, npartitions=2))
        np.testing.assert_allclose(reduced.compute().to_numpy(), selector.transform(X[:, :4]))

    def test_chunks_that_a_filter_emptied(self, X, expected):
        padded = np.vstack([np.full((100, 300), -1.0), X])
        collection = da.from_array(padded, chunks=(100, 300))
        filtered = collection[collection[:, 0] >= 0].compute_chunk_sizes()
        assert 0 in filtered.chunks[0]
        assert_same(BSSSelector(70, **OPTIONS).fit(filtered), expected)

    @pytest.mark.parametrize("chunk", [200, 611])
    def test_supervised(self, chunk, labelled):
        X, y = labelled
        # Of so many rows, BSS would be left no pick by default.
        expected = BSSSelector(40, trust=0.5, random_state=0).fit(X, y)
        collection = da.from_array(X, chunks=(chunk, 80))
        selector = clone(expected).fit(collection, da.from_array(y, chunks=450))
        assert_same(selector, expected)
        assert selector.optimality_gap_ == 0
        found, known = selector.certificate_, expected.certificate_
        assert found.measured_growth == pytest.approx(known.measured_growth)
        assert_same(selector.fit(collection, y), expected)

    @pytest.mark.slow
    @pytest.mark.parametrize("rows", ["support", "all"])
    def test_certificates(self, rows, labelled):
        X, y = labelled
        collection, labels = da.from_array(X, chunks=(200, 80)), da.from_array(y, chunks=450)
        # Rows in blocks are not centred, which makes the bound for the default model no better.
        soft, whole = (
            certify(*d, np.arange(0, 80, 3), rows=rows) for d in ((collection, labels), (X, y))
        )
        assert soft.regularised.lambda_min <= whole.regularised.lambda_min * (1 + 1e-9)
        given = {"estimator": LinearSVC(random_state=0), "rows": rows}
        found = certify(collection, labels, np.arange(0, 80, 3), **given)
        expected = certify(X, y, np.arange(0, 80, 3), **given)
        assert found.regularised.lambda_min == pytest.approx(expected.regularised.lambda_min)
        assert (found.n_rows, found.rank) == (expected.n_rows, expected.rank)
        assert found.covers_all_rows == expected.covers_all_rows

    @pytest.mark.parametrize("kind", [lambda X: X, sparse_chunks], ids=["dense", "sparse"])
    def test_transform_stays_lazy(self, kind, X, expected):
        asked = []
        collection = kind(da.from_array(X, chunks=(100, 300)).map_blocks(_noting(asked)))
        asked.clear()
        reduced = expected.transform(collection)
        assert (100, 300) not in asked
        assert isinstance(reduced, da.Array)
        assert reduced.shape == (900, len(expected.indices_))
        blocks = [chunk.compute() for chunk in reduced.to_delayed().ravel()]
        assert asked.count((100, 300)) >= 9
        dense = [block.toarray() if sparse.issparse(block) else block for block in blocks]
        np.testing.assert_allclose(np.vstack(dense), expected.transform(X))

    def test_sparse_chunks_of_zeros_keep_their_shape(self, X, expected):
        zeros = sparse_chunks(da.zeros(X.shape, chunks=(100, X.shape[1])))
        reduced = expected.transform(zeros).blocks[0].compute()
        assert reduced.shape == (100, len(expected.indices_))


def _noting(asked):
    def note(chunk):
        asked.append(chunk.shape)
        return chunk

    return note


class TestDamagedChunks:
    @pytest.mark.parametrize("supervised", [True, False])
    def test_a_chunk_that_cannot_be_computed(self, supervised, labelled):
        X, y = labelled

        def broken(chunk):
            raise OSError("the file ends early")

        collection = da.from_array(X, chunks=(200, 80)).map_blocks(broken, dtype=float)
        selector = BSSSelector(20, supervised=supervised)
        with pytest.raises(
            ValueError, match=r"cannot be computed \(OSError: the file ends early\)"
        ):
            selector.fit(collection, y if supervised else None)

    @pytest.mark.parametrize("supervised", [True, False])
    def test_a_chunk_of_another_length(self, supervised, labelled):
        X, y = labelled
        collection = da.from_array(X, chunks=(250, 80))
        shorter = collection.map_blocks(lambda chunk: chunk[:-1], dtype=float)
        selector = BSSSelector(20, supervised=supervised)
        with pytest.raises(ValueError, match=r"block \d+ has 249 rows, and 250 were announced"):
            selector.fit(shorter, y if supervised else None)

    def test_a_chunk_with_a_missing_value(self, X):
        damaged = X.copy()
        damaged[250, 3] = np.nan
        selector = BSSSelector(20, supervised=False)
        with pytest.raises(ValueError, match="block 2 contains NaN"):
            selector.fit(da.from_array(damaged, chunks=(100, 300)))

    @pytest.mark.parametrize("supervised", [True, False])
    def test_chunks_that_are_not_deterministic(self, supervised, labelled):
        X, y = labelled

        def noisy(chunk):
            return chunk + 1e-9 * np.random.default_rng().standard_normal(chunk.shape)

        collection = da.from_array(X, chunks=(500, 80)).map_blocks(noisy, dtype=float)
        selector = BSSSelector(40, supervised=supervised, basis="auto")
        with pytest.raises(ValueError, match=r"^block \d changed while it .*X\.persist\(\)"):
            certify(collection, y, selector.fit(collection, y), rows="all")
        selector.fit(collection.persist(), y)

    @pytest.mark.parametrize("scheduler", ["threads", "processes"])
    def test_labels_that_change(self, scheduler, labelled, tmp_path):
        X, y = labelled
        marker = tmp_path / "read"

        def relabelled(labels):
            if labels.size == 500 and labels[0] == y[500] and (labels == y[500:1000]).all():
                if marker.exists():
                    return np.where(labels > 0, "yes", "no")
                marker.touch()
            return labels

        labels = da.from_array(y, chunks=500).map_blocks(relabelled, dtype=y.dtype)
        with (
            dask.config.set(scheduler=scheduler, num_workers=2),
            pytest.raises(ValueError, match=r"^block 1 changed while it was read"),
        ):
            BSSSelector(40).fit(da.from_array(X, chunks=(500, 80)), labels)

    def test_methods_are_not_compared_on_collections(self, labelled):
        X, y = labelled
        with pytest.raises(ValueError, match=r"rows in memory.*X\[:1000\]\.compute\(\)"):
            compare(da.from_array(X, chunks=(200, 80)), y, [10])


class TestWhereWorkIsDone:
    def test_chosen_columns_are_made_where_the_chunks_are(self, X, monkeypatch):
        blocks = DaskBlocks(da.from_array(X, chunks=(100, 300)))
        monkeypatch.setattr(DaskBlocks, "read", None)
        chosen = blocks.with_columns(np.array([3, 5]), np.array([1.0, 2.0]))
        parts = chosen.collect(lambda block: block.X)
        np.testing.assert_array_equal(np.vstack(parts), X[:, [3, 5]] * [1.0, 2.0])

    def test_what_all_chunks_need_is_sent_once(self, X):
        blocks = DaskBlocks(da.zeros((900, 300), chunks=(10, 300)))
        large = np.zeros(10**6)
        graph = blocks._delayed(lambda block: large[0])[0].__dask_graph__()
        sizes = [len(cloudpickle.dumps(task)) for task in dict(graph).values()]
        assert sum(size >= large.nbytes for size in sizes) == 1

    @pytest.mark.parametrize("basis", ["sketch", "auto"])
    def test_dask_knows_the_size_of_what_it_moves(self, basis, X):
        digest = RowSummary.for_basis(300, basis, 30, 0).taken(ArrayBlocks(X))
        kept = 300 * 30 if basis == "sketch" else 300 * 300
        assert sizeof(digest) >= 8 * kept


class TestBadInput:
    def test_unknown_chunk_sizes(self, X):
        collection = da.from_array(X, chunks=(100, 300))
        with pytest.raises(ValueError, match="block 0 of X has an unknown number of rows"):
            BSSSelector(70, **OPTIONS).fit(collection[collection[:, 0] >= 0])

    def test_labels_of_another_length(self, X, y):
        with pytest.raises(ValueError, match="X has 900 rows and y has 899"):
            BSSSelector(70).fit(da.from_array(X, chunks=(100, 300)), y[1:])

    def test_nan_names_the_block(self, X):
        bad = X.copy()
        bad[417, 3] = np.nan
        with pytest.raises(ValueError, match="block 4 contains NaN"):
            BSSSelector(70, **OPTIONS).fit(da.from_array(bad, chunks=(100, 300)))

    def test_other_width_in_transform(self, X, expected):
        with pytest.raises(ValueError, match="blocks have 299 features"):
            expected.transform(da.from_array(X[:, :299], chunks=(100, 299)))

    def test_one_dimension(self):
        with pytest.raises(ValueError, match="two dimensions"):
            DaskBlocks(da.ones(5))

    def test_weights(self, X):
        with pytest.raises(ValueError, match="no weights"):
            BSSSelector(70, **OPTIONS).fit(da.from_array(X), sample_weight=np.ones(900))


def test_blocks_tell_how_many_rows_there_are(X, y):
    chunks = da.from_array(X, chunks=(300, 300))
    assert repr(DaskBlocks(chunks, y)) == (
        "<DaskBlocks: 3 blocks, 900 rows, 300 features, with labels>"
    )
