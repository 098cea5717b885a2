"""How the benchmarks measure, and how they tell whether a bar was met."""

import os
import subprocess
from time import process_time, sleep

import bench
import measure
import pytest
from measure import Case, run_python

WORK = 0.2


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
