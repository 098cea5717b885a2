"""The ``certifeature`` command with its subcommands, and how it reports errors."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cache
from typing import Any

import typer

from certifeature import __version__
from certifeature.cli import commands
from certifeature.cli.doctor import doctor_command
from certifeature.cli.preparing import note

_BAD_INPUT, _STOPPED = 2, 130
_HELP = """Choose a few hundred of the original features of wide data for a linear model, with a
proven bound on how much the choice can cost.

\b
First steps:
  certifeature doctor genes.csv -t tumour          what is in a file, and what to do about it
  certifeature select genes.csv -t tumour -k 100   choose features
  certifeature select --help                       all options, with examples
"""

app = typer.Typer(
    name="certifeature",
    help=_HELP,
    invoke_without_command=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command("doctor")(doctor_command)
app.command("select")(commands.select_command)
app.command("certify")(commands.certify_command)
app.command("compare")(commands.compare_command)
app.command("demo")(commands.demo_command)


@app.callback()
def _options(
    context: typer.Context,
    version: bool = typer.Option(False, "--version", help="Show the version."),
) -> None:
    if version:
        typer.echo(f"certifeature {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(_BAD_INPUT)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("default", UserWarning)
            # The commands have a note of their own, which names the option.
            warnings.filterwarnings("ignore", ".*before features are chosen, or ignore this")
            # The same of several files is said once.
            warned = cache(note)
            warnings.showwarning = lambda message, *_, **__: warned(f"warning: {message}")
            result: Any = app(arguments, standalone_mode=False)
    except typer.TyperException as error:
        return _failed(error.format_message())
    except (typer.Abort, KeyboardInterrupt):
        result = _STOPPED
    except SystemExit as ended:
        # Typer's way to say that the program that reads its help, such as head, has stopped.
        if not isinstance(ended.__context__, BrokenPipeError):
            raise
        result = 0
    except MemoryError:
        return _failed("the memory is full; use fewer rows or columns, or a larger machine.")
    except (ValueError, ArithmeticError, OSError, ImportError) as error:
        return _failed(str(error))
    if result == _STOPPED:
        note("stopped.")
    return result if isinstance(result, int) else 0


def _failed(message: str) -> int:
    note(message)
    return _BAD_INPUT
