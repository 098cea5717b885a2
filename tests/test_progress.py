"""Long work tells how far it is: in order, to the end, and only to whoever listens."""

import os
import re
import sys
import threading
from contextlib import contextmanager
from functools import partialmethod
from io import StringIO

import dask
import dask.array as da
import numpy as np
import pytest
from joblib import delayed, parallel_config
from matplotlib.figure import Figure
from rich.progress import Progress
from sklearn.feature_selection import RFE
from sklearn.svm import SVC, LinearSVC

from certifeature import BSSSelector, SelectorCV, _progress
from certifeature._progress import listed, listening, phase
from certifeature._utils import in_parallel
from certifeature.certificate.measured import measured_in_blocks
from certifeature.cli.app import run
from certifeature.datasets import make_relevant_features
from certifeature.models.ranking import stable_scores
from certifeature.plotting import CertificateDisplay, StabilityDisplay
from certifeature.rows import ArrayBlocks
from certifeature.selectors.fit import _MAX_ROUNDS
from certifeature.sparsify import ColumnChoice, bss

try:
    from sklearn.callback import ProgressBar
except ModuleNotFoundError:
    ProgressBar = None
needs_callbacks = pytest.mark.skipif(
    ProgressBar is None, reason="scikit-learn has callbacks since version 1.9"
)


class Ears:
    """Hears phases as (name, total), the steps that were told of each, and which are open."""

    def __init__(self):
        self.begun, self.told, self.open = [], {}, []

    @contextmanager
    def __call__(self, name, total):
        number = len(self.begun)
        self.begun.append((name, total))
        self.open.append(name)
        try:
            yield lambda done: self.told.setdefault(number, []).append(done)
        finally:
            assert self.open.pop() == name

    def steps(self, name):
        """Return the steps told of each phase of this name."""
        names = [begun for begun, _ in self.begun]
        return [self.told.get(number, []) for number, n in enumerate(names) if n == name]


@pytest.fixture
def every_step(monkeypatch):
    monkeypatch.setattr(_progress, "_INTERVAL", 0.0)


@pytest.fixture
def data():
    return make_relevant_features(60, 300, 10, random_state=0)


@pytest.fixture
def blocks():
    """More rows than are gathered, in twelve blocks."""
    X, y = make_relevant_features(1200, 60, 10, random_state=0)
    return ArrayBlocks(X, y, n_rows=100)


def orthonormal(rng, n_features, n_components):
    return np.linalg.qr(rng.standard_normal((n_features, n_components)))[0]


@pytest.mark.usefixtures("every_step")
class TestPhases:
    def test_steps_come_in_order_and_end_at_the_total(self):
        ears = Ears()
        with listening(ears):
            assert listed(iter("abc"), "letters", 3) == ["a", "b", "c"]
        assert ears.begun == [("letters", 3)]
        assert ears.steps("letters") == [[1, 2, 3]]

    def test_phases_inside_others_are_told_in_between(self):
        ears = Ears()
        with listening(ears), phase("outer") as advance:
            with phase("inner", 1) as inner:
                assert ears.open == ["outer", "inner"]
                inner()
            advance()
        assert ears.begun == [("outer", None), ("inner", 1)]
        assert ears.told == {0: [1], 1: [1]}

    def test_an_exception_ends_the_phases_that_it_leaves(self):
        ears = Ears()

        def fail():
            with phase("outer"), phase("inner", 2) as advance:
                advance()
                raise ArithmeticError

        with listening(ears):
            with pytest.raises(ArithmeticError):
                fail()
            assert ears.open == []
        assert ears.steps("inner") == [[1]]

    def test_nobody_hears_what_follows_or_happens_in_another_thread(self):
        ears = Ears()

        def work():
            with phase("work", 1) as advance:
                advance()

        with listening(ears):
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
        work()
        assert ears.begun == []

    def test_another_listener_takes_over_for_a_while(self):
        outer, inner = Ears(), Ears()
        with listening(outer):
            with pytest.raises(ArithmeticError), listening(inner), phase("b"):
                raise ArithmeticError
            with phase("a"):
                pass
        assert (outer.begun, inner.begun) == ([("a", None)], [("b", None)])


def test_quick_steps_are_told_at_the_end_only():
    ears = Ears()
    with listening(ears):
        listed(range(1000), "numbers", 1000)
    (told,) = ears.steps("numbers")
    assert told[-1] == 1000
    assert len(told) < 100


