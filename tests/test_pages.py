"""The pages of the documentation print what they show."""

import doctest
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"


@pytest.mark.ci
@pytest.mark.parametrize("page", ["groups.md", "numbers.md", "user_guide.md"])
def test_examples_print_what_the_page_shows(page):
    path = str(DOCS / page)
    found = doctest.testfile(path, module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.attempted > 0
    assert found.failed == 0
