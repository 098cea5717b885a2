"""Certificates and their wording."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from html import escape
from typing import Any, Self

from certifeature._utils import warn
from certifeature.evaluation.new_data import NewData
from certifeature.evaluation.new_data import as_sentences as new_data_sentences


@dataclass(frozen=True)
class APriori:
    """What was known before the data were looked at closely.

    Attributes
    ----------
    method : str
        Name of the method.
    n_picks : int
        Picks r, from which and the dimension the bounds follow.
    dimension : float
        Number of directions ℓ, or the effective dimension D of a soft model.
    lambda_min, lambda_max : float
        Bounds of the eigenvalues.
    probability : float
        With which they hold; 1 for a deterministic method.
    regularised_min : float or None
        Lower bound of the eigenvalues with the ridge of a soft model, where that is covered.
    """

    method: str
    n_picks: int
    dimension: float
    lambda_min: float
    lambda_max: float
    probability: float
    regularised_min: float | None = None

    @property
    def kept(self) -> float:
        """1 over the most by which the objective of the model grows; 0 if by anything."""
        return max(min(1.0, self.lambda_min), self.regularised_min or 0.0)


@dataclass(frozen=True)
class Regularised:
    """The measured bound for a soft model, which needs no full rank.

    Attributes
    ----------
    mu : float
        How strongly convex the dual of the model is: 1/(2C) for a squared hinge loss, 4/C for a
        logistic one, alpha for ridge.
    lambda_min, lambda_max : float
        Extreme generalised eigenvalues of (K̃ + μI, K + μI), or bounds of them.
    probability : float
        With which the bounds hold; below 1 where a random start was needed to find them.
    hinge_kept : float or None
        For the hinge loss, whose dual is not strongly convex, μ is 1/(2C) too; and this is 1 over
        the most by which the objective grows, λ(1 + λ)/2 or more. None for other losses.
    """

    mu: float
    lambda_min: float
    lambda_max: float
    probability: float = 1.0
    hinge_kept: float | None = None

    @property
    def kept(self) -> float:
        """1 over the most by which the objective of the model grows."""
        return min(1.0, self.lambda_min) if self.hinge_kept is None else self.hinge_kept


@dataclass(frozen=True)
class Measured:
    """What is proven of ratios of selected to full features.

    Attributes
    ----------
    margin_kept : float
        At least so much of the squared hard margin.
    objective_growth : float or None
        At most so many times the objective of the model at hand; None if nothing is proven.
    radius_growth : float
        At most so many times the squared radius.
    """

    margin_kept: float
    objective_growth: float | None
    radius_growth: float


@dataclass(frozen=True)
class Realised:
    """What was computed for the full and for the selected features.

    Every pair is rounded to the side that makes the selection look worse. A quantity that does not
    exist (no labels, classes that overlap) is None.

    Attributes
    ----------
    loss : str or None
        "hinge" or "squared_hinge".
    C : float or None
        Regularisation constant of the objective.
    margin_full, margin_selected : float or None
        Hard margins; of several binary problems, those of the one that loses most.
    objective_full, objective_selected : float or None
        Optimal objective; of several binary problems, the sum.
    radius_full, radius_selected : float
        Radii of the minimum enclosing ball.
    measured : Measured or None
        What the second layer proves of the ratios. Where a solver leaves more room than that, the
        ratios below keep to it.
    """

    loss: str | None
    C: float | None
    margin_full: float | None
    margin_selected: float | None
    objective_full: float | None
    objective_selected: float | None
    radius_full: float
    radius_selected: float
    measured: Measured | None = None

    @property
    def margin_ratio(self) -> float | None:
        """Squared hard margin, selected to full."""
        if self.margin_full is None or self.margin_selected is None:
            return None
        ratio = (self.margin_selected / self.margin_full) ** 2
        return ratio if self.measured is None else max(ratio, self.measured.margin_kept)

    @property
    def objective_ratio(self) -> float | None:
        """Objective, selected to full; None also where that of the full is 0 within rounding."""
        if not self.objective_full or self.objective_selected is None:
            return None
        ratio = self.objective_selected / self.objective_full
        growth = None if self.measured is None else self.measured.objective_growth
        return ratio if growth is None else min(ratio, growth)

    @property
    def radius_ratio(self) -> float:
        """Squared radius, selected to full."""
        ratio = (self.radius_selected / self.radius_full) ** 2 if self.radius_full else 1.0
        return ratio if self.measured is None else min(ratio, self.measured.radius_growth)


def _is_exceeded(kept: float, bound: APriori | Regularised, realised: Realised) -> bool:
    """Tell whether a bound that may be wrong is below what was realised."""
    ratio = realised.objective_ratio
    return bound.probability < 1 and ratio is not None and ratio * kept > 1


@dataclass(frozen=True)
class Certificate:
    """A proof of what a selection of features can cost a linear model on its training rows.

    Its three layers say by how many times the objective of the model can grow (for a hard margin
    that is 1/margin²): ``promised_growth``, before anything was measured; ``measured_growth``;
    and ``realised_growth``, what it came to. None is above the one before it.

    Behind them are λ = ``lambda_min`` and Λ = ``lambda_max``: the squared hard margin keeps at
    least the share λ; the objective of every ℓ2-regularised linear model with a non-negative loss
    grows by no more than the factor 1/min(1, λ); the squared radius of the enclosing ball grows by
    no more than Λ. ``regularised`` has the same for a soft model, sharper.

    Attributes
    ----------
    rows : {"support", "all"}
        Rows that it holds for: the support vectors of the SVM on all features, or all rows.
    n_rows, rank : int
        Their number, and the rank of their span. The rank is None where they span too many
        directions for it to be computed; λ is not measured then, and 0.
    n_features, n_selected : int
        Features there are, and features chosen.
    exact : bool
        Whether all that the rows span was looked at. If not, λ is not known, and is 0 here.
    lambda_min, lambda_max : float
        Measured extreme eigenvalues, rounded to be safe.
    regularised : Regularised or None
        The sharper bound for the model, if it is a soft one: with a squared hinge, logistic or
        squared loss.
    a_priori : APriori or None
        What the method promised beforehand.
    realised : Realised or None
        What was computed in the end.
    covers_all_rows : bool or None
        For ``rows="support"``: whether the optimal reduced model on these rows is *proven* to have
        no loss on any other row, so that the bounds of its objective hold for all rows. None if it
        was not checked.
    n_fixed, n_trusted : int
        How many of the chosen features were fixed beforehand, and how many were taken straight
        from the top of an order, where the selector tells.
    model : str or None
        The model whose objective counts; None stands for any ℓ2-regularised linear model.
    new_data : NewData or None
        Cross-validated errors, which are no bounds, where `certify` was asked for them.
    converged : bool
        Whether the model on all features reached its optimum. If not, its support vectors may be
        other rows than those of the certificate.
    withdrawn : bool
        Whether a bound of probability below 1 was taken back, because what was realised exceeds it.

    Examples
    --------
    >>> from certifeature import BSSSelector, certify
    >>> from certifeature.datasets import make_relevant_features
    >>> X, y = make_relevant_features(100, 500, 20, random_state=0)
    >>> certificate = certify(X, y, BSSSelector(100).fit(X, y))
    >>> certificate
    <Certificate: 100 of 500 features, objective at most 10.2 times, in fact 0.89 times>
    >>> certificate.promised_growth >= certificate.measured_growth >= certificate.realised_growth
    True
    >>> certificate.lambda_min <= certificate.realised.margin_ratio
    True
    >>> Certificate.from_dict(certificate.to_dict()) == certificate
    True
    """

    rows: str
    n_rows: int
    rank: int | None
    n_features: int
    n_selected: int
    exact: bool
    lambda_min: float
    lambda_max: float
    regularised: Regularised | None = None
    a_priori: APriori | None = None
    realised: Realised | None = None
    covers_all_rows: bool | None = None
    n_fixed: int = 0
    n_trusted: int = 0
    model: str | None = None
    new_data: NewData | None = None
    converged: bool = True
    withdrawn: bool = False

    def with_realised(self, realised: Realised | None) -> Certificate:
        """Return the certificate with its third layer.

        A bound that holds with a probability below 1 is withdrawn, with a warning, if what is
        realised exceeds it.

        Parameters
        ----------
        realised : Realised or None
            What was computed for the full and for the selected features.
        """
        found = replace(self, realised=realised)
        if realised is None:
            return found
        regularised, promise = self.regularised, self.a_priori
        if regularised is not None and _is_exceeded(regularised.kept, regularised, realised):
            regularised = replace(regularised, lambda_min=0.0, lambda_max=math.inf, hinge_kept=None)
        if promise is not None and _is_exceeded(promise.kept, promise, realised):
            promise = None
        if regularised is self.regularised and promise is self.a_priori:
            return found
        warn(
            "what the selection costs exceeds a bound that holds with probability 0.99, so that "
            "bound is withdrawn: either this is the one case in a hundred, or the data were made "
            "to deceive it."
        )
        return replace(found, regularised=regularised, a_priori=promise, withdrawn=True)

    @property
    def promised_growth(self) -> float:
        """The most by which the method promised that the objective grows; inf without a promise.

        Where rounding leaves less to be measured than was promised, that is all that is promised.
        """
        kept = 0.0 if self.a_priori is None else self.a_priori.kept
        return max(1 / kept, self.measured_growth) if kept > 0 else math.inf

    @property
    def measured_growth(self) -> float:
        """The most by which the objective of the model can grow, measured; inf if by anything."""
        # λ leaves out what a basis does, which a model with a large C may feel.
        kept = min(1.0, self.lambda_min) if self.regularised is None else self.regularised.kept
        return 1 / kept if kept > 0 else math.inf

    @property
    def realised_growth(self) -> float | None:
        """What the objective grew by; None if it was not computed."""
        return None if self.realised is None else self.realised.objective_ratio

    @property
    def condition(self) -> float:
        """κ = Λ/λ, which bounds the growth of squared radius over squared margin."""
        return self.lambda_max / self.lambda_min if self.lambda_min > 0 else math.inf

    @property
    def objective_factor(self) -> float:
        """The most by which the objective of any ℓ2-regularised linear model can grow."""
        return 1 / min(1.0, self.lambda_min) if self.lambda_min > 0 else math.inf

    @property
    def proven(self) -> Measured:
        """What is proven of ratios."""
        # A random start may have made a bound wrong, if rarely; that is no proof.
        is_sure = self.regularised is None or self.regularised.probability == 1
        growth = self.measured_growth if is_sure else math.inf
        return Measured(self.lambda_min, None if math.isinf(growth) else growth, self.lambda_max)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, fit for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Return the certificate that `to_dict` was called on.

        Parameters
        ----------
        values : dict
            As `to_dict` returns it.

        Returns
        -------
        Certificate
            Equal to the original.
        """
        parts = dict(values)
        for name, layer in (("regularised", Regularised), ("a_priori", APriori)):
            if values.get(name) is not None:
                parts[name] = layer(**values[name])
        if values.get("new_data") is not None:
            parts["new_data"] = NewData.from_dict(values["new_data"])
        if values.get("realised") is not None:
            measured = values["realised"].get("measured")
            measured = None if measured is None else Measured(**measured)
            parts["realised"] = Realised(**{**values["realised"], "measured": measured})
        return cls(**parts)

    def __str__(self) -> str:
        return "\n".join(as_sentences(self))

    def __repr__(self) -> str:
        return f"<Certificate: {as_phrase(self)}>"

    def _repr_html_(self) -> str:
        return as_html(self)


