"""The command line, from files to chosen features, certificates, reports and errors."""

import bz2
import gzip
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import dump_svmlight_file
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from certifeature import BestSubsetSelector, BSSSelector, __version__
from certifeature._files import is_number, write_files
from certifeature.certificate import certify
from certifeature.cli.app import run
from certifeature.cli.loading import Loaded, _free_memory, distinct_names, read_features
from certifeature.cli.options import ModelOptions, Models
from certifeature.cli.task import certified
from certifeature.comparison import METHODS, compare
from certifeature.datasets import make_relevant_features
from certifeature.evaluation import NewData, new_data_errors
from certifeature.io import read_data
from certifeature.models import at_scale, default_model, support
from certifeature.models.problem import model_name
from certifeature.models.support import fit_at_scale, fit_model
from certifeature.report import Report, write_report
from certifeature.rows.rows import Rows
from certifeature.sparsify.choice import as_column_choice

COMMAND = Path(sys.executable).with_name("certifeature")


@pytest.fixture(scope="module")
def data():
    X, y = make_relevant_features(50, 60, 8, random_state=0)
    names = [f"gene {j}" for j in range(60)]
    return X, y, names


@pytest.fixture
def csv(data, tmp_path):
    X, y, names = data
    path = tmp_path / "genes.csv"
    pd.DataFrame(X, columns=names).assign(tumour=np.where(y > 0, "yes", "no")).to_csv(
        path, index=False
    )
    return path


def write(kind, data, folder):
    """Write the data in a format; return the path, and the name of the first column."""
    X, y, names = data
    frame = pd.DataFrame(X, columns=names).assign(y=y)
    path = folder / f"data.{kind}"
    if kind == "csv":
        frame.to_csv(path, index=False)
    elif kind == "csv.gz":
        path.write_bytes(gzip.compress(frame.to_csv(index=False).encode()))
    elif kind == "tsv":
        frame.to_csv(path, index=False, sep="\t")
    elif kind == "parquet":
        frame.to_parquet(path)
    elif kind == "npz":
        np.savez(path, X=X, y=y, feature_names=names)
    elif kind == "folder":
        path.mkdir()
        sparse.save_npz(path / "X.npz", sparse.csr_array(X))
        np.save(path / "y.npy", y)
        (path / "features.txt").write_text("\n".join(names))
    else:
        plain = folder / "data.svm"
        dump_svmlight_file(X, y, str(plain), zero_based=False)
        if kind == "svm.bz2":
            path.write_bytes(bz2.compress(plain.read_bytes()))
        return path, "0"
    return path, names[0]


