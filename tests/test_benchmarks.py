"""How the benchmarks measure, and how they tell whether a bar was met."""

import os
import subprocess
from time import process_time, sleep

import bench
import defaults
import measure
import numpy as np
import pytest
from decide.methods import METHODS, PACKAGES, SETTINGS, Methods, sizes_of
from decide.model import FIXED, GRID, errors, scale_free
from decide.table import summary, tables
from measure import Case, run_python
from scipy import sparse
from sklearn.feature_selection import RFE
from sklearn.svm import LinearSVC

from certifeature.datasets import make_relevant_features

WORK = 0.2
NOT_CONVERGED = pytest.mark.filterwarnings("ignore:Liblinear failed to converge")


def spin():
    start = process_time()
    while process_time() < start + WORK:
        pass


def spin_in_child():
    return run_python("-c", f"import time\nwhile time.process_time() < {WORK}: pass")


def run(**given):
    """Run a case of one contender that waits and one that works."""
    return Case("", {"rest": lambda: sleep(WORK), "work": spin}, repeats=1, **given).run()


def test_time_is_that_of_the_core_and_not_of_the_clock():
    rest, work = (figure["median_s"] for figure in run()["results"])
    assert rest < WORK / 2
    assert work >= WORK


def test_the_work_of_child_processes_counts():
    (figure,) = Case("a child", {"child": spin_in_child}, repeats=1).run()["results"]
    assert figure["median_s"] >= WORK * 0.9


def test_the_memory_of_child_processes_is_known_where_they_are_larger_than_their_parent():
    own = int(measure.STATUS.read_text().partition("VmRSS:")[2].split()[0]) // 1024
    large = own + 200
    peak = run_python("-c", f"b'x' * ({large} << 20)")()["peak_mib"]
    assert large <= peak <= large + 100
    assert run_python("-c", "pass")()["peak_mib"] is None


def test_a_child_that_fails_is_an_error():
    with pytest.raises(subprocess.CalledProcessError):
        run_python("-c", "raise SystemExit(3)")


def test_bars_are_judged_by_the_figures_and_the_table_says_how():
    bars = {
        "rest ≤ ½ work": lambda s: s["rest"] <= s["work"] / 2,
        "work ≤ ½ rest": lambda s: s["work"] <= s["rest"] / 2,
    }
    record = {"name": "some work"} | run(bars=bars)
    assert record["bars"] == {"rest ≤ ½ work": True, "work ≤ ½ rest": False}
    table = bench.as_table({"python": "3", "versions": {}, "left_out": [], "cases": [record]})
    assert "| | *rest ≤ ½ work* | | | | | *met* |\n" in table
    assert "| | *work ≤ ½ rest* | | | | | *NOT MET* |\n" in table


def test_cases_run_with_one_thread(monkeypatch):
    started = {}

    def start(command, *, env, **options):
        started.update(env)
        return subprocess.CompletedProcess(command, 0, stdout=b"{}")

    monkeypatch.setattr(bench.subprocess, "run", start)
    bench.run_apart("import", None)
    assert started == os.environ | bench.ONE_THREAD
    assert set(bench.ONE_THREAD.values()) == {"1"}


def test_the_first_word_of_a_name_stands_for_all_that_begin_with_it():
    assert bench.named("kernel") == ["kernel"]
    assert bench.named("growth") == [f"growth-1e{power}" for power in (4, 5, 6, 7)]
    assert bench.named("grow") == []


@pytest.fixture
def rows():
    """Few rows of many columns, of which the first ones matter, to train on and to test."""
    X, y = make_relevant_features(100, 120, n_relevant=8, random_state=0)
    return X[:60], y[:60], X[60:], y[60:]


@NOT_CONVERGED
@pytest.mark.parametrize(
    "name", [pytest.param(m, marks=[pytest.mark.ci] * (m in PACKAGES)) for m in METHODS]
)
def test_methods_choose_so_many_different_columns(rows, name):
    if name in PACKAGES:
        pytest.importorskip(name)
    X, y, *_ = rows
    methods = Methods(X, y, [10, 20])
    for r in sizes_of(name, [10, 20]):
        chosen, seconds, growth = methods.choose(name, r)
        assert len(set(chosen)) == len(chosen)
        # Few rows do not let an l1 penalty keep many columns.
        assert len(chosen) <= r if name in ("L1", "skglm") else len(chosen) == (r or 120)
        assert seconds >= 0
        ours = name in ("default", "best subset", *SETTINGS)
        assert (growth is not None) == ours