@pytest.mark.parametrize("n_components", [10, 130])
@pytest.mark.usefixtures("every_step")
def test_bss_tells_every_pick_and_chooses_the_same(rng, n_components):
    vectors = orthonormal(rng, 300, n_components)
    ears = Ears()
    alone = bss(vectors, 150)
    with listening(ears):
        heard = bss(vectors, 150)
    assert ears.steps("BSS picks") == [list(range(1, 151))]
    np.testing.assert_array_equal(alone.indices, heard.indices)
    np.testing.assert_array_equal(alone.scales, heard.scales)


@pytest.mark.usefixtures("every_step")
def test_rows_in_blocks_are_counted_in_every_pass(blocks):
    ears = Ears()
    with listening(ears):
        selector = BSSSelector(20).fit(blocks)
    passes = ears.steps("pass over the blocks")
    assert passes == [list(range(1, 13))] * selector.n_passes_
    assert all(total == 12 for name, total in ears.begun if name == "pass over the blocks")


@pytest.mark.usefixtures("every_step")
def test_a_bound_in_blocks_takes_26_passes(rng):
    blocks = ArrayBlocks(rng.standard_normal((200, 80)), n_rows=50)
    ears = Ears()
    with listening(ears):
        measured_in_blocks(blocks, ColumnChoice(np.arange(20), np.ones(20)), 1.0)
    assert ears.steps("passes") == [list(range(1, 27))]
    assert len(ears.steps("pass over the blocks")) == 26
    assert ears.steps("Lanczos steps") == [list(range(1, 13))]


def test_a_block_that_cannot_be_read_leaves_no_phase_open(rng):
    X = rng.standard_normal((200, 80))
    X[150] = np.nan
    ears = Ears()
    with listening(ears), pytest.raises(ValueError, match="block 3"):
        BSSSelector(60, supervised=False).fit(ArrayBlocks(X, n_rows=50))
    assert ears.open == []
    assert ("pass over the blocks", 4) in ears.begun


@pytest.mark.usefixtures("every_step")
def test_fits_to_subsamples_are_counted(data):
    ears = Ears()
    model = SVC(kernel="linear")
    with listening(ears):
        heard = stable_scores(model, *data, n_subsamples=8)
    assert ears.steps("fits to subsamples") == [list(range(1, 9))]
    np.testing.assert_array_equal(heard, stable_scores(model, *data, n_subsamples=8))


def _square(number):
    with phase("square", 1) as advance:
        advance()
    return number**2


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing", "sequential"])
@pytest.mark.usefixtures("every_step")
def test_work_is_counted_on_every_backend(backend):
    ears = Ears()
    with parallel_config(backend, n_jobs=2), listening(ears):
        results = in_parallel([delayed(_square)(n) for n in range(5)], "squares", n_jobs=None)
    assert results == [0, 1, 4, 9, 16]
    assert ears.steps("squares") == [[1, 2, 3, 4, 5]]
    # What workers do is heard where this thread does it.
    assert len(ears.steps("square")) == (5 if backend == "sequential" else 0)


@pytest.mark.usefixtures("every_step")
def test_folds_are_counted_and_what_happens_inside_them_is_told(data):
    X, y = data
    ears = Ears()
    with listening(ears):
        SelectorCV(cv=3, sizes=[20, 40]).fit(X, y)
    assert ears.begun[0] == ("folds", 3)
    assert ears.told[0] == [1, 2, 3]
    # Two sizes in each fold, and the one that was found.
    assert len(ears.steps("BSS picks")) == 7


class Recorder:
    """A callback that keeps the path of every task that begins or ends."""

    def __init__(self):
        self.events, self.max_subtasks = [], {}

    def setup(self, estimator, context): ...
    def teardown(self, estimator, context): ...

    def on_fit_task_begin(self, estimator, context):
        self.events.append(("begin", self._path(context)))
        self.max_subtasks[context.task_name] = context.max_subtasks

    def on_fit_task_end(self, estimator, context):
        self.events.append(("end", self._path(context)))

    def _path(self, context):
        above = () if context.parent is None else self._path(context.parent)
        return (*above, (context.task_name, context.task_id))

    def phases(self):
        """Return the names of the tasks below the fit, but for single steps, in their order."""
        paths = (path[1:] for what, path in self.events if what == "begin")
        return ["/".join(name for name, _ in path) for path in paths if path and path[-1][0]]

    def n_steps(self, name):
        ends = (path for what, path in self.events if what == "end")
        return sum(len(path) > 1 and path[-2][0] == name and not path[-1][0] for path in ends)

    def balanced(self):
        stack = []
        for what, path in self.events:
            if what == "begin":
                assert path[:-1] == (stack[-1] if stack else ())
                stack.append(path)
            elif stack.pop() != path:
                return False
        return not stack


