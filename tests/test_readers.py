"""Readers of data files: what is written comes back, and what is damaged is refused by name."""

import bz2
import csv
import gzip
import io
import lzma
import sys
import tracemalloc
import zipfile
from functools import cache
from types import SimpleNamespace

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy
from reading import assert_sound, attempt, damaged
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from sklearn.svm import LinearSVC

from certifeature.io import FileBlocks, read_data
from certifeature.rows.matrix import stored_bytes

FORMATS = ["csv", "tsv", "svmlight", "npz", "sparse npz", "parquet", "excel"]
PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


class Stream(io.BytesIO):
    """Bytes with the name of a file."""

    def __init__(self, content, name="the_file"):
        super().__init__(content)
        self.name = name


def read(content, kind, **options):
    return read_data(Stream(content), format=kind.split()[-1], **options)


def written(kind, X, y):
    """Return the file with X and y in a kind."""
    buffer = io.BytesIO()
    if kind in ("csv", "tsv"):
        separator = {"csv": ",", "tsv": "\t"}[kind]
        names = [f"f{j}" for j in range(X.shape[1])] + ["y"]
        lines = [[*map(repr, row), str(label)] for row, label in zip(X.tolist(), y, strict=True)]
        return "".join(separator.join(line) + "\n" for line in [names, *lines]).encode()
    if kind == "svmlight":
        # scikit-learn's writer rounds to 16 digits, which takes the largest numbers to infinity.
        for row, label in zip(X.tolist(), y, strict=True):
            pairs = [f"{j}:{value!r}" for j, value in enumerate(row, start=1) if value]
            buffer.write(" ".join([f"{label:+}", *pairs]).encode() + b"\n")
    elif kind == "npz":
        np.savez_compressed(buffer, X=X, y=y)
    elif kind == "sparse npz":
        sparse.save_npz(buffer, sparse.csr_array(X))
    elif kind == "parquet":
        frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])])
        frame.assign(y=y).to_parquet(buffer)
    elif kind == "excel":
        rows = [[f"f{j}" for j in range(X.shape[1])] + ["y"]]
        return workbook(
            rows + [[*row, label] for row, label in zip(X.tolist(), y.tolist(), strict=True)]
        )
    return buffer.getvalue()


def workbook(rows):
    """Return an Excel file with these rows."""
    book, buffer = openpyxl.Workbook(), io.BytesIO()
    for row in rows:
        book.active.append(row)
    book.save(buffer)
    return buffer.getvalue()


def dense(X):
    return X.toarray() if sparse.issparse(X) else X


def outcome(content, kind):
    """Return the data of a file, or None if they were refused."""
    data = attempt(lambda: read(content, kind), "the_file")
    if data is not None:
        assert_sound(data)
    return data


numbers = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def tables(draw):
    shape = draw(st_numpy.array_shapes(min_dims=2, max_dims=2, max_side=6))
    X = draw(st_numpy.arrays(np.float64, shape, elements=numbers))
    # SVMlight does not say how many columns there are.
    X[0, -1] = 1.0
    y = draw(st_numpy.arrays(np.int64, shape[0], elements=st.integers(-5, 5)))
    return X, y


SMALL = (np.array([[1.5, 0.0, -2.0], [0.0, 3.0, 0.25], [4.0, 1.0, 1e-3]]), np.array([1, -1, 1]))


@cache
def small_file(kind):
    """Return a file with the small table, always the same: workbooks hold the time of writing."""
    return written(kind, *SMALL)


class TestRoundTrips:
    # What writes Excel files here rounds to 16 digits.
    @pytest.mark.parametrize("kind", [kind for kind in FORMATS if kind != "excel"])
    @settings(max_examples=30)
    @given(table=tables())
    def test_what_is_written_comes_back(self, kind, table):
        X, y = table
        data = read(written(kind, X, y), kind)
        assert_sound(data)
        assert np.array_equal(dense(data.X), X)
        if kind == "sparse npz":
            assert data.y is None
        else:
            assert np.array_equal(data.y, y)
            assert data.y.dtype == np.int64
        assert data.source == "the_file"

    def test_excel_as_others_write_it(self, rng):
        X, y = rng.standard_normal((30, 40)).round(9), rng.integers(0, 3, 30)
        data = read(written("excel", X, y), "excel")
        assert_sound(data)
        assert np.array_equal(data.X, X)
        assert np.array_equal(data.y, y)

    @pytest.mark.parametrize("zero_based", [False, True])
    def test_svmlight_as_scikit_learn_writes_it(self, rng, zero_based):
        X = rng.poisson(0.3, size=(30, 40)) * rng.standard_normal((30, 40))
        X[0, 0] = 1.0
        y = rng.standard_normal(30)
        buffer = io.BytesIO()
        dump_svmlight_file(X, y, buffer, zero_based=zero_based, comment="one\ntwo")
        data = read(buffer.getvalue(), "svmlight")
        X_expected, y_expected = load_svmlight_file(io.BytesIO(buffer.getvalue()))
        assert np.array_equal(data.X.toarray(), X_expected.toarray())
        assert np.array_equal(data.y, y_expected)

    @pytest.mark.filterwarnings("ignore:.*among the features is:UserWarning")
    @settings(max_examples=50)
    @given(
        names=st.lists(
            st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1).map(
                lambda name: f"n {name} n"
            ),
            min_size=1,
            max_size=4,
            unique=True,
        ),
        labels=st.lists(st.sampled_from(["a", "b c", 'say "x"', "d,e", "é"]), min_size=1),
    )
    def test_csv_names_and_text_labels_may_need_quotes(self, names, labels):
        text = io.StringIO(newline="")
        writer = csv.writer(text)
        writer.writerow(["class", *names])
        writer.writerows([label, *range(len(names))] for label in labels)
        data = read(text.getvalue().encode(), "csv")
        assert data.feature_names.tolist() == names
        assert data.y.tolist() == labels
        assert data.X.tolist() == [list(range(len(names)))] * len(labels)

    @pytest.mark.parametrize("packer", PACKERS)
    @pytest.mark.parametrize("kind", ["csv", "tsv", "svm"])
    def test_compressed_files(self, tmp_path, kind, packer):
        X, y = SMALL
        path = tmp_path / f"data.{kind}.{packer}"
        path.write_bytes(PACKERS[packer](written(kind.replace("svm", "svmlight"), X, y)))
        before = path.read_bytes()
        data = read_data(path)
        assert np.array_equal(dense(data.X), X)
        assert np.array_equal(data.y, y)
        assert data.source == str(path)
        assert path.read_bytes() == before

    @pytest.mark.parametrize(
        "name", ["a.SVM", "a.libsvm", "a.svmlight", "a.dat", "b.c.csv", "a.tsv", "a.npz"]
    )
    def test_the_ending_tells_the_format(self, tmp_path, name):
        kind = {"csv": "csv", "tsv": "tsv", "npz": "npz"}.get(name[-3:], "svmlight")
        (tmp_path / name).write_bytes(written(kind, *SMALL))
        assert np.array_equal(dense(read_data(str(tmp_path / name)).X), SMALL[0])

    def test_standard_input(self, monkeypatch):
        buffer = Stream(written("csv", *SMALL), "<stdin>")
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=buffer))
        data = read_data(sys.stdin.buffer, format="csv")
        assert np.array_equal(data.X, SMALL[0])
        assert data.source == "<stdin>"

    @pytest.mark.parametrize("kind", FORMATS)
    def test_an_svm_takes_the_data(self, kind):
        data = read(written(kind, *SMALL), kind)
        LinearSVC().fit(data.X, SMALL[1] if data.y is None else data.y)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*the last line has no end")