def run_json(capsys, *arguments):
    assert run([*map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


KINDS = ["csv", "csv.gz", "tsv", "parquet", "npz", "folder", "svm", "svm.bz2"]


class TestSelect:
    @pytest.mark.parametrize("kind", KINDS)
    def test_every_format_gives_the_same_choice(self, kind, data, tmp_path, capsys):
        path, first = write(kind, data, tmp_path)
        result = run_json(capsys, "select", path, "-k", 12)
        expected = run_json(capsys, "select", write("npz", data, tmp_path)[0], "-k", 12)
        indices = [feature["index"] for feature in result["features"]]
        assert indices == [feature["index"] for feature in expected["features"]]
        names = {feature["index"]: feature["name"] for feature in result["features"]}
        assert all(name == first.replace("0", str(index)) for index, name in names.items())
        assert result["certificate"]["n_selected"] == len(indices) == 12
        assert result["data"]["n_rows"] == 50

    def test_errors_on_new_data(self, csv, data, tmp_path, capsys):
        X, y, _ = data
        arguments = ("select", csv, "-t", "tumour", "-k", 12, "-C", 0.5, "--cv", 4, "--repeats", 1)
        report = tmp_path / "report.html"
        result = run_json(capsys, *arguments, "--report", report)
        selector = BSSSelector(12, estimator=LinearSVC(C=0.5, random_state=0), random_state=0)
        labels = np.where(y > 0, "yes", "no")
        expected = new_data_errors(X, labels, selector, model=selector.estimator, cv=4, n_repeats=1)
        assert NewData.from_dict(result["certificate"]["new_data"]) == expected
        assert run([*map(str, arguments)]) == 0
        assert "in 4-fold cross-validation, with C tuned by inner folds" in capsys.readouterr().out
        assert "Better than chance?" in report.read_text(encoding="utf-8")
        plain = run_json(capsys, *arguments[:-4])
        assert plain["certificate"]["new_data"] is None
        assert all(feature.pop("frequency") is None for feature in plain["features"])
        assert all(0 <= feature.pop("frequency") <= 1 for feature in result["features"])
        assert plain["features"] == result["features"]

    @pytest.mark.parametrize("method", ["bss", "rfe"])
    @pytest.mark.ci
    def test_a_report_answers_first(self, method, csv, tmp_path, capsys):
        report = tmp_path / "report.html"
        arguments = ["select", str(csv), "-t", "tumour", "-k", "12", "-m", method, "--repeats", "1"]
        assert run([*arguments, "--scale", "standard", "--report", str(report)]) == 0
        said = capsys.readouterr().out
        html = report.read_text(encoding="utf-8").replace("\N{NO-BREAK SPACE}", " ")
        errors = re.search("error ([0-9.]+ %).*: these have error ([0-9.]+ %)", said)
        for error, row in zip(errors.groups(), ("These 12", "All 60"), strict=True):
            assert re.search(rf'{row} features</th><td class="number">{error} \(', html)
        for other in {"BSS", "RFE", "The univariate test"} - {method.upper()}:
            assert f'<th scope="row"><bdi>{other}</bdi></th><td class="number">' in html
        assert "Columns were centred and scaled to unit variance. Of 60 features" in html
        assert "in all 5 folds" in html
        assert html.count("<figure>") == 1

    def test_a_report_need_not_be_cross_validated(self, csv, tmp_path, capsys):
        report = tmp_path / "report.html"
        arguments = ["select", str(csv), "-t", "tumour", "-k", "12", "--report", str(report)]
        assert run([*arguments, "--cv", "0"]) == 0
        assert "Nothing was cross-validated" in report.read_text(encoding="utf-8")
        assert run([*arguments, "--cv", "1"]) == 2
        assert "ask for 2 folds or more, or 0 for none" in capsys.readouterr().err

    def test_rare_classes_are_named(self, data, tmp_path, capsys):
        X, _, names = data
        labels = np.where(np.arange(50) < 3, "rare", "common")
        path = tmp_path / "rare.csv"
        pd.DataFrame(X, columns=names).assign(kind=labels).to_csv(path, index=False)
        arguments = ["select", str(path), "-t", "kind", "-k", "9", "--cv", "5", "--repeats", "1"]
        assert run(arguments) == 0
        said = " ".join(capsys.readouterr().out.split())
        assert "fewer rows than the 5 folds, so that some folds test none: 'rare' (3 rows)" in said

    @pytest.mark.parametrize("scale", ["standard", "tfidf"])
    def test_new_data_are_scaled_by_training_rows(self, scale, tmp_path, capsys):
        rng = np.random.default_rng(0)
        # Counts, so rare that a fold may lack a word.
        X, y = rng.poisson(0.3, (40, 30)).astype(float), np.arange(40) % 2
        X[:, 0] += y
        path = tmp_path / "counts.npz"
        np.savez(path, X=X, y=y)
        arguments = ("select", path, "-k", 5, "-m", "univariate", "--scale", scale, "--cv", 3)
        arguments += ("--repeats", 1)
        found = run_json(capsys, *arguments)["certificate"]["new_data"]
        scaler = StandardScaler() if scale == "standard" else TfidfTransformer()
        rows = X if scale == "standard" else sparse.csr_array(X)
        folds = StratifiedKFold(3, shuffle=True, random_state=0).split(X, y)
        assert found["tuned"]
        factors = np.array([0.01, 0.1, 1, 10, 100])
        inner = StratifiedKFold(3, shuffle=True, random_state=0)
        n_wrong = 0
        for train, test in folds:
            # Inner folds have the scale of their own rows.
            errors = np.zeros(5)
            for part, rest in inner.split(rows[train], y[train]):
                known = scaler.fit_transform(rows[train][part])
                unseen, base = scaler.transform(rows[train][rest]), at_scale(known)
                for place, factor in enumerate(factors):
                    svm = clone(base).set_params(C=factor * base.C).fit(known, y[train][part])
                    errors[place] += np.mean(svm.predict(unseen) != y[train][rest])
            known = scaler.fit_transform(rows[train])
            base = at_scale(known)
            svm = base.set_params(C=factors[errors.argmin()] * base.C).fit(known, y[train])
            predicted = svm.predict(scaler.transform(rows[test]))
            n_wrong += np.sum(predicted != y[test])
        assert found["full"]["n_wrong"] == pytest.approx(n_wrong)

    def test_new_data_with_as_many_features_as_asked_for(self, csv, capsys):
        arguments = (
            "select",
            csv,
            "-t",
            "tumour",
            "-k",
            1,
            "-m",
            "lpsvm",
            "--cv",
            2,
            "--repeats",
            1,
        )
        result = run_json(capsys, *arguments)
        assert len(result["features"]) == 1
        assert result["certificate"]["new_data"]["n_selected"] == [1, 1]

    def test_new_data_repeat_the_search_for_the_size(self, csv, capsys):
        arguments = (
            "select",
            csv,
            "-t",
            "tumour",
            "-k",
            "cv",
            "--order",
            "coef",
            "--cv",
            2,
            "--repeats",
            1,
        )
        found = run_json(capsys, *arguments)["certificate"]["new_data"]
        assert set(found["n_selected"]) <= {10, 20, 60}

    def test_new_data_without_supervision_need_labels_to_compare_with(self, data, csv, capsys):
        arguments = ["select", str(csv), "-t", "tumour", "-k", "20", "--unsupervised", "--cv", "2"]
        arguments += ["--repeats", "1"]
        assert run_json(capsys, *arguments)["certificate"]["new_data"]["n_selected"] == [20, 20]
        bare = csv.with_name("bare.npz")
        np.savez(bare, X=data[0])
        assert run(["select", str(bare), "-k", "20", "--unsupervised", "--cv", "2"]) == 2
        assert "leave --cv out" in capsys.readouterr().err

    @pytest.mark.slow
    def test_installed_command_reads_standard_input(self, data, tmp_path):
        path, _ = write("svm.bz2", data, tmp_path)
        arguments = [COMMAND, "select", "-", "--format", "svmlight", "-k", "9", "-o", "-"]
        arguments += ["--scale", "none"]
        done = subprocess.run(arguments, input=path.read_bytes(), capture_output=True, check=True)
        lines = done.stdout.decode().splitlines()
        assert len(lines) == 9
        assert all(float(line.split("\t")[1]) > 0 for line in lines)
        assert done.stderr == b""

    @pytest.mark.parametrize("method", METHODS)
    def test_every_method(self, method, csv, capsys):
        result = run_json(capsys, "select", csv, "-t", "tumour", "-k", 12, "-m", method)
        chosen = result["features"]
        assert 1 <= len(chosen) <= 12
        assert [feature["rank"] for feature in chosen] == list(range(1, len(chosen) + 1))
        assert {feature["label"] for feature in chosen} <= {"yes", "no"}

    @pytest.mark.parametrize("method", [name for name in METHODS if METHODS[name].ours])
    def test_unsupervised_needs_no_labels(self, method, data, tmp_path, capsys):
        X, _, names = data
        path = tmp_path / "rows.npz"
        np.savez(path, X=X[:20], feature_names=names)
        arguments = ("select", path, "-k", 30, "--unsupervised", "-m", method)
        result = run_json(capsys, *arguments)
        assert result["certificate"]["rows"] == "all"
        assert all(feature["weight"] is None for feature in result["features"])

    @pytest.mark.parametrize("method", METHODS)
    def test_a_choice_is_the_one_that_is_compared(self, method, csv, data, capsys):
        X, y, _ = data
        found = run_json(capsys, "select", csv, "-t", "tumour", "-k", 12, "-m", method)["features"]
        svm = at_scale(X) if method == "rfe" else default_model()
        selector = METHODS[method].make(12, svm, 0).fit(pd.read_csv(csv).iloc[:, :-1].to_numpy(), y)
        sample = as_column_choice(selector, X.shape[1])
        assert [feature["index"] for feature in found] == sample.indices[:12].tolist()
        # Old readers of numbers differ from ours in the last digit.
        assert [feature["scale"] for feature in found] == pytest.approx(sample.scales[:12])

    @pytest.mark.parametrize("method", ["bss", "random", "lpsvm", "univariate"])
    @pytest.mark.ci
    def test_the_svm_on_all_features_is_trained_once(self, method, data, tmp_path, monkeypatch):
        X, y, _ = data
        path, report = write("npz", data, tmp_path)[0], tmp_path / "report.html"
        fits = []
        minimise = support.minimise

        def counted(X, *arguments):
            fits.append(X.shape)
            return minimise(X, *arguments)

        monkeypatch.setattr(support, "minimise", counted)
        fit_model(LinearSVC(), X, y)
        n_once = fits.count(X.shape)
        assert n_once > 0
        fits.clear()
        arguments = ["select", str(path), "-k", "12", "-m", method, "-r", str(report), "-C", "1"]
        assert run(arguments) == 0
        assert fits.count(X.shape) == n_once

    @pytest.mark.parametrize("labels", [True, False])
    @pytest.mark.parametrize("method", [name for name in METHODS if METHODS[name].ours])
    def test_what_a_fit_found_gives_the_certificate_of_the_data(self, method, labels, data):
        X, y, names = data
        loaded = Loaded(X, y, np.array(names), "genes", "")
        svm = default_model()
        selector = METHODS[method].make(55, svm, 0)
        selector.set_params(supervised=labels, estimator=svm, basis="auto", n_components=None)
        sample = as_column_choice(selector.fit(X, y), X.shape[1])
        found, fitted = certified(loaded, sample, svm, selector=selector, unsupervised=not labels)
        expected = certify(X, y, selector, estimator=svm, rows="support" if labels else "all")
        assert found == expected
        np.testing.assert_allclose(fitted.coef_, fit_at_scale(svm, Rows(X), y).coef_)

    def test_a_sketch_does_not_hide_what_the_rows_prove(self, data):
        X, y, names = data
        loaded = Loaded(X, y, np.array(names), "genes", "")
        svm = default_model()
        selector = METHODS["bss"].make(55, svm, 0).set_params(basis="sketch", n_components=5)
        sample = as_column_choice(selector.fit(X, y), X.shape[1])
        assert not selector.basis_.exact
        certificate, _ = certified(loaded, sample, svm, selector=selector)
        assert certificate == certify(X, y, selector, estimator=svm)
        assert certificate.exact

    def test_certified_keeps_half_of_the_margin(self, csv, capsys):
        arguments = ("select", csv, "-t", "tumour", "-k", "certified")
        result = run_json(capsys, *arguments, "-C", 1)
        assert result["certificate"]["lambda_min"] >= 0.5
        # A soft model takes fewer features than there are directions.
        result = run_json(capsys, *arguments)
        assert result["certificate"]["measured_growth"] <= 2
        assert result["certificate"]["n_selected"] < result["certificate"]["rank"]

    def test_people_get_a_table_and_sentences(self, csv, capsys):
        assert run(["select", str(csv), "-t", "tumour", "-k", "25"]) == 0
        text = capsys.readouterr().out
        assert "25 features chosen" in text
        assert "the first 20" in text
        sentences = text.split("\n\n")[-1].splitlines()
        assert len(sentences) <= 6
        assert sentences[0].startswith(
            "Proven: with these 25 features (13 trusted), multiplied by "
        )
        layers = [line.split()[0].strip(",:") for line in sentences[-2:]]
        assert layers == ["Realised", "Measured"]

    def test_features_in_every_best_set_are_marked(self, csv, tmp_path, capsys):
        table = tmp_path / "chosen.csv"
        arguments = ["select", csv, "-t", "tumour", "-k", 20, "-m", "subset"]
        found = run_json(capsys, *arguments)
        always = [f["index"] for f in found["features"] if f["always"]]
        assert always == [f["index"] for f in found["features"] if f["index"] in always] != []
        assert set(always) == set(found["certificate"]["optimality"]["always"])
        assert run([*map(str, arguments), "-o", str(table)]) == 0
        text = capsys.readouterr().out
        marked = [
            line.split("│")[1].strip() for line in text.splitlines() if line.endswith(" every │")
        ]
        assert marked == [f["name"] for f in found["features"] if f["always"]]
        assert "about these rows, not about new samples" in text
        assert pd.read_csv(table)["in_every_best_set"].sum() == len(always)

    @pytest.mark.parametrize("command", ["select", "certify"])
    def test_growth_comes_first_in_json(self, command, csv, tmp_path, capsys):
        chosen = tmp_path / "chosen.txt"
        arguments = ("select", csv, "-t", "tumour", "-k", 40, "-o", chosen)
        values = run_json(capsys, *arguments)["certificate"]
        if command == "certify":
            values = run_json(capsys, "certify", csv, "-t", "tumour", "-f", chosen)
        frame = pd.read_csv(csv)
        X, y = frame.iloc[:, :-1].to_numpy(), frame["tumour"].to_numpy()
        expected = certify(X, y, BSSSelector(40, random_state=0).fit(X, y))
        assert list(values)[:3] == ["realised_growth", "measured_growth", "promised_growth"]
        assert values["measured_growth"] == pytest.approx(expected.measured_growth, rel=1e-6)
        assert values["realised_growth"] == pytest.approx(expected.realised_growth, rel=1e-6)
        if command == "select":
            assert values["sentences"] == str(expected).splitlines()
        # Nothing is promised for a soft model, and JSON has no inf.
        assert values["promised_growth"] is None

    def test_scaling_changes_the_choice(self, data, tmp_path, capsys):
        X, y, names = data
        path = tmp_path / "scaled.npz"
        np.savez(path, X=X * np.geomspace(1, 1e4, 60), y=y, feature_names=names)
        plain = run_json(capsys, "select", path, "-k", 10)
        standard = run_json(capsys, "select", path, "-k", 10, "--scale", "standard")
        assert plain["features"] != standard["features"]

    @pytest.mark.parametrize("kind", ["npz", "svm"])
    @pytest.mark.parametrize("factor", [1e-200, 1e160, 1e300])
    def test_standard_units_do_not_depend_on_the_units_before(
        self, kind, factor, data, tmp_path, capsys
    ):
        X, y, names = data
        units = np.where(np.arange(60) % 2, factor, 1.0)
        chosen = []
        for values in (X, X * units):
            path, _ = write(kind, (values, y, names), tmp_path)
            chosen.append(run_json(capsys, "select", path, "-k", 20, "--scale", "standard"))
        first, second = ([f["index"] for f in result["features"]] for result in chosen)
        assert first == second

    @pytest.mark.parametrize("suffix", ["svm", "csv", "tsv", "npz"])
    def test_reduced_data_can_be_read_again(self, suffix, data, tmp_path, capsys):
        path, _ = write("npz", data, tmp_path)
        reduced = tmp_path / f"reduced.{suffix}"
        result = run_json(capsys, "select", path, "-k", 12, "--rescale", "none", "--write", reduced)
        again = read_data(reduced)
        indices = [feature["index"] for feature in result["features"]]
        X = again.X.toarray() if sparse.issparse(again.X) else again.X
        np.testing.assert_allclose(X, data[0][:, indices], rtol=1e-12)
        np.testing.assert_array_equal(again.y, data[1])
        if suffix != "svm":
            assert again.feature_names.tolist() == [f["name"] for f in result["features"]]

    @pytest.mark.ci
    def test_report_shows_names_as_text(self, data, tmp_path, capsys):
        X, y, names = data
        path = tmp_path / "evil.npz"
        evil = ["<script>alert(1)</script>", *names[1:]]
        np.savez(path, X=X * np.r_[100, np.ones(59)], y=y, feature_names=evil)
        report = tmp_path / "report.html"
        assert run(["select", str(path), "-k", "10", "--report", str(report)]) == 0
        text = report.read_text(encoding="utf-8")
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
        assert "<script>alert" not in text
        model = r"LinearSVC\(C=[\d.e-]+, free intercept\)"
        said = rf"with these 10 features \(\d+ trusted\) the training objective of {model}"
        assert re.search(said, text)

    @pytest.mark.ci
    def test_large_values_leave_no_bound_for_the_squared_hinge(self, data, tmp_path, capsys):
        X, y, _ = data
        path = tmp_path / "large.npz"
        np.savez(path, X=1e6 * X, y=y)
        report = tmp_path / "report.html"
        assert run(["select", str(path), "-k", "3", "-r", str(report), "-C", "1"]) == 0
        why = "no bound, because C is so large for these rows that nothing below a million times"
        assert why in capsys.readouterr().out
        assert why in report.read_text(encoding="utf-8")

    def test_lpsvm_keeps_to_the_number_and_to_c(self, csv, capsys):
        arguments = ("select", csv, "-t", "tumour", "-m", "lpsvm", "-k", 1)
        assert len(run_json(capsys, *arguments)["features"]) == 1
        assert run([*map(str, arguments), "-C", "1e-9"]) == 2
        assert "Raise C" in capsys.readouterr().err

    def test_labels_get_a_name_that_no_feature_has(self, data, tmp_path, capsys):
        X, y, names = data
        path, reduced = tmp_path / "names.npz", tmp_path / "reduced.csv"
        taken = ["Y", "label", "target", "class", *names[4:]]
        np.savez(path, X=X, y=y, feature_names=taken)
        assert run(["select", str(path), "-k", "59", "-w", str(reduced), "-m", "rfe"]) == 0
        assert pd.read_csv(reduced).columns[-1] == "y1"


class TestSteering:
    def test_options_are_parameters_of_the_selector(self, data, tmp_path, capsys):
        X, y, names = data
        path, _ = write("npz", data, tmp_path)
        options = (
            "--keep",
            names[50],
            "--order",
            "coef,stable",
            "--trust",
            0.5,
            "--rescale",
            "each",
        )
        result = run_json(capsys, "select", path, "-k", 30, *options)
        selector = BSSSelector(
            30, fixed_features=[50], order=("coef", "stable"), trust=0.5, rescale="each"
        ).fit(X, y)
        chosen = result["features"]
        assert [feature["index"] for feature in chosen] == selector.indices_.tolist()
        assert [feature["scale"] for feature in chosen] == pytest.approx(selector.scales_)
        assert [feature["why"] for feature in chosen] == selector.reasons_.tolist()
        assert (selector.reasons_ == "trusted").sum() == result["certificate"]["n_trusted"] > 0
        assert result["certificate"]["n_fixed"] == 1

    @pytest.mark.parametrize("method", [name for name in METHODS if METHODS[name].ours])
    @pytest.mark.parametrize("rescale", ["common", "each", "none"])
    def test_columns_of_every_selector_are_scaled_as_asked(self, rescale, method, csv, capsys):
        arguments = ("select", csv, "-t", "tumour", "-k", 40, "-m", method, "--rescale", rescale)
        scales = {feature["scale"] for feature in run_json(capsys, *arguments)["features"]}
        if rescale == "none":
            assert scales == {1.0}
        elif rescale == "common":
            # Rows that are longer than 1 are not scaled up.
            assert scales == {1.0}
            short = csv.with_name("short.csv")
            frame = pd.read_csv(csv)
            frame[frame.columns[:-1]] /= 1000
            frame.to_csv(short, index=False)
            size = frame.iloc[:, :-1].var(ddof=0).sum()
            found = run_json(capsys, arguments[0], short, *arguments[2:])["features"]
            chosen = frame.iloc[:, [feature["index"] for feature in found]].var(ddof=0).sum()
            expected = np.full(len(found), np.sqrt(size / chosen))
            assert [feature["scale"] for feature in found] == pytest.approx(expected)
            assert expected[0] > 1
        elif method not in ("rrqr", "random"):
            assert len(scales) > 1

    @pytest.mark.parametrize(
        ("keep", "kept"),
        [
            (["gene 7"], [7]),
            (["gene 7", "gene 9", "gene 7"], [7, 9]),
            (["gene 7, gene 9,a"], [7, 9, 0]),
            (["c,d", "@b"], [2, 1]),
            (["@list.txt", "gene 5"], [3, 1, 5]),
        ],
    )
    def test_features_can_be_kept(self, keep, kept, data, tmp_path, capsys, monkeypatch):
        X, y, names = data
        monkeypatch.chdir(tmp_path)
        np.savez("genes.npz", X=X, y=y, feature_names=["a", "@b", "c,d", *names[3:]])
        Path("list.txt").write_text("gene 3\t1.5\n\n@b\n")
        options = [part for name in keep for part in ("--keep", name)]
        result = run_json(capsys, "select", "genes.npz", "-k", 12, *options)
        fixed = [f["index"] for f in result["features"] if f["why"] == "fixed"]
        assert fixed == kept

    def test_the_best_subset_with_features_that_are_kept_and_groups(self, csv, data, capsys):
        _, y, names = data
        options = ("-m", "subset", "--keep", "gene 50", "--group-by", "gene ([0-9])")
        found, soft = (
            run_json(capsys, "select", csv, "-t", "tumour", "-k", 3, *options, *cost)
            for cost in ((), ("-C", "soft"))
        )
        groups = [name.removeprefix("gene ")[0] for name in names]
        selector = BestSubsetSelector(3, feature_groups=groups, fixed_features=[50]).fit(
            pd.read_csv(csv).iloc[:, :-1].to_numpy(), y
        )
        for result in (found, soft):
            assert [f["index"] for f in result["features"]] == selector.indices_.tolist()
        assert {f["why"] for f in found["features"]} == {"fixed", "best"}
        optimality = certify(pd.read_csv(csv).iloc[:, :-1].to_numpy(), y, selector).optimality
        expected = pytest.approx(optimality.objective)
        for result in (found, soft):
            assert result["certificate"]["optimality"]["objective"] == expected

    @pytest.mark.ci
    def test_people_see_why_a_feature_is_in(self, csv, tmp_path, capsys):
        report = tmp_path / "report.html"
        chosen = tmp_path / "chosen.txt"
        arguments = ["select", str(csv), "-t", "tumour", "-k", "20", "--keep", "gene 50"]
        arguments += ["-C", "1", "--trust", "0.5"]
        assert run([*arguments, "-r", str(report), "-o", str(chosen)]) == 0
        text, page = capsys.readouterr().out, report.read_text(encoding="utf-8")
        lines = [line.split("│") for line in text.splitlines() if "│ gene" in line]
        why = [cells[6].strip() for cells in lines]
        assert why == 1 * ["fixed"] + 10 * ["trusted"] + 8 * ["cover"] + ["next"]
        subject = "with these 20 features (1 fixed, 10 trusted) the training objective of LinearSVC"
        for shown in (text, page):
            assert subject in shown
        assert page.count('<td class="why"><bdi>cover</bdi></td>') == 8
        assert "Always-included features" in page
        assert chosen.read_text().splitlines()[0].split("\t")[0] == "gene 50"
        assert all(len(line.split("\t")) == 2 for line in chosen.read_text().splitlines())

    @pytest.mark.ci
    def test_no_reasons_no_column(self, csv, tmp_path, capsys):
        report = tmp_path / "report.html"
        arguments = ["select", str(csv), "-t", "tumour", "-k", "20", "-m", "rfe"]
        assert run([*arguments, "-r", str(report)]) == 0
        assert "why" not in capsys.readouterr().out
        assert 'class="why"' not in report.read_text(encoding="utf-8")

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (("-m", "rfe", "--keep", "gene 1"), "--keep works with bss, subset, not with rfe"),
            (("-m", "rrqr", "--order", "coef"), "--order works with bss, not with rrqr"),
            (("-m", "bss-paper", "--trust", "1"), "--trust works with bss, not with bss-paper"),
            (("-m", "l1", "--rescale", "none"), "rrqr, random, subset, not with l1"),
            (("-m", "lpsvm", "-k", "certified"), "leverage, rrqr, random, not with lpsvm"),
            (("-m", "random", "-k", "cv"), "-k cv works with bss, subset, not with random"),
            (("-m", "subset", "--order", "coef"), "--order works with bss, not with subset"),
            (("-m", "subset", "--unsupervised"), "subset needs labels"),
            (("-m", "subset", "--rescale", "each"), "'rescale' parameter of BestSubsetSelector"),
            (("-k", "cv", "--unsupervised"), "labels"),
            (("-k", "auto"), "a positive whole number, certified or cv; got 'auto'"),
            (("--keep", "gene 99"), "no feature 'gene 99'"),
            (("--keep", "gene 1,gene 99"), "no feature 'gene 99'"),
            (("--keep", "@no.txt"), "no.txt"),
            (("--keep", "gene 1,gene 2,gene 3", "-k", "2"), "--keep names 3 features, more than"),
            (("--order", "magic"), "--order must be one of auto,"),
            (("--order", "auto,coef"), "got 'auto,coef'"),
            (("--order", "coef,stable,coef"), "got 'coef,stable,coef'"),
            (("--order", "stable", "--unsupervised"), "use auto, cover, leverage"),
            (("--trust", "1.5"), "--trust must be a number from 0 to 1, or auto; got '1.5'"),
            (("--trust", "nan"), "got 'nan'"),
            (("--trust", "much"), "got 'much'"),
            (("--rescale", "all"), "all"),
            (("--plain",), "--plain"),
        ],
    )
    def test_what_cannot_be_asked(self, options, message, csv, capsys):
        size = () if "-k" in options else ("-k", "5")
        assert run(["select", str(csv), "-t", "tumour", "--scale", "none", *size, *options]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.count("\n") == 1
        assert message in err

    def test_a_list_of_features_to_keep_is_not_overwritten(self, csv, tmp_path, capsys):
        chosen = tmp_path / "chosen.txt"
        chosen.write_text("gene 1\n")
        arguments = ["select", str(csv), "-t", "tumour", "-k", "5", "--keep", f"@{chosen}"]
        assert run([*arguments, "-o", str(chosen)]) == 2
        assert "read or written already" in capsys.readouterr().err
        assert chosen.read_text() == "gene 1\n"

    def test_the_paper_is_one_name_away(self, data, tmp_path, capsys):
        X, y, _ = data
        path, _ = write("npz", data, tmp_path)
        result = run_json(capsys, "select", path, "-k", 55, "-m", "bss-paper")
        selector = BSSSelector(
            55, order="leverage", trust=0, rescale="each", estimator=SVC(kernel="linear")
        ).fit(X, y)
        assert [f["index"] for f in result["features"]] == selector.indices_.tolist()
        assert [f["scale"] for f in result["features"]] == pytest.approx(selector.scales_)
        assert {f["why"] for f in result["features"]} == {"cover"}
        # It chooses for a hinge loss, and is certified for the model that is asked for.
        expected = certify(X, y, selector, estimator=default_model())
        assert result["certificate"]["model"] == expected.model
        assert expected.model.endswith("free intercept)")
        growth = result["certificate"]["measured_growth"]
        assert growth == pytest.approx(expected.measured_growth, rel=1e-6)


class TestSizeSearch:
    def test_the_number_found_is_used_and_told(self, csv, tmp_path, capsys):
        report = tmp_path / "report.html"
        arguments = ["select", str(csv), "-t", "tumour", "-k", "cv", "--keep", "gene 50"]
        result = run_json(capsys, *arguments)
        search = result["size_search"]
        assert search["sizes"] == [10, 20, 60]
        assert np.shape(search["errors"]) == (3, 5)
        means, error = np.mean(search["errors"], axis=1), search["standard_error"]
        within = [
            size
            for size, mean in zip(search["sizes"], means, strict=True)
            if mean <= means.min() + error
        ]
        assert search["n_features"] == within[0] == len(result["features"])
        assert result["features"][0]["name"] == "gene 50"
        assert run([*arguments, "--cv", "0", "-r", str(report)]) == 0
        said = capsys.readouterr().out.splitlines()
        found = f"{within[0]} features by 5-fold cross-validation: the fewest within one standard"
        assert said[0].startswith(found)
        assert [line.split()[0] for line in said[2:5]] == ["10", "20", "60"]
        assert [line.endswith("<") for line in said[2:5]] == [
            size == within[0] for size in (10, 20, 60)
        ]
        assert said[0] in report.read_text(encoding="utf-8")

    def test_no_size_is_below_what_is_kept(self, csv, capsys):
        names = ",".join(f"gene {number}" for number in range(20))
        result = run_json(capsys, "select", csv, "-t", "tumour", "-k", "cv", "--keep", names)
        assert min(result["size_search"]["sizes"]) == 20

    def test_nothing_is_learnt_from_rows_that_are_held_out(self, csv, capsys, monkeypatch):
        heights = []

        class Recorder(StandardScaler):
            def fit(self, X, y=None, sample_weight=None):
                heights.append(len(X))
                return super().fit(X, y, sample_weight)

        monkeypatch.setattr("certifeature.cli.loading.scaler_of", lambda *_: Recorder())
        options = ("--scale", "standard", "--cv", 2, "--repeats", 1)
        with parallel_config(backend="sequential"):
            run_json(capsys, "select", csv, "-t", "tumour", "-k", "cv", *options)
        # All rows are for the choice alone, after a search in five folds; two folds have 25 each.
        assert heights.count(40) == 5
        assert {20, 25, 40, 50} <= set(heights) <= {16, 17, 20, 25, 40, 50}

    def test_groups_stay_together_in_the_search(self, tmp_path, capsys):
        rng = np.random.default_rng(0)
        X = np.repeat(rng.standard_normal((20, 200)), 3, axis=0)
        table = pd.DataFrame(X + 0.1 * rng.standard_normal(X.shape))
        labels = np.repeat(rng.permutation(np.arange(20) % 2), 3)
        table = table.add_prefix("g").assign(who=np.repeat(np.arange(20), 3), kind=labels)
        table.to_csv(tmp_path / "who.csv", index=False)
        options = ("-t", "kind", "-k", "cv", "--scale", "standard", "--cv", 3, "--repeats", 1)
        errors = {}
        for option in ("--groups", "--id"):
            found = run_json(capsys, "select", tmp_path / "who.csv", *options, option, "who")
            curve = np.array(found["size_search"]["mean_errors"])
            errors[option] = [
                found["certificate"]["new_data"]["selected"]["error"]["value"],
                *curve,
            ]
        assert max(errors["--id"]) < 0.2
        assert min(errors["--groups"]) > 0.3

    def test_other_sizes_have_no_search(self, csv, capsys):
        result = run_json(capsys, "select", csv, "-t", "tumour", "-k", 12)
        assert result["size_search"] is None


class TestCertify:
    def test_a_list_of_select_gets_the_same_certificate(self, csv, tmp_path, capsys):
        chosen = tmp_path / "chosen.txt"
        first = run_json(capsys, "select", csv, "-t", "tumour", "-k", 15, "-o", chosen)
        second = run_json(capsys, "certify", csv, "-t", "tumour", "-f", chosen)
        for name in ("lambda_min", "lambda_max", "n_selected", "rank"):
            assert second[name] == pytest.approx(first["certificate"][name])

    def test_a_byte_order_mark_is_no_part_of_a_name(self, csv, tmp_path, capsys):
        chosen = tmp_path / "chosen.txt"
        chosen.write_text("gene 3\ngene 5\n", encoding="utf-8-sig")
        result = run_json(capsys, "certify", csv, "-t", "tumour", "-f", chosen)
        assert result["n_selected"] == 2

    def test_names_with_line_breaks_and_quotes(self, data, tmp_path, capsys):
        X, y, names = data
        odd = ['a\r\nb"\t', *names[1:]]
        path, chosen = tmp_path / "odd.npz", tmp_path / "chosen.txt"
        np.savez(path, X=X[:, :8], y=y, feature_names=odd[:8])
        run_json(capsys, "select", path, "-k", 8, "-o", chosen)
        assert run_json(capsys, "certify", path, "-f", chosen)["n_selected"] == 8

    def test_a_list_that_ends_in_csv_is_a_table(self, csv, tmp_path, capsys):
        plain, table = tmp_path / "chosen.txt", tmp_path / "chosen.CSV"
        arguments = ("select", csv, "-t", "tumour", "-k", 15)
        found = run_json(capsys, *arguments, "-o", table)["features"]
        written = pd.read_csv(table)
        assert list(written)[:6] == ["rank", "feature", "scale", "weight", "points_to", "why"]
        assert written["feature"].tolist() == [feature["name"] for feature in found]
        assert written["scale"].tolist() == [feature["scale"] for feature in found]
        assert set(written["points_to"]) <= {"yes", "no"}
        run_json(capsys, *arguments, "-o", plain)
        certify = ("certify", csv, "-t", "tumour", "-f")
        assert run_json(capsys, *certify, table) == run_json(capsys, *certify, plain)
        kept = run_json(capsys, *arguments, "--keep", f"@{table}")["features"]
        assert {feature["why"] for feature in kept} == {"fixed"}

    def test_a_table_of_features_goes_by_the_names_of_its_columns(self, tmp_path):
        names = np.array(["a", "feature", "=b"])
        path = tmp_path / "mine.csv"
        path.write_text('"note","feature"\nfirst,\'=b\n\n"one, two",a\n')
        sample = read_features(path, names)
        assert sample.indices.tolist() == [2, 0]
        assert sample.scales.tolist() == [1, 1]
        path.write_text("scale,feature\n0.5,a,2\n")
        with pytest.raises(ValueError, match=r"mine.csv, line 2: there are 3 fields"):
            read_features(path, names)
        path.write_text("feature\t2\na\t3\n")
        assert read_features(path, names).scales.tolist() == [2, 3]

    @pytest.mark.parametrize("target", ["chosen.txt", "reduced.csv", "reduced.tsv"])
    def test_names_never_become_formulas(self, target, data, tmp_path, capsys):
        X, y, names = data
        plain = ["=1+1", "+a", "-b", "@c", "'=1+1", "''-b", "'d", "-1.5"]
        hidden = ["\t=e", "\r@f", "\xa0=g", "\ufeff=h", "＝i"]
        odd = [*plain, *hidden, *names[13:]]
        labels = np.where(y > 0, "=yes()", "-no")
        path, written = tmp_path / "odd.npz", tmp_path / target
        np.savez(path, X=X, y=labels, feature_names=odd)
        option = "-o" if target == "chosen.txt" else "-w"
        first = run_json(capsys, "select", path, "-k", 59, "-m", "rrqr", option, written)
        delimiter = "," if target.endswith("csv") else "\t"
        fields = [line.split(delimiter) for line in written.read_text().split("\n")]
        words = [f for line in fields for f in line if not is_number(f)]
        assert any(word.startswith("'=") for word in words)
        signs = ("=", "+", "-", "@", "\t", "\r", "\xa0", "\ufeff", "＝")
        assert not any(word.startswith(signs) for word in words)
        expected = [feature["name"] for feature in first["features"]]
        if option == "-o":
            sample = read_features(written, distinct_names(np.array(odd), 60))
            assert sample.indices.tolist() == [feature["index"] for feature in first["features"]]
            assert run_json(capsys, "certify", path, "-f", written)["n_selected"] == 59
        else:
            again = read_data(written)
            assert again.feature_names.tolist() == expected
            np.testing.assert_array_equal(again.y, labels)

    def test_a_list_by_hand_may_have_names_as_they_are(self, data, tmp_path, capsys):
        X, y, names = data
        path, chosen = tmp_path / "odd.npz", tmp_path / "chosen.txt"
        np.savez(path, X=X, y=y, feature_names=["=a", "'@b", *names[2:]])
        chosen.write_text("=a\n'@b\n")
        assert run_json(capsys, "certify", path, "-f", chosen)["n_selected"] == 2

    @pytest.mark.parametrize("kind", ["npz", "folder"])
    def test_features_of_the_same_name_are_told_apart(self, kind, data, tmp_path, capsys):
        X, y, names = data
        same = ["TP53", "TP53", "TP53 (2)", "", " TP53 ", *names[5:]]
        path, _ = write(kind, (X, y, same), tmp_path)
        chosen, reduced = tmp_path / "chosen.txt", tmp_path / "reduced.csv"
        first = run_json(
            capsys, "select", path, "-k", 59, "-m", "rrqr", "-o", chosen, "-w", reduced
        )
        found = [feature["name"] for feature in first["features"]]
        assert len(set(found)) == 59
        assert {"TP53", "TP53 (3)", "TP53 (2)", "3", "TP53 (4)"} >= set(found) - set(names)
        second = run_json(capsys, "certify", path, "-f", chosen)
        assert second["lambda_min"] == pytest.approx(first["certificate"]["lambda_min"])
        assert read_data(reduced).feature_names.tolist() == found

    def test_names_alone_are_plain_columns(self, csv, tmp_path, capsys):
        chosen = tmp_path / "chosen.txt"
        chosen.write_text("gene 3\ngene 5\n\ngene 7")
        report = tmp_path / "report.html"
        arguments = ["certify", str(csv), "-t", "tumour", "-f", str(chosen), "-r", str(report)]
        assert run(arguments) == 0
        out = capsys.readouterr().out
        model = r"LinearSVC\(C=0.00193\d, free intercept\)"
        times = r"with these 3 features, multiplied by 1\.4\d, the training objective of"
        assert re.search(f"{times} {model} on its", out)
        assert "gene 5" in report.read_text()

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("gene 3\ngene 99\n", "line 2: the data have no feature 'gene 99'"),
            ("gene 3\ngene 3\n", "line 2: feature 'gene 3' is listed twice"),
            ("gene 3\tnan\n", "line 1: the scale 'nan' is not a positive number"),
            ("gene 3\t-1\n", "line 1: the scale '-1' is not a positive number"),
            ("\n", "there are no features"),
            ('"' + 140_000 * "x", "line 1: field larger than"),
        ],
    )
    def test_bad_lists_are_named(self, text, message, csv, tmp_path, capsys):
        chosen = tmp_path / "chosen.txt"
        chosen.write_text(text)
        assert run(["certify", str(csv), "-t", "tumour", "-f", str(chosen)]) == 2
        assert message in capsys.readouterr().err