@needs_callbacks
class TestCallbacks:
    def test_phases_are_tasks_and_every_per_cent_of_their_steps_is_one(self, data):
        recorder = Recorder()
        BSSSelector(80).set_callbacks(recorder).fit(*data)
        assert recorder.balanced()
        assert recorder.phases() == [
            "find support vectors",
            "compute basis",
            "rank features",
            "choose features",
            "choose features/BSS picks",
            "measure certificate",
        ]
        assert recorder.max_subtasks["fit"] == 5
        assert recorder.max_subtasks["BSS picks"] == recorder.n_steps("BSS picks") == 100

    @pytest.mark.usefixtures("every_step")
    def test_what_happens_inside_a_step_moves_it_along(self, data):
        recorder = Recorder()
        selector = BSSSelector(80, guarantee="full").set_callbacks(recorder).fit(*data)
        assert recorder.balanced()
        rounds = f"rounds, {_MAX_ROUNDS} at most"
        assert recorder.phases() == ["find support vectors", rounds]
        assert recorder.max_subtasks["fit"] == 2
        assert recorder.n_steps(rounds) == int(100 * selector.n_rounds_ / _MAX_ROUNDS)

    @pytest.mark.usefixtures("every_step")
    def test_a_search_for_a_size_is_one_task(self, data):
        recorder = Recorder()
        BSSSelector("certified").set_callbacks(recorder).fit(*data)
        assert recorder.balanced()
        assert "choose features/sizes tried" in recorder.phases()
        assert 0 < recorder.n_steps("sizes tried") <= 100

    @pytest.mark.parametrize("supervised", [True, False])
    def test_rows_in_blocks_have_a_task_for_each_pass(self, blocks, supervised):
        recorder = Recorder()
        model = LinearSVC(class_weight={1: 2.0})
        selector = BSSSelector(20, supervised=supervised, estimator=model)
        selector.set_callbacks(recorder).fit(blocks)
        assert recorder.balanced()
        assert recorder.max_subtasks["fit"] == (5 if supervised else 4)
        where = "find support vectors" if supervised else "compute basis"
        n_passes = selector.n_passes_ if supervised else 1
        assert recorder.phases().count(f"{where}/pass over the blocks") == n_passes

    @pytest.mark.parametrize("scheduler", ["threads", "synchronous"])
    def test_work_that_dask_does_is_its_own_to_tell(self, rng, scheduler):
        X = da.from_array(rng.standard_normal((200, 80)), chunks=(50, -1))
        recorder = Recorder()
        selector = BSSSelector(60, supervised=False).set_callbacks(recorder)
        with dask.config.set(scheduler=scheduler):
            selector.fit(X)
        assert recorder.balanced()
        assert recorder.phases()[:2] == ["compute basis", "rank features"]

    def test_a_fit_that_fails_ends_no_task(self, rng):
        X = rng.standard_normal((200, 80))
        X[150] = np.nan
        recorder, ears = Recorder(), Ears()
        selector = BSSSelector(60, supervised=False).set_callbacks(recorder)
        with listening(ears):
            with pytest.raises(ValueError, match="block 3"):
                selector.fit(ArrayBlocks(X, n_rows=50))
            with phase("after"):
                pass
        assert recorder.phases() == ["compute basis", "compute basis/pass over the blocks"]
        assert not any(path[-1][0] for what, path in recorder.events if what == "end")
        # Whoever listened before does so again.
        assert ears.begun == [("after", None)]

    def test_without_callbacks_whoever_listens_hears_the_fit(self, data):
        ears = Ears()
        with listening(ears):
            BSSSelector(80).fit(*data)
        assert [name for name, _ in ears.begun][:2] == ["find support vectors", "compute basis"]

    def test_scikit_learn_shows_a_bar_for_each_phase(self, data, capsys):
        BSSSelector(80).set_callbacks(ProgressBar()).fit(*data)
        shown = capsys.readouterr().out
        for name in (
            "fit",
            "find support vectors",
            "compute basis",
            "choose features",
            "BSS picks",
        ):
            assert re.search(rf"BSSSelector - {name}( #\d)? .*100%", shown)


