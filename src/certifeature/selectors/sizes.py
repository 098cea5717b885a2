"""One selector, fitted to the same data for several numbers of features."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any

from sklearn.base import clone

from certifeature.selectors.base import BaseSelector
from certifeature.selectors.pipeline import selections_of_sizes

__all__ = ["fitted_to_sizes"]


def fitted_to_sizes(selector: Any, X: Any, y: Any, sizes: Sequence[int]) -> Iterator[Any]:
    """Yield a fitted copy of a selector for each size, just as if it were fitted by itself.

    Selectors of this library find once what does not depend on the size; others start again.

    Parameters
    ----------
    selector : selector
        With the parameter ``n_features_to_select``.
    X, y
        Data, as its ``fit`` takes them.
    sizes : sequence of int
        Numbers of features, increasing.

    Examples
    --------
    >>> from certifeature import BSSSelector
    >>> from certifeature.datasets import make_relevant_features
    >>> from certifeature.selectors.sizes import fitted_to_sizes
    >>> X, y = make_relevant_features(60, 300, 20, random_state=0)
    >>> [len(fitted.indices_) for fitted in fitted_to_sizes(BSSSelector(), X, y, [10, 20])]
    [10, 20]
    """
    # A subclass may have a fit of its own.
    if type(selector).fit is not BaseSelector.fit:
        for size in sizes:
            yield clone(selector).set_params(n_features_to_select=size).fit(X, y)
        return
    known = clone(selector).set_params(n_features_to_select=sizes[0])
    rows, method = known._admitted(X, y, None, known._checked_method(X, y))
    selections = selections_of_sizes(rows, known._request(), method, sizes)
    for size, selection in zip(sizes, selections, strict=True):
        fitted = copy(known).set_params(n_features_to_select=size)
        fitted._learn(selection)
        yield fitted
