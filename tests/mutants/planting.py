"""Copies of the package, and bugs in them."""

import shutil
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "certifeature"


class Bug(NamedTuple):
    """A line that is wrong in one place, and the tests that ought to notice.

    Attributes
    ----------
    name : str
        What is wrong.
    file : str
        Path within the package.
    before, after : str
        Text that occurs in the file exactly once, and what stands in its place.
    tests : str
        Test files, or single tests, with blanks between them.
    """

    name: str
    file: str
    before: str
    after: str
    tests: str


def copied(package, folder):
    """Return the path of a copy of a package in a folder."""
    return shutil.copytree(package, folder / package.name)


def planted(bug, text):
    """Return the text of a file with a bug in it, or raise."""
    n_places = text.count(bug.before)
    if n_places != 1:
        raise ValueError(f"{bug.file} has {bug.before!r} {n_places} times, and not once")
    if bug.before == bug.after:
        raise ValueError(f"{bug.name} changes nothing")
    return text.replace(bug.before, bug.after)


def plant(bug, package):
    """Put a bug into a copy of the package."""
    path = package / bug.file
    path.write_text(planted(bug, path.read_text(encoding="utf-8")), encoding="utf-8")
    # Compiled code that was copied counts as current if its source was written in the same second.
    for compiled in path.parent.glob(f"__pycache__/{path.stem}.*"):
        compiled.unlink()
