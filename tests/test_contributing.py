"""CONTRIBUTING.md's tables are the tree and the Makefile: what moves there moves here."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def first_column(heading):
    """Return the names in backticks in the first column of the table under a column heading."""
    table = re.search(rf"^\| {heading} \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", TEXT, re.MULTILINE)
    names = [name for row in table[1].splitlines() for name in re.findall("`(.+?)`", cell(row))]
    assert len(names) == len(set(names)), f"twice in the table of CONTRIBUTING.md: {names}"
    return set(names)


def cell(row):
    return row.split("|")[1]


def test_subpackages_are_those_of_the_package():
    folders = {f"{path.parent.name}/" for path in (ROOT / "src/certifeature").glob("*/__init__.py")}
    modules = {path.name for path in (ROOT / "src/certifeature").glob("*.py")}
    assert first_column("subpackage") == folders | modules - {"__init__.py", "__main__.py"}


def test_folders_are_those_beside_the_package():
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    folders = {f"{path.name}/" for path in ROOT.iterdir() if path.is_dir()}
    visible = {name for name in folders if not name.startswith(".")}
    assert first_column("folder") == visible - {"src/"} - set(ignored)


def test_commands_are_those_of_the_makefile():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)[1].split()
    assert first_column("command") == {f"make {target}" for target in targets}
