"""The figures: test errors on 49 tasks of TechTC-300, or of what stands in for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from sklearn.svm import SVC

from certifeature._files import write_text
from certifeature.comparison import FULL_DATA
from paper.methods import KEEP_ALL, paper_methods, today_methods
from paper.output import csv_text, markdown_table
from paper.panels import error_panels
from paper.runner import run
from paper.study import Study
from paper.summary import as_percent, by_task, group, mean_and_deviation, rivalry
from paper.tasks import Task, web_tasks

__all__ = ["about", "figures", "web_study"]

Record = dict[str, Any]

_ROWS = {
    "support": "Supervised: features chosen for the support vectors",
    "all": "Unsupervised: features chosen for all training rows",
}
_REFERENCE = ("BSS", "support")


def figures(
    data: Path,
    out: Path,
    *,
    sizes: Sequence[int] = (300, 400, 500),
    n_repeats: int = 10,
    n_folds: int = 10,
    weighting: Literal["none", "tfidf"] = "tfidf",
    n_jobs: int = -1,
    seed: int = 0,
) -> list[Path]:
    """Measure test errors of all methods on all tasks; return the files of tables and figures.

    Parameters
    ----------
    data : Path
        TechTC-300, or a folder with what stands in for it.
    out : Path
        Folder for records, tables and figures.
    sizes, n_repeats, n_folds
        As in the paper by default.
    weighting : {"none", "tfidf"}
        Word counts as they are, or tf-idf vectors of length 1, for which C = 1 means the same on
        every task. The paper does not say what it took.
    n_jobs, seed
        Of the runner.
    """
    tasks = web_tasks(data)
    study = web_study(tasks, sizes, n_repeats, n_folds, weighting, seed)
    records = _at_all_sizes(run(study, out / "figures.jsonl", n_jobs=n_jobs), sizes)
    heading = about(tasks, study)
    texts = {
        "errors.md": heading + _error_tables(records, sizes),
        "ranking.md": heading + _ranking_tables(records, sizes),
        "times.md": heading + _time_table(records, sizes),
        "errors.csv": _csv(records),
    }
    for name, text in texts.items():
        write_text(out / name, text)
    return [out / name for name in texts] + error_panels(records, sizes, out)


def web_study(
    tasks: Sequence[Task],
    sizes: Sequence[int],
    n_repeats: int,
    n_folds: int,
    weighting: Literal["none", "tfidf"],
    seed: int,
    names: Sequence[str] | None = None,
) -> Study:
    """Return the study of all methods, or of some that look at the support vectors."""
    methods = [
        KEEP_ALL,
        *today_methods("support", counts=True),
        *paper_methods("support"),
        *today_methods("all", counts=True),
        *paper_methods("all"),
    ]
    if names is not None:
        methods = [m for m in methods if m.name in names and m.rows == "support"]
    return Study(
        tasks,
        methods,
        sizes,
        SVC(kernel="linear", C=1.0),
        weighting,
        n_repeats,
        n_folds,
        seed,
        features_at=(min(sizes),),
    )


def about(tasks: Sequence[Task], study: Study) -> str:
    """Return what a table says of its data and settings."""
    sources = Counter(task.source for task in tasks)
    data = "; ".join(f"{count} {source}" for source, count in sources.items())
    weighting = "tf-idf vectors" if study.weighting == "tfidf" else "word counts"
    return (
        f"Data: {data}. {weighting.capitalize()}, LIBSVM with C = 1, {study.n_repeats} × "
        f"{study.n_folds}-fold cross-validation, seed {study.seed}.\n\n"
    )


def _at_all_sizes(records: list[Record], sizes: Sequence[int]) -> list[Record]:
    """Return records in which methods without a size of their own stand at every size."""
    return [
        record | {"size": size}
        for record in records
        for size in (sizes if record["size"] is None else [record["size"]])
    ]


def _error_tables(records: list[Record], sizes: Sequence[int]) -> str:
    """Return mean errors and deviations over all tasks."""
    text = ""
    for rows, title in _ROWS.items():
        grouped = group((r for r in records if r["rows"] == rows), "method", "size")
        names = list(dict.fromkeys(method for method, _ in grouped))
        kinds = {"support": ("error_on_support", "error"), "all": ("error",)}[rows]
        trained = {"error_on_support": "trained on them", "error": "trained on all rows"}
        header = ["method", *(f"r = {s}, {trained[kind]}" for s in sizes for kind in kinds)]
        lines = []
        for name in names:
            cells = (mean_and_deviation(grouped[name, s], k) for s in sizes for k in kinds)
            lines.append([name, *(as_percent(*cell) for cell in cells)])
        text += f"### {title}\n\n{markdown_table(header, lines)}\n"
    return (
        "Test error in percent: mean over tasks, folds and draws (deviation of the means of the "
        "repeats; of the draws, where there is one repeat).\n\n" + text
    )


def _ranking_tables(records: list[Record], sizes: Sequence[int]) -> str:
    """Return all methods beside each other, for models trained on all rows."""
    text = (
        "All methods, by mean rank over the tasks; models trained on all rows. Wins, ties, losses "
        f"and Wilcoxon's signed-rank test (two-sided, not corrected for the number of methods) "
        f"against {_REFERENCE[0]}, our default. λ and κ = Λ/λ: medians over tasks, folds and draws "
        "of the measured certificate for the rows that the features were chosen for; λ = 0 proves "
        "nothing.\n\n"
    )
    for size in sizes:
        grouped = group((r for r in records if r["size"] == size), "method", "rows")
        errors = {_label(*key): by_task(part) for key, part in grouped.items()}
        rivals = rivalry(errors, _label(*_REFERENCE))
        parts = {_label(*key): part for key, part in grouped.items()}
        lines = []
        for name, rival in sorted(rivals.items(), key=lambda item: item[1].mean_rank):
            lowest = np.median([r["lambda_min"] for r in parts[name]])
            spread = np.median([_condition(r) for r in parts[name]])
            lines.append(
                (
                    name,
                    f"{np.mean([r['n_features'] for r in parts[name]]):.0f}",
                    f"{100 * rival.mean_error:.2f}",
                    f"{rival.mean_rank:.2f}",
                    "" if rival.p_value is None else f"{rival.wins}/{rival.ties}/{rival.losses}",
                    "" if rival.p_value is None else f"{rival.p_value:.2g}",
                    f"{lowest:.2g}",
                    f"{spread:.2g}",
                )
            )
        header = ("method", "features", "error, %", "rank", "w/t/l", "p", "λ", "κ")
        text += f"### r = {size}\n\n{markdown_table(header, lines)}\n"
    return text


def _time_table(records: list[Record], sizes: Sequence[int]) -> str:
    grouped = group(records, "method", "rows", "size")
    names = list(dict.fromkeys((method, rows) for method, rows, _ in grouped))
    lines = []
    for name in names:
        if name[0] == FULL_DATA:
            continue
        seconds = (np.median([r["seconds"] for r in grouped[(*name, size)]]) for size in sizes)
        warned = sum(bool(r["warnings"]) for size in sizes for r in grouped[(*name, size)])
        lines.append((_label(*name), *(f"{value:.3f}" for value in seconds), warned))
    header = ("method", *(f"r = {size}" for size in sizes), "warnings")
    return (
        "Median seconds of one selection with one thread, all workers busy; the SVM for the "
        "support vectors included where the method trains it. The last column counts the "
        "selections during which a solver warned, mostly that it had not converged.\n\n"
        + markdown_table(header, lines)
    )


def _csv(records: list[Record]) -> str:
    header = ("task", "rows", "method", "size", "error", "deviation", "error_on_support")
    lines = []
    for (task, rows, method, size), part in group(
        records, "task", "rows", "method", "size"
    ).items():
        error, deviation = mean_and_deviation(part)
        on_support = mean_and_deviation(part, "error_on_support")[0] if rows == "support" else None
        lines.append((task, rows, method, size, error, deviation, on_support))
    return csv_text(header, lines)


def _condition(record: Record) -> float:
    return record["lambda_max"] / record["lambda_min"] if record["lambda_min"] > 0 else np.inf


def _label(method: str, rows: str) -> str:
    return method if rows == "support" else f"{method}, all rows"
