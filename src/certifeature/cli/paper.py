"""``certifeature paper``: the experiments of the paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from certifeature import experiments

__all__ = ["paper_app"]

paper_app = typer.Typer(
    help="Rerun an experiment of the paper. A run that was stopped goes on where it was: start it "
    "again with the same --out.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Out = Annotated[Path, typer.Option("--out", help="Folder for records and tables.")]
Jobs = Annotated[int, typer.Option(help="Worker processes; -1 takes all cores.")]
Seed = Annotated[int, typer.Option(help="Seed of folds and random methods.", min=0)]
Repeats = Annotated[int, typer.Option(help="Cross-validations.", min=1)]
Folds = Annotated[int, typer.Option(help="Folds of each.", min=2)]
Sizes = Annotated[list[int], typer.Option("-k", help="Number of features; may be repeated.")]
TechTC = Annotated[
    Path, typer.Option("--data", help="TechTC-300 as folder or zip, or what stands in for it.")
]
Weighting = Annotated[Literal["none", "tfidf"], typer.Option(help="Counts as they are, or tf-idf.")]


@paper_app.command("table1")
def table1(
    out: Out = Path("results"),
    sets: Annotated[int, typer.Option(help="Data sets for each k.", min=1)] = 10,
    samples: Annotated[int, typer.Option(min=10)] = 200,
    features: Annotated[int, typer.Option(min=2)] = 1000,
    relevant: Annotated[list[int], typer.Option(help="Relevant features; may be repeated.")] = [
        40,
        50,
    ],
    sizes: Sizes = [30, 40],
    repeats: Repeats = 10,
    folds: Folds = 10,
    jobs: Jobs = -1,
    seed: Seed = 0,
) -> None:
    """Synthetic data: which features are chosen most often.

    \b
    Example:
      certifeature paper table1 --repeats 3
    """
    paths = experiments.table1(
        out,
        n_sets=sets,
        n_repeats=repeats,
        n_folds=folds,
        n_samples=samples,
        n_features=features,
        n_relevant=relevant,
        sizes=sizes,
        n_jobs=jobs,
        seed=seed,
    )
    _print(paths)


@paper_app.command("figures")
def figures(
    data: TechTC,
    out: Out = Path("results"),
    sizes: Sizes = [300, 400, 500],
    repeats: Repeats = 10,
    folds: Folds = 10,
    weighting: Weighting = "tfidf",
    jobs: Jobs = -1,
    seed: Seed = 0,
) -> None:
    """TechTC-300: test errors of all methods, their ranking, and figures.

    \b
    Example:
      certifeature paper figures --data techtc300.zip --repeats 3
    """
    paths = experiments.figures(
        data,
        out,
        sizes=sizes,
        n_repeats=repeats,
        n_folds=folds,
        weighting=weighting,
        n_jobs=jobs,
        seed=seed,
    )
    _print(paths)


@paper_app.command("table2-3")
def table2_3(
    data: TechTC,
    out: Out = Path("results"),
    size: Annotated[int, typer.Option("-k", help="Number of features.", min=1)] = 300,
    repeats: Repeats = 10,
    folds: Folds = 10,
    weighting: Weighting = "tfidf",
    jobs: Jobs = -1,
    seed: Seed = 0,
) -> None:
    """TechTC-300: the words that are chosen in every fold.

    \b
    Example:
      certifeature paper table2-3 --data techtc300.zip --repeats 3
    """
    paths = experiments.table2_3(
        data,
        out,
        size=size,
        n_repeats=repeats,
        n_folds=folds,
        weighting=weighting,
        n_jobs=jobs,
        seed=seed,
    )
    _print(paths)


@paper_app.command("table4")
def table4(
    data: Annotated[
        Path | None, typer.Option(help="Folder with RCV1; scikit-learn fetches it otherwise.")
    ] = None,
    out: Out = Path("results"),
    sizes: Sizes = [1024, 2048],
    projections: Annotated[
        list[int], typer.Option(help="Rows of the Gaussian matrix; may be repeated.")
    ] = [128, 256],
    draws: Annotated[int, typer.Option(help="Gaussian matrices.", min=1)] = 5,
    jobs: Jobs = -1,
    seed: Seed = 0,
) -> None:
    """RCV1-CCAT: approximate BSS beside RRQR, RFE, LPSVM and full data.

    \b
    Example:
      certifeature paper table4 --draws 2
    """
    paths = experiments.table4(
        data,
        out,
        sizes=sizes,
        n_projections=projections,
        n_draws=draws,
        n_jobs=jobs,
        seed=seed,
    )
    _print(paths)


def _print(paths: list[Path]) -> None:
    for path in paths:
        typer.echo(path)
