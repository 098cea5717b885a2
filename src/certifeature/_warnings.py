"""Warnings that point at the line of the user's which led to them."""

from __future__ import annotations

import sys
import warnings

__all__ = ["warn"]

# What may lie between that line and the one that warns: scikit-learn wraps `fit`, and calls it from
# pipelines and searches.
_BETWEEN = frozenset({"certifeature", "contextlib", "functools", "joblib", "sklearn"})


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn of something at the innermost line that is not of this library or of one between."""
    frame = sys._getframe(1)
    while frame.f_back is not None and _package(frame.f_globals) in _BETWEEN:
        frame = frame.f_back
    names = frame.f_globals
    warnings.warn_explicit(
        message,
        category,
        frame.f_code.co_filename,
        frame.f_lineno,
        names.get("__name__"),
        names.setdefault("__warningregistry__", {}),
    )


def _package(names: dict[str, object]) -> str:
    return str(names.get("__name__", "")).partition(".")[0]
