"""The pages of the documentation print what they show."""

import doctest
from pathlib import Path

import pytest
import sklearn
from sklearn.utils.fixes import parse_version

DOCS = Path(__file__).resolve().parents[1] / "docs"


@pytest.mark.ci
@pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.9"),
    reason="pages show what scikit-learn 1.9 prints; older versions shuffle groups in another way",
)
@pytest.mark.parametrize("page", ["groups.md", "numbers.md", "user_guide.md"])
def test_examples_print_what_the_page_shows(page):
    path = str(DOCS / page)
    found = doctest.testfile(path, module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.attempted > 0
    assert found.failed == 0
