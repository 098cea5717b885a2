"""How many threads linear algebra gets."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache

from threadpoolctl import ThreadpoolController

__all__ = ["one_thread"]


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
