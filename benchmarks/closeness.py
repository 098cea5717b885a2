"""Measure how close the choices of several methods are to the best set of their size.

Usage: ``python benchmarks/closeness.py FOLDER`` prints a Markdown table: by how many percent the
training objective of a choice is above the lower bound on that of any as many columns, at one C for
all choices, that of ``C="soft"`` for the columns of the best subset. The README says what FOLDER
holds.
"""

import argparse
import warnings

import numpy as np
from decide.methods import Methods
from decide.tasks import fold_of, task_names
from threadpoolctl import threadpool_limits

from certifeature.certificate.optimality import ratios_to_best
from certifeature.models.problem import default_model, with_scale
from certifeature.rows.rows import as_rows

METHODS = ("best subset", "default", "largest weights", "L1", "RFE", "univariate", "random")
GROUPS = {"genes": (20, 100), "texts": (100, 300)}


def excesses(folder, group, task, size):
    """Return by how many percent each method's objective is above the bound."""
    X, y, *_ = fold_of(folder, group, task, 0)
    rows, methods = as_rows(X, y), Methods(X, y, [size])
    chosen = [
        np.random.default_rng(0).choice(X.shape[1], size, replace=False)
        if name == "random"
        else np.asarray(methods.choose(name, size)[0])
        for name in METHODS
    ]
    model = with_scale(default_model(cost="soft"), rows.spread.size(chosen[0]))
    ratios = [ratios_to_best(rows, model, [columns])[0] for columns in chosen]
    return [100 * (1 / ratio - 1) if ratio else np.inf for ratio in ratios]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder")
    parser.add_argument("--tasks", type=int, help="so many tasks of each group")
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # LIBLINEAR's convergence, the same for every method.
    columns = {}
    with threadpool_limits(1):
        for group, sizes in GROUPS.items():
            tasks = task_names(given.folder, group)[: given.tasks]
            for size in sizes:
                columns[f"{size} {group}, {len(tasks)} tasks"] = np.array(
                    [excesses(given.folder, group, task, size) for task in tasks]
                )
    print("| method | " + " | ".join(columns) + " |")
    print("| --- |" + " --- |" * len(columns))
    for number, name in enumerate(METHODS):
        cells = [
            f"{values[:, number].mean():.3g} ({values[:, number].min():.3g} to "
            f"{values[:, number].max():.3g})"
            for values in columns.values()
        ]
        print("| " + " | ".join([name, *cells]) + " |")


if __name__ == "__main__":
    main()
