"""The paper's experiments on tiny data: every command, killed and resumed, with any workers."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from random_rows import random_rows
from scipy import sparse
from sklearn.feature_selection import chi2
from sklearn.svm import SVC

from certifeature import BSSSelector
from certifeature._files import write_text
from paper.__main__ import main
from paper.figures import figures
from paper.methods import KEEP_ALL, ccat_methods, paper_methods, today_methods
from paper.output import csv_text, markdown_table
from paper.runner import run
from paper.store import Store, alone
from paper.study import Study
from paper.summary import as_percent, mean_and_deviation, rivalry
from paper.table1 import table1
from paper.table2_3 import table2_3
from paper.table4 import table4
from paper.tasks import Task

TINY = {"n_sets": 1, "n_repeats": 2, "n_folds": 3, "n_samples": 30, "n_features": 40}
TINY |= {"n_relevant": [6], "sizes": [8]}


@pytest.fixture
def techtc(tmp_path, rng):
    """A folder in the format of TechTC-300, with two tasks."""
    for name in ("Exp_1_2", "Exp_1_3"):
        folder = tmp_path / "techtc" / name
        folder.mkdir(parents=True)
        words = [f"word{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(60)]
        lines = "".join(f"{i} {word}\n" for i, word in enumerate(words, 1))
        (folder / "features.idx").write_text("# words\n" + lines)
        rows = []
        for label in (1, -1) * 15:
            rates = np.where(np.arange(60) < 6, 1.0 + label * 0.8, 0.4)
            counts = rng.poisson(rates) + (np.arange(60) == 59)
            pairs = " ".join(f"{j + 1}:{c}" for j, c in enumerate(counts) if c)
            rows.append(f"# a page\n{label} {pairs}\n")
        (folder / "vectors.dat").write_text("".join(rows))
    return tmp_path / "techtc"


@pytest.fixture
def ccat(tmp_path, rng):
    folder = tmp_path / "news" / "rcv1_ccat"
    folder.mkdir(parents=True)
    X = random_rows((90, 70), 0.3, rng)
    sparse.save_npz(folder / "X.npz", X)
    np.save(folder / "y.npy", np.where(X[:, [0, 1]].sum(axis=1) > 0.2, 1, -1))
    return tmp_path / "news"


def tiny_study(n_repeats=1, **changes):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 30))
    task = Task("tiny", "made up", X, np.where(X[:, 0] > 0, 1, -1))
    methods = [KEEP_ALL, *paper_methods("support", n_draws=2)]
    settings = {"n_repeats": n_repeats, "n_folds": 2} | changes
    return Study([task], methods, [6], SVC(kernel="linear"), **settings)


def contents(folder):
    """Return the files that must not depend on when and how they were made."""
    names = (path.name for path in folder.iterdir())
    kept = [name for name in names if "times" not in name and not name.endswith("jsonl")]
    return {name: (folder / name).read_bytes() for name in sorted(kept)}


class TestTable1:
    @pytest.mark.slow
    def test_any_number_of_workers_gives_the_same_bytes(self, tmp_path):
        for n_jobs in (1, 2, 3):
            table1(tmp_path / str(n_jobs), n_jobs=n_jobs, **TINY)
        first = contents(tmp_path / "1")
        assert first.keys() == {"table1.lock", "table1.md"}
        assert contents(tmp_path / "2") == contents(tmp_path / "3") == first

    @pytest.mark.slow
    def test_another_seed_gives_another_table(self, tmp_path):
        for seed in (0, 1):
            table1(tmp_path / str(seed), n_jobs=1, seed=seed, **TINY)
        assert contents(tmp_path / "0") != contents(tmp_path / "1")

    @pytest.mark.slow
    def test_best_features_come_first(self, tmp_path):
        (path,) = table1(tmp_path, n_jobs=1, **TINY)
        lines = [line for line in path.read_text().splitlines() if line.startswith("| RFE")]
        assert len(lines) == 1
        first = int(lines[0].split("|")[2].split(",")[0])
        assert first in (5, 6)


class TestTechTC:
    @pytest.mark.slow
    def test_figures_write_tables_and_pictures(self, techtc, tmp_path):
        out = tmp_path / "out"
        settings = {"sizes": [6, 8], "n_repeats": 2, "n_folds": 2, "weighting": "none"}
        paths = figures(techtc, out, n_jobs=1, **settings)
        assert all(path.stat().st_size > 0 for path in paths)
        assert {path.name for path in paths} >= {
            "errors.md",
            "ranking.md",
            "times.md",
            "errors.csv",
            "errors-supervised-6.svg",
            "errors-unsupervised-8.svg",
        }
        text = (out / "errors.md").read_text()
        assert text.startswith("Data: 2 TechTC-300. Word counts")
        for name in ("BSS, paper", "leverage sampling", "RFE", "LPSVM", "RRQR", "random", "L1 SVM"):
            assert text.count(f"| {name} |") == 2
        again = tmp_path / "again"
        figures(techtc, again, n_jobs=2, **settings)
        assert contents(again) == contents(out)

    @pytest.mark.slow
    def test_words_of_every_fold_use_the_records_of_the_figures(self, techtc, tmp_path):
        settings = {"n_repeats": 1, "n_folds": 2, "n_jobs": 1}
        figures(techtc, tmp_path / "out", sizes=[6, 8], **settings)
        size = (tmp_path / "out" / "figures.jsonl").stat().st_size
        paths = table2_3(techtc, tmp_path / "out", size=6, **settings)
        assert (tmp_path / "out" / "figures.jsonl").stat().st_size == size
        # At the other size the features were not written down, so they are chosen again.
        table2_3(techtc, tmp_path / "out", size=8, **settings)
        assert (tmp_path / "out" / "figures.jsonl").stat().st_size > size
        assert "worda" in paths[0].read_text()

    def test_too_many_features_are_an_error(self, techtc, tmp_path):
        with pytest.raises(ValueError, match="has 60 features, so 60 cannot be chosen"):
            figures(techtc, tmp_path, sizes=[60])


class TestTable4:
    @pytest.mark.slow
    def test_every_method_has_its_line(self, ccat, tmp_path):
        options = {"sizes": [10, 20], "n_projections": [4, 6], "n_draws": 2, "n_jobs": 1}
        paths = table4(ccat, tmp_path / "out", **options)
        text = paths[0].read_text()
        assert text.startswith(
            "Data: a sample of RCV1-v2 in place of RCV1-CCAT; 72 training and 18"
        )
        for name in ("BSS, paper (t = 4)", "BSS (t = 6)", "RRQR", "RFE"):
            assert text.count(f"| {name} |") == 2
        for name in ("full data", "LPSVM"):
            assert text.count(f"| {name} |") == 1


class TestResume:
    @pytest.mark.slow
    def test_killed_at_any_moment_it_goes_on_with_nothing_lost_or_doubled(self, techtc, tmp_path):
        command = [sys.executable, "-m", "paper", "figures", "--data", techtc]
        command += ["-k", "6", "--repeats", "2", "--folds", "3", "--jobs", "1", "--out"]
        subprocess.run([*command, tmp_path / "whole"], check=True)
        records = tmp_path / "killed" / "figures.jsonl"
        process = subprocess.Popen([*command, tmp_path / "killed"], start_new_session=True)
        while not records.exists() or records.stat().st_size < 1000:
            assert process.poll() is None, "it ended before it could be killed"
            time.sleep(0.002)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        before = records.read_bytes()
        assert not (tmp_path / "killed" / "errors.md").exists()
        subprocess.run([*command, tmp_path / "killed"], check=True)
        after = records.read_bytes()
        whole_lines = before[: before.rfind(b"\n") + 1]
        assert after.startswith(whole_lines)
        keys = [json.dumps(json.loads(line)["key"]) for line in after.splitlines()]
        expected = (tmp_path / "whole" / "figures.jsonl").read_bytes().splitlines()
        assert len(keys) == len(set(keys)) == len(expected)
        assert contents(tmp_path / "killed") == contents(tmp_path / "whole")

    @pytest.mark.slow
    def test_told_to_stop_it_ends_its_workers_and_lets_the_next_run_in(self, techtc, tmp_path):
        command = [sys.executable, "-m", "paper", "figures", "--data", techtc, "--out", tmp_path]
        command += ["-k", "6", "--repeats", "50", "--folds", "3", "--jobs", "2"]
        process = subprocess.Popen(command, start_new_session=True, stderr=subprocess.PIPE)
        records = tmp_path / "figures.jsonl"
        while not records.exists():
            assert process.poll() is None, "it ended before it could be stopped"
            time.sleep(0.01)
        other = subprocess.run(command, capture_output=True, text=True, check=False)
        assert other.returncode == 2
        assert "figures.jsonl: another run adds to it" in other.stderr
        os.kill(process.pid, signal.SIGTERM)
        assert b"the same command goes on from here" in process.communicate(timeout=60)[1]
        assert process.returncode == 130
        assert _ends(process.pid)
        size = records.stat().st_size
        with alone(records):
            time.sleep(0.5)
        assert records.stat().st_size == size

    @pytest.mark.parametrize("cut", [1, 5, 40, 300])
    def test_a_line_cut_short_is_measured_again(self, cut, tmp_path):
        path = tmp_path / "records.jsonl"
        expected = run(tiny_study(), path, n_jobs=1)
        content = path.read_bytes()
        last = content[:-1].rfind(b"\n") + 1
        path.write_bytes(content[: last + cut])
        again = run(tiny_study(), path, n_jobs=1)
        assert _without_times(again) == _without_times(expected)
        assert len(path.read_bytes().splitlines()) == len(content.splitlines())

    def test_more_repeats_add_to_what_is_there(self, tmp_path):
        path = tmp_path / "records.jsonl"
        run(tiny_study(), path, n_jobs=1)
        content = path.read_bytes()
        records = run(tiny_study(n_repeats=2), path, n_jobs=1)
        assert path.read_bytes().startswith(content)
        assert {record["repeat"] for record in records} == {0, 1}

    def test_other_data_of_the_same_name_are_not_mixed_up(self, tmp_path):
        study = tiny_study()
        (task,) = study.tasks
        other = Task(task.name, task.source, task.X + 1, task.y)
        path = tmp_path / "records.jsonl"
        run(study, path, n_jobs=1)
        n_lines = len(path.read_bytes().splitlines())
        run(Study([other], study.methods, [6], study.svm, n_folds=2), path, n_jobs=1)
        assert len(path.read_bytes().splitlines()) == 2 * n_lines

    def test_records_keep_versions_and_seed(self, tmp_path):
        path = tmp_path / "records.jsonl"
        run(tiny_study(seed=3), path, n_jobs=1)
        for line in path.read_text().splitlines():
            record = json.loads(line)
            assert record["key"]["seed"] == 3
            assert record["versions"].keys() >= {"certifeature", "numpy", "scikit-learn"}
            assert record["measured"]["seconds"] >= 0

    @pytest.mark.parametrize(
        "content",
        [
            *(b"my diary", b"1\n", b'{"key": 1}\n', b'{"a": 2}\n', b"\xff\n"),
            *(b'{"key": {"size": 6}}\n', b'{"key": {"size": 6}, "measured": 1}\n'),
        ],
    )
    def test_a_file_of_something_else_is_left_alone(self, content, tmp_path):
        path = tmp_path / "records.jsonl"
        path.write_bytes(content)
        with pytest.raises(ValueError, match="line 1: this is no record"):
            Store(path)
        assert path.read_bytes() == content


def _ends(group):
    """Tell whether all processes of a group end within some seconds."""
    for _ in range(100):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


def _without_times(records):
    return [{k: v for k, v in record.items() if k != "seconds"} for record in records]


class TestTrial:
    def test_errors_are_those_of_a_plain_loop(self, tmp_path):
        study = tiny_study()
        records = run(study, tmp_path / "records.jsonl", n_jobs=1)
        (task,) = study.tasks
        for fold in (0, 1):
            train, test = task.split(0, fold, 2, 0)
            paper = {"order": "leverage", "trust": 0, "rescale": "each"}
            selector = BSSSelector(6, estimator=study.svm, **paper)
            reduced = selector.fit_transform(task.X[train], task.y[train])
            svm = SVC(kernel="linear").fit(reduced, task.y[train])
            expected = 1 - svm.score(selector.transform(task.X[test]), task.y[test])
            (record,) = [r for r in records if r["method"] == "BSS, paper" and r["fold"] == fold]
            assert record["error"] == pytest.approx(expected)
            rows = selector.support_rows_
            svm.fit(reduced[rows], task.y[train][rows])
            expected = 1 - svm.score(selector.transform(task.X[test]), task.y[test])
            assert record["error_on_support"] == pytest.approx(expected)
            assert record["lambda_min"] == pytest.approx(selector.certificate_.lambda_min)

    def test_folds_are_stratified_and_test_each_row_once(self):
        (task,) = tiny_study().tasks
        tested = np.concatenate([task.split(1, fold, 4, 7)[1] for fold in range(4)])
        np.testing.assert_array_equal(np.sort(tested), np.arange(40))


class TestMethods:
    def test_lists_name_what_they_make(self):
        svm = SVC(kernel="linear", C=3.0)
        made = {m.name: m.make(7, svm, 5) for m in paper_methods("all")}
        assert made["BSS, paper"].order == "leverage"
        assert not any(
            made[name].supervised for name in ("BSS, paper", "leverage sampling", "RRQR")
        )
        assert made["LPSVM"].C == 10
        assert made["RFE"].n_features_to_select == 7
        made = {m.name: m.make(7, svm, 5) for m in today_methods("support", counts=True)}
        assert made["BSS"].order == BSSSelector().order
        assert made["univariate"].score_func is chi2
        made = {m.name: m.make(7, svm, 5) for m in ccat_methods([3], n_draws=2)}
        assert (made["RRQR"].basis, made["RRQR"].n_components) == ("sketch", 7)
        assert (made["BSS (t = 3)"].basis, made["BSS (t = 3)"].n_components) == ("sketch", 3)

    def test_supervised_and_unsupervised_choices_differ_by_rows(self):
        supervised = {m.name: m.rows for m in paper_methods("support")}
        assert set(supervised.values()) == {"support"}
        assert {m.rows for m in paper_methods("all")} == {"all"}


class TestCommand:
    def test_table1(self, tmp_path, capsys):
        sizes = "--sets 1 --repeats 1 --folds 2 --samples 30 --features 40 --relevant 6 -k 8"
        assert main(["table1", "--out", str(tmp_path), "--jobs", "1", *sizes.split()]) == 0
        assert capsys.readouterr().out == f"{tmp_path / 'table1.md'}\n"

    @pytest.mark.parametrize("command", ["figures", "table2-3"])
    def test_missing_data_say_where_to_get_them(self, command, tmp_path, capsys):
        out = tmp_path / "out"
        assert main([command, "--data", str(tmp_path / "nowhere"), "--out", str(out)]) == 2
        assert "techtc.cs.technion.ac.il" in capsys.readouterr().err
        assert not out.exists()

    @pytest.mark.parametrize("command", ["table1", "figures", "table2-3", "table4"])
    def test_help_names_the_options(self, command, capsys):
        with pytest.raises(SystemExit, match="0"):
            main([command, "--help"])
        assert "--out" in capsys.readouterr().out


class TestSummary:
    def test_ranks_wins_and_test(self):
        tasks = [f"t{i}" for i in range(8)]
        errors = {
            "a": dict.fromkeys(tasks, 0.2),
            "b": {task: 0.2 + 0.01 * (i + 1) for i, task in enumerate(tasks)},
            "c": {task: 0.2 if i < 4 else 0.1 for i, task in enumerate(tasks)},
        }
        result = rivalry(errors, "a")
        assert (result["b"].wins, result["b"].ties, result["b"].losses) == (0, 0, 8)
        assert (result["c"].wins, result["c"].ties, result["c"].losses) == (4, 4, 0)
        assert result["b"].mean_rank == 3
        assert result["a"].mean_rank == pytest.approx((4 * 1.5 + 4 * 2) / 8)
        # All of eight differences have one sign, which chance gives 2 times in 2⁸.
        assert result["b"].p_value == pytest.approx(2 / 2**8)
        assert result["a"].p_value is None

    def test_deviation_is_that_of_the_repeats(self):
        records = [
            {"repeat": repeat, "draw": 0, "error": error}
            for repeat, error in [(0, 0.1), (0, 0.3), (1, 0.2), (1, 0.4)]
        ]
        mean, deviation = mean_and_deviation(records)
        assert mean == pytest.approx(0.25)
        assert deviation == pytest.approx(np.std([0.2, 0.3], ddof=1))
        assert mean_and_deviation(records[:2])[1] is None
        assert as_percent(0.25, deviation) == "25.00 (7.07)"
        assert as_percent(0.25, None) == "25.00"


class TestOutput:
    def test_bars_in_cells_do_not_break_a_table(self):
        assert markdown_table(["a|b"], [["c\nd"]]) == "| a\\|b |\n| --- |\n| c d |\n"

    def test_csv_quotes(self):
        assert csv_text(["a"], [["b,c"]]) == 'a\n"b,c"\n'

    def test_a_failed_write_leaves_the_old_file(self, tmp_path):
        path = tmp_path / "table.md"
        write_text(path, "old")
        with pytest.raises(UnicodeEncodeError):
            write_text(path, "\ud800")
        assert path.read_text() == "old"
        assert list(tmp_path.iterdir()) == [path]