class TestFuzz:
    @pytest.mark.parametrize("kind", FORMATS)
    @settings(max_examples=40)
    @given(content=st.binary(max_size=300))
    @example(b"")
    @example(b"\n")
    @example(b"PK\x05\x06" + bytes(18))
    @example(b"PAR1PAR1")
    @example(b"\x1f\x8b")
    def test_random_bytes(self, kind, content):
        outcome(content, kind)

    @pytest.mark.parametrize("kind", FORMATS)
    @settings(max_examples=100)
    @given(data=st.data())
    def test_damage_is_refused_or_harmless(self, kind, data):
        X, y = SMALL
        content = data.draw(damaged(small_file(kind)))
        found = outcome(content, kind)
        if found is None:
            return
        if kind == "svmlight":
            X, y = load_svmlight_file(io.BytesIO(content))
        elif kind in ("csv", "tsv"):
            X, y = independent_csv(content, {"csv": ",", "tsv": "\t"}[kind])
        elif "npz" not in kind:
            # These have no checksum over their numbers.
            return
        assert np.array_equal(dense(found.X), dense(X))
        if kind == "sparse npz":
            assert found.y is None
        elif kind in ("csv", "tsv"):
            assert found.y.astype(str).tolist() == y or np.array_equal(found.y, np.float64(y))
        else:
            assert np.array_equal(found.y, y)

    @pytest.mark.parametrize("kind", FORMATS)
    def test_every_truncation(self, kind):
        X, y = SMALL
        content = written(kind, X, y)
        step = max(1, len(content) // 150)
        for length in range(0, len(content), step):
            found = outcome(content[:length], kind)
            if found is None:
                continue
            assert kind in ("csv", "tsv", "svmlight")
            # The cut may run through the last number; all else is as it was.
            n_whole = content[:length].count(b"\n") - (kind != "svmlight")
            n_columns = min(X.shape[1], found.X.shape[1])
            assert np.array_equal(dense(found.X)[:n_whole, :n_columns], X[:n_whole, :n_columns])
            assert np.array_equal(found.y[:n_whole], y[:n_whole])
            assert found.X.shape[0] <= n_whole + 1

    @pytest.mark.parametrize("packer", PACKERS)
    def test_every_truncation_of_a_compressed_file(self, packer):
        content = PACKERS[packer](written("csv", *SMALL))
        for length in range(len(content)):
            assert outcome(content[:length], "csv") is None or packer == "gz"

    @pytest.mark.parametrize("packer", PACKERS)
    @given(data=st.data())
    def test_damage_to_a_compressed_file(self, packer, data):
        content = data.draw(damaged(PACKERS[packer](written("csv", *SMALL))))
        found = outcome(content, "csv")
        if found is not None:
            assert np.array_equal(found.X, SMALL[0])
            assert np.array_equal(found.y, SMALL[1])


def independent_csv(content, separator):
    """Read a file that is well-formed, by another way."""
    text = content.decode("utf-8-sig")
    header, *rows = [
        row for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator) if row
    ]
    names = [name.strip().lower() for name in header]
    [label] = [j for j, name in enumerate(names) if name in ("y", "label", "target", "class")]
    X = [[float(field) for j, field in enumerate(row) if j != label] for row in rows]
    return np.array(X), [row[label].strip() for row in rows]


def npz(**arrays):
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def sparse_npz(X):
    buffer = io.BytesIO()
    sparse.save_npz(buffer, X)
    return buffer.getvalue()


def parquet(index=False, **columns):
    buffer = io.BytesIO()
    pd.DataFrame(columns).to_parquet(buffer, index=index)
    return buffer.getvalue()


OUT_OF_RANGE = {"indptr": [0, 1], "indices": [7], "data": [1.0], "shape": [1, 3], "format": b"csr"}
EYE = np.eye(3)


CSV = b"a,b,y\n1,2,0\n3,4,1\n"