class TestCompare:
    def test_json_csv_and_report(self, csv, tmp_path, capsys):
        table, report = tmp_path / "table.csv", tmp_path / "report.html"
        methods = ["-m", "bss", "-m", "rfe", "-m", "lpsvm"]
        arguments = ("compare", csv, "-t", "tumour", "-k", 10, "-k", 20, "--repeats", 1, *methods)
        result = run_json(capsys, *arguments, "-o", table, "-r", report, "--cv", 3)
        rows = [(c["method"], c["size"]) for c in result["contenders"]]
        assert rows == [
            ("full data", None),
            ("bss", 10),
            ("bss", 20),
            ("rfe", 10),
            ("rfe", 20),
            ("lpsvm", None),
        ]
        frame = pd.read_csv(table)
        assert frame["method"].tolist() == [method for method, _ in rows]
        means = [c["error"] for c in result["contenders"]]
        np.testing.assert_allclose(frame["error"], means)
        assert "lpsvm" in report.read_text()

    def test_json_has_no_numbers_that_json_does_not_have(self, csv, tmp_path):
        table = tmp_path / "table.json"
        arguments = [
            "compare",
            str(csv),
            "-t",
            "tumour",
            "-k",
            "2",
            "--jobs",
            "1",
            "-o",
            str(table),
        ]
        # Without features nothing is proven.
        assert run([*arguments, "-m", "lpsvm", "-C", "1e-9"]) == 0

        def refuse(constant):
            raise AssertionError(constant)

        rows = json.loads(table.read_text(), parse_constant=refuse)
        assert rows[0]["growth"] == 1
        assert rows[1]["growth"] is None

    def test_a_method_that_chooses_nothing_guesses_the_larger_class(self, csv, capsys):
        arguments = (
            "compare",
            csv,
            "-t",
            "tumour",
            "-k",
            5,
            "-m",
            "lpsvm",
            "-C",
            1e-9,
            "--jobs",
            1,
        )
        result = run_json(capsys, *arguments)
        assert result["contenders"][1]["n_features"] == 0
        assert 0.3 < result["contenders"][1]["error"] < 0.7

    def test_scaling_is_learnt_from_training_rows(self, data, tmp_path, capsys):
        X, y, _ = data
        path = tmp_path / "far.npz"
        np.savez(path, X=1000 + X * np.geomspace(1, 1e3, 60), y=y)
        arguments = ("compare", path, "-k", 10, "-m", "rfe", "--repeats", 1, "--scale", "standard")
        result = run_json(capsys, *arguments)
        study = compare(
            1000 + X * np.geomspace(1, 1e3, 60),
            y,
            [10],
            methods=["rfe"],
            preprocessing=StandardScaler(),
            n_repeats=1,
            n_jobs=1,
        )
        assert result["contenders"][1]["errors"] == list(study.contenders[1].errors)

    def test_a_table_for_people(self, csv, capsys):
        options = ("-t", "tumour", "-k", "10", "-m", "univariate", "--no-tune")
        arguments = ["compare", str(csv), *options]
        assert run(arguments) == 0
        text = capsys.readouterr().out
        assert "10 × 5-fold cross-validation" in text
        assert "full data" in text


