"""Readers of the paper's data: what is written comes back, and what is damaged is refused."""

import gzip
import zipfile
from types import SimpleNamespace
from urllib.error import URLError

import numpy as np
import pytest
from hypothesis import given, settings
from random_rows import random_rows
from reading import assert_sound, attempt, damaged
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from certifeature.io import read_data
from paper.data import rcv1, techtc
from paper.data.rcv1 import load_rcv1_ccat
from paper.data.techtc import list_techtc_tasks, load_techtc

SITE = "http://techtc.cs.technion.ac.il/techtc300/techtc300.html"
VECTORS = b"# page 1\n1 1:2 3:1 4:7\n# page 2\n-1 2:4 4:1\n# page 3\n1 3:5\n"
WORDS = b"# index word\n#\n1 guitar\n2 engine\n3 the\n4 caf\xc3\xa9s\n"


def write_task(folder, vectors=VECTORS, words=WORDS):
    folder.mkdir(parents=True)
    (folder / "vectors.dat").write_bytes(vectors)
    (folder / "features.idx").write_bytes(words)
    return folder


def zip_tasks(path, names, compression=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name in names:
            archive.writestr(f"{name}vectors.dat", VECTORS)
            archive.writestr(f"{name}features.idx", WORDS)
    return path


def assert_is_the_task(data):
    assert_sound(data)
    assert data.X.toarray().tolist() == [[2, 0, 7], [0, 4, 1], [0, 0, 0]]
    assert data.y.tolist() == [1, -1, 1]
    assert data.feature_names.tolist() == ["guitar", "engine", "cafés"]


class TestTechTC:
    def test_folder(self, tmp_path):
        data = load_techtc(write_task(tmp_path / "Exp_1_2"))
        assert_is_the_task(data)
        assert data.source.endswith("vectors.dat")

    @pytest.mark.parametrize(
        ("min_letters", "words"),
        [
            (0, ["guitar", "engine", "the", "cafés"]),
            (3, ["guitar", "engine", "the", "cafés"]),
            (4, ["guitar", "engine", "cafés"]),
            (6, ["guitar", "engine"]),
        ],
    )
    def test_short_words_are_left_out(self, tmp_path, min_letters, words):
        data = load_techtc(write_task(tmp_path / "Exp_1_2"), min_letters=min_letters)
        assert data.feature_names.tolist() == words
        assert data.X.shape == (3, len(words))

    def test_words_in_another_order_and_with_gaps(self, tmp_path):
        task = write_task(tmp_path / "a", b"1 7:1 900:2\n-1 7:3\n", b"900 nine\n7 seven\n")
        data = load_techtc(task, min_letters=1)
        assert data.feature_names.tolist() == ["seven", "nine"]
        assert data.X.toarray().tolist() == [[1, 2], [3, 0]]

    def test_one_of_many(self, tmp_path):
        write_task(tmp_path / "all" / "Exp_1_2")
        write_task(tmp_path / "all" / "Exp_1_3", b"1 1:1\n2 2:1\n")
        path = zip_tasks(tmp_path / "techtc300.zip", ["top/Exp_1_2/", "top/Exp_1_3/"])
        for place in (tmp_path / "all", path):
            assert list_techtc_tasks(place) == ["Exp_1_2", "Exp_1_3"]
            assert_is_the_task(load_techtc(place, task="Exp_1_2"))
            with pytest.raises(ValueError, match=r"no task was given.*'Exp_1_2', 'Exp_1_3'.*Give"):
                load_techtc(place)
            with pytest.raises(ValueError, match="task='Exp_9_9' is not there"):
                load_techtc(place, task="Exp_9_9")
        assert load_techtc(tmp_path / "all", task="Exp_1_3").y.tolist() == [1, 2]

    @pytest.mark.parametrize("folder", ["", "Exp_1_2/", "a/b/Exp_1_2/"])
    def test_archive_of_one_task(self, tmp_path, folder):
        path = zip_tasks(tmp_path / "Exp_1_2.zip", [folder])
        assert list_techtc_tasks(path) == ["Exp_1_2"]
        assert_is_the_task(load_techtc(path))

    @pytest.mark.parametrize(
        ("vectors", "words", "message"),
        [
            (b"1 1:1\n# x\n-1 1:1 9:1\n", WORDS, r"vectors.dat, line 3: index 9: it is not in"),
            (b"1 0:1\n-1 1:1\n", WORDS, r"vectors.dat, line 1: index 0: it is not in"),
            (b"1 1:1\n1 2:1\n", WORDS, r"vectors.dat: there are 1 classes, '1'"),
            (b"1 1:1\n2 2:1\n3 2:1\n", WORDS, r"vectors.dat: there are 3 classes"),
            (b"1 1:1\n-1 2\n", WORDS, r"vectors.dat, line 2: '2' is not a pair"),
            (b"", WORDS, r"vectors.dat: there is no line with data"),
            (VECTORS, b"# x\n1 guitar\n1 engine\n", r"features.idx, line 3: .* index once more"),
            (VECTORS, b"# x\n1\n", r"features.idx, line 2: '1' is not an index and a word"),
            (VECTORS, b"guitar 1\n", r"features.idx, line 1: 'guitar 1' is not"),
            (VECTORS, b"1 caf\xe9\n", r"features.idx, line 1: byte 0xe9 .*UTF-8"),
            (VECTORS, b"", r"vectors.dat, line 2: index 1"),
            (b"1 1:1\n-1 1:2\n", b"1 the\n", r"2 rows and 0 features"),
        ],
    )
    def test_bad_files(self, tmp_path, vectors, words, message):
        task = write_task(tmp_path / "Exp_1_2", vectors, words)
        with pytest.raises(ValueError, match=rf"Exp_1_2.*{message}"):
            load_techtc(task)

    def test_missing_files(self, tmp_path):
        for call in (load_techtc, list_techtc_tasks):
            with pytest.raises(FileNotFoundError, match=rf"none: no such.*{SITE}"):
                call(tmp_path / "none")
        with pytest.raises(ValueError, match=rf"no vectors.dat.*{SITE}"):
            load_techtc(tmp_path)
        task = write_task(tmp_path / "Exp_1_2")
        (task / "features.idx").unlink()
        with pytest.raises(FileNotFoundError, match=rf"features.idx: no such file.*{SITE}"):
            load_techtc(task)
        with zipfile.ZipFile(tmp_path / "half.zip", "w") as archive:
            archive.writestr("Exp_1_2/vectors.dat", VECTORS)
        with pytest.raises(FileNotFoundError, match=r"half.zip, Exp_1_2/features.idx: no such"):
            load_techtc(tmp_path / "half.zip")

    def test_two_tasks_of_one_name(self, tmp_path):
        path = zip_tasks(tmp_path / "twice.zip", ["a/Exp_1_2/", "b/Exp_1_2/"])
        with pytest.raises(ValueError, match=r"twice.zip: 2 folders hold tasks of 1 names"):
            list_techtc_tasks(path)

    @pytest.mark.parametrize("min_letters", [-1, 2.5, "five", None])
    def test_bad_min_letters(self, tmp_path, min_letters):
        with pytest.raises(ValueError, match=r"min_letters=.*Give"):
            load_techtc(tmp_path, min_letters=min_letters)

    def test_member_that_unpacks_to_too_much(self, tmp_path, monkeypatch):
        monkeypatch.setattr(techtc, "_LARGEST_MEMBER", 10)
        path = zip_tasks(tmp_path / "large.zip", [""])
        with pytest.raises(ValueError, match=r"large.zip.*it unpacks to"):
            load_techtc(path)

    @pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
    def test_every_truncation_of_an_archive(self, tmp_path, compression):
        content = zip_tasks(tmp_path / "whole.zip", ["Exp_1_2/"], compression).read_bytes()
        path = tmp_path / "broken.zip"
        for length in range(len(content)):
            path.write_bytes(content[:length])
            with pytest.raises(ValueError, match=r"broken\.zip"):
                load_techtc(path)

    @pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
    def test_damage_to_an_archive(self, tmp_path_factory, compression):
        folder = tmp_path_factory.mktemp("damage")
        content = zip_tasks(folder / "whole.zip", ["Exp_1_2/"], compression).read_bytes()
        path = folder / "broken.zip"

        @settings(max_examples=150)
        @given(damaged(content))
        def check(damaged_content):
            path.write_bytes(damaged_content)
            data = attempt(lambda: load_techtc(path), "broken.zip")
            if data is not None:
                assert_is_the_task(data)

        check()


def fake_fetch(n_train, n_test, calls):
    rng = np.random.default_rng(0)
    n = n_train + n_test
    target = sparse.csr_matrix(rng.integers(0, 2, size=(n, 3)))

    def fetch(**options):
        calls.append(options)
        return SimpleNamespace(
            data=random_rows((n, 20), 0.5, rng),
            target=target,
            target_names=np.array(["C11", "CCAT", "GCAT"], dtype=object),
        )

    return fetch, target.toarray()[:, 1]


class TestRCV1:
    def test_fetched(self, monkeypatch):
        calls = []
        fetch, in_topic = fake_fetch(23_149, 5, calls)
        monkeypatch.setattr(rcv1, "fetch_rcv1", fetch)
        train, test = load_rcv1_ccat(data_home="somewhere")
        assert calls == [{"data_home": "somewhere"}]
        assert_sound(train)
        assert_sound(test)
        assert train.X.shape == (23_149, 20)
        assert test.X.shape == (5, 20)
        assert np.array_equal(np.r_[train.y, test.y], 2 * in_topic - 1)

    @pytest.mark.parametrize("error", [URLError("no network"), OSError("bad hash"), TimeoutError()])
    def test_no_network(self, monkeypatch, error):
        def fetch(**_):
            raise error

        monkeypatch.setattr(rcv1, "fetch_rcv1", fetch)
        with pytest.raises(FileNotFoundError, match=r"RCV1 could not.*by hand.*as path"):
            load_rcv1_ccat()

    def test_pair_of_files(self, tmp_path):
        train, test = tmp_path / "train.svm", tmp_path / "test.svm.gz"
        train.write_bytes(b"1 1:1\n-1 2:1\n0 3:1\n")
        test.write_bytes(gzip.compress(b"-1 47236:1\n"))
        train, test = load_rcv1_ccat((train, test))
        assert train.X.shape == (3, 47_236)
        assert train.y.tolist() == [1, -1, -1]
        assert test.X[0, 47_235] == 1
        assert test.y.tolist() == [-1]

    @pytest.mark.parametrize("index", [0, 47_237])
    def test_index_that_is_no_word(self, tmp_path, index):
        path = tmp_path / "train.svm"
        path.write_bytes(f"1 1:1\n-1 {index}:1\n".encode())
        with pytest.raises(ValueError, match=rf"train.svm, line 2: index {index}: .*1 to 47236"):
            load_rcv1_ccat((path, path))

    @pytest.fixture
    def distributed(self, tmp_path, monkeypatch):
        """A folder with the names of the distributed files."""
        monkeypatch.setattr(rcv1, "_N_TRAIN", 2)
        (tmp_path / "lyrl2004_vectors_train.dat").write_bytes(b"2286  1:.5 2:1\n2287  3:1\n")
        for part in range(4):
            file = tmp_path / f"lyrl2004_vectors_test_pt{part}.dat.gz"
            file.write_bytes(gzip.compress(f"{3000 + part} {part + 1}:1\n".encode()))
        qrels = b"CCAT 2286 1\nGCAT 2287 1\nCCAT 3001 1\nC11 3002 1\nCCAT 3003 1\n"
        (tmp_path / "rcv1-v2.topics.qrels.gz").write_bytes(gzip.compress(qrels))
        return tmp_path

    def test_folder(self, distributed):
        train, test = load_rcv1_ccat(distributed)
        assert_sound(train)
        assert_sound(test)
        assert train.y.tolist() == [1, -1]
        assert test.y.tolist() == [-1, 1, -1, 1]
        assert test.X.shape == (4, 47_236)
        assert test.X.indices.tolist() == [0, 1, 2, 3]

    def test_bad_folders(self, distributed):
        (distributed / "lyrl2004_vectors_test_pt2.dat.gz").rename(distributed / "away")
        with pytest.raises(FileNotFoundError, match=r"neither lyrl2004_vectors_test_pt2.dat nor"):
            load_rcv1_ccat(distributed)
        (distributed / "away").rename(distributed / "lyrl2004_vectors_test_pt2.dat.gz")
        (distributed / "lyrl2004_vectors_train.dat").write_bytes(b"2286  1:.5 2:1\n")
        with pytest.raises(ValueError, match=r"train.dat: there are 1 stories .* instead of 2"):
            load_rcv1_ccat(distributed)
        topics = distributed / "rcv1-v2.topics.qrels"
        topics.write_bytes(b"CCAT 1 1\nCCAT x 1\n")
        with pytest.raises(ValueError, match=r"qrels, line 2: .* is not a topic"):
            load_rcv1_ccat(distributed)
        topics.write_bytes(b"GCAT 1 1\n")
        with pytest.raises(ValueError, match=r"qrels: no story has the topic CCAT"):
            load_rcv1_ccat(distributed)
        with pytest.raises(FileNotFoundError, match=r"none: there is neither"):
            load_rcv1_ccat(distributed / "none")


def test_techtc_fragment_as_a_task(real_data, tmp_path):
    fragment = read_data(real_data / "techtc300" / "Exp_1622_42350_top1000")
    assert fragment.X.shape == (163, 1000)
    task = tmp_path / "Exp_1622_42350"
    task.mkdir()
    dump_svmlight_file(fragment.X, fragment.y, str(task / "vectors.dat"), zero_based=False)
    words = [f"{j} {'w' * (j % 9 + 1)}" for j in range(1, 1001)]
    (task / "features.idx").write_text("# words\n" + "\n".join(words))
    data = load_techtc(task)
    long_enough = np.arange(1, 1001) % 9 >= 4
    assert np.array_equal(data.y, fragment.y)
    assert np.array_equal(data.X.toarray(), fragment.X.toarray()[:, long_enough])