@NOT_CONVERGED
def test_a_path_of_elimination_is_that_of_scikit_learn(rows):
    X, y, *_ = rows
    chosen, *_ = Methods(X, y, [7, 40]).choose("RFE", 7)
    rfe = RFE(LinearSVC(dual=True, random_state=0), n_features_to_select=7, step=0.1).fit(X, y)
    assert set(chosen) == set(np.flatnonzero(rfe.support_))


@NOT_CONVERGED
def test_the_model_has_no_units(rows):
    X, y, X_test, y_test = rows
    expected = errors(X, y, X_test, y_test)
    assert errors(1e3 * X + 5, y, 1e3 * X_test + 5, y_test) == expected
    expected_C = 0.3 / X.var(axis=0).sum()
    for rows_of_a_kind in (X, sparse.csr_array(X)):
        assert pytest.approx(expected_C) == scale_free(rows_of_a_kind, 0.3).C


@pytest.fixture
def one_task(rows, monkeypatch):
    """One task in each group, with the same rows in every fold."""
    monkeypatch.setattr(defaults, "task_names", lambda folder, group: ["a"])
    monkeypatch.setattr(defaults, "fold_of", lambda *key: rows)


def run_defaults(path, n_folds, methods):
    defaults.run("", path, ["genes", "noise"], None, n_folds, [10], methods)
    return defaults.read(path)


@NOT_CONVERGED
def test_a_run_measures_what_is_missing(one_task, tmp_path):
    path = tmp_path / "results.jsonl"
    first = run_defaults(path, 1, ["all columns", "univariate"])
    assert [record["method"] for record in first] == ["all columns", "univariate"] * 2
    whole = path.read_text()
    path.write_text(whole[:-20])  # The last line was cut off.
    assert defaults.read(path) == first[:-1]
    assert run_defaults(path, 1, ["all columns", "univariate"])[:-1] == first[:-1]
    assert len(run_defaults(path, 2, ["univariate"])) == 6


def test_tables_compare_the_same_folds_of_the_same_tasks():
    def record(method, task, fold, tuned, chosen):
        place = {"group": "web", "task": task, "fold": fold, "method": method, "r": 2}
        found = {
            "tuned": tuned,
            "errors": {f"{c:g}": c / 100 for c in GRID + FIXED},
            "growth": None,
            "seconds": 1.0,
        }
        return place | found | {"chosen": chosen}

    records = [
        *(record("RFE", task, fold, 0.2, [1, 2]) for task in "ab" for fold in (0, 1)),
        *(record("L1", "a", fold, 0.1, [fold, 2]) for fold in (0, 1)),
        *(record("L1", "b", fold, 0.4, [fold, 2]) for fold in (0, 1)),
        record("RFE", "b", 2, 0.9, [3, 4]),  # Without L1, so it does not count.
        record("univariate", "a", 0, 0.1, [3, 4]),  # Has one fold only, so it is left out.
    ]
    error, difference, jaccard, seconds, n_columns, _, by_c = tables(records, None, "RFE")
    assert "| 2 | *tasks, folds* | *2, 4* |" in error
    assert "| RFE | 20.0 |" in error
    assert "univariate" not in error
    assert "| L1 | -5.0 ± 15.0, 1–1 |" in difference
    assert "| RFE | 1.00 |" in jaccard
    assert "| L1 | 0.33 |" in jaccard
    assert "| L1 | 1.00 |" in seconds
    assert "| L1 | 2 |" in n_columns
    assert "| L1 | 0.0 | 0.1 | 0.3 | 0.5 | 1.0 | 3.0 | 10.0 | 30.0 |" in by_c
    for found in records:
        found["r"] = 300
    # -20 and +10 points: a tie, at 5 ± 15.
    assert "| L1 | – | 25.0 = | – | – | – |" in summary(records, None, "RFE")