class TestBadText:
    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (b"", r"the file is empty"),
            (b"\n\n", r"the file is empty"),
            (b"a,b,y\n", r"header and no line of data"),
            (b"a b y\n1 2 0\n", r"'a b y' is one column.*separated by commas.*separator"),
            (b"a,b,c\n1,2,0\n", r"no column is named y.*'a', 'b', 'c'.*as target"),
            (b"a,y,Class\n1,2,0\n", r"could be 'y', 'Class'.*as target"),
            (b"1,1,y\n1,2,0\n", r"header is needed.*'1', '1'"),
            (b",a,y\n0,2,0\n", r"no name.*--id 0"),
            (b"1.5,2.5,y\n0,2,0\n", r"header is needed.*'1.5', '2.5'"),
            (b"a,b,y\n1,2,0\n\n3,red,1\n", r"line 4, column 'b': 'red' is not a finite number"),
            (b"a,b,y\n1,2,0\n3,1_0,1\n", r"line 3, column 'b': '1_0' is not"),
            ("a,b,y\n1,٣,0\n".encode(), r"line 2, column 'b': '٣' is not"),
            (b"a,b,y\n1,inf,0\n", r"line 2, column 'b': 'inf' is not"),
            (b"a,b,y\n1,1e999,0\n", r"line 2, column 'b': 'inf' is not"),
            (b"a,b,y\n1,2,0\n3,,1\n", r"line 3, column 'b': .*missing.*Impute"),
            (b"a,b,y\n1,2,0\nNA,4,1\n", r"line 3, column 'a': .*missing.*Impute"),
            (b"a,b,y\n1,2,0\n3,nan,1\n", r"line 3, column 'b': .*missing.*Impute"),
            (b"a,b,y\n1,2,0\n3,4\n", r"line 3: there are 2 fields, and the header has 3"),
            (b"a,b,y\n1,2,0\n3,4,1,5\n", r"line 3: there are 4 fields"),
            (b"a,b,y\n1,2,0\n3,4,\n", r"line 3: the label is missing"),
            (b"a,b,y\n1,2,0\n3,4,nan\n", r"line 3: the label is missing"),
            (b"a,b,y\n1,2,0\n3,4,x\n", r"line 3: the label 'x' is not a number, and others are"),
            (b"a,b,y\n1,2,0\n3,4,1e999\n", r"label of row 1 .* is inf"),
            (b'a,b,y\n1,2,"0\n3,4,1\n', r"line 2: unexpected end.*quotation"),
            (b'a,b,y\n"1\n",2,0\n3,x,1\n', r"line 4, column 'b'"),
            (b"a,b,y\n1,2,caf\xe9\n", r"line 2: byte 0xe9 at offset 13 .*UTF-8.*encoding latin1"),
            ("a,b,y\n1,2,0\n".encode("utf-16"), r"line 1: byte 0x00 at offset 3 .*utf-16"),
            (b"a;b;y\n1,5;1.234;0\n", r"column 'b': '1.234' is not"),
            (b"a;b;y\n1,5;12.34,5;0\n", r"column 'b': '12.34,5' is not"),
            (b'"a\n1\n', r"line 1: unexpected end.*quotation"),
            (
                b"a,y\n1," + b"x" * 200_000 + b"\n",
                r"line 2: a field has more than 131,072 char.*Shorten",
            ),
            (b"a,y\nr1,1,0\n", r"header: a column has no name.*--id 0"),
            (b'!Series_title,"x"\n\ng,y\n1,0\n', r"'g,y' is one column"),
            (b"!Series_title\tx\n", r"the file is empty"),
        ],
    )
    def test_csv(self, content, message):
        with pytest.raises(ValueError, match=rf"(?s)^the_file.*{message}"):
            read(content, "csv")

    @pytest.mark.parametrize(
        ("target", "names", "y"),
        [
            ("a", ["b", "y"], [1, 3]),
            (0, ["b", "y"], [1, 3]),
            (-1, ["a", "b"], [0, 1]),
            (None, ["a", "b"], [0, 1]),
        ],
    )
    def test_target_is_a_name_or_a_position(self, target, names, y):
        data = read(CSV, "csv", target=target)
        assert data.feature_names.tolist() == names
        assert data.y.tolist() == y

    @pytest.mark.parametrize("target", ["z", "A", 3, -4])
    def test_target_that_is_not_there(self, target):
        with pytest.raises(ValueError, match=rf"^the_file: target={target!r}.*Give"):
            read(CSV, "csv", target=target)

    @pytest.mark.parametrize("target", [1.5, 1.0, True, np.nan, b"y", ["y"], ("a", "b")])
    @pytest.mark.parametrize(
        ("kind", "content"), [("csv", CSV), ("npz", npz(X=EYE)), ("parquet", parquet(y=[1.0]))]
    )
    def test_target_that_is_neither_name_nor_position(self, target, kind, content):
        message = "is neither a name nor a position. Give|is a position; name an array"
        with pytest.raises(ValueError, match=rf"^the_file: target=.* ({message})"):
            read(content, kind, target=target)

    def test_target_may_be_an_integer_of_numpy(self):
        assert read(CSV, "csv", target=np.int64(-1)).y.tolist() == [0, 1]

    def test_many_columns_are_not_all_listed(self):
        header = ",".join(f"f{j}" for j in range(500)).encode()
        with pytest.raises(ValueError, match="'f7' and 492 more") as caught:
            read(header + b"\n", "csv")
        assert len(str(caught.value)) < 300

    def test_byte_order_mark_of_svmlight(self, tmp_path):
        text = b"\xef\xbb\xbf1 1:2\n-1 2:3\n"
        assert read(text, "svmlight").y.tolist() == [1, -1]
        (tmp_path / "part.svm").write_bytes(text)
        (block,) = FileBlocks(tmp_path)
        assert block.y.tolist() == [1, -1]

    def test_byte_order_mark_of_names(self, tmp_path):
        sparse.save_npz(tmp_path / "X.npz", sparse.csr_array(np.eye(2)))
        (tmp_path / "features.txt").write_text("a\nb\n", encoding="utf-8-sig")
        assert read_data(tmp_path).feature_names.tolist() == ["a", "b"]

    def test_names_and_labels_that_were_guarded(self):
        """Spreadsheets take an apostrophe for the beginning of text, and so do we before =+-@."""
        data = read(b"'=a,''@b,'c,-d,'-1,y\n1,2,3,4,5,'=no\n1,2,3,4,5,+yes\n", "csv")
        assert data.feature_names.tolist() == ["=a", "'@b", "'c", "-d", "'-1"]
        assert data.y.tolist() == ["=no", "+yes"]

    def test_byte_order_mark_and_windows_newlines(self):
        data = read(b"\xef\xbb\xbf" + CSV.replace(b"\n", b"\r\n"), "csv")
        assert data.feature_names.tolist() == ["a", "b"]
        assert data.y.tolist() == [0, 1]

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            (b"1 1:", r"'1:' is not a pair"),
            (b"1 :2", r"':2' is not a pair"),
            (b"1 3", r"'3' is not a pair"),
            (b"1 a:2", r"in 'a:2', the index is not a whole number"),
            (b"1 -1:2", r"in '-1:2', the index is not a whole number"),
            (b"1 1_1:2", r"the index is not a whole number"),
            (b"1 1:2:3", r"in '1:2:3', the value is not a finite number"),
            (b"1 1:x", r"in '1:x', the value is not a finite number"),
            (b"1 1:1_0", r"the value is not a finite number"),
            (b"1 1:nan", r"the value is not a finite number.*Impute"),
            (b"1 1:-inf", r"the value is not a finite number.*Impute"),
            (b"1 1:1e999", r"index 1: its value is too large"),
            (b"1 2:1 1:1", r"index 1: it is not above the index before it"),
            (b"1 2:1 2:1", r"index 2: it is not above the index before it"),
            (b"1 2147483648:1", r"index 2147483648: the largest index possible is 2147483647"),
            (b"1 1000000000000000:1", r"the index is not a whole number from 0 to 2147483647"),
            (b"1:2 2:3", r"starts with '1:2', so the label is missing"),
            (b"1,2 1:1", r"'1,2' gives several labels"),
            (b"nan 1:1", r"label 'nan' is not a finite number"),
            (b"1e999 1:1", r"label is too large"),
            (b"yes 1:1", r"label 'yes' is not a finite number"),
            (b"1_0 1:1", r"label '1_0' is not a finite number"),
            (b"1 qidx:3 2:1", r"in 'qidx:3', the index"),
            (b"1 1:2\r1 2:3", r"'1' is not a pair"),
            (b"\xff\xfe1", r"label '\\\\xff\\\\xfe1' is not a finite number"),
        ],
    )
    def test_svmlight(self, line, message):
        content = b"# a comment\n-1 1:1 5:2 # good\n\n+1 2:1\n" + line + b"\n-1 1:1\n"
        with pytest.raises(ValueError, match=rf"^the_file, line 5: .*{message}"):
            read(content, "svmlight")

    def test_svmlight_lines_are_counted_with_blanks_and_comments(self):
        content = b"# a comment\n-1 1:1 5:2 # good\n\n+1\n#\n#\n2 2:1 7:0.5\r\n-1 1:1\n"
        data = read(content, "svmlight")
        X, y = load_svmlight_file(io.BytesIO(content))
        assert np.array_equal(data.X.toarray(), X.toarray())
        assert np.array_equal(data.y, y)
        for line, message in (
            (b"1 2:x", "value is not"),
            (b"1 2:1 1:1", "it is not above"),
            (b"1 2:1e999", "index 2: its value is too large"),
        ):
            with pytest.raises(ValueError, match=rf"^the_file, line 9: .*{message}"):
                read(content + line + b"\n1 1:2\n", "svmlight")
        assert read(b"1 1:2 # a_b\n", "svmlight").X.toarray().tolist() == [[2.0]]

    @pytest.mark.ci
    def test_svmlight_of_many_lines_takes_twice_the_memory_of_its_numbers(self):
        n_rows = 200_000
        content = b"".join(b"%d 1:1 %d:1\n" % (i % 2, i + 2) for i in range(n_rows))
        tracemalloc.start()
        X = read(content, "svmlight").X
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        label_line_and_start = 3 * 8
        assert peak < 2 * (len(content) + stored_bytes(X) + label_line_and_start * n_rows)

    @pytest.mark.parametrize("content", [b"", b"\n\n", b"# nothing\n"])
    def test_svmlight_without_data(self, content):
        with pytest.raises(ValueError, match="the_file: there is no line with data"):
            read(content, "svmlight")

    def test_svmlight_without_features(self):
        with pytest.raises(ValueError, match="the_file: the data have 2 rows and 0 features"):
            read(b"1\n-1\n", "svmlight")

    def test_svmlight_without_a_label_column_to_choose(self):
        with pytest.raises(ValueError, match=r"the_file: target='y' .*Leave target out"):
            read(b"1 1:1\n", "svmlight", target="y")

    def test_svmlight_details(self):
        data = read(b"\t+1 qid:7 0:1e0 2:.5\t3:2. #x 9:9\r\n2.5\r\n-1 2147483647:1\n", "svmlight")
        assert data.X.shape == (3, 2**31)
        assert data.X.indices.tolist() == [0, 2, 3, 2**31 - 1]
        assert data.X.data.tolist() == [1.0, 0.5, 2.0, 1.0]
        assert data.y.tolist() == [1.0, 2.5, -1.0]


