"""Which loss and intercept a linear model has, and how curved the dual of its loss is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.svm import SVC, LinearSVC, LinearSVR

__all__ = ["ALL_ROWS_MATTER", "Target", "intercept_of", "loss_of", "model_name", "ridge_of"]

# The conjugate of a loss times c is so strongly convex, times 1/c. That of the hinge is not, but as
# its multipliers are no larger than c, the ridge of the squared hinge serves it nearly as well.
_CONVEXITY = {
    "hinge": 0.5,
    "squared_hinge": 0.5,
    "squared": 0.5,
    "squared_epsilon_insensitive": 0.5,
    "logistic": 4.0,
    "multinomial": 2.0,
}
# Losses that no row escapes, however well it fits.
ALL_ROWS_MATTER = ("squared", "logistic", "multinomial")


@dataclass(frozen=True)
class Target:
    """What a certificate has to know of a model, which may be any.

    Attributes
    ----------
    name : str or None
        As `model_name` returns it.
    mu : float or None
        As `ridge_of` returns it.
    hinge : bool
        Whether its loss is the hinge.
    converged : bool
        Whether it was trained to its optimum, if it was trained at all.
    """

    name: str | None = None
    mu: float | None = None
    hinge: bool = False
    converged: bool = True

    @property
    def soft_mu(self) -> float | None:
        """How strongly convex its dual is; None if it is not."""
        return None if self.hinge else self.mu


def loss_of(model: Any, n_classes: int = 2) -> str:
    """Return the name of a model's loss; "other" if only a bound for all directions covers it.

    Parameters
    ----------
    model : estimator
        Linear model.
    n_classes : int, default=2
        Number of classes that it is to tell apart.

    Examples
    --------
    >>> from sklearn.svm import LinearSVC
    >>> from certifeature.support.loss import loss_of
    >>> loss_of(LinearSVC())
    'squared_hinge'
    """
    if isinstance(model, Ridge | RidgeClassifier):
        return "squared"
    if isinstance(model, LogisticRegression):
        return "logistic" if n_classes <= 2 or model.solver == "liblinear" else "multinomial"
    if isinstance(model, LinearSVR):
        return str(model.loss)
    if isinstance(model, LinearSVC) and model.multi_class == "ovr" and model.penalty == "l2":
        return str(model.loss)
    return "hinge" if isinstance(model, SVC) else "other"


def model_name(model: Any) -> str:
    """Return a model's name with the constant that weighs its loss against the size of weights.

    Parameters
    ----------
    model : estimator
        Linear model.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from certifeature.support.loss import model_name
    >>> model_name(Ridge(alpha=10))
    'Ridge(alpha=10)'
    """
    known = model.get_params() if hasattr(model, "get_params") else {}
    constants = {name: known[name] for name in ("C", "alpha") if np.isscalar(known.get(name))}
    given = ", ".join(f"{name}={value:g}" for name, value in constants.items())
    return f"{type(model).__name__}({given})"


def intercept_of(model: Any) -> float | None:
    """Return the feature whose weight a model's intercept is, 0 if it has none, None if it is free.

    LIBLINEAR penalises the intercept as the weight of a constant feature; others do not.

    Parameters
    ----------
    model : estimator
        Linear model.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.svm import LinearSVC
    >>> from certifeature.support.loss import intercept_of
    >>> intercept_of(LinearSVC()), intercept_of(Ridge(fit_intercept=False)), intercept_of(Ridge())
    (1.0, 0.0, None)
    """
    if not getattr(model, "fit_intercept", True):
        return 0.0
    of_liblinear = isinstance(model, LinearSVC | LinearSVR)
    if of_liblinear or getattr(model, "solver", None) == "liblinear":
        return float(model.intercept_scaling)
    return None


def ridge_of(loss: str, costs: NDArray[np.float64] | None) -> float | None:
    """Return the ridge μ of the bound for a model: its conjugate is μ-strongly convex, or a hinge.

    That of ½‖w‖² + Σ cᵢ·loss is μ/max(c)-strongly convex, with μ that of the loss. Rows times the
    roots of their weights have the same μ as rows without.

    Parameters
    ----------
    loss : str
        As `loss_of` returns it.
    costs : ndarray or None
        The constants c, without weights of single rows.

    Returns
    -------
    float or None
        None if there is no such bound.

    Examples
    --------
    >>> import numpy as np
    >>> from certifeature.support.loss import ridge_of
    >>> ridge_of("squared_hinge", np.full((3, 1), 10.0))
    0.05
    """
    if loss not in _CONVEXITY or costs is None:
        return None
    return _CONVEXITY[loss] / float(costs.max())
