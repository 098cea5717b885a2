"""How many files of the package one fit goes through, and how deep its calls are nested.

``python tools/flow.py`` fits ``BSSSelector(300, order="coef")`` on the embedded docstrings and
prints both, with the files in the order in which the fit enters them. With ``--max-files`` or
``--max-depth`` it fails beyond them.
"""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import certifeature
from certifeature.datasets import load_docstrings

PACKAGE = Path(certifeature.__file__).parent

# Some versions of Python give these a frame of their own, others do not; they are no calls.
_COMPREHENSIONS = frozenset({"<dictcomp>", "<genexpr>", "<listcomp>", "<setcomp>"})


@dataclass(frozen=True)
class Flow:
    """Where a call went.

    Attributes
    ----------
    files : tuple of Path
        Files whose functions were called, in the order of the first call, relative to the folder.
    deepest : tuple of str
        The longest chain of calls within the folder, as ``file:function``, outermost first.
    """

    files: tuple[Path, ...]
    deepest: tuple[str, ...]


def follow(call: Callable[[], object], folder: Path) -> Flow:
    """Run a call and return its flow through the functions that are defined in a folder."""
    files: dict[Path, None] = {}
    chain: list[str] = []
    deepest: list[str] = []

    def note(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal deepest
        if event not in ("call", "return") or not _is_function(frame.f_code):
            return
        path = Path(frame.f_code.co_filename)
        if not path.is_relative_to(folder):
            return
        if event == "return":
            chain.pop()
            return
        path = path.relative_to(folder)
        files[path] = None
        chain.append(f"{path}:{frame.f_code.co_qualname}")
        if len(chain) > len(deepest):
            deepest = chain.copy()

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return Flow(tuple(files), tuple(deepest))


def default_fit() -> Flow:
    """Return the flow of a fit on the embedded docstrings."""
    X, y = load_docstrings(return_X_y=True)
    selector = certifeature.BSSSelector(300)
    return follow(lambda: selector.fit(X, y), PACKAGE)


def _is_function(code: CodeType) -> bool:
    """Tell functions from comprehensions and from the bodies of modules and classes."""
    return bool(code.co_flags & inspect.CO_OPTIMIZED) and code.co_name not in _COMPREHENSIONS


def main() -> int:
    """Print the flow of a fit and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--max-files", type=int, help="fail if the fit goes through more files")
    parser.add_argument("--max-depth", type=int, help="fail if its calls are nested deeper")
    arguments = parser.parse_args()

    flow = default_fit()
    counts = f"{len(flow.files)} files, calls nested {len(flow.deepest)} deep"
    print(f"BSSSelector(300).fit: {counts}")
    print("\nfiles, in the order in which they are entered:")
    print(*(f"  {path}" for path in flow.files), sep="\n")
    print("\nthe longest chain of calls:")
    print(*(f"  {depth:2}  {name}" for depth, name in enumerate(flow.deepest, 1)), sep="\n")

    failed = False
    for counted, bar, words in (
        (len(flow.files), arguments.max_files, "files"),
        (len(flow.deepest), arguments.max_depth, "nested calls"),
    ):
        if bar is not None and counted > bar:
            print(f"\ntoo many {words}: {counted}, and at most {bar} are allowed", file=sys.stderr)
            failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