class TestModels:
    @pytest.mark.parametrize(
        ("model", "loss", "strength"),
        [("svm", "squared_hinge", 2.0), ("logistic", "logistic", 2.0), ("ridge", "squared", 0.25)],
    )
    def test_features_are_chosen_and_certified_for_a_model(
        self, csv, capsys, tmp_path, model, loss, strength
    ):
        options = ("-t", "tumour", "--model", model, "-C", "2")
        chosen = tmp_path / "chosen.txt"
        found = run_json(capsys, "select", csv, *options, "-k", "10", "-o", chosen)
        again = run_json(capsys, "certify", csv, *options, "-f", chosen)
        for certificate in (found["certificate"], again):
            assert certificate["realised"]["loss"] == loss
            assert certificate["realised"]["C"] == strength
            assert certificate["n_rows"] == 50 or model == "svm"
        assert {feature["label"] for feature in found["features"]} <= {"yes", "no"}

    def test_numbers_with_decimals_are_predicted_by_ridge_regression(self, data, tmp_path, capsys):
        X, _, names = data
        path = tmp_path / "prices.csv"
        prices = X[:, 3] - X[:, 7] + 0.123
        pd.DataFrame(X, columns=names).assign(price=prices).to_csv(path, index=False)
        options = ("-t", "price", "--model", "ridge", "-k", "8", "-C", "1")
        found = run_json(capsys, "select", path, *options)
        assert found["certificate"]["realised"]["objective_full"] > 0
        assert found["certificate"]["realised"]["margin_full"] is None
        assert {"gene 3", "gene 7"} <= {feature["name"] for feature in found["features"]}
        labels = {feature["name"]: feature["label"] for feature in found["features"]}
        assert (labels["gene 3"], labels["gene 7"]) == ("higher", "lower")
        best = run_json(capsys, "select", path, *options, "-m", "univariate")
        assert {"gene 3", "gene 7"} <= {feature["name"] for feature in best["features"]}
        once = ("--repeats", "1", "--jobs", "1")
        compared = run_json(capsys, "compare", path, *options, "--cv", 2, *once)
        assert compared["measure"] == "1 - R2"
        report = tmp_path / "report.html"
        assert run(["compare", str(path), *options, *once, "-m", "rfe", "-r", str(report)]) == 0
        assert "R² " in capsys.readouterr().out
        assert "R² on new data in 1 × 5-fold" in report.read_text(encoding="utf-8")
        full, bss, *_ = compared["contenders"]
        assert bss["method"] == "bss"
        assert np.mean(bss["errors"]) < np.mean(full["errors"])
        for command in ("select", "compare"):
            assert run([command, str(path), *options, "-m", "l1"]) == 2
            message = "l1 tells classes apart, and Ridge predicts numbers; choose from bss"
            assert message in capsys.readouterr().err
            for model in ("svm", "logistic"):
                assert run([command, str(path), "-t", "price", "-k", "8", "--model", model]) == 2
                message = f"--model {model} tells classes apart; use --model regression"
                assert message in capsys.readouterr().err

    @pytest.mark.ci
    @pytest.mark.parametrize("model", ["svm", "logistic", "ridge"])
    def test_classes_are_balanced(self, model):
        y = np.repeat([0, 1], [57, 3])
        options = ModelOptions(model=Models(model), class_weight="balanced")
        plain = ModelOptions(model=Models(model)).estimator(y)
        expected = plain.set_params(class_weight="balanced")
        assert str(options.estimator(y)) == str(expected)
        assert model_name(options.estimator(y)).endswith("balanced classes)")

    def test_numbers_have_no_classes_to_balance(self, csv, capsys):
        y = np.linspace(0.1, 1, 30)
        with pytest.raises(ValueError, match="--class-weight is for classes"):
            ModelOptions(model=Models.ridge, class_weight="balanced").estimator(y)
        options = ("-t", "tumour", "-k", "5", "--class-weight", "balanced")
        assert run(["select", str(csv), *options, "--stream"]) == 2
        assert "--class-weight needs all rows in memory" in capsys.readouterr().err
        assert run(["select", str(csv), *options]) == 0
        assert "balanced classes" in capsys.readouterr().out

    def test_methods_are_compared_for_a_model(self, csv, capsys):
        options = ("-t", "tumour", "--model", "ridge", "-k", "10", "--cv", "2", "--jobs", "1")
        found = run_json(capsys, "compare", csv, *options)
        assert {c["method"] for c in found["contenders"]} == {"full data", *METHODS}
        assert found["contenders"][0]["errors"][0] < 0.5

    def test_help_says_what_c_means_for_ridge(self, capsys):
        for command in ("select", "certify", "compare"):
            run([command, "--help"])
            assert "1/(2C)" in capsys.readouterr().out.replace("\n", " ")


