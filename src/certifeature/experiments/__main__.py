"""The paper's experiments from the command line: ``python -m certifeature.experiments --help``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from certifeature.experiments import figures, table1, table2_3, table4


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one experiment and print the files that it wrote."""
    parser = argparse.ArgumentParser(
        prog="python -m certifeature.experiments",
        description="Rerun an experiment of the paper. A run that was stopped goes on where it "
        "was: start it again with the same --out.",
    )
    commands = parser.add_subparsers(dest="command", required=True)

    table = _command(commands, "table1", "most frequent features of synthetic data", repeats=10)
    table.add_argument("--sets", type=int, default=10, help="data sets for each k (default 10)")
    table.add_argument("--samples", type=int, default=200)
    table.add_argument("--features", type=int, default=1000)
    table.add_argument("--relevant", type=int, nargs="+", default=[40, 50])
    table.add_argument("--sizes", type=int, nargs="+", default=[30, 40])

    for name, text in (
        ("figures", "test errors on TechTC-300, tables and figures"),
        ("table2-3", "words chosen in every fold"),
    ):
        command = _command(commands, name, text, repeats=10)
        command.add_argument("--data", type=Path, required=True, help="TechTC-300, folder or zip")
        command.add_argument("--weighting", choices=["none", "tfidf"], default="tfidf")
        if name == "figures":
            command.add_argument("--sizes", type=int, nargs="+", default=[300, 400, 500])
        else:
            command.add_argument("--size", type=int, default=300)

    ccat = _command(commands, "table4", "approximate BSS on RCV1-CCAT")
    ccat.add_argument("--data", type=Path, help="folder with RCV1 (default: fetch it)")
    ccat.add_argument("--sizes", type=int, nargs="+", default=[1024, 2048])
    ccat.add_argument("--projections", type=int, nargs="+", default=[128, 256])
    ccat.add_argument("--draws", type=int, default=5, help="Gaussian matrices (default 5)")

    options = parser.parse_args(arguments)
    try:
        for path in _run(options):
            print(path)  # noqa: T201
    except (OSError, ValueError, ImportError) as error:
        parser.exit(2, f"{parser.prog}: {error}\n")


def _command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    text: str,
    repeats: int | None = None,
) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=text, description=text)
    command.add_argument("--out", type=Path, default=Path("results"), help="folder for the results")
    command.add_argument(
        "--jobs", type=int, default=-1, help="worker processes (default: all cores)"
    )
    command.add_argument("--seed", type=int, default=0)
    if repeats is not None:
        command.add_argument("--repeats", type=int, default=repeats)
        command.add_argument("--folds", type=int, default=10)
    return command


def _run(options: argparse.Namespace) -> list[Path]:
    common = {"n_jobs": options.jobs, "seed": options.seed}
    if options.command == "table4":
        return table4(
            options.data,
            options.out,
            sizes=options.sizes,
            n_projections=options.projections,
            n_draws=options.draws,
            **common,
        )
    common |= {"n_repeats": options.repeats, "n_folds": options.folds}
    if options.command == "table1":
        return table1(
            options.out,
            n_sets=options.sets,
            n_samples=options.samples,
            n_features=options.features,
            n_relevant=options.relevant,
            sizes=options.sizes,
            **common,
        )
    if options.command == "figures":
        return figures(
            options.data, options.out, sizes=options.sizes, weighting=options.weighting, **common
        )
    return table2_3(
        options.data, options.out, size=options.size, weighting=options.weighting, **common
    )


if __name__ == "__main__":
    main()
