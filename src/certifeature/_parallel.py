"""Work that processes share, counted as it is done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from joblib import Parallel
from joblib.parallel import get_active_backend

from certifeature._progress import listed

__all__ = ["in_parallel"]


def in_parallel(
    calls: Sequence[Any], name: str, *, n_jobs: int | None, backend: str | None = None
) -> list[Any]:
    """Return the results of calls, in their order.

    Parameters
    ----------
    calls : sequence
        Made by `joblib.delayed`.
    name : str
        What the calls are, for whoever listens to the progress.
    n_jobs : int or None
        Number of processes.
    backend : str, default=None
        Of joblib; None leaves the choice to the user.
    """
    # All but multiprocessing hand results out one by one.
    one_by_one = backend is not None or get_active_backend()[0].supports_return_generator
    results = Parallel(n_jobs, backend=backend, return_as="generator" if one_by_one else "list")
    return listed(results(calls), name, len(calls))
