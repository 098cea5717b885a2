"""Synthetic data where the relevant features are known."""

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from certifeature._utils import as_count


def make_relevant_features(
    n_samples: int = 200,
    n_features: int = 1000,
    n_relevant: int = 40,
    *,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Make two classes that differ in the first features only, ever more from one to the next.

    The labels are -1 and +1 with equal probability. In a sample of label ``y``, the
    ``j``-th feature is ``y`` times a normal variable of mean ``-j`` and variance 1 for
    ``j = 1, ..., n_relevant``, and a standard normal variable after that.

    Parameters
    ----------
    n_samples : int, default=200
        Number of samples, at least 1.
    n_features : int, default=1000
        Number of features.
    n_relevant : int, default=40
        Number of relevant features, from 1 to `n_features`. They are the first columns.
    random_state : int, RandomState instance or None, default=None
        Source of the random numbers. An int gives the same data at each call.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features), dtype float64
        The samples.
    y : ndarray of shape (n_samples,), dtype int64
        The labels, -1 or +1.

    Raises
    ------
    ValueError
        If a size is not an integer in its range.

    See Also
    --------
    load_docstrings : Real high-dimensional data.

    Notes
    -----
    The distribution is that of [1]_. Column ``j - 1`` is the ``j``-th feature, so the best
    features are the last relevant ones: a good selector prefers columns just below
    `n_relevant`.

    References
    ----------
    .. [1] S. Paul, M. Magdon-Ismail and P. Drineas, "Feature selection for linear SVM with
       provable guarantees", Proceedings of the 18th International Conference on Artificial
       Intelligence and Statistics, PMLR 38, 735-743, 2015.

    Examples
    --------
    >>> X, y = make_relevant_features(n_samples=50, n_features=300, random_state=0)
    >>> X.shape, y.shape
    ((50, 300), (50,))
    >>> bool((y * X[:, 39] < 0).all())
    True
    """
    as_count("n_samples", n_samples)
    as_count("n_features", n_features)
    as_count("n_relevant", n_relevant, n_features)
    rng = check_random_state(random_state)
    y = rng.choice(np.array([-1, 1], dtype=np.int64), size=n_samples)
    X = rng.standard_normal(size=(n_samples, n_features))
    X[:, :n_relevant] -= np.arange(1, n_relevant + 1)
    X[:, :n_relevant] *= y[:, np.newaxis]
    return X, y