class TestPlots:
    """Fits of copies have no tasks of their own: there is one, which all that they do moves."""

    @pytest.fixture(params=["certificates", "selections"])
    def plot(self, request, data):
        """Return a function that plots a selector, and the names of the task and of its steps."""
        axes = Figure().subplots()
        if request.param == "certificates":

            def draw(selector):
                return CertificateDisplay.from_estimator(selector, *data, [20, 40, 60], ax=axes)

            return draw, request.param, "sizes"

        def draw_folds(selector):
            return StabilityDisplay.from_estimator(selector, *data, cv=3, ax=axes)

        return draw_folds, request.param, "folds"

    @pytest.mark.parametrize(
        "selector", [BSSSelector(40), RFE(SVC(kernel="linear"), n_features_to_select=9, step=0.5)]
    )
    @pytest.mark.usefixtures("every_step")
    def test_steps_are_counted(self, plot, selector):
        draw, _, steps = plot
        ears = Ears()
        with listening(ears):
            draw(selector)
        assert ears.begun[0] == (steps, 3)
        assert ears.told[0] == [1, 2, 3]

    @needs_callbacks
    def test_callbacks_of_the_selector_are_told(self, plot):
        draw, task, steps = plot
        recorder = Recorder()
        selector = BSSSelector(40).set_callbacks(recorder)
        draw(selector)
        assert recorder.balanced()
        assert recorder.events[0] == ("begin", ((task, 0),))
        assert recorder.phases() == [steps]
        assert recorder.n_steps(steps) == 100
        assert selector._skl_callbacks == [recorder]

    @needs_callbacks
    def test_bars_are_shown(self, plot, capsys):
        draw, task, steps = plot
        draw(BSSSelector(40).set_callbacks(ProgressBar()))
        shown = capsys.readouterr().out
        assert re.search(rf"BSSSelector - {task} .*100%", shown)
        assert re.search(rf"BSSSelector - {steps} #0 .*100%", shown)

    @needs_callbacks
    def test_a_plot_that_fails_takes_its_callbacks_down(self, data):
        class Watched(Recorder):
            down = 0

            def teardown(self, estimator, context):
                self.down += 1

        recorder = Watched()
        with pytest.raises(ValueError, match="labels"):
            CertificateDisplay.from_estimator(
                BSSSelector().set_callbacks(recorder), data[0], None, [20]
            )
        assert recorder.down == 1


@pytest.mark.usefixtures("every_step")
class TestCommand:
    @pytest.fixture
    def terminal(self, monkeypatch):
        """Return a function that runs a command, and returns what a terminal got for its errors."""
        pty = pytest.importorskip("pty")
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("COLUMNS", "120")

        def run_on_terminal(*arguments):
            master, slave = pty.openpty()
            heard = []

            def read():
                # Ends with an error, or with nothing, when the other side is closed.
                try:
                    while part := os.read(master, 65536):
                        heard.append(part)
                except OSError:
                    pass

            reader = threading.Thread(target=read)
            reader.start()
            with open(slave, "w", encoding="utf-8") as screen, monkeypatch.context() as patch:
                patch.setattr(sys, "stderr", screen)
                code = run(arguments)
            reader.join()
            os.close(master)
            return code, b"".join(heard).decode()

        return run_on_terminal

    @pytest.fixture
    def file(self, tmp_path):
        X, y = make_relevant_features(40, 300, 20, random_state=0)
        np.savez(tmp_path / "data.npz", X=X, y=y)
        return str(tmp_path / "data.npz")

    def test_bars_move_and_go(self, terminal, file, monkeypatch, capsys):
        # Otherwise bars are drawn ten times a second, and there may be nothing to see.
        at_once = partialmethod(Progress.update, refresh=True)
        monkeypatch.setattr(Progress, "update", at_once)
        code, screen = terminal("select", file, "-k", "60", "-o", "-")
        assert code == 0
        assert "choosing from 300 features" in screen
        drawn = re.findall(r"BSS picks[^/]*?(\d+)/(\d+)", plain(screen))
        counts, (total,) = [int(done) for done, _ in drawn], {int(total) for _, total in drawn}
        assert counts == sorted(counts)
        assert set(counts) == set(range(total + 1))
        assert re.search(r"\d+/\d+ +\d+% +(-:--:--|0:00:\d\d)", plain(screen))
        # In the end the line is rubbed out, and the cursor is shown again.
        assert plain(screen.rpartition("\x1b[2K")[2]).strip() == ""
        assert screen.rindex("\x1b[?25h") > screen.rindex("\x1b[?25l")
        assert len(capsys.readouterr().out.splitlines()) == 60

    def test_an_error_leaves_its_own_line_alone(self, terminal, file):
        code, screen = terminal("select", file, "-k", "20", "--method", "bss", "-t", "nothing")
        assert code == 2
        assert plain(screen).splitlines()[-1].startswith("certifeature: ")

    def test_without_a_terminal_there_is_nothing(self, file, monkeypatch):
        monkeypatch.setenv("FORCE_COLOR", "1")
        errors = StringIO()
        monkeypatch.setattr(sys, "stderr", errors)
        assert run(["select", file, "-k", "60", "-o", "-", "--scale", "none"]) == 0
        assert errors.getvalue() == ""


def plain(screen):
    """Return what is on the screen without its control sequences."""
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", screen)