class TestHelp:
    @pytest.mark.parametrize("command", ["select", "compare"])
    def test_methods_are_those_of_the_comparison(self, command, capsys):
        assert run([command, "--help"]) == 0
        assert ", ".join(METHODS) in " ".join(capsys.readouterr().out.split())
        assert all(f'"{name}"' in compare.__doc__ for name in METHODS)

    def test_every_command_shows_examples(self, capsys):
        for command in ("doctor", "select", "certify", "compare", "demo"):
            assert run([command, "--help"]) == 0
            assert f"certifeature {command}" in capsys.readouterr().out

    def test_version(self, capsys):
        assert run(["--version"]) == 0
        assert capsys.readouterr().out == f"certifeature {__version__}\n"

    @pytest.mark.slow
    def test_completion_knows_the_commands(self):
        settings = {"_CERTIFEATURE_COMPLETE": "complete_bash", "COMP_WORDS": "certifeature s"}
        environment = os.environ | settings | {"COMP_CWORD": "1"}
        done = subprocess.run([COMMAND], env=environment, capture_output=True, text=True)
        assert done.stdout.split() == ["select"]


def cases(folder):
    """Return bad input by what is bad, and what the message must say."""
    csv = folder / "genes.csv"
    files = {
        "ragged.csv": b"a,b,y\n1,2,0\n1,2\n",
        "empty.csv": b"",
        "latin.csv": "größe,y\n1,0\n2,1\n".encode("latin-1"),
        "text.csv": b"a,b,y\n1,red,0\n2,blue,1\n",
        "missing.csv": b"a,b,y\n1,,0\n2,3,1\n",
        "one.csv": b"a,b,y\n1,2,0\n2,3,0\n",
        "bad.svm": b"1 1:2\n-1 2:x\n",
        "broken.npz": b"PK\x03\x04 something",
        "unknown.xyz": b"1",
    }
    for name, content in files.items():
        (folder / name).write_bytes(content)
    # Without a note about the scales.
    given = [csv, "-t", "tumour", "--scale", "none"]
    select, compare = ["select", *given, "-k", "5"], ["compare", *given]
    return {
        "no file": (["select", folder / "no.csv", "-k", "5"], "no.csv"),
        "target": (["select", csv, "-t", "cancer", "-k", "5"], "cancer"),
        "text column": (["select", folder / "text.csv", "-k", "1"], "red"),
        "ragged": (["select", folder / "ragged.csv", "-k", "1"], "line 3"),
        "empty": (["select", folder / "empty.csv", "-k", "1"], "empty.csv"),
        "not UTF-8": (["select", folder / "latin.csv", "-k", "1"], "UTF-8"),
        "missing value": (["select", folder / "missing.csv", "-k", "1"], "line 2"),
        "one class": (["select", folder / "one.csv", "-k", "1"], "two classes"),
        "svmlight": (["select", folder / "bad.svm", "-k", "1"], "line 2"),
        "damaged": (["select", folder / "broken.npz", "-k", "1"], "broken.npz"),
        "format": (["select", folder / "unknown.xyz", "-k", "1"], "unknown.xyz"),
        "too many": ([*select, "-k", "61"], "60 columns"),
        "no number": (["select", csv, "-t", "tumour", "-k", "many"], "many"),
        "negative": (["select", csv, "-t", "tumour", "-k", "-3"], "-3"),
        "zero": (["select", csv, "-t", "tumour", "-k", "0"], "0"),
        "no -k": (["select", csv], "-k"),
        "method": ([*select, "-m", "magic"], "magic"),
        "option": ([*select, "--fast"], "--fast"),
        "command": (["choose"], "choose"),
        "labels needed": ([*select, "-m", "rfe", "--unsupervised"], "labels"),
        "no folder": ([*select, "-o", folder / "no" / "chosen.txt"], "no folder"),
        "a folder": ([*select, "--report", folder], "folder"),
        "kind of output": ([*select, "--write", folder / "reduced.doc"], ".csv"),
        "text labels": ([*select, "--write", folder / "reduced.svm"], "labels are numbers"),
        "tfidf": ([*select, "--scale", "tfidf"], "negative"),
        "onto the data": ([*select, "-o", csv], "read or written already"),
        "twice": ([*select, "-o", folder / "a.csv", "-w", folder / "a.csv"], "already"),
        "two printed": ([*select, "-o", "-", "--json"], "choose one"),
        "stdin": (["select", "-", "-k", "3"], "--format"),
        "no list": (["certify", csv, "-t", "tumour", "-f", folder / "no.txt"], "no.txt"),
        "compare k": ([*compare, "-k", "60"], "60"),
        "too many folds": ([*select, "--cv", "40"], "at most"),
        "one fold": (["select", csv, "-t", "tumour", "-k", "5", "--cv", "1"], "--cv"),
        "compare folds": ([*compare, "-k", "5", "--cv", "40"], "40 folds"),
        "compare output": (["compare", csv, "-k", "5", "-o", folder / "t.txt"], ".json"),
    }