_NOT_CHECKED = (
    "Whether the reduced model has other support vectors was not checked; certify(X, y, selector) "
    "does."
)
_COVERED = (
    "The optimal reduced model is proven to have no other support vectors, so the bound on its "
    "objective holds for all rows."
)
_NOT_COVERED = (
    "It was not shown that the optimal reduced model has no other support vectors, so the bounds "
    "hold for these rows only."
)
_NOT_CONVERGED = (
    "The solver did not reach the optimum with all features, so these rows may not be all of its "
    "support vectors."
)
_WITHDRAWN = "a bound that holds with probability 0.99 was exceeded, and withdrawn"


def as_sentences(certificate: Certificate) -> list[str]:
    """Return the certificate as a list of lines, the most informative one first."""
    new_data = new_data_sentences(certificate.new_data)
    return [
        _headline(certificate),
        _promised(certificate),
        _measured(certificate),
        _realised(certificate),
        " ".join([*_coverage(certificate), _training_only(certificate)]),
        *([" ".join(new_data)] if new_data else []),
    ]


def as_html(certificate: Certificate) -> str:
    """Return the certificate as an HTML fragment."""
    first, *others = (escape(sentence) for sentence in as_sentences(certificate))
    items = "".join(f"<li>{sentence}</li>" for sentence in others)
    return f"<div><strong>{first}</strong><ul>{items}</ul></div>"


