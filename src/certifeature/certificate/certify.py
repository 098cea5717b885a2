"""Certificates of choices of columns, by whatever method."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from joblib import hash as digest
from sklearn.pipeline import Pipeline

from certifeature._utils import check_choice, warn
from certifeature.certificate.all_rows import unproven_rows
from certifeature.certificate.certificate import Certificate
from certifeature.certificate.measured import Measurable
from certifeature.certificate.optimality import optimality_of
from certifeature.certificate.realised import FullModel
from certifeature.evaluation.new_data import new_data_errors, up_to_selector
from certifeature.models.problem import check_model, default_model, predicts_numbers
from certifeature.models.support import Support, every_row, find_support
from certifeature.rows.rows import Rows, as_rows, warn_if_unscaled
from certifeature.sparsify.choice import ColumnChoice, as_column_choice


class Certifier:
    """Certifies choices of columns for one model and the rows that determine it.

    The model on all columns is trained once, and its objective, margin and radius are computed
    once, however many choices are certified.

    Parameters
    ----------
    support : Support
        The rows and the model.
    kind : {"support", "all"}
        Which rows of the data they are.
    all_rows : Rows or None, default=None
        The rows among which the support vectors were found, if they are at hand.
    """

    def __init__(self, support: Support, kind: str, all_rows: Rows | None = None) -> None:
        self.support, self.all_rows, self._kind = support, all_rows, kind
        self._full_model = FullModel(support)

    @classmethod
    def of_data(cls, X: Any, y: Any, estimator: Any, rows: str, fitted: Any = None) -> Certifier:
        """Train the model, unless a selector that was fitted to the same data has done so.

        Parameters
        ----------
        X, y, estimator, rows
            As `certify` takes them.
        fitted : selector, default=None
            A fitted selector.
        """
        if estimator is not None:
            check_model(estimator)
        all_rows = as_rows(X, y, real_valued=predicts_numbers(estimator, y))
        if rows == "all":
            model = default_model(all_rows.y) if estimator is None else estimator
            return cls(every_row(all_rows, model), "all", all_rows)
        if y is None and not all_rows.in_blocks:
            raise ValueError("y is None: certify support vectors with labels, or use rows='all'.")
        support = _support_found_by(fitted, all_rows, estimator) or find_support(
            all_rows, estimator
        )
        return cls(support, support.kind, all_rows)

    def columns_of(self, selection: Any, weights: Any = None) -> ColumnChoice:
        """Return the columns and scales of a selection from the rows."""
        rows = self.support.rows if self.all_rows is None else self.all_rows
        return as_column_choice(
            selection, rows.n_features, weights=weights, feature_names=rows.feature_names
        )

    def certificate(
        self,
        columns: ColumnChoice,
        selector: Any = None,
        *,
        realised: bool = True,
        optimality: bool = False,
    ) -> Certificate:
        """Return the certificate of a choice.

        Parameters
        ----------
        columns : ColumnChoice
            Chosen columns and their scales.
        selector : selector, default=None
            The fitted selector that made the choice, whose certificate is taken over if it is for
            the same rows and the same model.
        realised : bool, default=True
            Whether to compute the objectives, margins and radii too.
        optimality : bool, default=False
            Whether to compare with all other sets of as many columns, and if ``realised`` with
            random ones.
        """
        known: Any = getattr(selector, "fit_result_", None)
        support = getattr(known, "support", None)
        if optimality:
            groups = None if known is None else known.groups
            closeness = optimality_of(self.support, columns, groups, self.all_rows)
            proven = self.certificate(columns, selector, realised=realised)
            growth = self.random_growth(len(columns.indices)) if realised else None
            return replace(proven, optimality=closeness, random_growth=growth)
        columns = self.support.at_own_scale(columns)
        if support and known.certificate.exact and support.rows is self.support.rows:
            certificate: Certificate = known.certificate
        else:
            certificate = self._measurable.certificate(columns)
        if not realised:
            return certificate
        if certificate.rows == "support" and self.all_rows is not None:
            unproven = unproven_rows(self.support, columns, self.all_rows)
            certificate = replace(certificate, covers_all_rows=not unproven.size)
        return certificate.with_realised(self._full_model.realised(columns, certificate))

    def random_growth(self, n_chosen: int) -> float | None:
        """Return the measured growth of so many random columns; None for all, and for blocks."""
        rows, given = self.support.rows, self.all_rows
        if rows.in_blocks or n_chosen == rows.n_features:
            return None
        # Wherever rows and columns stand, the same ones are drawn.
        ranked = rows.written_out() if given is None or given.in_blocks else given
        by_values = np.argsort(ranked.column_ranks, kind="stable")
        drawn = by_values[np.random.default_rng(0).permutation(rows.n_features)[:n_chosen]]
        columns = self.support.at_own_scale(ColumnChoice(drawn, np.ones(n_chosen)))
        return self._measurable.certificate(columns).measured_growth

    @cached_property
    def _measurable(self) -> Measurable:
        return Measurable.of_support(self.support, self._kind)


def certificates_of(
    selectors: Iterable[Any], X: Any, y: Any, *, realised: bool
) -> Iterator[Certificate]:
    """Yield the certificates of copies of one selector that were fitted to the same data.

    Parameters
    ----------
    selectors : iterable of selectors
        Selectors that may differ in the number of features that they choose.
    X, y
        The data.
    realised : bool
        Whether to compute the objectives, margins and radii too.
    """
    certifier: Certifier | None = None
    for selector in selectors:
        result = getattr(selector, "fit_result_", None)
        support = result.support if result and result.certificate.exact else None
        if support and (certifier is None or certifier.support.rows is not support.rows):
            certifier = Certifier(support, support.kind)
        elif certifier is None:
            which = "support" if getattr(selector, "supervised", True) else "all"
            certifier = Certifier.of_data(X, y, _model_of(selector), which)
        yield certifier.certificate(certifier.columns_of(selector), selector, realised=realised)


def _model_of(selector: Any) -> Any:
    """Return the unfitted model that a selector of this library chose for; None for any other."""
    if not hasattr(selector, "scales_"):
        return None
    support = getattr(selector.fit_result_, "support", None)
    return support.asked if selector.estimator is None and support else selector.estimator


def _support_found_by(selector: Any, rows: Rows, estimator: Any) -> Support | None:
    """Return the support that a selector found, if it was fitted to these rows and this model."""
    result: Any = getattr(selector, "fit_result_", None)
    support: Support | None = getattr(result, "support", None)
    if support is None or rows.in_blocks or result.fingerprint != rows.fingerprint:
        return None
    asked = default_model(rows.y) if estimator is None else estimator
    return support if _is_like(support.asked, asked) else None


def _is_like(model: Any, other: Any) -> bool:
    """Tell whether two models are of one class with equal parameters, which a repr may shorten."""
    return type(model) is type(other) and digest(model.get_params()) == digest(other.get_params())


def certify(
    X: Any,
    y: Any = None,
    selection: Any = None,
    *,
    weights: Any = None,
    estimator: Any = None,
    rows: str = "support",
    realised: bool = True,
    optimality: bool = True,
    cv: Any = None,
    n_repeats: int | None = None,
    groups: Any = None,
    n_jobs: int | None = None,
) -> Certificate:
    """Certify what a selection of features can cost a linear model.

    ``certify(selector)`` goes on from what a fitted selector of this library knows, and trains
    nothing again; ``certify(X, y, selection)`` takes a selection by anything.

    Parameters
    ----------
    X : array-like, sparse array or matrix, data frame, of shape (n_samples, n_features), or blocks
        Data with all features; or a fitted selector of this library, alone. Above 4,096 rows and
        as many features, only the bound for the model at hand is computed, by products with the
        rows. For all rows of blocks (a Dask collection or `certifeature.rows.RowBlocks`) that takes
        26 passes, and one more where the number of rows is not known.
    y : array-like of shape (n_samples,) or None
        Class labels; may be None with ``rows="all"``, and must be with row blocks, which bring them
        along.
    selection : selector, or array-like
        A fitted selector of this library or of scikit-learn (anything with ``get_support``), a
        boolean mask, indices, or names of columns of a data frame. Or a fitted pipeline that ends
        with a selector, or with a selector and a model, which is ignored: the rows are those that
        the steps before the selector make of X, and in folds these steps are fitted anew.
    weights : array-like of shape (n_selected,), default=None
        Positive scales of the selected features, in the order of ``selection``. None takes the
        scales of a selector of this library, and plain columns otherwise.
    estimator : estimator, default=None
        The linear model whose rows, loss and C count, one of those that `BSSSelector` takes. None
        takes that of a selector of this library, or else the default of `BSSSelector`.
    rows : {"support", "all"}, default="support"
        Certify for the support vectors of the SVM on all features, or for all rows.
    realised : bool, default=True
        Whether to compute objectives, margins and radii with the chosen and with all features,
        which is what is proven for the labels at hand. It takes a few fits. Margins, radii and the
        hinge loss are skipped above 4,096 rows, and everything for all rows of blocks.
    optimality : bool, default=True
        Whether to bound how much better any other selection of as many features could be, by the
        training objective for the labels at hand, and if ``realised`` to compare the bound for any
        labels with that of random columns. It takes a few fits, and is skipped for the hinge loss
        above 4,096 rows and for all rows of blocks.
    cv : int, cross-validation generator or iterable, default=None
        Folds in which to estimate the error on new data, with the chosen and with all features; see
        `certifeature.evaluation.new_data_errors`. Features are chosen anew in every fold, for the
        true and for shuffled labels, so ``selection`` must be a selector or a pipeline. None
        estimates nothing.
    n_repeats : int, default=None
        Number of cross-validations, each with other folds, where ``cv`` is a number. None takes ten
        for up to 200 rows, and fewer for more: 2,000 over their number.
    groups : array-like of shape (n_samples,), default=None
        Group of each row, such as a patient; a number of folds keeps the rows of a group together.
    n_jobs : int, default=None
        Number of processes for the folds, on which the result does not depend.

    Returns
    -------
    Certificate
        What is proven for the labels at hand, for any labels of these rows, and, by some methods,
        beforehand. These nest: none is below the one before it.

    Examples
    --------
    Scikit-learn's RFE, certified:

    >>> from sklearn.feature_selection import RFE
    >>> from sklearn.svm import SVC
    >>> from certifeature import certify
    >>> from certifeature.datasets import make_relevant_features
    >>> X, y = make_relevant_features(100, 500, 20, random_state=0)
    >>> rfe = RFE(SVC(kernel="linear"), n_features_to_select=60, step=0.2).fit(X, y)
    >>> certificate = certify(X, y, rfe)
    >>> 0 < certificate.realised_growth <= certificate.measured_growth < 10
    True

    What it proves is about training rows; cross-validation estimates the error on new ones:

    >>> new_data = certify(X, y, rfe, cv=5, n_repeats=1).new_data
    >>> new_data.better_than_chance, new_data.against_full.verdict
    (True, 'at par')
    """
    check_choice("rows", rows, ("support", "all"))
    check_choice("realised", realised, (True, False))
    check_choice("optimality", optimality, (True, False))
    if cv is not None and (selection is None or weights is not None):
        raise ValueError(
            "cv chooses features and their scales anew in every fold; give certify(X, y, selector) "
            "without weights, or leave cv out."
        )
    if selection is None:
        return _certificate_of_fit(getattr(X, "selector_", X), realised, optimality)
    if isinstance(selection, Pipeline):
        selection = up_to_selector(selection)
    repeatable, given = selection, X
    if isinstance(selection, Pipeline):
        X, selection = selection[:-1].transform(X) if len(selection) > 1 else X, selection[-1]
    # SelectorCV has a selector of the size that it found; in folds, the search is repeated.
    selection = getattr(selection, "selector_", selection)
    if estimator is None:
        estimator = _model_of(selection)
    certifier = Certifier.of_data(X, y, estimator, rows, fitted=selection)
    columns = certifier.columns_of(selection, weights)
    _warn_of_data(selection, certifier.all_rows)
    new_data = None
    if cv is not None:
        options: Any = {"cv": cv, "n_repeats": n_repeats, "groups": groups, "n_jobs": n_jobs}
        new_data = new_data_errors(given, y, repeatable, model=estimator, **options)
    chosen_by = selection if weights is None else None
    certificate = certifier.certificate(
        columns, chosen_by, realised=realised, optimality=optimality
    )
    return replace(certificate, new_data=new_data)


def _warn_of_data(selection: Any, rows: Any) -> None:
    """Warn if a selector was fitted to other rows, or if the columns of any need to be scaled."""
    result: Any = getattr(selection, "fit_result_", None)
    if result is None:
        warn_if_unscaled(rows)
    elif result.fingerprint and rows.fingerprint:
        # Values that are stored in another way have another digest.
        seen, now = (mark.split()[:2] for mark in (result.fingerprint, rows.fingerprint))
        if seen[0] == now[0] and seen[1] != now[1]:
            warn(
                f"X is not what {type(selection).__name__} was fitted to, so the certificate is "
                "about other rows. If a pipeline scales them first, give certify(X, y, pipeline)."
            )


def _certificate_of_fit(selector: Any, realised: bool, optimality: bool) -> Certificate:
    """Return the certificate of a fitted selector, with the layers added that are asked for."""
    result = getattr(selector, "fit_result_", None)
    if result is None:
        raise ValueError(
            f"{type(selector).__name__} alone is no fitted selector of this library; "
            "give certify(X, y, selection) for any other selection."
        )
    certificate: Certificate = result.certificate
    if optimality and result.support is not None:
        closeness = optimality_of(result.support, result.columns, result.groups)
        certificate = replace(certificate, optimality=closeness)
    if not realised:
        return certificate
    rows = result.rows
    if rows is None or rows.sample_weight is not None:
        raise ValueError(
            "the selector was fitted to rows in blocks, which are gone, or to weighted rows; give "
            "certify(X, y, selector), or realised=False."
        )
    support = result.support or Support(rows, None, None, rows)
    if optimality:
        growth = Certifier(support, certificate.rows).random_growth(certificate.n_selected)
        certificate = replace(certificate, random_growth=growth)
    return certificate.with_realised(FullModel(support).realised(result.certified, certificate))
