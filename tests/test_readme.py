"""The README says what the code does."""

import io
import re
from contextlib import redirect_stdout
from pathlib import Path

import pytest
import sklearn
from sklearn.utils.fixes import parse_version

README = Path(__file__).resolve().parents[1] / "README.md"


@pytest.mark.ci
@pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.9"),
    reason="the README shows what scikit-learn 1.9 prints",
)
def test_example_prints_what_the_readme_shows():
    text = README.read_text(encoding="utf-8")
    code, output = re.search(r"```python\n(.*?)```\s+```text\n(.*?)```", text, re.DOTALL).groups()
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(code, str(README), "exec"), {})
    assert printed.getvalue() == output
