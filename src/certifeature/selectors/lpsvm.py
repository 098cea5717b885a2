"""Selection by the sparse weights of a 1-norm SVM."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.utils._param_validation import Interval
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from certifeature._utils import warn
from certifeature.models import feature_weights
from certifeature.rows.matrix import canonical_csr, refuse_dates
from certifeature.rows.rows import Rows, one_dimensional, warn_if_unscaled
from certifeature.selectors.base import CertifiedSelector, fitting
from certifeature.sparsify.lpsvm import lpsvm


class LPSVMSelector(CertifiedSelector):
    r"""Choose the features to which a 1-norm SVM gives weight.

    The weights minimise ‖w‖₁ + C Σ max(0, 1 − yᵢ(xᵢ·w + b)), which leaves most of them at zero;
    how many are not is for C and the data to say. More than two classes make one problem for each
    class against the rest, and a feature is chosen if it has weight in any of them.

    Parameters
    ----------
    C : float, default=1.0
        Price of slack; the larger, the more features.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights, in one row for two classes.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    indices_ : ndarray of shape (n_chosen,)
        Chosen features, those of largest weight first; over several classes the norm counts.
    duality_gap_ : float
        Share of its objective that the worst solved problem can be above the optimum.
    n_iter_ : int
        Number of iterations of the solver, over all problems.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where X has string column names.

    See Also
    --------
    certifeature.sparsify.lpsvm : The solver, for one problem.
    certifeature.certify : What this selection can cost; it promises nothing by itself.

    Notes
    -----
    Columns are not scaled first, and a column of large values needs less weight for the same
    effect, so the choice depends on the scale of each. Of equal columns one is chosen.

    References
    ----------
    .. [1] G. Fung and O. Mangasarian, *A Feature Selection Newton Method for Support Vector
           Machine Classification*, Computational Optimization and Applications, 2004.

    Examples
    --------
    >>> from certifeature import LPSVMSelector
    >>> from certifeature.datasets import make_relevant_features
    >>> X, y = make_relevant_features(200, 1000, 40, random_state=0)
    >>> selector = LPSVMSelector(C=0.1).fit(X, y)
    >>> selector.transform(X).shape[1] < 200
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": [Interval(Real, 0, None, closed="neither")]
    }

    def __init__(self, C: float = 1.0) -> None:
        self.C = C

    def fit(self, X: Any, y: Any) -> Self:
        """Choose features.

        Parameters
        ----------
        X : {array-like, sparse array or matrix} of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,)
            Class labels.

        Returns
        -------
        self : object
            Fitted selector.
        """
        with fitting(self) as fitted:
            fitted._solve(X, y)
        return self

    def _solve(self, X: Any, y: Any) -> None:
        """Solve a problem for each class, or the only one of two, and choose what has weight."""
        self._validate_params()
        if y is not None:
            # Without labels, scikit-learn says what is missing.
            y = one_dimensional(y)
        refuse_dates(X)
        X, y = validate_data(self, X, y, dtype=np.float64, accept_sparse="csr")
        check_classification_targets(y)
        if sparse.issparse(X):
            X = canonical_csr(X)
        warn_if_unscaled(Rows(X))
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise ValueError(
                f"y has one class only, {self.classes_[0]!r}; an SVM needs at least two. "
                "Pass rows of both classes."
            )
        positive = self.classes_[1:] if len(self.classes_) == 2 else self.classes_
        solutions = [lpsvm(X, np.where(y == label, 1.0, -1.0), self.C) for label in positive]
        self.coef_ = np.array([solution.coef for solution in solutions])
        self.intercept_ = np.array([solution.intercept for solution in solutions])
        self.duality_gap_ = max(solution.gap for solution in solutions)
        self.n_iter_ = sum(solution.n_iterations for solution in solutions)
        chosen = np.flatnonzero(self.coef_.any(axis=0))
        if not chosen.size:
            warn(
                f"C={self.C} is so small that no feature has weight, and none is chosen. "
                "Raise C, or give the columns of X larger values."
            )
        # Of equal weights, the lower index comes first.
        self.indices_ = chosen[np.argsort(-feature_weights(self)[chosen], kind="stable")]