def as_phrase(c: Certificate) -> str:
    """Return the numbers of the headline, as short as a line in a list."""
    rows = " on the support vectors" if only_support(c) else ""
    if math.isinf(c.measured_growth):
        bound = "not proven to stay near that with all"
    else:
        bound = f"{_at_most(c.measured_growth)}{_chance(measured_probability(c))}"
    return f"{c.n_selected} of {c.n_features} features, objective{rows} {bound}{_in_fact(c)}"


def _headline(c: Certificate) -> str:
    what = "the training objective"
    model = c.model
    if model is None:
        model, what = "any ℓ2-regularised linear model", f"{what} (for a hard margin, 1/margin²)"
    if only_support(c):
        what += " on the support vectors"
    kept = {"fixed": c.n_fixed, "trusted": c.n_trusted}
    beside = ", ".join(f"{count} {reason}" for reason, count in kept.items() if count)
    chosen = f"{c.n_selected} of {c.n_features} features{f' ({beside})' if beside else ''}"
    start = f"{chosen} for {model}: {what} is"
    if math.isinf(c.measured_growth):
        return f"{start} not proven to stay near that with all features{_in_fact(c)}."
    chance = _chance(measured_probability(c))
    return f"{start} {_at_most(c.measured_growth)} that with all features{chance}{_in_fact(c)}."


