"""The ``certifeature`` command."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command; an error is one line on standard error, and exit code 2."""
    try:
        from certifeature.cli.app import run
    except ModuleNotFoundError as error:
        sys.stderr.write(
            f"certifeature: the command needs {error.name}: pip install 'certifeature[cli]'.\n"
        )
        sys.exit(2)
    sys.exit(run())
