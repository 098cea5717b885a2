from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

# make test-all asks for the thorough one.
settings.register_profile("quick", deadline=None, max_examples=25)
settings.register_profile("thorough", deadline=None, max_examples=100, derandomize=True)
settings.load_profile("quick")

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"

# Limits of size that are not in certifeature._utils. Tests know them from here only.
LIMITS = {
    "certifeature.basis.span": {"FAILURE", "_COLUMNS_AT_ONCE", "_NUMBERS_AT_ONCE", "_WIDTH"},
    "certifeature.selectors.bss": {"_FEWEST_LEADING", "_MAX_LEADING"},
    "certifeature.selectors.fit": {"_MAX_ROUNDS"},
    "certifeature.sparsify.bss": {"_FIRST_BLOCK", "_FIRST_LOOK", "_HEAD", "_SMALL_HEAD"},
}


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def small_limits(monkeypatch):
    """Return a function that sets limits by name, so that small data reach beyond them."""
    homes = {name.lstrip("_"): (home, name) for home, names in LIMITS.items() for name in names}

    def set_limits(**limits):
        for name, value in limits.items():
            home, attribute = homes.get(name, ("certifeature._utils", name))
            monkeypatch.setattr(import_module(home), attribute, value)

    return set_limits


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