def only_support(c: Certificate) -> bool:
    """Return whether the certificate may hold for the support vectors only."""
    return c.rows == "support" and not c.covers_all_rows


def _in_fact(c: Certificate) -> str:
    return "" if c.realised_growth is None else f", in fact {_times(c.realised_growth)}"


def _promised(c: Certificate) -> str:
    promise = c.a_priori
    if promise is None:
        return f"Promised by theorem: ∞, because {_no_promise(c)}."
    start = f"Promised by theorem{_chance(promise.probability)}: "
    picks = "1 pick" if promise.n_picks == 1 else f"{promise.n_picks} picks"
    source = f"{promise.method} made {picks} for "
    source += (
        f"{promise.dimension:g} directions"
        if promise.regularised_min is None
        else f"an effective dimension of {promise.dimension:.3g}"
    )
    if math.isinf(c.promised_growth):
        return f"{start}∞, because rounding left nothing of the bound ({source})."
    return f"{start}{_at_most(c.promised_growth)} ({source})."


def _no_promise(c: Certificate) -> str:
    if c.withdrawn:
        return _WITHDRAWN
    if c.regularised is None and c.rank is not None and c.n_selected <= c.rank:
        return _too_few(c)
    return "no theorem covers how they were chosen, for these rows and this model"


def _too_few(c: Certificate) -> str:
    return (
        f"{c.n_selected} features cannot span {c.rank} directions, and a model whose loss is not "
        "known may need them all"
    )