class TestBinary:
    @pytest.mark.parametrize(
        ("content", "options", "message"),
        [
            (npz(Z=EYE), {}, r"no array X. There is 'Z'"),
            (npz(X=np.array([[{}]])), {}, r"not an NPZ file.*[Pp]ickle|allow_pickle"),
            (npz(X=EYE, y=np.arange(2)), {}, r"3 rows and 2 labels"),
            (npz(X=EYE, y=EYE), {}, r"labels have shape \(3, 3\).*indicator"),
            (npz(X=EYE, y=np.array([1, np.nan, 0])), {}, r"label of row 1 .* is nan"),
            (npz(X=EYE, y=np.arange(3), labels=np.arange(3)), {}, r"could be 'y', 'labels'"),
            (npz(X=np.ones(3)), {}, r"X has 1 dimensions"),
            (npz(X=EYE * 1j), {}, r"type complex128"),
            (npz(X=np.array([["a"]])), {}, r"type <U1"),
            (npz(X=np.zeros((0, 3))), {}, r"0 rows and 3 features"),
            (npz(X=np.array([[1.0, np.inf]])), {}, r"row 0, column 1 .* is inf"),
            (npz(X=EYE, feature_names=np.array(["a"])), {}, r"names are an array of shape \(1,\)"),
            (npz(X=EYE), {"target": "z"}, r"target='z' is not there"),
            (npz(X=EYE), {"target": 0}, r"target=0 is a position"),
            (npz(X=EYE), {"id": 0}, r"id=0 was given.*Leave id out"),
            (npz(**OUT_OF_RANGE), {}, r"not a sparse matrix that can be read"),
            (sparse_npz(sparse.bsr_array(np.ones((4, 4)))), {}, r"'bsr' is none of"),
            (sparse_npz(sparse.csr_array(EYE)), {"target": "y"}, r"folder.*y.npy"),
            (b"PK\x03\x04 and so on", {}, r"not an NPZ file that can be read"),
            (b"no archive", {}, r"not an NPZ file that can be read"),
        ],
    )
    def test_bad_npz(self, content, options, message):
        with pytest.raises(ValueError, match=message) as caught:
            read(content, "npz", **options)
        assert str(caught.value).startswith("the_file")

    def test_infinity_in_a_sparse_matrix_is_located(self):
        X = sparse.csr_array(([1.0, np.inf], ([0, 2], [1, 0])), shape=(4, 3))
        with pytest.raises(ValueError, match=r"row 2, column 0 .* is inf"):
            read(sparse_npz(X), "npz")

    @pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
    def test_sparse_formats(self, rng, kind):
        X = sparse.random_array((5, 7), density=0.4, random_state=rng, format=kind)
        data = read(sparse_npz(X), "npz")
        assert np.array_equal(data.X.toarray(), X.toarray())
        assert data.X.indices.dtype == np.int32

    def test_npz_names_and_label_types(self):
        names = np.array(["a", "b", "c"])
        data = read(npz(X=np.eye(3, dtype=np.int8), Y=np.array([0.0, 1.0, 0.0])), "npz")
        assert data.y.dtype == np.int64
        data = read(npz(X=EYE, y=names[[0, 0, 1]], feature_names=names), "npz")
        assert data.y.tolist() == ["a", "a", "b"]
        assert data.feature_names.tolist() == ["a", "b", "c"]
        data = read(npz(X=EYE, y=np.arange(3), z=np.array([0.5, 1, 2])), "npz", target="z")
        assert data.y.tolist() == [0.5, 1.0, 2.0]
        assert read(npz(X=EYE, y=np.array([True, False, True])), "npz").y.tolist() == [1, 0, 1]

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (parquet(a=[1.0, 2.0], b=["u", "v"], y=[0, 1]), r"row 0 .*, column 'b': 'u' is not"),
            (parquet(a=[1.0, None], y=[0, 1]), r"row 1 .*, column 'a': .*missing.*Impute"),
            (parquet(a=pd.array([1, None]), y=[0, 1]), r"row 1 .*, column 'a': .*missing.*Impute"),
            (parquet(a=[1.0, np.inf], y=[0, 1]), r"row 1 .*, column 'a': 'inf' is not"),
            (parquet(a=[1.0, 2.0], y=["u", None]), r"row 1 .*: the label is missing"),
            (parquet(a=[1.0], b=[1.0]), r"no column is named y.*'a', 'b'"),
            (parquet(y=[1.0]), r"1 rows and 0 features"),
            (b"PAR1 and so on", r"not a Parquet file"),
        ],
    )
    def test_bad_parquet(self, content, message):
        with pytest.raises(ValueError, match=rf"^the_file.*{message}"):
            read(content, "parquet")

    def test_pages_of_parquet_are_compared_with_their_checksums(self):
        buffer = io.BytesIO()
        table = pa.table({"a": np.arange(100.0), "y": np.arange(100) % 2})
        plain = {"compression": "none", "use_dictionary": False}
        pq.write_table(table, buffer, write_page_checksum=True, **plain)
        content = buffer.getvalue()
        place = content.index(np.float64(42).tobytes())
        assert read(content, "parquet", features=["a"]).X[42] == 42
        with pytest.raises(ValueError, match=r"the_file: not a Parquet file .*(?i:crc|checksum)"):
            read(content[: place + 6] + b"\x46" + content[place + 7 :], "parquet")

    def test_labels_of_other_types_are_text(self):
        data = read(
            parquet(a=[1.0, 2.0], y=pd.to_datetime(["2020-01-01", "2021-01-01"])), "parquet"
        )
        assert data.y.tolist() == ["2020-01-01 00:00:00", "2021-01-01 00:00:00"]

    def test_parquet_labels_names_and_row_names(self):
        content = parquet(
            index=pd.Index([5, 6], name="row"), a=[1, 2], b=[True, False], c=["u", "v"]
        )
        frame = pd.DataFrame({"a": [1, 2], "b": [True, False], "c": ["u", "v"]}, index=[5, 6])
        buffer = io.BytesIO()
        frame.astype({"c": "category"}).to_parquet(buffer)
        for file in (content, buffer.getvalue()):
            data = read(file, "parquet", target="c")
            assert data.feature_names.tolist() == ["a", "b"]
            assert data.X.tolist() == [[1.0, 1.0], [2.0, 0.0]]
            assert data.y.tolist() == ["u", "v"]

    def test_formats_that_need_a_library_say_how_to_get_it(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
        with pytest.raises(ImportError, match=r"pyarrow: pip install 'certifeature\[cli\]'"):
            read(b"PAR1", "parquet")
        monkeypatch.setitem(sys.modules, "openpyxl", None)
        with pytest.raises(ImportError, match=r"openpyxl: pip install 'certifeature\[cli\]'"):
            read(b"PK", "excel")


class TestAsPeopleHaveThem:
    @pytest.mark.parametrize("kind", ["csv", "tsv"])
    @pytest.mark.parametrize("separator", [",", ";", "\t"])
    def test_the_header_shows_the_separator(self, separator, kind):
        data = read(b"a,b,y\n1,2.5,0\n3,4,1\n".replace(b",", separator.encode()), kind)
        assert data.X.tolist() == [[1.0, 2.5], [3.0, 4.0]]
        assert data.y.tolist() == [0, 1]

    @pytest.mark.parametrize("newline", ["\n", "\r\n"])
    def test_decimal_commas(self, newline):
        lines = ['"a, b";c;y', "1,5;-2;0,5", '"3e2";,25;1', ";"]
        text = newline.join([*lines[:-1], ""]).encode()
        data = read(text, "csv")
        assert data.feature_names.tolist() == ["a, b", "c"]
        assert data.X.tolist() == [[1.5, -2.0], [300.0, 0.25]]
        assert data.y.tolist() == [0.5, 1.0]
        across = read(b"g;s1;s2\na;1,5;2\ny;no, not;yes\n", "csv", transpose=True)
        assert across.X.tolist() == [[1.5], [2.0]]
        assert across.y.tolist() == ["no, not", "yes"]

    def test_a_geo_series_matrix_as_downloaded(self, tmp_path):
        text = (
            '!Series_title\t"A study, with a comma"\n\n!Sample_title\t"first"\t"second"\n'
            '!Sample_characteristics_ch1\t"tissue: liver"\t"tissue: lung: left"\n'
            '!Sample_characteristics_ch1\t"age: 50"\t""\n'
            '!series_matrix_table_begin\n"ID_REF"\t"GSM1"\t"GSM2"\n"1007_s_at"\t1.5\t-2\n'
            '"x"\t0\t3e2\n!series_matrix_table_end\n'
        )
        path = tmp_path / "GSE1_series_matrix.txt.gz"
        path.write_bytes(gzip.compress(text.encode()))
        data = read_data(path, target="tissue")
        assert data.X.tolist() == [[1.5, 0], [-2, 300]]
        assert data.y.tolist() == ["liver", "lung: left"]
        assert data.ids.tolist() == ["GSM1", "GSM2"]
        assert data.feature_names.tolist() == ["1007_s_at", "x"]
        assert {name: about.tolist() for name, about in data.about.items()} == {
            "title": ["first", "second"],
            "age": ["50", ""],
        }
        dropped = read_data(path, target="title", groups="tissue", drop=["GSM1", "x"])
        assert (dropped.X.tolist(), dropped.y.tolist()) == ([[-2]], ["second"])
        assert dropped.groups.tolist() == ["lung: left"]
        with pytest.raises(ValueError, match=r"target='stage' is not there.*'tissue'"):
            read_data(path, target="stage")

    @pytest.mark.parametrize("encoding", ["latin1", "utf-16", "utf-8"])
    def test_other_encodings(self, encoding):
        content = "größe;y\n1,5;0\n2;1\n".encode(encoding)
        data = read(content, "csv", encoding=encoding)
        assert data.feature_names.tolist() == ["größe"]
        assert data.X.tolist() == [[1.5], [2.0]]

    def test_encodings_that_are_none(self):
        with pytest.raises(ValueError, match="encoding 'latin17' is unknown"):
            read(CSV, "csv", encoding="latin17")
        with pytest.raises(ValueError, match=r"byte 0xf6 .*not in ASCII"):
            read("ö,y\n1,0\n".encode("latin1"), "csv", encoding="ascii")
        with pytest.raises(ValueError, match=r"encoding='latin1' was given.*Leave encoding out"):
            read(npz(X=EYE), "npz", encoding="latin1")

    @pytest.mark.parametrize("kind", ["csv", "excel", "parquet", "across"])
    def test_missing_values_text_and_labels_where_they_are_accepted(self, kind):
        rows = [
            ["town", "age", "who", "y"],
            ["Rome", 30, "b", "sick"],
            ["Oslo", None, "a", None],
            [None, 50, "b", "well"],
        ]
        if kind == "parquet":
            buffer = io.BytesIO()
            pd.DataFrame(rows[1:], columns=rows[0]).to_parquet(buffer)
            content = buffer.getvalue()
        elif kind == "excel":
            content = workbook(rows)
        else:
            rows = [["" if cell is None else str(cell) for cell in row] for row in rows]
            if kind == "across":
                rows = zip(*[["id", "s1", "s2", "s3"], *zip(*rows, strict=True)], strict=True)
                rows = list(zip(*rows, strict=True))
            content = "\n".join([*map(",".join, rows), ""]).encode()
        options = {"transpose": True} if kind == "across" else {}
        file = "csv" if kind == "across" else kind
        accept = ("missing", "text", "unlabelled")
        data = read(content, file, groups="who", accept=accept, **options)
        expected = [[1, 30], [0, np.nan], [np.nan, 50]]
        assert np.array_equal(data.X, expected, equal_nan=True)
        assert data.categories[0].tolist() == ["Oslo", "Rome"]
        assert data.y.tolist() == ["sick", "", "well"]
        assert data.groups.tolist() == ["b", "a", "b"]
        assert data.roles == {"target": "y", "groups": "who"}
        for accepted in (("missing", "unlabelled"), ("text", "unlabelled"), ("missing", "text")):
            with pytest.raises(
                ValueError, match=r"'Rome' is not|the value is missing|the label is"
            ):
                read(content, file, groups="who", accept=accepted, **options)

    def test_labels_that_are_numbers_may_be_missing(self):
        data = read(b"a,y\n1,2\n3,\n", "csv", accept=("unlabelled",))
        assert np.array_equal(data.y, [2, np.nan], equal_nan=True)
        assert read(b"a,b\n1,2\n", "csv", accept=("unlabelled",)).y is None
        with pytest.raises(ValueError, match="'inf' is not a finite number"):
            read(b"a,y\n1,2\ninf,1\n", "csv", accept=("missing",))

    def test_what_names_the_rows_may_group_them(self):
        content = b"who,a,y\nx,1,0\nx,2,1\n"
        data = read(content, "csv", id="who", groups="who")
        assert data.ids.tolist() == data.groups.tolist() == ["x", "x"]
        with pytest.raises(ValueError, match="'who' is given as groups and as drop"):
            read(content, "csv", groups="who", drop=["who"])

    def test_svmlight_indices_may_start_at_0_without_one(self, tmp_path):
        content = b"1 1:2\n-1 3:4\n"
        assert read(content, "svmlight").X.shape == (2, 3)
        data = read(content, "svmlight", zero_based=True)
        assert data.X.toarray().tolist() == [[0, 2, 0, 0], [0, 0, 0, 4]]
        (tmp_path / "a.svm").write_bytes(content)
        blocks = FileBlocks(tmp_path, zero_based=True)
        assert blocks.n_features == 4
        assert next(iter(blocks)).X.toarray().tolist() == data.X.toarray().tolist()

    def test_a_last_line_without_its_end_is_noticed(self):
        with pytest.warns(UserWarning, match="the_file: the last line has no end"):
            read(b"1 1:2\n-1 2:4", "svmlight")

    def test_old_line_ends(self):
        assert read(CSV.replace(b"\n", b"\r"), "csv").X.tolist() == [[1, 2], [3, 4]]

    def test_features_may_share_a_name_but_not_what_is_asked_for(self):
        content = b"a,a,y\n1,2,0\n"
        assert read(content, "csv").feature_names.tolist() == ["a", "a"]
        with pytest.raises(ValueError, match="drop='a' is the name of 2 columns"):
            read(content, "csv", drop=["a"])

    def test_excel_sheets_with_gaps(self):
        rows = [
            ["id", "a", "b", "class", None],
            ["P1", 1, 2.5, "no"],
            [],
            ["P2", True, "3.5", "yes", None, None],
        ]
        data = read(workbook(rows), "excel", id="id")
        assert data.X.tolist() == [[1.0, 2.5], [1.0, 3.5]]
        assert data.y.tolist() == ["no", "yes"]
        assert data.ids.tolist() == ["P1", "P2"]
        across = read(
            workbook([["g", "s1", "s2"], ["a", 1, 2], ["y", 0, 1]]), "excel", transpose=True
        )
        assert across.X.tolist() == [[1.0], [2.0]]

    @pytest.mark.parametrize(
        ("row", "message"),
        [
            ([None, 2, 0], r"line 3, column 'a': the value is missing"),
            (["#N/A", 2, 0], r"line 3, column 'a': the value is missing"),
            (["red", 2, 0], r"line 3, column 'a': 'red' is not a finite number"),
            ([1, 2, None], r"line 3: the label is missing"),
            ([1, 2, 0, 5], r"line 3: there are 4 fields, and the header has 3"),
        ],
    )
    def test_bad_excel(self, row, message):
        with pytest.raises(ValueError, match=rf"^the_file, {message}"):
            read(workbook([["a", "b", "y"], [1, 2, 0], row]), "excel")

    def test_a_stray_cell_far_away_is_harmless(self):
        book, buffer = openpyxl.Workbook(), io.BytesIO()
        for row in (["a", "y"], [1, 0], [2, 1]):
            book.active.append(row)
        book.active["XFD1048576"] = None
        book.active["XFD9"] = 7
        book.save(buffer)
        with pytest.raises(ValueError, match="line 9: there are 3 fields"):
            read(buffer.getvalue(), "excel")

    @pytest.mark.parametrize("packer", PACKERS)
    def test_what_unpacks_to_fill_the_memory_is_refused(self, packer, monkeypatch):
        monkeypatch.setattr("certifeature.io._common._MAX_UNPACKED", 2**20)
        with pytest.raises(ValueError, match=r"^the_file: \d\S+ MiB unpack .*unpack the file"):
            read(PACKERS[packer](bytes(2**26)), "csv")

    @pytest.mark.parametrize("packer", PACKERS)
    def test_it_is_refused_before_it_fills_the_memory(self, packer, monkeypatch):
        monkeypatch.setattr("certifeature.io._common._MAX_UNPACKED", 2**24)
        # What cannot be compressed comes last, so that the ratio of the whole is below the limit.
        noise = np.random.default_rng(0).bytes(2**20)
        content = PACKERS[packer](bytes(2**27) + noise)
        tracemalloc.start()
        try:
            with pytest.raises(ValueError, match="unpack to more than"):
                read(content, "csv")
            assert tracemalloc.get_traced_memory()[1] < 2**26
        finally:
            tracemalloc.stop()

    @pytest.mark.parametrize("kind", ["npz", "excel"])
    def test_archives_have_the_same_limit(self, kind, monkeypatch):
        monkeypatch.setattr("certifeature.io._common._MAX_UNPACKED", 2**20)
        if kind == "excel":
            buffer = io.BytesIO()
            with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("xl/worksheets/sheet1.xml", bytes(2**26))
            content = buffer.getvalue()
        else:
            content = written("npz", np.zeros((2, 2**23)), np.arange(2))
        with pytest.raises(ValueError, match=r"^the_file: \d\S+ MiB unpack .*unpack the file"):
            read(content, kind)


class TestFilesAndFolders:
    def test_no_such_file(self, tmp_path):
        with pytest.raises(FileNotFoundError, match=r"none\.csv: no such file"):
            read_data(tmp_path / "none.csv")
        (tmp_path / "link.csv").symlink_to("none.csv")
        for read_files in (read_data, FileBlocks):
            with pytest.raises(FileNotFoundError, match=r"link\.csv: a link to none\.csv, which"):
                read_files(tmp_path / "link.csv")
        with pytest.raises(FileNotFoundError, match=r"link\.csv: a link"):
            FileBlocks(tmp_path)

    @pytest.mark.parametrize("name", ["a9a", "data.xyz", "data.txt", "data.gz"])
    def test_the_name_does_not_tell_the_format(self, tmp_path, name):
        (tmp_path / name).write_bytes(b"1 1:1\n")
        with pytest.raises(ValueError, match=rf"{name}: the name does not tell.*--format tsv.*csv"):
            read_data(tmp_path / name)
        assert read_data(tmp_path / name, format="svmlight").y.tolist() == [1]

    @pytest.mark.parametrize("name", ["data.mat", "data.MAT", "data.mat.gz"])
    def test_a_matlab_file_is_told_its_way_in(self, tmp_path, name):
        (tmp_path / name).write_bytes(b"MATLAB 5.0 MAT-file")
        with pytest.raises(ValueError, match=rf"{name}: MATLAB .*loadmat.*savez.*save_npz"):
            read_data(tmp_path / name)

    @pytest.mark.parametrize("name", ["data.xlsb", "data.XLS", "data.ods"])
    def test_a_spreadsheet_is_told_its_way_in(self, tmp_path, name):
        (tmp_path / name).write_bytes(b"PK")
        with pytest.raises(ValueError, match=rf"{name}: spreadsheets .*\.xlsx.*CSV"):
            read_data(tmp_path / name)

    def test_format_that_is_not_known(self):
        with pytest.raises(ValueError, match=r"format='xls' is not one of.*'csv'.*Give"):
            read(b"", "xls")

    def test_stream_of_text(self):
        with pytest.raises(ValueError, match=r"<stream>: the stream gives str.*\"rb\""):
            read_data(io.StringIO("a,y\n1,2\n"), format="csv")

    @pytest.mark.skipif(sys.version_info >= (3, 14), reason="Python has Zstandard from 3.14 on")
    def test_zstandard(self):
        with pytest.raises(ValueError, match=r"the_file: .*Zstandard .*zstd -d"):
            read(b"\x28\xb5\x2f\xfd....", "csv")

    @pytest.mark.parametrize("names", ["features.txt", "features.txt.gz", None])
    def test_folder(self, tmp_path, names):
        X = sparse.csr_array(SMALL[0])
        sparse.save_npz(tmp_path / "X.npz", X)
        np.save(tmp_path / "y.npy", SMALL[1].astype(np.int8))
        np.save(tmp_path / "y_multi.npy", np.arange(3))
        if names is not None:
            pack = gzip.compress if names.endswith("gz") else bytes
            (tmp_path / names).write_bytes(pack("un\ndeux\u2028\ntrois\n".encode()))
        data = read_data(tmp_path)
        assert_sound(data)
        assert np.array_equal(data.X.toarray(), SMALL[0])
        assert data.y.tolist() == SMALL[1].tolist()
        if names is None:
            assert data.feature_names is None
        else:
            assert data.feature_names.tolist() == ["un", "deux\u2028", "trois"]
        assert data.source == str(tmp_path)
        assert read_data(tmp_path, target="y_multi").y.tolist() == [0, 1, 2]
        assert read_data(tmp_path / "X.npz").y is None

    def test_bad_folders(self, tmp_path):
        (tmp_path / "readme").touch()
        with pytest.raises(FileNotFoundError, match=r"no X.npz in this folder. There is 'readme'"):
            read_data(tmp_path)
        np.savez(tmp_path / "X.npz", X=EYE)
        with pytest.raises(ValueError, match="target='y' is not there"):
            read_data(tmp_path, target="y")
        (tmp_path / "features.txt").write_text("a\nb\n")
        with pytest.raises(ValueError, match=r"3 features, and their names .*shape \(2,\)"):
            read_data(tmp_path)
        (tmp_path / "features.txt").unlink()
        np.save(tmp_path / "y.npy", np.arange(4))
        with pytest.raises(ValueError, match="3 rows and 4 labels"):
            read_data(tmp_path)
        np.save(tmp_path / "y.npy", np.array([{}, {}, {}]), allow_pickle=True)
        with pytest.raises(ValueError, match=r"y.npy: not an NPY file"):
            read_data(tmp_path)
        (tmp_path / "y.npy").write_bytes(b"\x93NUMPY")
        with pytest.raises(ValueError, match=r"y.npy: not an NPY file"):
            read_data(tmp_path)


class TestRealData:
    def test_folders(self, real_data):
        for folder in ("PCMAC", "movie_reviews", "microarray_alon"):
            data = read_data(real_data / folder)
            assert_sound(data)
            assert np.array_equal(data.y, np.load(real_data / folder / "y.npy"))
            assert (sparse.load_npz(real_data / folder / "X.npz") != data.X).nnz == 0
        assert data.feature_names.size == data.X.shape[1]

    def test_labels_of_another_name(self, real_data):
        data = read_data(real_data / "microarray_khan", target="y_multi")
        assert np.unique(data.y).size == 4

    def test_table_of_categories(self, real_data):
        path = real_data / "techtc300" / "techtc100_table.csv"
        with pytest.raises(ValueError, match=r"line 2, column 'odp_category1': 'Arts/Music"):
            read_data(path, target="svm_100pct", features=())
