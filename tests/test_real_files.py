"""Files as people have them: row names, columns of text, genes in rows, data in parts."""

import gzip
import json
import os
import shlex
import shutil
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import roc_auc_score

from certifeature import BSSSelector, at_scale
from certifeature._progress import listening
from certifeature.cli.app import run
from certifeature.datasets import make_relevant_features
from certifeature.io import FileBlocks, read_data
from certifeature.rows.matrix import dense


@pytest.fixture(scope="module")
def frame():
    X, y = make_relevant_features(60, 400, 20, random_state=0)
    table = pd.DataFrame(X, columns=[f"gene{j}" for j in range(400)])
    table.insert(0, "patient", [f"P-{i:03}" for i in range(60)])
    return table.assign(site=["Rome" if i % 2 else "Oslo" for i in range(60)], tumour=y)


@pytest.fixture(scope="module")
def written(frame, tmp_path_factory):
    """Write the table in all ways."""
    folder = tmp_path_factory.mktemp("written")
    frame.to_csv(folder / "genes.csv", index=False)
    frame.to_csv(folder / "genes.tsv", index=False, sep="\t")
    frame.to_csv(folder / "commas.csv", index=False, sep=";", decimal=",")
    frame.to_excel(folder / "genes.xlsx", index=False)
    frame.to_parquet(folder / "genes.parquet")
    frame.set_index("patient").T.to_csv(folder / "across.csv", index_label="gene")
    frame.set_index("patient").T.to_csv(folder / "across.tsv", index_label="gene", sep="\t")
    (folder / "parts").mkdir()
    X, y = frame.filter(like="gene").to_numpy(), frame["tumour"].to_numpy()
    for number, rows in enumerate(np.array_split(np.arange(60), 4)):
        path = folder / "parts" / f"{number}.svm"
        dump_svmlight_file(X[rows], y[rows], str(path), zero_based=False)
    return folder


