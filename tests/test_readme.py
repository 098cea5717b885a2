"""The README says what the code does."""

import io
import re
from contextlib import redirect_stdout
from pathlib import Path

import pytest
import scipy
import sklearn

README = Path(__file__).resolve().parents[1] / "README.md"


@pytest.mark.ci
def test_example_prints_what_the_readme_shows():
    text = README.read_text(encoding="utf-8")
    code, output = re.search(r"```python\n(.*?)```\s+```text\n(.*?)```", text, re.DOTALL).groups()
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(code, str(README), "exec"), {})
    assert len(printed.getvalue().splitlines()) == len(output.splitlines())
    shown = re.search(r"\(SciPy ([\d.]+), scikit-learn ([\d.]+)\)", text).groups()
    if shown != (scipy.__version__, sklearn.__version__):
        pytest.skip(f"the README's figures belong to SciPy and scikit-learn {shown}")
    assert printed.getvalue() == output
