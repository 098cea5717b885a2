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
# The reader gives indices of 64 bits, which LIBLINEAR does not take.
FIT = """
X.indices, X.indptr = X.indices.astype("int32"), X.indptr.astype("int32")
from sklearn.svm import LinearSVC
LinearSVC(random_state=0).fit(X, y)
"""


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
    file = str(Path(place.name, "rcv1_ccat.svm"))
    X, y = data_set(folder, "rcv1_ccat")
    dump_svmlight_file(X, y, file, zero_based=False)
    script = LOAD.format(file=file)
    reference, command = "load_svmlight_file, LinearSVC", "certifeature select"
    return Case(
        f"reading {Path(file).stat().st_size / 1e6:.0f} MB of SVMlight, r = 1,024",
        {
            reference: partial(run_python, "-c", script + FIT),
            "load_svmlight_file, BSS": partial(run_python, "-c", script + SELECT),
            command: partial(run_python, "-m", "certifeature", "select", file, "-k", "1024"),
        },
        bars={"select ≤ 3 times reader and fit": lambda s: s[command] <= 3 * s[reference]},
    )
