"""Check what would be released: the files in it, and that it works where nothing else is.

``python tools/check_release.py DIST`` looks at the wheel and the source archive in a folder. The
wheel must hold the package and nothing else, the archive nothing that git does not know. Each is
installed into an environment of its own: the archive without extras, where a selector must work;
the wheel with the command line, where ``certifeature demo`` must write its report.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = "src/"
PACKAGE = "src/certifeature/"

_FIT = """
import numpy as np, certifeature
X = np.random.default_rng(0).normal(size=(20, 50))
assert certifeature.BSSSelector(30).fit(X, X[:, 0] > 0).transform(X).shape[1] <= 30
print(certifeature.__file__)
"""


def wheel_faults(names: Iterable[str], tracked: Iterable[str]) -> list[str]:
    """Return what a wheel has too much or lacks, beside the package that git knows."""
    package = {name.removeprefix(SOURCE) for name in tracked if name.startswith(PACKAGE)}
    held = {name for name in names if ".dist-info/" not in name}
    return [
        *(
            f"the wheel holds {name}, which is not in the package"
            for name in sorted(held - package)
        ),
        *(f"the wheel lacks {name}" for name in sorted(package - held)),
    ]


def archive_faults(names: Iterable[str], tracked: Iterable[str]) -> list[str]:
    """Return what a source archive has that git does not know, and what it lacks of the package."""
    known = set(tracked)
    package = {name for name in known if name.startswith(PACKAGE)}
    held = {name.split("/", 1)[1] for name in names} - {"PKG-INFO"}
    return [
        *(f"the archive holds {name}, which git does not know" for name in sorted(held - known)),
        *(f"the archive lacks {name}" for name in sorted(package - held)),
    ]


def main() -> int:
    """Check the files of a folder and return the exit code."""
    if len(sys.argv) != 2:
        sys.exit("usage: check_release.py DIST, the folder with one wheel and one source archive")
    dist = Path(sys.argv[1]).resolve()
    wheel, archive = _only(dist, "*.whl"), _only(dist, "*.tar.gz")
    tracked = subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).splitlines()
    with zipfile.ZipFile(wheel) as file:
        names = [name for name in file.namelist() if not name.endswith("/")]
    with tarfile.open(archive) as file:
        archived = [member.name for member in file.getmembers() if member.isfile()]
    faults = wheel_faults(names, tracked) + archive_faults(archived, tracked)
    if faults:
        print(*faults, sep="\n", file=sys.stderr)
        return 1
    print(f"{wheel.name}: {len(names)} files", *(f"  {name}" for name in sorted(names)), sep="\n")
    print(f"{archive.name}: {len(archived)} files, all known to git")
    with tempfile.TemporaryDirectory() as scratch:
        _try_library(str(archive), Path(scratch) / "library")
        _try_command(f"{wheel}[cli]", Path(scratch) / "command")
    return 0


def _try_library(requirement: str, folder: Path) -> None:
    _install(requirement, folder)
    origin = _run(folder, "python", "-c", _FIT).strip()
    if not Path(origin).is_relative_to(folder):
        sys.exit(f"{origin} was imported, not what had been installed into {folder}")
    print("the source archive installs without extras, and a selector fits")


def _try_command(requirement: str, folder: Path) -> None:
    _install(requirement, folder)
    print(_run(folder, "certifeature", "demo", "--report", "demo.html"))
    if "<html" not in (folder / "demo.html").read_text(encoding="utf-8"):
        sys.exit("certifeature demo wrote no report")
    print("the wheel installs, and certifeature demo writes its report")


def _install(requirement: str, folder: Path) -> None:
    venv.create(folder, with_pip=True)
    _run(folder, "python", "-m", "pip", "install", "--quiet", requirement)


def _run(folder: Path, program: str, *arguments: str) -> str:
    """Run a program of an environment, in its folder, out of reach of this checkout."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [str(folder / "bin" / program), *arguments]
    done = subprocess.run(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}")
    return done.stdout


def _only(folder: Path, pattern: str) -> Path:
    found = list(folder.glob(pattern))
    if len(found) != 1:
        sys.exit(f"{folder} holds {len(found)} files {pattern}; one is needed: empty it and build")
    return found[0]


if __name__ == "__main__":
    sys.exit(main())
