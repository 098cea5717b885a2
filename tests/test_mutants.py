"""The list of bugs that `make mutants` plants follows the code and the tests that it names."""

import pytest
from mutants.bugs import BUGS
from mutants.planting import PACKAGE, ROOT, planted


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_bugs_can_be_planted(bug):
    text = planted(bug, (PACKAGE / bug.file).read_text(encoding="utf-8"))
    compile(text, bug.file, "exec")
    for test in bug.tests.split():
        path, *names = test.split("::")
        source = (ROOT / path).read_text(encoding="utf-8")
        assert all(f"def {name}(" in source or f"class {name}" in source for name in names)


def test_names_are_different():
    assert len({bug.name for bug in BUGS}) == len(BUGS) >= 190