def _measured(c: Certificate) -> str:
    rows = f"{c.n_rows} support vectors" if c.rows == "support" else f"all {c.n_rows} rows"
    rank = "" if c.rank is None else f" of rank {c.rank}"
    start = f"Measured on {rows}{rank}: "
    if math.isinf(c.measured_growth):
        bound = f"∞, because {_no_bound(c)}"
    else:
        bound = f"{_at_most(c.measured_growth)}{_chance(measured_probability(c))}"
    if c.exact and c.lambda_min > 0:
        margin = _times(rounded_down(c.lambda_min))
        bound += f"; the squared hard margin is at least {margin} as large"
    return f"{start}{bound} (λ = {c.lambda_min:.3g}, Λ = {c.lambda_max:.3g}, κ = {_ratio(c)})."


def _no_bound(c: Certificate) -> str:
    if c.withdrawn:
        return _WITHDRAWN
    if not c.exact or c.rank is None:
        return "the rows span more directions than were looked at"
    if c.regularised is not None:
        return "C is so large for these rows that rounding leaves nothing of the bound"
    if c.n_selected < c.rank:
        return _too_few(c)
    return "the selection loses a direction of the rows, or keeps it too faintly to tell"


def measured_probability(c: Certificate) -> float:
    """Return the probability with which the measured growth is a bound."""
    return 1.0 if c.regularised is None else c.regularised.probability


def _realised(c: Certificate) -> str:
    r = c.realised
    if r is None:
        return "Realised: not computed."
    found = []
    if r.objective_ratio is not None:
        found.append(f"{_times(r.objective_ratio)} the objective with all features")
    if r.margin_ratio is not None:
        found.append(f"{_times(r.margin_ratio)} the squared hard margin")
    elif r.loss is not None and r.margin_full is not None:
        found.append("no hard margin, since the chosen features no longer separate the classes")
    found.append(f"{_times(r.radius_ratio)} the squared radius")
    return f"Realised: {', '.join(found)}."


def _coverage(c: Certificate) -> list[str]:
    if c.rows == "all":
        return []
    sentences = [] if c.converged else [_NOT_CONVERGED]
    if c.covers_all_rows is None:
        return [*sentences, _NOT_CHECKED] if c.realised is not None else sentences
    return [*sentences, _COVERED if c.covers_all_rows else _NOT_COVERED]


def _training_only(c: Certificate) -> str:
    sentence = "All this is about the training rows"
    if c.new_data is not None:
        return f"{sentence}, not about new data."
    return f"{sentence}; cross-validation (cv=5) estimates the error on new data."


def _chance(probability: float) -> str:
    return "" if probability == 1 else f" with probability {probability:g}"


def _times(value: float) -> str:
    return f"{_digits(value)} times"


def rounded_up(value: float) -> float:
    """Return the next number with three digits, for a bound that people read."""
    if not math.isfinite(value):
        return value
    unit = 10.0 ** (math.floor(math.log10(value)) - 2)
    return math.ceil(value / unit * (1 - 1e-12)) * unit


def rounded_down(value: float) -> float:
    """Return the number with three digits before it, for a bound that people read."""
    if value < 1e-300:
        return 0.0
    unit = 10.0 ** (math.floor(math.log10(value)) - 2)
    return math.floor(value / unit * (1 + 1e-12)) * unit


def _at_most(value: float) -> str:
    return f"at most {_digits(rounded_up(value))} times"


def _digits(value: float) -> str:
    return f"{value:.3g}" if value < 1000 else f"{float(f'{value:.3g}'):,.0f}"


def _ratio(c: Certificate) -> str:
    return "∞" if math.isinf(c.condition) else f"{c.condition:.3g}"
