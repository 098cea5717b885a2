"""What takes an interpreter of its own."""

import atexit
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from measure import Case, run_python
from sets import data_set
from sklearn.datasets import dump_svmlight_file

LOAD = "from sklearn.datasets import load_svmlight_file\nX, y = load_svmlight_file({file!r})\n"
SELECT = "from certifeature import BSSSelector\nBSSSelector(1024).fit(X, y)"
FIT = "from sklearn.svm import LinearSVC\nLinearSVC(random_state=0).fit(X, y)"


def import_time():
    """A new interpreter that imports the package and nothing else."""
    modules = "sklearn.feature_selection", "certifeature"
    contenders = {name: partial(run_python, "-c", f"import {name}") for name in modules}
    return Case("import", contenders, repeats=7)


def reading(folder):
    """A file of news stories, read and selected from: the command line, and scikit-learn's reader.

    The interpreter and what it imports count for all.
    """
    place = TemporaryDirectory()
    atexit.register(place.cleanup)
    file = Path(place.name, "rcv1_ccat.svm")
    X, y = data_set(folder, "rcv1_ccat")
    dump_svmlight_file(X, y, file, zero_based=False)
    script = LOAD.format(file=str(file))
    selected, fitted = "load_svmlight_file, BSS", "load_svmlight_file, LinearSVC"
    command = "certifeature select"
    return Case(
        f"reading {file.stat().st_size / 1e6:.0f} MB of SVMlight, r = 1,024",
        {
            selected: partial(run_python, "-c", script + SELECT),
            fitted: partial(run_python, "-c", script + FIT),
            command: partial(run_python, "-m", "certifeature", "select", str(file), "-k", "1024"),
        },
        repeats=1,
        bars={
            "certifeature select ≤ 3 times reader and BSS": lambda s: s[command] <= 3 * s[selected]
        },
    )
