"""The ``certifeature`` command."""

from __future__ import annotations

import os
import sys
from typing import Any, cast

__all__ = ["main"]


def main() -> None:
    """Run the command; an error is one line on standard error, and exit code 2."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            # It was closed, as by >&-. What is opened next would take its place.
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115
    cast(Any, sys.stdout).reconfigure(errors="backslashreplace")
    try:
        from certifeature.cli.app import run

        code = run()
    except KeyboardInterrupt:
        sys.stderr.write("certifeature: stopped.\n")
        code = 130
    except ModuleNotFoundError as error:
        sys.stderr.write(
            f"certifeature: the command needs {error.name}: pip install 'certifeature[cli]'.\n"
        )
        code = 2
    sys.exit(code)
