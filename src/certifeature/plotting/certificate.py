"""The layers of certificates against the number of features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import compress
from typing import Any, Self

import numpy as np

from certifeature._progress import as_one_task, listed
from certifeature._utils import as_count
from certifeature.certificate import Certificate
from certifeature.certificate.certificate import measured_probability
from certifeature.certificate.certify import certificates_of
from certifeature.plotting import _axes
from certifeature.selectors.base import fitted_to_sizes

# What each layer is proven for, and with which probability.
_LAYERS: dict[str, tuple[str, Callable[[Certificate], float]]] = {
    "realised": ("for these labels", lambda _: 1.0),
    "measured": ("for any labels", measured_probability),
    "promised": ("beforehand", lambda c: 1.0 if c.a_priori is None else c.a_priori.probability),
}


class CertificateDisplay:
    """Growth of the training objective by number of features: realised, measured and promised.

    Growth is the ratio of the objective with the chosen features to that with all features, on a
    logarithmic axis; at 1 nothing is lost. Realised is the ratio for the labels at hand; measured
    an upper bound for any labels; promised, where the method has a theorem, one that was known
    beforehand. For a hard margin the objective is 1/margin². Values that are infinite (no promise
    for so few features, no bound without a ridge) or were not computed are left out, and the legend
    counts them.

    Parameters
    ----------
    certificates : sequence of Certificate
        By increasing number of features.

    Attributes
    ----------
    n_features : ndarray of shape (n_certificates,)
        Numbers of features chosen.
    layers : dict of str to ndarray of shape (n_certificates,)
        "realised" and "measured", and "promised" if anything is: the growth that each states;
        infinite where it sets no limit, and NaN where it was not computed.
    ax_ : matplotlib Axes
        Axes with the curves.
    figure_ : matplotlib Figure
        Figure with the axes.
    lines_ : dict of str to matplotlib Line2D
        The curve of each layer.
    legend_ : matplotlib Legend
        The legend.

    See Also
    --------
    certifeature.certify : Makes the certificates.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from certifeature import BSSSelector
    >>> from certifeature.datasets import make_relevant_features
    >>> X, y = make_relevant_features(60, 300, 20, random_state=0)
    >>> display = CertificateDisplay.from_estimator(BSSSelector(), X, y, [40, 80])
    >>> bool((display.layers["measured"] >= display.layers["realised"]).all())
    True
    >>> display.ax_.get_xlabel()
    'number of features chosen'
    >>> plt.close(display.figure_)
    """

    def __init__(self, certificates: Sequence[Certificate]) -> None:
        if not certificates:
            raise ValueError("there are no certificates; give at least one.")
        self.certificates = tuple(certificates)
        self.n_features = np.array([c.n_selected for c in certificates])
        self.layers = {
            name: np.array([getattr(c, f"{name}_growth") for c in certificates], dtype=np.float64)
            for name in _LAYERS
            if name != "promised" or any(c.a_priori for c in certificates)
        }

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        sizes: Sequence[int],
        *,
        realised: bool = True,
        ax: _axes.Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Select features for each size, certify the selections, and plot the certificates.

        What does not depend on the size is computed once: the model on all features and its
        objective, the basis of its rows and the ranking of the features. Selectors of other
        libraries are fitted again for each size.

        Parameters
        ----------
        estimator : selector
            With the parameter ``n_features_to_select``; copies of it are fitted. Its callbacks, if
            it has any, report the sizes that are done:
            ``BSSSelector().set_callbacks(ProgressBar())`` shows a bar.
        X : {array-like, sparse array or matrix} of shape (n_samples, n_features)
            Data.
        y : array-like of shape (n_samples,) or None
            Class labels; None for a selector with ``supervised=False`` only.
        sizes : sequence of int
            Numbers of features, increasing.
        realised : bool, default=True
            Whether to compute the realised growth too, which takes a few fits for each size.
        ax : matplotlib Axes, default=None
            Axes to draw in; None makes a figure.
        **kwargs : dict
            Passed to :meth:`plot`.

        Returns
        -------
        CertificateDisplay
            The plot.
        """
        _axes.require_matplotlib()
        if "n_features_to_select" not in estimator.get_params(deep=False):
            name = f"{type(estimator).__name__} has no parameter n_features_to_select"
            raise ValueError(f"{name}; certify its selections, and plot CertificateDisplay(them).")
        sizes = [as_count("each of sizes", size) for size in sizes]
        if not sizes or sizes != sorted(set(sizes)):
            raise ValueError(f"sizes must increase, and at least one is needed; got {sizes}.")

        def certified(selector: Any) -> list[Certificate]:
            fitted = fitted_to_sizes(selector, X, y, sizes)
            found = certificates_of(fitted, X, y, realised=realised)
            return listed(found, "sizes", len(sizes))

        return cls(as_one_task(estimator, "certificates", certified)).plot(ax, **kwargs)

    def plot(self, ax: _axes.Axes | None = None, **kwargs: Any) -> Self:
        """Draw the layers.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw in; None makes a figure.
        **kwargs : dict
            Passed to :meth:`matplotlib.axes.Axes.plot` for each layer.

        Returns
        -------
        CertificateDisplay
            The display itself.
        """
        self.ax_ = _axes.axes_for(ax)
        self.figure_ = self.ax_.figure
        curves = {}
        for place, (name, growth) in enumerate(self.layers.items()):
            style = {"color": _axes.COLOURS[place], "marker": _axes.MARKERS[place], "markersize": 5}
            curves[name] = (self.n_features, growth, style | {"label": self._label(name)})
        self.lines_ = _axes.plot_growth(self.ax_, curves, kwargs)
        self.ax_.set_ylabel("growth of the training objective (times)")
        _axes.label_numbers(self.ax_, self.n_features)
        self.legend_ = _axes.add_legend(self.ax_)
        return self

    def _label(self, name: str) -> str:
        """Return what a layer is proven for, with its lowest probability where that is below 1."""
        label, probability = _LAYERS[name]
        stated = compress(self.certificates, self.layers[name] < np.inf)
        lowest = min(map(probability, stated), default=1.0)
        label = f"{name}, {label}"
        return label if lowest == 1 else f"{label}\n(probability {lowest:g})"
