"""``python -m paper``: one command for each experiment."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from paper.figures import figures
from paper.table1 import table1
from paper.table2_3 import table2_3
from paper.table4 import table4

__all__ = ["main"]

_BAD_INPUT, _STOPPED = 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run an experiment and name the files it wrote; return an exit code."""
    options = vars(_parser().parse_args(arguments))
    experiment = options.pop("experiment")
    try:
        paths = experiment(**options)
    except (ValueError, OSError, ImportError) as error:
        sys.stderr.write(f"paper: {error}\n")
        return _BAD_INPUT
    except KeyboardInterrupt:
        sys.stderr.write("paper: stopped; the same command goes on from here.\n")
        return _STOPPED
    sys.stdout.write("".join(f"{path}\n" for path in paths))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m paper",
        description="Rerun an experiment of the paper. A run that was stopped goes on where it "
        "was: start it again with the same --out.",
    )
    commands = parser.add_subparsers(required=True, metavar="EXPERIMENT")
    _add_table1(commands)
    web = commands.add_parser("figures", help="TechTC-300: test errors of all methods")
    web.set_defaults(experiment=figures)
    _add_sizes(web, [300, 400, 500])
    words = commands.add_parser("table2-3", help="TechTC-300: words chosen in every fold")
    words.set_defaults(experiment=table2_3)
    words.add_argument("-k", dest="size", type=int, default=300, help="number of features")
    for command in (web, words):
        command.add_argument(
            "--data",
            type=Path,
            required=True,
            help="TechTC-300 as folder or zip, or what stands in for it",
        )
        command.add_argument(
            "--weighting",
            choices=("none", "tfidf"),
            default="tfidf",
            help="word counts as they are, or tf-idf",
        )
        _add_folds(command)
    _add_table4(commands)
    for command in commands.choices.values():
        command.formatter_class = argparse.ArgumentDefaultsHelpFormatter
        _add_common(command)
    return parser


def _add_table1(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser("table1", help="synthetic data: features chosen most often")
    command.set_defaults(experiment=table1)
    command.add_argument("--sets", dest="n_sets", type=int, default=10, help="data sets for each k")
    command.add_argument("--samples", dest="n_samples", type=int, default=200, help="rows")
    command.add_argument("--features", dest="n_features", type=int, default=1000, help="columns")
    command.add_argument(
        "--relevant",
        dest="n_relevant",
        type=int,
        nargs="+",
        default=[40, 50],
        help="numbers of relevant features",
    )
    _add_sizes(command, [30, 40])
    _add_folds(command)


def _add_table4(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser("table4", help="RCV1-CCAT: approximate BSS and its rivals")
    command.set_defaults(experiment=table4)
    command.add_argument(
        "--data", type=Path, help="folder with RCV1; scikit-learn fetches it otherwise"
    )
    _add_sizes(command, [1024, 2048])
    command.add_argument(
        "--projections",
        dest="n_projections",
        type=int,
        nargs="+",
        default=[128, 256],
        help="rows of the Gaussian matrices",
    )
    command.add_argument("--draws", dest="n_draws", type=int, default=5, help="Gaussian matrices")


def _add_sizes(command: argparse.ArgumentParser, default: list[int]) -> None:
    command.add_argument(
        "-k", dest="sizes", type=int, nargs="+", default=default, help="numbers of features"
    )


def _add_folds(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--repeats", dest="n_repeats", type=int, default=10, help="cross-validations"
    )
    command.add_argument("--folds", dest="n_folds", type=int, default=10, help="folds of each")


def _add_common(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--out", type=Path, default=Path("results"), help="folder for records and tables"
    )
    command.add_argument(
        "--jobs", dest="n_jobs", type=int, default=-1, help="worker processes; -1 takes all cores"
    )
    command.add_argument("--seed", type=int, default=0, help="seed of folds and random methods")


def _stop(*_: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    # Otherwise the workers would go on by themselves.
    signal.signal(signal.SIGTERM, _stop)
    sys.exit(main())