@pytest.mark.parametrize(
    "name",
    [
        "no file",
        "target",
        "text column",
        "ragged",
        "empty",
        "not UTF-8",
        "missing value",
        "one class",
        "svmlight",
        "damaged",
        "format",
        "too many",
        "no number",
        "negative",
        "zero",
        "no -k",
        "method",
        "option",
        "command",
        "labels needed",
        "no folder",
        "a folder",
        "kind of output",
        "text labels",
        "tfidf",
        "onto the data",
        "twice",
        "two printed",
        "stdin",
        "no list",
        "compare k",
        "too many folds",
        "one fold",
        "compare folds",
        "compare output",
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(name, csv, tmp_path, capsys):
    arguments, message = cases(tmp_path)[name]
    before = sorted(tmp_path.rglob("*"))
    assert run([str(argument) for argument in arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("certifeature: ")
    assert err.count("\n") == 1
    assert message in err
    assert sorted(tmp_path.rglob("*")) == before


class TestFiles:
    def test_a_file_larger_than_memory_is_not_read(self, tmp_path, capsys):
        path = tmp_path / "huge.csv"
        with open(path, "wb") as file:
            file.truncate((_free_memory() or 2**40) + 2**30)
        start = time.process_time()
        assert run(["select", str(path), "-k", "5"]) == 2
        assert time.process_time() - start < 5
        assert "memory" in capsys.readouterr().err

    @pytest.mark.parametrize("stream", [[], ["--stream"]])
    def test_columns_that_do_not_fit_into_memory_are_refused(self, stream, tmp_path, capsys):
        path = tmp_path / "far.svm"
        path.write_text("1 1:1\n-1 2147483647:1\n")
        assert run(["select", str(path), "-k", "1", *stream]) == 2
        assert "far.svm: 2,147,483,647 columns need about 400.0 GiB" in capsys.readouterr().err

    def test_a_pipe_is_read_once(self, data, tmp_path, capsys):
        path, pipe = write("svm", data, tmp_path)[0], tmp_path / "pipe"
        os.mkfifo(pipe)
        arguments = ["-k", "5", "--format", "svmlight", "-o", "-"]
        with subprocess.Popen(["cp", path, pipe]) as writer:
            assert run(["select", str(pipe), *arguments]) == 0
            assert writer.wait() == 0
        assert run(["select", str(path), *arguments]) == 0
        out, _ = capsys.readouterr()
        assert out[: len(out) // 2] == out[len(out) // 2 :]

    @pytest.mark.skipif(not Path("/proc/self").exists(), reason="there is no /proc")
    def test_an_output_that_not_even_the_superuser_can_write(self, csv, capsys):
        assert run(["select", str(csv), "-t", "tumour", "-k", "5", "-o", "/proc/self/a.txt"]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.count("\n") == 1
        assert "/proc/self/a.txt" in err

    @pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write anywhere")
    def test_an_output_that_may_not_be_written(self, csv, tmp_path, capsys):
        locked = tmp_path / "locked"
        locked.mkdir(mode=0o500)
        arguments = ["select", str(csv), "-t", "tumour", "-k", "5", "-o", str(locked / "a.txt")]
        assert run(arguments) == 2
        assert "may not be written" in capsys.readouterr().err

    @pytest.mark.slow
    @pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
    @pytest.mark.ci
    def test_stopped_while_writing_the_old_file_stays_whole(self, how, csv, tmp_path):
        target = tmp_path / "out" / "reduced.csv"
        target.parent.mkdir()
        target.write_text("old")
        script = (
            "import sys, time, csv\n"
            "import certifeature._files as files\n"
            "class Slow:\n"
            "    def __init__(self, file, **_): self.file = file\n"
            "    def writerow(self, row):\n"
            "        self.file.write('half'); self.file.flush()\n"
            "        print('writing', flush=True); time.sleep(60)\n"
            "files.csv.writer = Slow\n"
            "from certifeature.cli import main\n"
            "main()\n"
        )
        options = ["-t", "tumour", "-k", "5", "--scale", "none", "--write", str(target)]
        arguments = ["select", str(csv), *options]
        process = subprocess.Popen(
            [sys.executable, "-c", script, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout.readline() == "writing\n"
        process.send_signal(how)
        _, err = process.communicate()
        assert target.read_text() == "old"
        if how == signal.SIGINT:
            assert process.returncode == 130
            assert err == "certifeature: stopped.\n"
            assert list(target.parent.iterdir()) == [target]

    def test_links_stay_links_and_pipes_pipes(self, csv, tmp_path):
        target, link, pipe = (tmp_path / name for name in ("old.txt", "link.txt", "pipe"))
        target.write_text("old")
        link.symlink_to(target)
        arguments = ["select", str(csv), "-t", "tumour", "-k", "5", "-o"]
        assert run([*arguments, str(link)]) == 0
        assert link.is_symlink()
        assert len(target.read_text().splitlines()) == 5
        os.mkfifo(pipe)
        reader = subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True)
        assert run([*arguments, str(pipe)]) == 0
        assert len(reader.communicate()[0].splitlines()) == 5
        assert pipe.is_fifo()

    def test_files_keep_their_mode_and_new_ones_have_the_usual_one(self, tmp_path):
        new, plain, old = (tmp_path / name for name in ("a.txt", "b.txt", "c.txt"))
        plain.write_text("new")
        for mode in (0o600, 0o664):
            old.touch()
            old.chmod(mode)
            new.unlink(missing_ok=True)
            write_files({path: lambda _: "new" for path in (new, old)})
            assert new.stat().st_mode == plain.stat().st_mode
            assert old.stat().st_mode & 0o777 == mode
            assert old.read_text() == "new"

    def test_a_read_only_file_is_refused(self, csv, tmp_path, capsys):
        path = tmp_path / "chosen.txt"
        path.write_text("old")
        path.chmod(0o444)
        assert run(["select", str(csv), "-t", "tumour", "-k", "5", "-o", str(path)]) == 2
        out, err = capsys.readouterr()
        assert not out
        assert "chosen.txt: this file is read-only" in err
        with pytest.raises(OSError, match=r"chosen\.txt: .*read-only"):
            write_report(Report("Nothing"), path)
        assert path.read_text() == "old"
        assert sorted(tmp_path.iterdir()) == [path, csv]

    def test_names_that_cannot_be_written_are_found_before_any_work(self, csv, tmp_path, capsys):
        link = tmp_path / "link.txt"
        link.symlink_to(tmp_path / "none" / "chosen.txt")
        arguments = ["select", str(csv), "-t", "tumour", "-k", "5", "-o"]
        for path, message in (
            (link, "link.txt: there is no folder"),
            (tmp_path / ("a" * 256), "too long"),
            (csv / "chosen.txt", "Not a directory"),
        ):
            assert run([*arguments, str(path)]) == 2
            out, err = capsys.readouterr()
            assert not out
            assert message in err
            assert path.name in err
        longest = tmp_path / ("é" * 123 + ".html")
        assert run([*arguments[:-1], "--cv", "0", "--report", str(longest)]) == 0
        assert sorted(tmp_path.iterdir()) == sorted([csv, link, longest])

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
    @pytest.mark.parametrize("command", ["select", "certify", "compare"])
    def test_results_are_printed_even_if_they_cannot_be_written(
        self, command, csv, tmp_path, capsys
    ):
        listed, kept = tmp_path / "listed.txt", tmp_path / "kept.csv"
        listed.write_text("gene 3\n")
        kept.write_text("old")
        options, shown = {
            "select": (["-k", 5, "--cv", 0, "--write", kept], "5 features chosen"),
            "certify": (["-f", listed, "--json"], '"realised_growth"'),
            "compare": (["-k", 5, "-m", "univariate", "--no-tune", "-o", kept], "full data"),
        }[command]
        arguments = [command, csv, "-t", "tumour", *options, "--report", "/dev/full"]
        assert run([*map(str, arguments)]) == 2
        out, err = capsys.readouterr()
        assert shown in out
        assert err.endswith(
            "certifeature: /dev/full: not written: [Errno 28] No space left on device\n"
        )
        assert kept.read_text() == "old"
        assert sorted(tmp_path.iterdir()) == sorted([csv, listed, kept])

    @pytest.mark.slow
    def test_files_of_one_run_are_renamed_together(self, csv, tmp_path):
        """Killed at any moment, also while the last file is written, the old ones stay."""
        outputs = {name: tmp_path / f"new.{name}" for name in ("txt", "csv", "html")}
        script = (
            "import os, signal, sys\n"
            "import certifeature.cli.commands as commands\n"
            "def die(*_, **__): os.kill(os.getpid(), signal.SIGKILL)\n"
            "commands.report_text = die\n"
            "from certifeature.cli import main\n"
            "main()\n"
        )
        for path in outputs.values():
            path.write_text("old")
        options = ["-o", outputs["txt"], "-w", outputs["csv"], "-r", outputs["html"], "--cv", "0"]
        arguments = ["select", csv, "-t", "tumour", "-k", "5", *options]
        done = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True)
        assert done.returncode == -signal.SIGKILL
        assert [path.read_text() for path in outputs.values()] == 3 * ["old"]


AWKWARD = "gene \x1b[31m \u03bb\u2026\x9b \u202e {} of a name that is long"


@pytest.fixture
def awkward(tmp_path):
    """A table with names that terminals and locales do not take."""
    X, y = make_relevant_features(30, 12, 4, random_state=0)
    path = tmp_path / "-dash.csv"
    frame = pd.DataFrame(X, columns=[AWKWARD.format(j) for j in range(12)])
    frame.assign(y=y).to_csv(path, index=False)
    return path


class TestTerminals:
    @pytest.mark.slow
    def test_a_reader_that_stops_reading_is_no_error(self, csv):
        select = f"'{COMMAND}' select '{csv}' -t tumour -k 30 --scale standard"
        calls = (f"{select} -o -", f"{select} --json", f"'{COMMAND}' select --help")
        shell = "; ".join(f"{call} | head -1; echo rc=${{PIPESTATUS[0]}}" for call in calls)
        done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True)
        assert re.findall("rc=.*", done.stdout) == ["rc=0", "rc=0", "rc=0"]
        assert done.stderr == ""

    @pytest.mark.slow
    def test_streams_may_be_closed(self, csv, tmp_path):
        select = f"'{COMMAND}' select '{csv}' -t tumour -k 5 --scale standard"
        shell = (
            f"{select} -o '{tmp_path}/a.txt' >&-; echo rc=$?; "
            f"'{COMMAND}' select no.csv -k 5 2>&-; echo rc=$?; "
            f"'{COMMAND}' select - --format csv -k 5 <&-; echo rc=$?; "
            f"{select} -o '{tmp_path}/b.txt' >/dev/full; echo rc=$?"
        )
        done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True)
        assert re.findall("rc=.*", done.stdout) == ["rc=0", "rc=2", "rc=2", "rc=2"]
        assert (tmp_path / "a.txt").read_text() == (tmp_path / "b.txt").read_text()
        empty, full = done.stderr.splitlines()
        assert "the file is empty" in empty
        assert "standard output: [Errno 28]" in full

    @pytest.mark.slow
    def test_any_encoding_shows_results(self, awkward):
        environment = os.environ | {"PYTHONIOENCODING": "ascii"}
        arguments = [COMMAND, "select", "-k", "5", "--scale", "none"]
        outputs = [
            subprocess.run(
                [*arguments, *options, "--", awkward.name],
                cwd=awkward.parent,
                env=environment,
                capture_output=True,
                check=True,
            ).stdout
            for options in ([], ["--json"], ["-o", "-"])
        ]
        assert b"5 features chosen" in outputs[0]
        assert b"Proven" in outputs[0]
        names = {feature["name"] for feature in json.loads(outputs[1])["features"]}
        assert names == {line.split("\t")[0] for line in outputs[2].decode().splitlines()}
        assert all("\u03bb\u2026\x9b" in name for name in names)

    def test_control_characters_are_shown_as_text(self, awkward, monkeypatch, capsys):
        monkeypatch.chdir(awkward.parent)
        hostile = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]")
        for arguments in (
            ["select", "-k", "5", "--", awkward.name],
            ["select", "-k", "5", "--keep", "\x1b[31m", "--", awkward.name],
            ["doctor", "--", awkward.name],
            ["doctor", "-t", AWKWARD.format(3), "--", awkward.name],
            ["select", "no\x1b[31m.csv", "-k", "5"],
        ):
            run(arguments)
            for text in capsys.readouterr():
                assert not hostile.search(text)

    def test_what_doctor_suggests_can_be_typed(self, awkward, monkeypatch, capsys):
        monkeypatch.chdir(awkward.parent)
        assert run(["doctor", "--", awkward.name]) == 0
        _, command = capsys.readouterr().out.split("Try: certifeature ")
        assert run(shlex.split(command)) == 0

    @pytest.mark.slow
    @pytest.mark.parametrize("module", ["numpy", "typer"])
    def test_stopped_while_it_starts(self, module):
        script = (
            "import sys\n"
            "class Stop:\n"
            "    def find_spec(self, name, *_):\n"
            f"        if name == '{module}': raise KeyboardInterrupt\n"
            "sys.meta_path.insert(0, Stop())\n"
            "from certifeature.cli import main\n"
            "main()\n"
        )
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (130, "certifeature: stopped.\n")
