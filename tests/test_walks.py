"""The walks of new users, with files of their size: what doctor says to try leads to an answer."""

import csv
import shlex

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file

from certifeature.cli.app import run
from certifeature.datasets import make_relevant_features

pytestmark = [pytest.mark.ci, pytest.mark.slow]

N_SAMPLES, N_GENES = 60, 2_000


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """Write a table of samples with names and a column of text, on its side, and in parts."""
    folder = tmp_path_factory.mktemp("desk")
    X, y = make_relevant_features(N_SAMPLES, N_GENES, 20, random_state=0)
    X = np.round(X, 4) * np.linspace(1, 30, N_GENES)
    table = pd.DataFrame(X, columns=[f"gene{j}" for j in range(N_GENES)])
    table.insert(0, "patient", [f"P-{i:03}" for i in range(N_SAMPLES)])
    table = table.assign(
        site=np.resize(["Oslo", "Rome"], N_SAMPLES), tumour=np.where(y > 0, "yes", "no")
    )
    table.to_csv(folder / "genes.csv", index=False)
    table.set_index("patient").T.to_csv(folder / "across.tsv", index_label="gene", sep="\t")
    (folder / "parts").mkdir()
    for number, rows in enumerate(np.array_split(np.arange(N_SAMPLES), 4)):
        path = folder / "parts" / f"{number}.svm"
        dump_svmlight_file(X[rows], y[rows], str(path), zero_based=False)
    return folder


@pytest.fixture
def at_the_desk(desk, monkeypatch):
    monkeypatch.chdir(desk)
    return desk


def tried(capsys, *words):
    """Return what doctor says to try, as words."""
    assert run([*words]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("Try: certifeature ")
    return shlex.split(last)[2:]


def chosen_in(path):
    with open(path, encoding="utf-8", newline="") as file:
        return [row["feature"] for row in csv.DictReader(file)]


def test_a_table_with_names_of_samples_and_the_same_on_its_side(at_the_desk, tmp_path, capsys):
    options = "--target tumour --id patient --scale standard -k 100"
    expected = ["select", "genes.csv", *options.split()]
    # One column only may be the label.
    assert tried(capsys, "doctor", "genes.csv") == expected
    command = tried(capsys, "doctor", "genes.csv", "--target", "tumour")
    assert command == expected
    upright, report = tmp_path / "upright.csv", tmp_path / "report.html"
    assert run([*command, "-o", str(upright), "--report", str(report), "--cv", "2"]) == 0
    said = capsys.readouterr()
    assert "with these 100 features" in said.out
    assert said.err.count("held out of the features: 'site'") == 1
    page = report.read_text(encoding="utf-8")
    for answer in (
        "100 of 2,000 features for a",
        "from <bdi>60 rows (",
        "chosen again in all 20 folds",
    ):
        assert answer in page

    command = tried(capsys, "doctor", "across.tsv")
    assert command == ["doctor", "across.tsv", "--transpose"]
    command = tried(capsys, *command)
    assert command[:3] == ["select", "across.tsv", "--transpose"]
    across = tmp_path / "across.csv"
    assert run([*command, "-o", str(across)]) == 0
    assert chosen_in(across) == chosen_in(upright)
    assert len(chosen_in(across)) == 100


def test_a_folder_of_parts(at_the_desk, tmp_path, capsys):
    command = tried(capsys, "doctor", "parts")
    assert command[:2] == ["select", "parts"]
    lists = [tmp_path / "memory.csv", tmp_path / "stream.csv"]
    for path, how in zip(lists, ([], ["--stream"]), strict=True):
        assert run(["select", "parts", "--scale", "none", "-k", "100", "-o", str(path), *how]) == 0
    memory, stream = map(chosen_in, lists)
    assert memory == stream
    assert len(memory) == 100
