"""What must not be released is seen, and what is missing too."""

from check_release import archive_faults, wheel_faults

TRACKED = ["README.md", "paper/a.py", "src/certifeature/__init__.py", "src/certifeature/py.typed"]
PACKAGE = ["certifeature/__init__.py", "certifeature/py.typed"]
ARCHIVE = [f"certifeature-0.1.0/{name}" for name in ["PKG-INFO", *TRACKED]]


def test_a_wheel_holds_the_package_and_what_describes_it():
    assert wheel_faults([*PACKAGE, "certifeature-0.1.0.dist-info/METADATA"], TRACKED) == []


def test_other_files_in_a_wheel_are_named():
    faults = wheel_faults([*PACKAGE, "paper/a.py", "certifeature/scratch.py"], TRACKED)
    assert [fault.split()[3] for fault in faults] == ["certifeature/scratch.py,", "paper/a.py,"]


def test_files_that_a_wheel_lacks_are_named():
    assert wheel_faults(PACKAGE[:1], TRACKED) == ["the wheel lacks certifeature/py.typed"]


def test_an_archive_holds_what_git_knows():
    assert archive_faults(ARCHIVE, TRACKED) == []


def test_other_files_in_an_archive_and_missing_ones_are_named():
    faults = archive_faults([*ARCHIVE[:-1], "certifeature-0.1.0/shared/X.npz"], TRACKED)
    assert faults == [
        "the archive holds shared/X.npz, which git does not know",
        "the archive lacks src/certifeature/py.typed",
    ]
