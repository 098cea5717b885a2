import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(scope="session")
def real_data():
    """Folder of real data sets, which users do not have."""
    if not DATA.is_dir():
        pytest.skip("the real data sets are not beside this checkout")
    return DATA


def pytest_terminal_summary(terminalreporter):
    """Say plainly that nobody looked at the report in a browser."""
    skipped = terminalreporter.stats.get("skipped", [])
    n_skipped = sum("no Chromium" in str(report.longrepr) for report in skipped)
    if n_skipped:
        terminalreporter.write_line(
            f"no Chromium: {n_skipped} browser tests skipped; install Debian's chromium",
            yellow=True,
        )
