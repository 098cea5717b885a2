"""Table 4: approximate BSS on RCV1-CCAT."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from sklearn.svm import LinearSVC

from certifeature._files import write_text
from certifeature.comparison import FULL_DATA
from paper.methods import KEEP_ALL, ccat_methods
from paper.output import markdown_table
from paper.runner import run
from paper.study import Study
from paper.summary import as_percent, group, mean_and_deviation
from paper.tasks import ccat_task

__all__ = ["table4"]

_PRINTED = {
    (FULL_DATA, 1024): "8.66 (0.54)",
    (FULL_DATA, 2048): "8.66 (0.54)",
    ("BSS, paper (t = 128)", 1024): "10.53 (0.59)",
    ("BSS, paper (t = 128)", 2048): "11.13 (0.66)",
    ("BSS, paper (t = 256)", 1024): "10.35 (0.64)",
    ("BSS, paper (t = 256)", 2048): "10.63 (0.62)",
    ("RRQR", 1024): "9.97 (0.62)",
    ("RRQR", 2048): "10.04 (0.66)",
    ("RFE", 1024): "8.92 (0.57)",
    ("RFE", 2048): "8.56 (0.54)",
    ("LPSVM", 1024): "9.97 (0.55)",
    ("LPSVM", 2048): "9.97 (0.55)",
}


def table4(
    data: Path | None,
    out: Path,
    *,
    sizes: Sequence[int] = (1024, 2048),
    n_projections: Sequence[int] = (128, 256),
    n_draws: int = 5,
    n_jobs: int = -1,
    seed: int = 0,
) -> list[Path]:
    """Run the paper's experiment on RCV1-CCAT; return the files of the tables.

    Parameters
    ----------
    data : Path or None
        A folder with ``rcv1_ccat``, which stands in, or with the SVMlight files; None fetches RCV1.
    out : Path
        Folder for records and tables.
    sizes, n_projections, n_draws
        As in the paper by default.
    n_jobs, seed
        Of the runner.
    """
    task = ccat_task(data)
    methods = [KEEP_ALL, *ccat_methods(list(n_projections), n_draws)]
    study = Study([task], methods, sizes, LinearSVC(C=10.0, dual=True, random_state=0), seed=seed)
    records = group(run(study, out / "table4.jsonl", n_jobs=n_jobs), "method", "size")
    lines, times = [], []
    for method in methods:
        for size in sizes:
            used = size if not method.own_size and method.make else None
            if used is None and size != sizes[0]:
                continue
            part = records[method.name, used]
            kinds = ("error_on_support", "error")
            cells = [as_percent(*mean_and_deviation(part, kind)) for kind in kinds]
            features = f"{np.mean([r['n_features'] for r in part]):,.0f}"
            printed = _PRINTED.get((method.name, size), "")
            lines.append((method.name, features, *cells, printed))
            times.append((method.name, features, f"{np.median([r['seconds'] for r in part]):.1f}"))
    n_train = task.n_train or 0
    about = (
        f"Data: {task.source}; {n_train:,} training and {len(task.y) - n_train:,} test rows, "
        f"d = {task.X.shape[1]:,}. LIBLINEAR, squared hinge loss, dual, C = 10, seed {seed}. "
    )
    error = mean_and_deviation(records[FULL_DATA, None])[0]
    noise = 100 * np.sqrt(error * (1 - error) / (len(task.y) - n_train))
    text = (
        about
        + f"Test error in percent: mean (deviation) over {n_draws} Gaussian matrices; the other "
        "methods are not random. For scale, the test set is so large that an error of "
        f"{100 * error:.1f} % has a standard error of {noise:.2f} %. The paper's figures are for "
        "its own split.\n\n"
    )
    header = ("method", "features", "trained on support vectors", "on all rows", "paper")
    write_text(out / "table4.md", text + markdown_table(header, lines))
    heading = about + "Median seconds of one selection with one thread.\n\n"
    table = markdown_table(("method", "features", "seconds"), times)
    write_text(out / "table4-times.md", heading + table)
    return [out / "table4.md", out / "table4-times.md"]