@pytest.fixture
def files(written, tmp_path, monkeypatch):
    """Copy the files, and go to their folder."""
    shutil.copytree(written, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


PLAIN = ("--target", "tumour", "--id", "patient", "--drop", "site")
ACROSS = ("--target", "tumour", "--drop", "site", "--transpose")
ONCE = ("--no-tune", "--repeats", 1)


def chosen(capsys, *arguments):
    assert run([*map(str, arguments), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    return [feature["index"] for feature in found["features"]], found


def refused(capsys, *arguments):
    assert run([*map(str, arguments)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return err


class TestColumns:
    @pytest.mark.parametrize(
        "name", ["genes.csv", "commas.csv", "genes.tsv", "genes.xlsx", "genes.parquet"]
    )
    def test_row_names_are_no_feature_and_are_written(self, name, files, frame, capsys):
        write = ("--write", "reduced.csv")
        indices, found = chosen(capsys, "select", name, *PLAIN, "-k", 10, *write)
        assert found["data"]["n_features"] == 400
        reduced = pd.read_csv("reduced.csv")
        assert reduced.columns[0] == "patient"
        assert reduced["patient"].tolist() == frame["patient"].tolist()
        assert list(reduced.columns[1:-1]) == [f"gene{index}" for index in indices]

    def test_row_names_are_written_to_archives_too(self, files, frame, capsys):
        options = ("-k", 10, "--scale", "none", "--write")
        chosen(capsys, "select", "genes.csv", *PLAIN, *options, "reduced.npz")
        assert np.load("reduced.npz")["ids"].tolist() == frame["patient"].tolist()
        arguments = ("select", "genes.csv", *PLAIN, *options, "reduced.svm")
        assert "no place for the names of rows; write .csv" in refused(capsys, *arguments)

    def test_positions_count_from_0_as_in_python(self, files, capsys):
        by_name = chosen(capsys, "select", "genes.csv", *PLAIN, "-k", 10)[0]
        by_number = ("--target", "-1", "--id", "0", "--drop", "401")
        assert chosen(capsys, "select", "genes.csv", *by_number, "-k", 10)[0] == by_name
        data = read_data("genes.csv", target=-1, id=0, drop=[401])
        assert data.feature_names[by_name[0]] == f"gene{by_name[0]}"

    def test_what_pandas_writes_with_its_index_can_be_read(self, files, frame, capsys):
        frame.set_index("patient").rename_axis(None).to_csv("index.csv")
        options = ("--target", "tumour", "--drop", "site", "-k", 10)
        assert "--id 0" in refused(capsys, "select", "index.csv", *options)
        indices, _ = chosen(capsys, "select", "index.csv", *options, "--id", 0)
        assert indices == chosen(capsys, "select", "genes.csv", *PLAIN, "-k", 10)[0]

    def test_features_without_names_count_from_0_as_in_python(self, files, capsys):
        _, found = chosen(capsys, "select", "parts/0.svm", "-k", 5, "--keep", 17)
        assert found["features"][0]["name"] == "17"
        assert all(int(feature["name"]) == feature["index"] for feature in found["features"])

    def test_a_feature_may_be_kept_and_another_dropped(self, files, capsys):
        options = ("--keep", "gene399", "--drop", "gene0,gene1", "--drop", "gene2")
        _, found = chosen(capsys, "select", "genes.csv", *PLAIN, *options, "-k", 10)
        assert found["data"]["n_features"] == 397
        assert found["features"][0] | {"name": "gene399", "index": 396} == found["features"][0]

    @pytest.mark.parametrize("kind", ["csv", "parquet"])
    def test_text_is_named_with_an_example_and_remedies(self, kind, files, frame, capsys):
        table = frame.rename(columns={"patient": "who", "site": "town"})
        getattr(table, f"to_{kind}")(f"towns.{kind}", index=False)
        arguments = ("select", f"towns.{kind}", "--target", "tumour", "-k", 10)
        message = refused(capsys, *arguments)
        for part in ("'who'", "'P-000'", "'town'", "--drop", "--id", "encode"):
            assert part in message
        message = refused(capsys, *arguments, "--id", "who")
        assert "'town'" in message
        assert "'Oslo'" in message

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (("--id", "pateint"), "id='pateint' is not there. There is 'patient'"),
            (("--id", "tumour"), "'tumour' is given as target and as id"),
            (("--drop", "tumour"), "'tumour' is given as target and as drop"),
            (("--drop", "9999"), "drop=9999 is not a position among 403 columns"),
        ],
    )
    def test_what_is_not_there(self, options, message, files, capsys):
        assert message in refused(capsys, "select", "genes.csv", "-t", "tumour", "-k", 10, *options)

    def test_the_last_column_is_named_since_labels_are_often_there(self, files, capsys):
        message = refused(capsys, "select", "genes.csv", "-k", 10)
        assert "'gene6' and 395 more; the last is 'tumour'" in message
        assert "--target" in message

    def test_a_similar_name_of_a_file_is_suggested(self, files, capsys):
        for name, right in (("gene.csv", "genes.csv"), ("acros.csv", "across.csv")):
            message = refused(capsys, "select", name, "-k", 10)
            assert f"{name}: no such file or folder. Did you mean {right}?" in message
        assert "Check the path" in refused(capsys, "select", "elsewhere/a.csv", "-k", 10)

    def test_arrays_have_names_and_no_positions(self, tmp_path, capsys):
        np.savez(tmp_path / "arrays.npz", X=np.eye(3), groups=np.arange(3))
        message = refused(capsys, "select", tmp_path / "arrays.npz", "-t", 1, "-k", 1)
        assert "target='1' is not there. There is 'X', 'groups'" in message

    @pytest.mark.parametrize("option", [("--id", "a"), ("--drop", "a"), ("--transpose",)])
    def test_formats_without_named_columns_have_none(self, option, files, capsys):
        message = refused(capsys, "select", "parts/0.svm", "-k", 10, *option)
        name = option[0].strip("-")
        assert f"{name}=" in message
        assert "which is for tables with named columns (CSV, TSV, Excel, Parquet)" in message
        assert f"Leave {name} out" in message


class TestTransposed:
    @pytest.mark.parametrize("kind", ["csv", "tsv"])
    def test_genes_in_rows_give_the_same_choice(self, kind, files, frame, capsys):
        expected, _ = chosen(capsys, "select", "genes.csv", *PLAIN, "-k", 10)
        write = ("--write", "reduced.csv")
        indices, _ = chosen(capsys, "select", f"across.{kind}", *ACROSS, "-k", 10, *write)
        assert indices == expected
        assert pd.read_csv("reduced.csv")["id"].tolist() == frame["patient"].tolist()

    def test_all_commands_take_it(self, files, capsys):
        run(["select", "across.csv", *ACROSS, "-k", "10", "-o", "chosen.txt"])
        assert run(["certify", "across.csv", *ACROSS, "-f", "chosen.txt"]) == 0
        assert "with these 10 features" in capsys.readouterr().out
        options = ("-k", "10", "-m", "rfe", "--jobs", "1", "--repeats", "1")
        assert run(["compare", "across.csv", *ACROSS, *options]) == 0

    def test_columns_that_describe_genes_can_be_dropped(self, files, frame, capsys):
        table = pd.read_csv("across.csv", dtype=str)
        table.insert(1, "description", "a gene")
        table.to_csv("described.csv", index=False)
        message = refused(capsys, "select", "described.csv", *ACROSS, "-k", 10)
        assert "column 'description', row 'gene0': 'a gene' is not a finite number" in message
        indices, _ = chosen(
            capsys, "select", "described.csv", *ACROSS, "--drop", "description", "-k", 10
        )
        assert indices == chosen(capsys, "select", "across.csv", *ACROSS, "-k", 10)[0]

    def test_r_leaves_out_the_name_above_the_names(self, tmp_path):
        path = tmp_path / "r.tsv"
        path.write_text("s1\ts2\nTP53\t1\t2\nBRCA1\t3\t4\nclass\tno\tyes\n")
        data = read_data(path, transpose=True)
        assert data.X.tolist() == [[1, 3], [2, 4]]
        assert data.ids.tolist() == ["s1", "s2"]
        assert data.y.tolist() == ["no", "yes"]

    def test_genes_may_share_a_name_but_not_what_is_asked_for(self, tmp_path):
        path = tmp_path / "twice.csv"
        path.write_text("g,s1,s2\na,1,2\na,3,4\ny,0,1\n")
        assert read_data(path, transpose=True).feature_names.tolist() == ["a", "a"]
        assert read_data(path, transpose=True, drop=[2]).X.tolist() == [[1], [2]]
        with pytest.raises(ValueError, match="drop='a' is the name of 2 columns"):
            read_data(path, transpose=True, drop=["a"])

    @pytest.mark.parametrize("command", ["doctor", "select"])
    def test_a_table_on_its_side_is_told_from_one_without_labels(self, command, files, capsys):
        options = ("-k", 10) if command == "select" else ()
        message = refused(capsys, command, "across.csv", "-t", "tumour", *options)
        assert "no column is called 'tumour', but a line is" in message
        assert "add --transpose (transpose=True in Python)" in message
        message = refused(capsys, command, "genes.csv", *ACROSS, *options)
        assert "no row is called 'tumour', but a column is" in message
        assert "leave out --transpose" in message
        message = refused(capsys, command, "genes.csv", "-t", "tumor", *options)
        assert "target='tumor' is not there. There is 'tumour'" in message

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("g,s1,s2\na,1,x\ny,0,1\n", "column 's2', row 'a': 'x' is not a finite number"),
            ("g,s1,s2\na,1,2\ny,0\n", "line 3: there are 2 fields, and the header has 3"),
            ("g,s1,s2\na,1,2\nb,0,1\n", "no row is named y.*name of the row of labels"),
            ("g,s1,s2\ny,1,2\ny,0,1\n", "the labels could be 'y', 'y'"),
            ("g,s1,s2\n", "a header and no line of data"),
            ("", "the file is empty"),
        ],
    )
    def test_errors_name_the_place(self, text, message, tmp_path):
        path = tmp_path / "bad.csv"
        path.write_text(text)
        with pytest.raises(ValueError, match=message):
            read_data(path, transpose=True)


class TestManyFiles:
    @pytest.mark.parametrize(
        "given", [["parts"], ["parts/"], ["parts/*.svm"], [f"parts/{i}.svm" for i in range(4)]]
    )
    def test_parts_are_the_whole(self, given, files, capsys):
        expected, _ = chosen(capsys, "select", "genes.csv", *PLAIN, "-k", 10)
        indices, found = chosen(capsys, "select", *given, "-k", 10)
        assert indices == expected
        assert found["data"]["n_rows"] == 60
        assert found["data"]["source"] == "parts/0.svm and 3 more"

    def test_row_names_of_all_files_are_kept(self, files, frame, capsys):
        frame[:25].to_csv("a.csv", index=False)
        frame[25:].to_csv("b.csv", index=False)
        write = ("--write", "reduced.csv")
        chosen(capsys, "select", "a.csv", "b.csv", *PLAIN, "-k", 10, *write)
        assert pd.read_csv("reduced.csv")["patient"].tolist() == frame["patient"].tolist()

    def test_files_that_do_not_belong_together(self, files, frame, capsys):
        frame.to_csv("parts/4.csv", index=False)
        message = refused(capsys, "select", "parts", "-k", 10)
        assert "csv (parts/4.csv), svmlight (parts/" in message
        options = (*PLAIN, "-k", 10)
        frame.drop(columns="gene7").to_csv("fewer.csv", index=False)
        message = refused(capsys, "select", "genes.csv", "fewer.csv", *options)
        assert "block 1 (fewer.csv) has 399 features, and genes.csv has 400" in message
        frame.rename(columns={"gene7": "Gene7"}).to_csv("other.csv", index=False)
        message = refused(capsys, "select", "genes.csv", "other.csv", *options)
        assert "'Gene7' in place of 'gene7'" in message
        frame.assign(tumour="yes").to_csv("words.csv", index=False)
        message = refused(capsys, "select", "genes.csv", "words.csv", *options)
        assert "numbers as labels and texts as labels" in message

    def test_what_cannot_be_joined(self, files, capsys):
        assert "nothing*.csv" in refused(capsys, "select", "nothing*.csv", "-k", 10)
        (files / "again.csv").write_bytes((files / "across.csv").read_bytes())
        message = refused(capsys, "select", "across.csv", "again.csv", *ACROSS, "-k", 10)
        assert "--transpose is for one file" in message
        assert "give one of them" in refused(capsys, "select", "-", "genes.csv", "-k", 10)

    def test_a_part_is_not_overwritten(self, files, capsys):
        before = (files / "parts" / "1.svm").read_bytes()
        message = refused(capsys, "select", "parts", "-k", 10, "-w", "parts/1.svm")
        assert "read or written already" in message
        for name in ("new.txt", "new.svm"):
            message = refused(capsys, "select", "parts", "-k", 10, "-o", f"parts/{name}")
            assert f"parts/{name}: all files of this folder are data" in message
        assert (files / "parts" / "1.svm").read_bytes() == before

    def test_python_takes_a_pattern_too(self, files):
        assert len(FileBlocks("parts/*.svm", n_features=400)) == 4


class TestStream:
    def test_files_one_at_a_time_give_the_same_choice(self, files, capsys):
        expected, whole = chosen(capsys, "select", "parts", "-k", 30)
        indices, found = chosen(capsys, "select", "parts", "-k", 30, "--stream", "-r", "r.html")
        assert indices == expected
        assert {feature["label"] for feature in found["features"]} == {"-1", "1"}
        assert found["data"]["n_rows"] == 60
        assert found["data"]["source"] == "parts (4 files)"
        growth = whole["certificate"]["measured_growth"]
        assert found["certificate"]["measured_growth"] == pytest.approx(growth)
        assert "30 of 400 features" in (files / "r.html").read_text(encoding="utf-8")
        options = ("select", "parts", "-k", 30, "-m", "subset")
        expected, whole = chosen(capsys, *options)
        indices, found = chosen(capsys, *options, "--stream")
        assert indices == expected
        # Sets of the rows in memory may be split, which proves more.
        both = [each["certificate"]["optimality"] for each in (whole, found)]
        assert both[0]["objective"] == pytest.approx(both[1]["objective"], rel=1e-6)
        for each in both:
            assert 0.9 * both[0]["lower_bound"] <= each["lower_bound"] <= both[1]["objective"]

    def test_no_file_is_held_longer_than_it_takes(self, files, capsys, monkeypatch):
        # Less than the files need, and enough for the names of 400 columns.
        monkeypatch.setattr("certifeature.cli.loading._free_memory", lambda: 100_000)
        assert "select --stream" in refused(capsys, "select", "parts", "-k", 30)
        chosen(capsys, "select", "parts", "-k", 30, "--stream")

    def test_without_labels(self, files, capsys):
        options = ("-k", 100, "--unsupervised")
        expected, _ = chosen(capsys, "select", "parts", *options)
        assert chosen(capsys, "select", "parts", *options, "--stream")[0] == expected

    def test_tables_stream_too(self, files, frame, capsys):
        frame[:25].to_csv("a.csv", index=False)
        frame[25:].to_csv("b.csv", index=False)
        options = ("a.csv", "b.csv", *PLAIN, "-k", 30)
        assert (
            chosen(capsys, "select", *options)[0]
            == chosen(capsys, "select", *options, "--stream")[0]
        )

    @pytest.fixture
    def counts(self, files):
        rng = np.random.default_rng(0)
        y = rng.permutation(np.repeat([-1, 1], 150))
        X = rng.poisson(0.3, (300, 200)).astype(float)
        X[:, :20] += rng.poisson(0.5 * (y[:, None] > 0), (300, 20))
        for number, rows in enumerate(np.array_split(np.arange(300), 5)):
            path = files / f"counts{number}.svm"
            dump_svmlight_file(X[rows], y[rows], str(path), zero_based=False)
        return "counts*.svm", "--scale", "tfidf", "-k", 20

    def test_counts_are_weighed_as_in_memory(self, counts, capsys):
        expected, whole = chosen(capsys, "select", *counts)
        indices, found = chosen(capsys, "select", *counts, "--stream")
        assert indices == expected
        growths = [each["certificate"]["measured_growth"] for each in (found, whole)]
        assert growths[0] == pytest.approx(growths[1])

    @pytest.mark.slow
    @pytest.mark.parametrize("share", [0.5, 1])
    def test_a_value_that_changes_under_way_is_noticed(self, share, counts, capsys, monkeypatch):
        dataset, path, reads = FileBlocks.dataset, Path("counts2.svm"), []
        content, state = path.read_bytes(), path.stat()
        other = content.replace(b":1 ", b":2 ", 1)
        assert other != content

        def changing(files, number):
            if len(reads) == moment:
                path.write_bytes(other)
                # Only what it holds tells.
                os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
            reads.append(number)
            return dataset(files, number)

        monkeypatch.setattr(FileBlocks, "dataset", changing)
        options = (
            "select",
            *counts,
            "--stream",
            "--held-out",
            0.3,
            "--write",
            "few.npz",
            "-r",
            "r.html",
        )
        moment = -1
        chosen(capsys, *options)
        Path("r.html").unlink()
        assert len(reads) >= 25
        # Before the last time that the file is read.
        last = len(reads) - 1 - reads[::-1].index(2)
        moment = max(5, int(share * last))
        reads.clear()
        message = refused(capsys, *options)
        assert "counts2.svm) changed while it was read" in message
        assert not Path("r.html").exists()

    @pytest.mark.parametrize("ending", [".svm", ".csv", ".npz"])
    def test_reduced_data_are_those_of_memory(self, ending, counts, files, capsys):
        for how in ([], ["--stream"]):
            chosen(capsys, "select", *counts, *how, "--write", f"reduced{len(how)}{ending}")
        first, second = (read_data(f"reduced{number}{ending}") for number in (0, 1))
        np.testing.assert_allclose(*(dense(data.X) for data in (first, second)), rtol=1e-12)
        np.testing.assert_array_equal(first.y, second.y)
        if first.feature_names is not None:
            np.testing.assert_array_equal(first.feature_names, second.feature_names)

    def test_names_of_rows_are_written(self, files, frame, capsys):
        frame[:25].to_csv("a.csv", index=False)
        frame[25:].to_csv("b.csv", index=False)
        options = ("a.csv", "b.csv", *PLAIN, "-k", 5, "--stream", "--write")
        chosen(capsys, "select", *options, "reduced.csv")
        written = read_data("reduced.csv", target="tumour", id="patient")
        np.testing.assert_array_equal(written.ids, frame["patient"])
        np.testing.assert_array_equal(written.y, frame["tumour"])
        assert "no place for the names" in refused(capsys, "select", *options, "reduced.svm")

    def test_held_out_rows_are_predicted_by_models_that_have_not_seen_them(self, counts, capsys):
        _, found = chosen(capsys, "select", *counts, "--stream", "--held-out", 0.3, "-r", "r.html")
        held_out = found["certificate"]["new_data"]
        n_rows = held_out["selected"]["n_rows"]
        assert 60 < n_rows < 120
        assert found["data"]["n_rows"] == 300 - n_rows
        # Rows and features are weighed, chosen and fitted again by scikit-learn alone.
        parts = [read_data(f"counts{number}.svm") for number in range(5)]
        draws = [np.random.default_rng([0, k]).random(60) < 0.3 for k in range(5)]
        X, y = np.vstack([dense(d.X) for d in parts]), np.concatenate([d.y for d in parts])
        away = np.concatenate(draws)
        weights = TfidfTransformer().fit(X[~away])
        known, unseen = (weights.transform(X[part]).tocsr() for part in (~away, away))
        columns = [feature["index"] for feature in found["features"]]
        for name, some in {"selected": columns, "full": np.arange(200)}.items():
            model = at_scale(known[:, some]).fit(known[:, some], y[~away])
            wrong = np.mean(model.predict(unseen[:, some]) != y[away])
            assert held_out[name]["error"]["value"] == pytest.approx(wrong)
            area = roc_auc_score(y[away], model.decision_function(unseen[:, some]))
            assert held_out[name]["auc"]["value"] == pytest.approx(area)
        assert "held-out rows" in Path("r.html").read_text(encoding="utf-8")

    def test_groups_are_held_out_as_a_whole(self, files, capsys):
        rng = np.random.default_rng(0)
        patients = np.repeat([f"P{number}" for number in range(30)], 4)
        table = pd.DataFrame(np.repeat(rng.standard_normal((30, 150)), 4, axis=0))
        table = table.add_prefix("gene").assign(patient=patients)
        table["sick"] = np.repeat(rng.permutation(30) % 2, 4)
        table = table.sample(frac=1, random_state=0)
        table[:50].to_csv("a.csv", index=False)
        table[50:].to_csv("b.csv", index=False)
        options = ("a.csv", "b.csv", "-t", "sick", "-k", 20, "--stream", "--held-out", 0.4)
        _, grouped = chosen(capsys, "select", *options, "--groups", "patient")
        found = grouped["certificate"]["new_data"]
        assert found["selected"]["n_rows"] == 4 * found["n_groups"]
        # Labels are random for each patient: rows of a known patient give them away.
        assert found["selected"]["auc"]["low"] < 0.5
        _, leaking = chosen(capsys, "select", *options, "--drop", "patient")
        assert leaking["certificate"]["new_data"]["selected"]["auc"]["low"] > 0.9

    def test_what_can_be_held_out(self, counts, files, capsys):
        share = ("--held-out", 0.2)
        assert "--stream and labels" in refused(capsys, "select", *counts, *share)
        options = ("--stream", "--unsupervised", *share)
        assert "--stream and labels" in refused(capsys, "select", *counts, *options)
        for share in ("0", "1", "-1", "nan"):
            message = refused(capsys, "select", *counts, "--stream", "--held-out", share)
            assert "a share of the rows" in message
        message = refused(capsys, "select", *counts, "--stream", "--held-out", 1e-9)
        assert "0 of 300 rows" in message

    def test_negative_values_are_no_counts(self, files, capsys):
        options = ("-k", 30, "--stream", "--scale", "tfidf")
        assert "there are negative values" in refused(capsys, "select", "parts", *options)

    @pytest.mark.parametrize(
        "option",
        [
            ("--scale", "standard"),
            ("--cv", 5),
            ("--method", "rfe"),
            ("--impute", "median"),
            ("--min-class", 5),
        ],
    )
    def test_what_needs_all_rows(self, option, files, capsys):
        message = refused(capsys, "select", "parts", "-k", 30, "--stream", *option)
        assert f"{option[0]}" in message
        assert "needs all rows in memory" in message

    def test_one_class_and_standard_input(self, files, capsys):
        (files / "one.svm").write_text("1 1:1\n1 2:1\n")
        assert "two classes" in refused(capsys, "select", "one.svm", "-k", 1, "--stream")
        assert "give files" in refused(capsys, "select", "-", "-k", 1, "--stream")

    def test_passes_are_counted(self, files, capsys):
        heard = []

        @contextmanager
        def begin(name, total):
            heard.append((name, total))
            yield lambda done: None

        with listening(begin):
            assert run(["select", "parts", "-k", "30", "--stream"]) == 0
            assert run(["select", "parts", "-k", "30"]) == 0
        assert ("pass to find the number of features", 4) in heard
        assert ("pass over the blocks", 4) in heard
        assert ("files read", 4) in heard


class TestDoctor:
    def test_the_command_that_it_names_works(self, files, capsys):
        for given in (["genes.csv", "-t", "tumour"], ["across.csv", "--transpose", "-t", "tumour"]):
            assert run(["doctor", *given]) == 0
            text = capsys.readouterr().out
            assert "60 samples, 403 columns" in text
            assert "labels: tumour, '1' in 36 samples, '-1' in 24" in text
            assert "features: 400 of numbers" in text
            assert "'site', which seems to be a code of circumstance: use it by --feature" in text
            assert "select would choose from 400 features" in text
            command = shlex.split(text.splitlines()[-1].removeprefix("Try: "))
            assert command[-2:] == ["-k", "100"]
            assert run(command[1:]) == 0
            assert "with these 100 features" in capsys.readouterr().out

    def test_names_and_columns_for_every_kind(self, files, capsys):
        for name in ("genes.csv", "commas.csv", "genes.tsv", "genes.xlsx", "genes.parquet"):
            assert run(["doctor", name, "-t", "tumour"]) == 0
            text = capsys.readouterr().out
            assert "'patient', which seems to be an identifier: use it by --feature" in text
            assert "--id patient" in text.splitlines()[-1]
        for data in ("parts", "parts/0.svm"):
            assert run(["doctor", data]) == 0
            text = capsys.readouterr().out
            assert "svmlight" in text
            assert "select would choose from 400 features, not scaled, for a linear SVM\n" in text

    def test_a_table_that_lies_on_its_side(self, files, capsys):
        assert run(["doctor", "across.csv"]) == 0
        text = capsys.readouterr().out
        assert "add --transpose" in text
        assert text.splitlines()[-1] == "Try: certifeature doctor across.csv --transpose"

    @pytest.mark.parametrize(
        "given", [["genes.csv"], ["genes.parquet"], ["across.csv", "--transpose"]]
    )
    def test_what_may_be_the_label_is_named_and_not_dropped(self, given, files, capsys):
        assert run(["doctor", *given]) == 0
        text = capsys.readouterr().out
        assert "There are no labels: name their column with --target." in text
        assert "'site' may be the label: 'Oslo' in 30 samples, 'Rome' in 30: --target site." in text
        assert "'tumour' may be the label: '1' in 36 samples, '-1' in 24: --target tumour." in text
        assert "--drop" not in text
        command = f"Try: certifeature select {shlex.join(given)} --target tumour"
        assert text.splitlines()[-1].startswith(command)

    def test_a_label_is_listed_wherever_it_is_and_never_filled_in(self, files, frame, capsys):
        first = frame.rename(columns={"tumour": "batch"}).assign(batch=np.arange(60) % 3)
        first.insert(0, "diagnosis", np.where(frame["tumour"] > 0, "sick", "well"))
        first.to_csv("batches.csv", index=False)
        assert run(["doctor", "batches.csv"]) == 0
        text = capsys.readouterr().out
        candidates = [line for line in text.splitlines() if "may be the label" in line]
        named = [line.split("'")[1] for line in candidates]
        assert named[0] == "diagnosis"
        assert set(named[1:]) == {"site", "batch"}
        assert "--drop" not in text
        assert "--target diagnosis" in text.splitlines()[-1]

    def test_the_last_of_many_columns_alike_is_no_label(self, tmp_path, capsys):
        genotypes = np.random.default_rng(0).integers(0, 3, (30, 20))
        table = pd.DataFrame(genotypes, columns=[f"snp{j}" for j in range(20)])
        table.to_csv(tmp_path / "snp.csv", index=False)
        assert run(["doctor", str(tmp_path / "snp.csv")]) == 0
        text = capsys.readouterr().out
        assert "may be the label" not in text
        assert "--target COLUMN" in text

    def test_what_stands_in_the_way(self, tmp_path, capsys):
        path = tmp_path / "people.csv"
        columns = {
            "number": range(1, 13),
            "town": ["Rome", "Oslo", "Bern"] * 4,
            "age": [30, None, *range(40, 50)],
            "income": np.arange(12)[::-1] * 1e4,
            "height": np.linspace(2, 1, 12),
            "planet": 1,
            "y": 8 * ["a"] + 4 * ["b"],
        }
        pd.DataFrame(columns).to_csv(path, index=False)
        assert run(["doctor", str(path), "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["missing"] == {"age": 1}
        assert found["constant"] == ["planet"]
        assert found["classes"] == {"a": 8, "b": 4}
        assert found["n_repeated_rows"] == 0
        assert found["deviations"][1] == pytest.approx(1e4 * np.std(range(12)))
        assert "--id number --impute median --drop town --scale standard" in found["command"]
        said = " ".join(found["advice"])
        for part in (
            "only 4 samples",
            "'number', which seems to be an identifier",
            "'town' is text, such as 'Bern', 3 different: --drop 'town'",
            "missing",
            "Constant",
            "standard",
        ):
            assert part in said

    def test_counts_repeats_and_decimals(self, tmp_path, capsys):
        rng = np.random.default_rng(0)
        X = rng.poisson(0.2, (30, 40)).astype(float)
        X[20:] = X[:10]
        np.savez(tmp_path / "words.npz", X=X, y=np.arange(30) % 2)
        assert run(["doctor", str(tmp_path / "words.npz"), "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["n_repeated_rows"] == 30 - len(np.unique(X, axis=0))
        assert "--scale tfidf" in found["command"]
        np.savez(tmp_path / "prices.npz", X=rng.standard_normal((30, 40)), y=rng.random(30))
        assert run(["doctor", str(tmp_path / "prices.npz")]) == 0
        text = capsys.readouterr().out
        assert "numbers with decimals" in text
        assert "--model ridge" in text
        assert "--scale" not in text

    def test_standard_input_is_refused(self, capsys):
        assert "doctor looks at files" in refused(capsys, "doctor", "-")


WRITERS = {
    "sheet.xlsx": lambda table, path: table.to_excel(path, index=False),
    "zipped.csv.gz": lambda table, path: table.to_csv(path, index=False),
    "commas.csv": lambda table, path: table.to_csv(path, index=False, sep=";", decimal=","),
    "latin.csv": lambda table, path: table.to_csv(path, index=False, encoding="latin1"),
    "excel_of_old.csv": lambda table, path: table.to_csv(
        path, index=False, sep=";", decimal=",", encoding="latin1"
    ),
    "unicode.csv": lambda table, path: table.to_csv(path, index=False, encoding="utf-16"),
    "write.csv": lambda table, path: named(table).to_csv(path, index_label="", quoting=2),
    "write.table.tsv": lambda table, path: path.write_text(
        named(table).to_csv(sep="\t").lstrip("\t")
    ),
    "pandas.csv": lambda table, path: table.to_csv(path),
    "gaps.csv": lambda table, path: table.mask(table == table.iloc[3, 5]).to_csv(
        path, index=False, na_rep="NA"
    ),
    "twice.csv": lambda table, path: table.rename(columns={"gene3": "gene5"}).to_csv(
        path, index=False
    ),
    "GSE1_series_matrix.txt.gz": lambda table, path: path.write_bytes(gzip.compress(geo(table))),
}


def named(table):
    return table.set_axis([f"P{i:02}" for i in range(len(table))])


def geo(table):
    """Return a table as the Gene Expression Omnibus gives it."""
    samples = [f'"GSM{i}"' for i in range(len(table))]
    lines = [
        ['!Series_title\t"A study"'],
        [""],
        ["!Sample_title", *(f'"sample {i}"' for i in range(len(table)))],
        ["!Sample_characteristics_ch1", *(f'"Diagnose: {y}"' for y in table["Diagnose"])],
        ["!series_matrix_table_begin"],
        ['"ID_REF"', *samples],
        *([f'"{name}"', *map(str, table[name])] for name in table.columns[:-1]),
        ["!series_matrix_table_end"],
    ]
    return "\n".join(map("\t".join, lines)).encode() + b"\n"


@pytest.mark.parametrize("name", WRITERS)
def test_the_doctor_names_a_command_that_works(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    X, y = make_relevant_features(40, 60, 20, random_state=0)
    table = pd.DataFrame(X.round(6), columns=["Größe", *(f"gene{j}" for j in range(1, 60))])
    table["Diagnose"] = np.where(y > 0, "krank", "gesund")
    WRITERS[name](table, tmp_path / name)
    assert run(["doctor", name]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    command = shlex.split(last.removeprefix("Try: "))
    assert run([*command[1:], "-o", "chosen.csv"]) == 0
    out, err = capsys.readouterr()
    assert "with these 30 features" in out
    assert err == ""
    assert "Größe" in pd.read_csv("chosen.csv")["feature"].tolist() + list(table.columns)


class TestPrepared:
    @pytest.fixture
    def people(self, tmp_path, monkeypatch):
        """Patients with three samples each, gaps, and a column of text."""
        monkeypatch.chdir(tmp_path)
        X, y = make_relevant_features(60, 40, 20, random_state=0)
        table = pd.DataFrame(X, columns=[f"gene{j}" for j in range(40)])
        table.insert(0, "patient", np.repeat([f"P{i}" for i in range(20)], 3))
        table = table.assign(site=np.resize(["Oslo", "Rome", "Bern"], 60), tumour=y)
        table.loc[[3, 17], "gene1"] = np.nan
        table.loc[5, "site"] = np.nan
        table.to_csv("people.csv", index=False)
        return table

    def test_an_identifier_that_repeats_is_proposed_as_groups(self, people, capsys):
        assert run(["doctor", "people.csv", "-t", "tumour"]) == 0
        text = capsys.readouterr().out
        assert "'patient' repeats, 20 different in 60 samples" in text
        command = shlex.split(text.splitlines()[-1].removeprefix("Try: "))
        expected = "--groups patient --impute median --scale standard -k 20"
        assert shlex.join(command[5:]) == expected
        assert run(command[1:]) == 0
        # Nobody else has the number that a patient has by name or by number.
        people.assign(patient=np.repeat(np.arange(20), 3)).to_csv("numbers.csv", index=False)
        assert run(["doctor", "numbers.csv", "-t", "tumour"]) == 0
        assert "--groups patient" in capsys.readouterr().out

    def test_names_of_rows_that_repeat_are_noticed(self, people, capsys):
        options = ("-t", "tumour", "--drop", "site", "--impute", "mean", "--scale", "none", "-k", 5)
        assert run(["select", "people.csv", *map(str, options), "--id", "patient"]) == 0
        assert "--groups patient" in capsys.readouterr().err
        assert run(["select", "people.csv", *map(str, options), "--groups", "patient"]) == 0
        assert capsys.readouterr().err == ""

    @pytest.mark.parametrize("how", ["median", "mean"])
    def test_gaps_are_imputed(self, how, people, capsys):
        options = ("-t", "tumour", "--id", "patient", "--groups", "patient", "--drop", "site")
        more = ("--keep", "gene1", "-k", 2, "--rescale", "none", "--write", "reduced.csv")
        more += ("--write-scaled",)
        chosen(capsys, "select", "people.csv", *options, "--impute", how, *more)
        filled = people["gene1"].fillna(getattr(people["gene1"], how)())
        assert pd.read_csv("reduced.csv")["gene1"].tolist() == pytest.approx(filled.tolist())

    def test_columns_with_gaps_are_left_out(self, people, capsys):
        options = ("-t", "tumour", "--groups", "patient", "--drop", "site", "--scale", "none")
        assert run(["select", "people.csv", *options, "--impute", "drop-columns", "-k", "5"]) == 0
        err = capsys.readouterr().err
        assert err == "certifeature: left out 1 columns with missing values: 'gene1'\n"

    def test_columns_of_text_are_encoded(self, people, capsys):
        options = ("-t", "tumour", "--groups", "patient", "--impute", "mean", "-k", 8)
        encoded = ("--categorical", "onehot", "--keep", "site", "--feature", "site")
        encoded += ("--write", "reduced.csv")
        _, found = chosen(capsys, "select", "people.csv", *options, *encoded)
        names = [feature["name"] for feature in found["features"]]
        assert names[:3] == ["site=Bern", "site=Oslo", "site=Rome"]
        reduced = pd.read_csv("reduced.csv")
        scale = found["features"][0]["scale"]
        assert reduced["site=Bern"].tolist() == ((people["site"] == "Bern") * scale).tolist()
        assert found["data"]["n_features"] == 43

    def test_the_categories_of_a_column_enter_together(self, people, capsys):
        options = ("-t", "tumour", "--groups", "patient", "--impute", "mean", "--scale", "standard")
        people["site"] = np.where(people["tumour"] > 0, people["site"].fillna("Bern"), "Paris")
        noise = people.drop(columns=[f"gene{j}" for j in range(20)])
        noise.to_csv("people.csv", index=False)
        options += ("--feature", "site")
        _, found = chosen(
            capsys, "select", "people.csv", *options, "--categorical", "onehot", "-k", 3
        )
        names = [feature["name"] for feature in found["features"]]
        assert {"site=Bern", "site=Oslo", "site=Paris", "site=Rome"} < set(names)
        assert found["certificate"]["n_groups"] == 3
        options += ("--categorical", "onehot", "-m", "univariate", "-k", "3")
        assert len(chosen(capsys, "select", "people.csv", *options)[1]["features"]) == 3

    def test_features_are_grouped_by_their_names(self, people, tmp_path, capsys):
        names = {f"gene{j}": f"p{j // 4}_lag{j % 4}" for j in range(40)}
        people.rename(columns=names).to_csv("lags.csv", index=False)
        (tmp_path / "groups.txt").write_text(
            "".join(f"p{j}_lag{lag}\tgroup {j}\n" for j in range(10) for lag in range(4))
        )
        options = ("-t", "tumour", "--groups", "patient", "--drop", "site", "--impute", "median")
        found = {}
        for group_by in ("prefix:_", r"(p\d)_", r"^p\d+", "@groups.txt"):
            indices, data = chosen(
                capsys, "select", "lags.csv", *options, "-k", 3, "--group-by", group_by
            )
            assert data["certificate"]["n_groups"] == 3
            assert len(indices) == 12
            found[group_by] = indices
        assert len({tuple(indices) for indices in found.values()}) == 1
        command = ("select", "lags.csv", *options, "--scale", "none", "-k", 3)
        for group_by, message in (
            ("prefix:", "needs what ends the prefix"),
            ("(", "is no pattern"),
            ("nothing", "puts no feature in a group"),
            ("@lags.csv", "no feature"),
        ):
            assert message in refused(capsys, *command, "--group-by", group_by)
        message = refused(capsys, *command, "--group-by", "prefix:_", "-m", "rfe")
        assert "--group-by works with bss, subset, leverage, random, not with rfe" in message

    def test_what_is_kept_stays_in_its_units(self, tmp_path, capsys):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((40, 300))
        X /= 3 * np.linalg.norm(X, axis=1)[:, None]
        np.savez(tmp_path / "short.npz", X=X, y=np.arange(40) % 2)
        _, found = chosen(capsys, "select", tmp_path / "short.npz", "-k", 5, "--keep", "7")
        kept, *others = (feature["scale"] for feature in found["features"])
        assert kept == 1
        assert min(others) > 1
        _, listed = chosen(capsys, "select", tmp_path / "short.npz", "-k", 5)
        assert min(feature["scale"] for feature in listed["features"]) > 1

    def test_small_classes_are_left_out_when_asked_for(self, people, capsys):
        people["tumour"] = np.repeat(["a", "b", "c"], [30, 28, 2])
        people.to_csv("rare.csv", index=False)
        options = ("-t", "tumour", "--groups", "patient", "--drop", "site", "--impute", "mean")
        command = ["select", "rare.csv", *options, "--scale", "none", "-k", "5"]
        assert run(command) == 0
        assert "few rows of 'c' (2)" in capsys.readouterr().err
        assert run([*command, "--min-class", "5"]) == 0
        err = capsys.readouterr().err
        assert err == "certifeature: left out 2 rows of classes 'c' (2)\n"
        assert run(["doctor", "rare.csv", "-t", "tumour"]) == 0
        assert "--min-class 5 leaves such classes out" in capsys.readouterr().out

    def test_columns_to_drop_may_be_in_a_file(self, people, tmp_path, capsys):
        (tmp_path / "drop.txt").write_text("site\ngene1\npatient\n")
        _, found = chosen(
            capsys, "select", "people.csv", "-t", "tumour", "--drop", "@drop.txt", "-k", 5
        )
        assert found["data"]["n_features"] == 39

    def test_rows_that_are_nearly_equal_are_noticed(self, people, capsys):
        rng = np.random.default_rng(0)
        X = np.repeat(rng.standard_normal((10, 300)), 3, axis=0)
        y = np.repeat(np.arange(10) % 2, 3)
        np.savez("alike.npz", X=X + 0.1 * rng.standard_normal(X.shape), y=y)
        np.savez("apart.npz", X=rng.standard_normal(X.shape), y=y)
        for command in (["doctor", "alike.npz"], ["select", "alike.npz", "-k", "5"]):
            assert run(command) == 0
            assert "30" in "".join(found := capsys.readouterr())
            assert "--groups" in "".join(found)
        assert run(["doctor", "apart.npz"]) == 0
        assert "equal or nearly equal samples: none" in capsys.readouterr().out

    def test_a_table_without_labels_needs_none_without_supervision(self, people, capsys):
        people.filter(like="gene").drop(columns="gene1").to_csv("plain.csv", index=False)
        _, found = chosen(capsys, "select", "plain.csv", "--unsupervised", "-k", 5)
        assert len(found["features"]) == 5


class TestScales:
    def noted(self, capsys, *arguments):
        """Return what is on standard error, after work that is done."""
        assert run([*map(str, arguments), "--json"]) == 0
        out, err = capsys.readouterr()
        json.loads(out)
        return err

    @pytest.fixture
    def uneven(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        X, y = make_relevant_features(60, 50, 20, random_state=0)
        np.savez("uneven.npz", X=X * np.logspace(0, 4, 50), y=y)
        np.savez("even.npz", X=X / X.std(axis=0), y=y)
        rng = np.random.default_rng(0)
        words = rng.poisson(0.3, (60, 50)) * np.arange(1, 51)
        dump_svmlight_file(words, y, "words.svm", zero_based=False)
        dump_svmlight_file(words / 7, y, "weighted.svm", zero_based=False)
        (tmp_path / "list.txt").write_text("1\n2\n")
        return tmp_path

    @pytest.mark.parametrize(
        "command",
        [
            ("select", "uneven.npz", "-k", 5),
            ("certify", "uneven.npz", "-f", "list.txt"),
            ("compare", "uneven.npz", "-k", 5, "-m", "rfe", *ONCE),
        ],
    )
    def test_who_says_nothing_of_scales_that_differ_is_told(self, command, uneven, capsys):
        note = self.noted(capsys, *command)
        assert note.count("\n") == 1
        assert note.startswith("certifeature: the features have standard deviations from ")
        assert "; --scale standard gives all the same weight (--scale none leaves them" in note
        for scaling in ("none", "standard"):
            assert self.noted(capsys, *command, "--scale", scaling) == ""

    def test_counts_are_told_of_their_own_scaling(self, uneven, capsys):
        note = self.noted(capsys, "select", "words.svm", "-k", 5)
        assert "look like counts" in note
        assert "--scale tfidf" in note

    @pytest.mark.parametrize("name", ["even.npz", "weighted.svm"])
    def test_no_note_without_need(self, name, uneven, capsys):
        assert self.noted(capsys, "select", name, "-k", 5) == ""

    def test_no_note_where_columns_cannot_be_scaled(self, files, capsys):
        assert self.noted(capsys, "select", "parts", "-k", 5, "--stream") == ""


class TestManyLabels:
    @pytest.fixture
    def ages(self, tmp_path):
        X, _ = make_relevant_features(60, 50, 20, random_state=0)
        table = pd.DataFrame(X, columns=[f"gene{j}" for j in range(50)])
        people = {"name": [f"P-{i}" for i in range(60)], "age": 20 + np.arange(60) % 40}
        table.assign(**people).to_csv(tmp_path / "ages.csv", index=False)
        return tmp_path / "ages.csv"

    @pytest.mark.parametrize("command", ["select", "compare"])
    def test_numbers_are_no_classes(self, command, ages, capsys):
        options = ("-t", "age", "--drop", "name", "-k", 5, "--scale", "standard")
        for model in ("svm", "logistic"):
            message = refused(capsys, command, ages, *options, "--model", model)
            assert f"40 different values in 60 rows, and --model {model} tells" in message
            assert "--model regression" in message
            assert "--target" in message

    def test_ridge_predicts_whole_numbers_too(self, ages, capsys):
        options = ("-t", "age", "--drop", "name", "-k", 5, "--model", "ridge")
        _, found = chosen(capsys, "select", ages, *options)
        assert {feature["label"] for feature in found["features"]} <= {"higher", "lower"}

    def test_names_of_rows_are_no_classes(self, ages, capsys):
        message = refused(capsys, "select", ages, "-t", "name", "--drop", "age", "-k", 5)
        assert "60 different values in 60 rows, such as 'P-0'" in message
        assert "--id" in message

    def test_the_doctor_says_so_too(self, ages, capsys):
        assert run(["doctor", str(ages), "-t", "age"]) == 0
        text = capsys.readouterr().out
        assert "labels: age, numbers, 40 different" in text
        assert "--model ridge" in text
        assert run(["doctor", str(ages), "-t", "name"]) == 0
        assert "60 different labels, which look like names of rows" in capsys.readouterr().out

    def test_few_rows_may_have_a_class_each(self, tmp_path, capsys):
        np.savez(tmp_path / "few.npz", X=np.eye(4), y=np.arange(4))
        assert len(chosen(capsys, "select", tmp_path / "few.npz", "-k", 2)[0]) == 2


class TestBareCommand:
    def test_help_keeps_its_lines(self, capsys):
        assert run([]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith("Usage: ")
        assert len(err.splitlines()) > 20
        for command in ("doctor", "select", "certify", "compare", "demo"):
            assert f"\n  {command} " in err

    def test_examples_keep_their_lines(self, capsys):
        assert run(["select", "--help"]) == 0
        lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
        assert "certifeature select genes.csv -t tumour -k 100 --cv 5" in lines


class TestDoubts:
    """What a reader of the report would want to know before believing an error."""

    @pytest.fixture
    def patients(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        rng = np.random.default_rng(0)
        table = pd.DataFrame(rng.standard_normal((60, 100))).add_prefix("gene")
        table["patient_id"] = np.repeat(np.arange(100, 120), 3)
        table["sick"] = np.repeat(rng.permutation(20) % 2, 3)
        table.to_csv("numbered.csv", index=False)
        table["patient_id"] = [f"P{number}" for number in table["patient_id"]]
        table.to_csv("named.csv", index=False)
        table.loc[:2, "sick"] = np.nan
        table.to_csv("unlabelled.csv", index=False)

    @pytest.mark.parametrize(
        "options",
        [
            ("numbered.csv",),
            ("named.csv", "--drop", "patient_id"),
            ("named.csv", "--categorical", "onehot"),
        ],
    )
    def test_forgotten_groups_are_asked_for(self, options, patients, capsys):
        asked = ("select", *options, "-t", "sick", "-k", "5", "--cv", "3", "--repeats", "1")
        assert run([*asked, "--report", "r.html"]) == 0
        assert "--groups patient_id; otherwise errors" in capsys.readouterr().err
        assert "Please check" in Path("r.html").read_text(encoding="utf-8")
        assert run(["select", "named.csv", "-t", "sick", "-k", "5", "--groups", "patient_id"]) == 0
        assert "patient_id" not in capsys.readouterr().err

    def test_streams_ask_for_groups_by_the_names_of_columns(self, patients, capsys):
        options = ("-t", "sick", "-k", "5", "--stream", "--held-out", "0.3")
        assert run(["select", "numbered.csv", *options]) == 0
        assert "--groups patient_id; otherwise errors" in capsys.readouterr().err
        assert run(["select", "named.csv", *options, "--drop", "patient_id"]) == 0
        assert "--groups patient_id; otherwise errors" in capsys.readouterr().err
        assert run(["select", "named.csv", *options, "--groups", "patient_id"]) == 0
        assert "patient_id" not in capsys.readouterr().err

    def test_rows_without_a_label_are_left_out_when_asked_for(self, patients, capsys):
        options = ("unlabelled.csv", "-t", "sick", "--groups", "patient_id")
        assert "--drop-unlabelled" in refused(capsys, "select", *options, "-k", 5)
        assert run(["doctor", *options]) == 0
        *_, command = capsys.readouterr().out.splitlines()
        assert "--drop-unlabelled" in command
        arguments = shlex.split(command.removeprefix("Try: certifeature "))
        _, found = chosen(capsys, *arguments)
        assert found["data"]["n_rows"] == 57
        assert {feature["label"] for feature in found["features"]} == {"0", "1"}

    def test_whole_numbers_may_be_amounts(self, patients, capsys):
        table = pd.read_csv("numbered.csv").drop(columns="patient_id").copy()
        ages = {"age": np.arange(60) // 3 + 40}
        table.assign(**ages).to_csv("ages.csv", index=False)
        assert run(["doctor", "ages.csv", "-t", "age"]) == 0
        assert "--model regression" in capsys.readouterr().out
        _, found = chosen(
            capsys, "select", "ages.csv", "-t", "age", "-k", 5, "--model", "regression"
        )
        assert found["certificate"]["model"].startswith("Ridge(")
        table.assign(stage=np.repeat(["I", "II", "III"], 20)).to_csv("stages.csv", index=False)
        message = refused(
            capsys, "select", "stages.csv", "-t", "stage", "-k", 5, "--model", "regression"
        )
        assert "the labels are text" in message

    def test_a_missing_number_is_no_class(self, patients):
        Path("gaps.csv").write_text("a,b,y\n1,2,3.5\n2,1,NA\n", encoding="utf-8")
        with pytest.raises(ValueError, match=r"line 3: the label is missing \(found 'NA'\)"):
            read_data("gaps.csv")

    def test_other_messages_of_a_first_walk(self, patients, capsys):
        Path("parts").mkdir()
        for number in range(2):
            Path(f"parts/{number}.svm").write_text("1 0:1 3:2\n-1 1:1 2:1\n" * 5, encoding="utf-8")
        assert "--zero-based" in refused(capsys, "select", "parts/", "-k", 1)
        options = ("parts/", "-k", "1", "--stream", "--zero-based", "--report", "r.html")
        assert run(["select", *options]) == 0
        assert "features of parts (2 files)" in Path("r.html").read_text(encoding="utf-8")
        capsys.readouterr()
        message = refused(capsys, "select", "named.csv", "-t", "sick", "-k", 1, "--drop", "@no.txt")
        assert "no.txt: no such file" in message


class TestNoFeatures:
    """Identifiers and codes of circumstance are held out, for every command."""

    @pytest.fixture
    def clinic(self, tmp_path, monkeypatch):
        """Controls come first and in other batches, so that either column gives them away."""
        monkeypatch.chdir(tmp_path)
        rng = np.random.default_rng(0)
        table = pd.DataFrame(rng.standard_normal((60, 50))).add_prefix("gene")
        table.insert(0, "PatientID", np.arange(1001, 1061))
        table.insert(1, "batch", np.repeat([1, 2, 3], 20))
        table = table.assign(ID1=rng.integers(0, 9, 60), status=np.repeat(["ill", "well"], 30))
        table.to_csv("clinic.csv", index=False)
        return table

    @pytest.mark.parametrize(
        "command", [("select", "-k", 5), ("compare", "-k", 5, "-m", "rfe", *ONCE), ("doctor",)]
    )
    def test_each_is_said_in_one_line(self, command, clinic, capsys):
        name, *options = map(str, command)
        assert run([name, "clinic.csv", "-t", "status", *options]) == 0
        lines = "".join(capsys.readouterr()).splitlines()
        for column, seems in (("PatientID", "an identifier"), ("batch", "a code of circumstance")):
            (line,) = [line for line in lines if f"'{column}'" in line]
            assert "eld out of the features" in line
            assert f"seems to be {seems}" in line
            assert f"--feature {column}" in line
        assert "ID1" not in "".join(line for line in lines if "eld out" in line)

    def test_they_are_features_if_asked_for_by_name(self, clinic, capsys):
        options = ("select", "clinic.csv", "-t", "status", "-k", 5)
        assert chosen(capsys, *options)[1]["data"]["n_features"] == 51
        _, found = chosen(capsys, *options, "--feature", "batch", "--keep", "batch")
        assert found["data"]["n_features"] == 52
        assert found["features"][0]["name"] == "batch"
        _, found = chosen(capsys, *options, "--feature", "batch,PatientID")
        assert found["data"]["n_features"] == 53
        assert "feature='btach' is not there" in refused(capsys, *options, "--feature", "btach")

    @pytest.mark.parametrize("how", [(), ("--stream",)])
    def test_files_in_parts_and_streams_follow_the_first_file(self, how, clinic, capsys):
        clinic.iloc[::2].to_csv("a.csv", index=False)
        clinic.iloc[1::2].assign(PatientID=7).to_csv("b.csv", index=False)
        found = chosen(capsys, "select", "a.csv", "b.csv", "-t", "status", "-k", 5, *how)[1]
        assert found["data"]["n_features"] == 51
        assert run(["select", "a.csv", "b.csv", "-t", "status", "-k", "5", *how]) == 0
        assert "'batch', which seems to be a code" in capsys.readouterr().err

    def test_arrays_with_names_too(self, clinic, capsys):
        X = clinic.drop(columns="status")
        np.savez("c.npz", X=X.to_numpy(), y=np.repeat([0, 1], 30), feature_names=[*X.columns])
        assert chosen(capsys, "select", "c.npz", "-k", 5)[1]["data"]["n_features"] == 51

    def test_values_missing_there_need_no_imputation(self, clinic, capsys):
        clinic.loc[3, "batch"] = np.nan
        clinic.loc[4, "PatientID"] = np.nan
        clinic.to_csv("gaps.csv", index=False)
        assert chosen(capsys, "select", "gaps.csv", "-t", "status", "-k", 5)[1]

    @pytest.mark.parametrize("target", ["batch", "PatientID"])
    def test_a_target_that_is_one_gets_an_objection(self, target, clinic, capsys):
        options = ("clinic.csv", "-t", target)
        assert run(["doctor", *options]) == 0
        assert f"The labels, {target!r}, seem to be" in capsys.readouterr().out
        model = ("--model", "regression") if target == "PatientID" else ()
        assert run(["select", *options, "-k", "5", "--drop", "status", *model]) == 0
        assert f"the labels, {target!r}, seem to be" in capsys.readouterr().err

    def test_python_warns_and_drops_nothing(self, clinic):
        y = clinic.pop("status")
        for use in (
            lambda: BSSSelector(5).fit(clinic, y),
            lambda: read_data("clinic.csv", target="status"),
        ):
            with pytest.warns(UserWarning, match="among the features") as warned:
                used = use()
            said = " ".join(str(each.message) for each in warned)
            assert "'PatientID', which seems to be an identifier" in said
            assert "'batch', which seems to be a code of circumstance" in said
            assert getattr(used, "n_features_in_", None) == 53 or used.X.shape == (60, 53)
        held_out = read_data("clinic.csv", target="status", features=["batch"])
        assert held_out.X.shape == (60, 52)
        assert held_out.held_out == {"PatientID": "an identifier"}
        assert held_out.about["PatientID"][0] == "1001"


class TestEverydayTables:
    """Tables that passed through spreadsheets and many hands."""

    @pytest.fixture
    def genes(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        X, y = make_relevant_features(102, 40, 20, random_state=0)
        table = pd.DataFrame(3000 + 1000 * X).add_prefix("V")
        return table.assign(tumour=np.where(y > 0, "yes", "no"))

    def said(self, capsys, *arguments):
        assert run([*map(str, arguments)]) == 0
        return "".join(capsys.readouterr())

    @pytest.mark.parametrize("across", [False, True])
    @pytest.mark.parametrize(
        ("marks", "sep"),
        [(".,", ";"), (".,", "\t"), (",.", "\t"), (",.", ";"), ("'.", ","), ("\u2009,", ";")],
    )
    def test_thousands_may_be_separated(self, marks, sep, across, genes, capsys):
        group, point = marks
        values = genes.drop(columns="tumour").round(1)
        shown = values.map(
            lambda x: f"{x:,.1f}".replace(",", "_").replace(".", point).replace("_", group)
        )
        table = shown.assign(tumour=genes["tumour"])
        (table.T if across else table).to_csv("marks.tsv", sep=sep, index=across)
        options = {"transpose": across, "format": "tsv"}
        with pytest.warns(UserWarning, match="'V0' and 39 more: thousands have a separator, as in"):
            data = read_data("marks.tsv", target="tumour", **options)
        np.testing.assert_array_equal(data.X, values.to_numpy())

    @pytest.mark.parametrize("field", ["3.095", "3.095,0,1", "0.950,0", "30.95,0", "1.2345,0"])
    def test_what_is_no_number_or_may_be_two_stays_text(self, field, tmp_path):
        path = tmp_path / "ambiguous.csv"
        path.write_text(f"a;b;y\n{field};1,5;0\n2;2,5;1\n", encoding="utf-8")
        with pytest.raises(ValueError, match=f"column 'a': '{field}' is not a finite number"):
            read_data(path)

    def test_numbers_with_two_decimal_marks_are_refused(self, genes):
        text = "a\tb\ty\n3.095,0\t0.25\t0\n2,5\t0.75\t1\n"
        Path("both.tsv").write_text(text, encoding="utf-8")
        with pytest.raises(ValueError, match="is not a finite number"):
            read_data("both.tsv")

    def test_labels_may_have_thousands_too(self, genes):
        Path("y.csv").write_text("a;y\n1,5;3.095,5\n2,5;980,0\n", encoding="utf-8")
        assert read_data("y.csv").y.tolist() == [3095.5, 980]

    def test_measured_columns_are_never_groups_and_advice_is_one_line(self, genes, capsys):
        columns = [f"V{j}" for j in range(2, 40)]
        genes = genes.astype(dict.fromkeys(columns, str))
        genes.loc[5, columns] = "-"
        genes.to_csv("gaps.csv", index=False)
        text = self.said(capsys, "doctor", "gaps.csv", "-t", "tumour")
        (line,) = [line for line in text.splitlines() if line.startswith("! 'V2'")]
        assert "'V2' and 37 more: most fields are numbers, and others such as '-'" in line
        assert "--groups" not in text
        assert "--drop" not in text
        Path("mended.csv").write_text(Path("gaps.csv").read_text().replace(",-", ","))
        command = text.splitlines()[-1].removeprefix("Try: ").replace("gaps.csv", "mended.csv")
        assert run(shlex.split(command)[1:]) == 0

    @pytest.mark.parametrize("field", ["-", "inf"])
    def test_a_stand_in_for_a_missing_value(self, field, genes, capsys):
        genes.astype({"V3": str}).replace({"V3": {str(genes["V3"][7]): field}}).to_csv(
            "stand_in.csv", index=False
        )
        message = refused(capsys, "select", "stand_in.csv", "-t", "tumour", "-k", 5)
        assert f"'{field}' is not a finite number. If it stands for a missing value" in message
        assert "leave the field empty and --impute" in message

    def test_classes_that_differ_in_case_or_spaces(self, genes, capsys):
        spellings = np.array(["Tumor", "tumor", "TUMOR", "Tu mor"])[np.arange(102) % 4]
        genes["state"] = np.where(genes.pop("tumour") == "yes", spellings, "normal")
        genes.to_csv("case.csv", index=False)
        for command in (("doctor",), ("select", "-k", 5)):
            name, *options = command
            text = self.said(capsys, name, "case.csv", "-t", "state", *options)
            assert "lasses that differ only in case or spaces: 'TUMOR', 'Tu mor', 'Tumor'" in text
            assert "the same? --join-classes joins them" in text
            text = self.said(capsys, name, "case.csv", "-t", "state", "--join-classes", *options)
            assert "differ only" not in text
        _, found = chosen(capsys, "select", "case.csv", "-t", "state", "--join-classes", "-k", 5)
        assert len({feature["label"] for feature in found["features"]}) <= 2
        message = refused(
            capsys, "select", "case.csv", "-t", "state", "--join-classes", "-k", 5, "--stream"
        )
        assert "--join-classes needs all rows in memory" in message

    def test_reduced_data_are_as_they_were(self, genes, capsys):
        genes.insert(0, "name", [f"S{i}" for i in range(102)])
        genes.insert(1, "ward", np.arange(102) % 20)
        genes.loc[3, "V0"] = np.nan
        genes.to_csv("genes.csv", index=False)
        roles = ("-t", "tumour", "--id", "name", "--groups", "ward")
        options = ("select", "genes.csv", *roles, "-k", 5, "--keep", "V0")
        more = ("--scale", "standard", "--impute", "median", "--write", "reduced.csv")
        text = self.said(capsys, *options, *more)
        assert "reduced.csv: its columns were chosen with the labels of all of its rows" in text
        assert "cross-validating this file would be biased" in text
        reduced = pd.read_csv("reduced.csv", dtype={"name": str})
        assert [*reduced.columns[:2], reduced.columns[-1]] == ["name", "ward", "tumour"]
        pd.testing.assert_frame_equal(reduced, genes[reduced.columns], check_exact=False)
        assert run(["select", "reduced.csv", *roles, "-k", "2", "--impute", "median"]) == 0
        self.said(capsys, *options, *more, "--write-scaled")
        scaled = pd.read_csv("reduced.csv")["V0"]
        assert abs(scaled.mean()) < 1e-9
        assert not scaled.isna().any()
        assert "give --write FILE" in refused(
            capsys, *options, "--impute", "mean", "--write-scaled"
        )

    def test_streams_write_original_values_too(self, genes, capsys):
        genes.insert(0, "ward", np.arange(102) % 20)
        genes[:50].to_csv("a.csv", index=False)
        genes[50:].to_csv("b.csv", index=False)
        options = ("a.csv", "b.csv", "-t", "tumour", "--groups", "ward", "-k", 5, "--stream")
        self.said(capsys, "select", *options, "--write", "reduced.csv")
        reduced = pd.read_csv("reduced.csv")
        pd.testing.assert_frame_equal(reduced, genes[reduced.columns])
        assert reduced.columns[0] == "ward"

    def test_names_that_a_spreadsheet_has_changed(self, genes, capsys):
        names = {"V0": "2-Sep", "V1": "1-Mar", "V2": "2.31E+13"}
        genes.rename(columns=names).to_csv("dates.csv", index=False)
        for command in (("doctor",), ("select", "-k", 5)):
            name, *options = command
            text = self.said(capsys, name, "dates.csv", "-t", "tumour", *options)
            (line,) = [line for line in text.splitlines() if "a spreadsheet" in line]
            assert (
                "'2-Sep', '1-Mar', '2.31E+13': genes whose names a spreadsheet turned into" in line
            )
            assert "import them as text" in line
        options = ("select", "dates.csv", "-t", "tumour", "-k", 5)
        assert run([*map(str, options), "--keep", "SEPT2"]) == 2
        assert "a spreadsheet may have made '2-Sep' of it" in capsys.readouterr().err
        message = refused(capsys, *options, "--feature", "MARCH1")
        assert "feature='MARCH1' is not there; a spreadsheet may have made '1-Mar' of it" in message

    def test_two_equal_names_are_a_slip(self, genes, capsys):
        genes.insert(0, "sample", [f"S{i}" for i in range(102)])
        genes.loc[60, "sample"] = "S12"
        genes.to_csv("slip.csv", index=False)
        for options in (("doctor",), ("select", "-k", 5), ("select", "-k", 5, "--id", "sample")):
            name, *more = options
            text = self.said(capsys, name, "slip.csv", "-t", "tumour", *more)
            assert "'S12' is the name of rows 13, 61 (counted from 1): a slip?" in text
            assert "--groups" not in text

    def test_a_table_that_is_cut_within_the_last_field(self, genes):
        genes.to_csv("cut.csv", index=False)
        content = Path("cut.csv").read_bytes()
        Path("cut.csv").write_bytes(content[:-2])
        with pytest.warns(UserWarning, match="cut.csv: the last line has no end; check that"):
            read_data("cut.csv", target="tumour")

    def test_the_lines_that_count_words_work(self, tmp_path, monkeypatch, capsys):
        monkeypatch.chdir(tmp_path)
        rng = np.random.default_rng(0)
        words = np.array([f"word{letter}" for letter in "abcdefghijklmnop"])
        texts = [" ".join(rng.choice(words, 12)) for _ in range(60)]
        table = pd.DataFrame({"review": texts, "opinion": rng.choice(["good", "bad"], 60)})
        table.to_csv("reviews.csv", index=False)
        message = refused(capsys, "select", "reviews.csv", "-t", "opinion", "-k", 5)
        assert "count words first" in message
        assert run(["doctor", "reviews.csv"]) == 0
        assert capsys.readouterr().out.endswith(
            "Try: certifeature select words -k 100 --scale tfidf\n"
        )
        assert run(["doctor", "reviews.csv", "-t", "opinion"]) == 0
        out = capsys.readouterr().out
        assert "'review' holds texts: count words first" in out
        exec("\n".join(line.strip() for line in out.splitlines() if line.startswith("    ")), {})
        _, found = chosen(capsys, "select", "words", "-k", 5, "--scale", "tfidf")
        assert {feature["name"] for feature in found["features"]} <= {*words.tolist()}

    def test_one_candidate_for_the_label_gives_the_whole_command(self, genes, capsys):
        genes.to_csv("one.csv", index=False)
        last = self.said(capsys, "doctor", "one.csv").splitlines()[-1]
        assert last == "Try: certifeature select one.csv --target tumour --scale standard -k 20"
        assert run(shlex.split(last)[2:]) == 0
