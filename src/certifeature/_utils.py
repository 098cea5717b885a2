"""Limits on memory, threads and processes, checks of parameters, and warnings."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from functools import cache
from importlib import import_module
from numbers import Integral, Real
from typing import Any

import numpy as np
from joblib import Parallel
from joblib.parallel import get_active_backend
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from certifeature._progress import listed

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
EPS = float(np.finfo(np.float64).eps)
# Below it numbers lose digits. A sum of products loses less than this to underflow, for each.
TINY = float(np.finfo(np.float64).tiny)

# An array held as a whole: V where it is exact, a tall matrix made dense.
MAX_ARRAY = 2**28
# Beyond it V is made row by row, where the rows of X are fewer than the features.
MAX_VECTORS = 2**26
# Coordinates of features that BSS has on its list, or as many as V has itself.
MAX_LISTED = 2**27
# Rows, columns or directions up to which a matrix of inner products is decomposed as a whole; up to
# where that takes no longer than a fit.
MAX_GRAM = 4096
MAX_QUICK_GRAM = 512
# The same for a basis that was not asked to be exact.
MAX_GRAM_UNASKED = 2000
# Sparse rows that are made dense together, and rows of V that are made together, in the cache.
ROWS_AT_ONCE = 2**24
VECTORS_AT_ONCE = 2**18
# Values whose magnitudes are summed together.
SAFE_ROWS_AT_ONCE = 2**22
# Rows in memory that are handed on as one block.
BLOCK_BYTES = 2**26


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def one_thread() -> AbstractContextManager[object]:
    """Return a context in which BLAS has one thread.

    Thousands of products of small matrices gain nothing from more, and lose much where other work
    wants the cores: threads then wait for each other at every product.
    """
    context: AbstractContextManager[object] = _controller().limit(limits=1, user_api="blas")
    return context


def in_parallel(calls: Sequence[Any], name: str, *, n_jobs: int | None) -> list[Any]:
    """Return the results of calls, in their order.

    Parameters
    ----------
    calls : sequence
        Made by `joblib.delayed`.
    name : str
        Name of the calls in progress reports.
    n_jobs : int or None
        Number of processes.
    """
    # All but multiprocessing hand results out one by one.
    one_by_one = get_active_backend()[0].supports_return_generator
    results = Parallel(n_jobs, return_as="generator" if one_by_one else "list")
    return listed(results(calls), name, len(calls))


def as_count(name: str, value: Any, n_features: int | None = None) -> int:
    """Return a positive integer as an int; it may be limited by the number of features."""
    most = value if n_features is None else n_features
    if not isinstance(value, Integral) or isinstance(value, bool) or not 1 <= int(value) <= most:
        limit = "" if n_features is None else f" up to {n_features}, the number of features"
        raise ValueError(f"{name} must be a positive integer{limit}; got {value!r}.")
    return int(value)


def one_each(name: str, values: Any, count: int, what: str) -> FloatArray:
    """Return an array of numbers with one value for each of so many rows, features or the like."""
    values = np.asarray(values, dtype=np.float64)
    if values.shape != (count,):
        needed = f"{name} must have one value for each of the {count} {what}"
        raise ValueError(f"{needed}; got shape {values.shape}.")
    return np.asarray(values)


def as_positive(name: str, value: Any) -> float:
    """Return a finite positive number as a float."""
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < float(value) < np.inf:
        raise ValueError(f"{name} must be a finite positive number; got {value!r}.")
    return float(value)


def check_choice(name: str, value: Any, choices: Collection[Any]) -> None:
    """Raise unless the value is one of the choices."""
    if not isinstance(value, str | bool | np.bool_) or value not in choices:
        allowed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {allowed}; got {value!r}.")


def require(module: str, use: str, extra: str) -> Any:
    """Import a module of an optional dependency, or say how to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        needed = f"{use} need {module.partition('.')[0]}"
        raise ImportError(f"{needed}: pip install 'certifeature[{extra}]'.") from error


# Packages whose frames are skipped: scikit-learn wraps `fit`, and calls it from pipelines and
# searches.
_BETWEEN = frozenset({"certifeature", "contextlib", "functools", "joblib", "sklearn"})


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the innermost line of the stack that belongs to the user's code."""
    frame = sys._getframe(1)
    while frame.f_back and str(frame.f_globals.get("__name__")).split(".")[0] in _BETWEEN:
        frame = frame.f_back
    names, file, line = frame.f_globals, frame.f_code.co_filename, frame.f_lineno
    registry = names.setdefault("__warningregistry__", {})
    warnings.warn_explicit(message, category, file, line, names.get("__name__"), registry)
