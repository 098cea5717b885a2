"""Certificates and their wording."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from html import escape
from typing import Any, Self

from certifeature._utils import warn
from certifeature.certificate.optimality import Optimality
from certifeature.certificate.rounding import number, rounded_down, rounded_up
from certifeature.evaluation import NewData


@dataclass(frozen=True)
class APriori:
    """A bound that was known beforehand.

    Attributes
    ----------
    method : str
        Name of the method.
    n_picks : int
        Picks r.
    dimension : int
        Number of directions ℓ.
    lambda_min, lambda_max : float
        Bounds of the eigenvalues.
    probability : float
        Probability with which they hold; 1 for a deterministic method.
    """

    method: str
    n_picks: int
    dimension: int
    lambda_min: float
    lambda_max: float
    probability: float


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
        Probability with which they hold; below 1 where a random start was needed to find them.
    hinge_kept : float or None
        For the hinge loss, whose dual is not strongly convex, μ is 1/(2C) too, and this is 1 over
        the bound on the growth, λ(1 + λ)/2 or more. None for other losses.
    """

    mu: float
    lambda_min: float
    lambda_max: float
    probability: float = 1.0
    hinge_kept: float | None = None

    @property
    def kept(self) -> float:
        """1 over the bound on the growth of the objective."""
        return min(1.0, self.lambda_min) if self.hinge_kept is None else self.hinge_kept


@dataclass(frozen=True)
class Realised:
    """What was computed with all and with the selected features, for the labels at hand.

    Every pair is rounded to the side that makes the selection look worse. A quantity that does not
    exist (no labels, classes that overlap) or was skipped (radii and margins of more than 4,096
    rows) is None.

    Attributes
    ----------
    loss : str or None
        Name of the loss: "hinge", "squared_hinge", "logistic" and the like.
    C : float or None
        Regularisation constant of the objective, C or alpha.
    margin_full, margin_selected : float or None
        Hard margins; of several binary problems, those of the one that loses most.
    objective_full, objective_selected : float or None
        Optimal objective, a dual value with all features and a primal one with the selected; of
        several binary problems, the sum.
    radius_full, radius_selected : float or None
        Radii of the minimum enclosing ball.
    margin_kept, objective_growth, radius_growth : float
        Bounds of the ratios for any labels, without those that hold with a probability below 1.
        Where a solver leaves more room, the ratios below keep to them.
    objective_gap : float
        The true ratio of the objectives is at most this share below ``objective_ratio``.
    """

    loss: str | None = None
    C: float | None = None
    margin_full: float | None = None
    margin_selected: float | None = None
    objective_full: float | None = None
    objective_selected: float | None = None
    radius_full: float | None = None
    radius_selected: float | None = None
    margin_kept: float = 0.0
    objective_growth: float = math.inf
    radius_growth: float = math.inf
    objective_gap: float = 0.0

    @property
    def margin_ratio(self) -> float | None:
        """Squared hard margin, selected to full."""
        if self.margin_full is None or self.margin_selected is None:
            return None
        return max((self.margin_selected / self.margin_full) ** 2, self.margin_kept)

    @property
    def objective_ratio(self) -> float | None:
        """Objective, selected to full; None also where that of the full is 0 within rounding."""
        if not self.objective_full or self.objective_selected is None:
            return None
        return min(self.objective_selected / self.objective_full, self.objective_growth)

    @property
    def radius_ratio(self) -> float | None:
        """Squared radius, selected to full."""
        if self.radius_full is None or self.radius_selected is None:
            return None
        ratio = (self.radius_selected / self.radius_full) ** 2 if self.radius_full else 1.0
        return min(ratio, self.radius_growth)


@dataclass(frozen=True)
class Certificate:
    """A proof of what a selection of features can cost a linear model on its training rows.

    Its three layers say how many times larger the training objective is with the chosen features
    than with all (for a hard margin it is 1/margin²). ``realised_growth`` is proven for the labels
    at hand: both objectives are enclosed by primal and dual values. ``measured_growth`` is a bound
    for any labels of these rows with the same costs, and ``promised_growth`` one for any choice
    that the method could have made, known beforehand by a theorem about all directions. None is
    below the one before it. ``print`` leaves bounds beyond 10 to the details.

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
    realised : Realised or None
        What was computed for the labels at hand, with all and with the chosen features.
    regularised : Regularised or None
        The sharper bound for the model, if it is a soft one: with a squared hinge, logistic or
        squared loss.
    a_priori : APriori or None
        What the method promised beforehand, for chosen columns with its own scales.
    covers_all_rows : bool or None
        For ``rows="support"``: whether the optimal reduced model on these rows is *proven* to have
        no loss on any other row, so that the bounds of its objective hold for all rows. None if it
        was not checked.
    n_fixed, n_trusted : int
        How many of the chosen features, or groups, were fixed beforehand, and how many were taken
        straight from the top of an order, where the selector tells.
    n_groups : int or None
        Number of chosen groups, where features are chosen in groups. Picks of ``a_priori`` are
        groups then.
    model : str or None
        The model whose objective counts; None stands for any ℓ2-regularised linear model.
    factor : float
        What the chosen columns are multiplied by in all bounds. If C is set by the scale of the
        columns, they vary as much in total as all columns then, and C means the same for both:
        without the factor, C times its square gives the same model. Otherwise it is 1.
    optimality : Optimality or None
        How much better any other selection of as many features could be, where `certify` was asked
        for it.
    random_growth : float or None
        The bound of ``measured_growth`` for as many random columns, where `certify` was asked for
        both; it may be smaller.
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
    >>> print(str(certificate).splitlines()[0].partition(" of ")[0])
    Proven: with these 100 features (50 trusted), multiplied by 1.06, the training objective
    >>> certificate.measured_growth >= certificate.realised_growth
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
    realised: Realised | None = None
    regularised: Regularised | None = None
    a_priori: APriori | None = None
    covers_all_rows: bool | None = None
    n_fixed: int = 0
    n_trusted: int = 0
    n_groups: int | None = None
    model: str | None = None
    factor: float = 1.0
    optimality: Optimality | None = None
    random_growth: float | None = None
    new_data: NewData | None = None
    converged: bool = True
    withdrawn: bool = False

    def with_realised(self, realised: Realised | None) -> Certificate:
        """Return the certificate with what is realised.

        A bound that holds with a probability below 1 is withdrawn, with a warning, if what is
        realised exceeds it.

        Parameters
        ----------
        realised : Realised or None
            What was computed for the full and for the selected features.
        """
        found, bound = replace(self, realised=realised), self.regularised
        ratio = found.realised_growth
        if bound and bound.probability < 1 and ratio is not None and ratio * bound.kept > 1:
            warn(
                "what the selection costs exceeds a bound that holds with probability 0.99, so "
                "that bound is withdrawn: either this is the one case in a hundred, or the data "
                "were made to deceive it."
            )
            no_bound = replace(bound, lambda_min=0.0, lambda_max=math.inf, hinge_kept=None)
            found = replace(found, regularised=no_bound, withdrawn=True)
        return found

    @property
    def realised_growth(self) -> float | None:
        """Ratio of the objectives for the labels at hand, rounded up; None if not computed."""
        return None if self.realised is None else self.realised.objective_ratio

    @property
    def measured_growth(self) -> float:
        """Upper bound on that ratio for any labels of these rows; inf if none below a million."""
        # λ leaves out what a basis does, which a model with a large C may feel.
        kept = min(1.0, self.lambda_min) if self.regularised is None else self.regularised.kept
        return 1 / kept if kept * _WORTH_READING > 1 else math.inf

    @property
    def certain_growth(self) -> float:
        """The same without a bound that a random start may have made wrong, if rarely."""
        return self.measured_growth if measured_probability(self) == 1 else math.inf

    @property
    def promised_growth(self) -> float:
        """Upper bound on that ratio for any choice by the method; inf without a promise.

        Where rounding leaves less to be measured than was promised, that is all that is promised.
        """
        kept = 0.0 if self.a_priori is None else min(1.0, self.a_priori.lambda_min)
        return max(1 / kept, self.measured_growth) if kept > 0 else math.inf

    @property
    def condition(self) -> float:
        """κ = Λ/λ, which bounds the growth of squared radius over squared margin."""
        return self.lambda_max / self.lambda_min if self.lambda_min > 0 else math.inf

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, fit for JSON."""
        values = asdict(replace(self, optimality=None))
        return values | {"optimality": self.optimality and self.optimality.to_dict()}

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
        kinds: Any = {"regularised": Regularised, "a_priori": APriori, "realised": Realised}
        parts = {name: kind(**values[name]) for name, kind in kinds.items() if values[name]}
        views: dict[str, Any] = {"new_data": NewData, "optimality": Optimality}
        for name, kind in views.items():
            if values[name]:
                parts[name] = kind.from_dict(values[name])
        return cls(**(values | parts))

    def details(self) -> str:
        """Return a line for each layer, with all numbers, however large: λ, Λ and κ, too."""
        return "\n".join(details(self))

    def __str__(self) -> str:
        return "\n".join(as_sentences(self))

    def __repr__(self) -> str:
        return f"<Certificate: {as_phrase(self)}>"

    def _repr_html_(self) -> str:
        first, *others = map(escape, as_sentences(self))
        n_shown = len(others) - len(details(self))
        shown = "".join(f"<p>{line}</p>" for line in others[:n_shown])
        items = "".join(f"<li>{line}</li>" for line in others[n_shown:])
        folded = f"<details><summary>Details</summary><ul>{items}</ul></details>"
        return f"<div><p><strong>{first}</strong></p>{shown}{folded}</div>"


# Beyond this, a bound is of no use.
_USEFUL = 10.0
# Larger ones are not stated: they are made of rounding, or of a C that no one means.
_WORTH_READING = 1e6
# Share of a ratio that an enclosure may leave open before its digits are no longer sure.
_SURE_DIGITS = 5e-4
_NOT_CHECKED = (
    "Whether the reduced model has other support vectors was not checked; certify(X, y, selector) "
    "does."
)
_COVERED = (
    "The optimal reduced model is proven to have no other support vectors, so what is proven for "
    "these labels holds for all rows."
)
_NOT_COVERED = (
    "It was not shown that the optimal reduced model has no other support vectors, so all this "
    "holds for these rows only."
)
_NOT_CONVERGED = (
    "The solver did not reach the optimum with all features, so these rows may not be all of its "
    "support vectors."
)
_WITHDRAWN = "a bound that holds with probability 0.99 was exceeded, and withdrawn"
_BELOW_ONE = (
    "A ratio below 1 is no gain: at the scale of all columns, those chosen for these labels need "
    "smaller weights, and these are part of the objective."
)


def as_sentences(certificate: Certificate) -> list[str]:
    """Return the certificate as a list of lines: the headline, its scope, and the details."""
    c = certificate
    lines = *statements(c), scope(c), c.new_data, *details(c)
    return [str(line) for line in lines if line is not None]


def statements(c: Certificate) -> list[str]:
    """Return what is proven for the labels at hand, how close that is to the best, and the rest."""
    lines = headline(c), c.optimality and str(c.optimality), beyond_labels(c)
    return [line for line in lines if line]


def as_phrase(c: Certificate) -> str:
    """Return the numbers of the headline, as short as a line in a list."""
    chosen = f"{c.n_selected} of {c.n_features} features"
    chosen = chosen if c.n_groups is None else f"{_groups(c)} of {c.n_features}"
    start = ", ".join(filter(None, [chosen, _multiplied(c), "objective"]))
    start += " on the support vectors" if only_support(c) else ""
    ratio, labels = proven_ratio(c), f"for other {_labels(c)}"
    bound = f"{_at_most(c.measured_growth)}{_chance(measured_probability(c))}"
    if ratio is None:
        return f"{start} {'without a useful bound' if c.measured_growth > _USEFUL else bound}"
    bound = f"no useful bound {labels}" if c.measured_growth > _USEFUL else f"{labels} {bound}"
    return f"{start} {ratio}, {bound}"


def headline(c: Certificate) -> str:
    """Return what is proven for the labels at hand, or for any labels where that is unknown."""
    bound, chance, of_model = c.measured_growth, _chance(measured_probability(c)), objective_of(c)
    ratio = proven_ratio(c)
    kept = {"fixed": c.n_fixed, "trusted": c.n_trusted}
    of_groups = "" if c.n_groups is None else "groups "
    beside = ", ".join(f"{n:,} {of_groups}{reason}" for reason, n in kept.items() if n)
    chosen = "this 1 feature" if c.n_selected == 1 else f"these {c.n_selected:,} features"
    if c.n_groups is not None:
        chosen = f"{'this' if c.n_groups == 1 else 'these'} {_groups(c)}"
    chosen = f"with {chosen}{f' ({beside})' if beside else ''}"
    multiplied = f", {_multiplied(c)}," if _multiplied(c) else ""
    all_of_them = f"what it is with all {c.n_features:,}"
    if ratio is not None:
        return f"Proven: {chosen}{multiplied} {of_model} is {ratio} {all_of_them}."
    if bound <= _USEFUL:
        start = f"Proven for any {_labels(c)}{chance}: {chosen}{multiplied} {of_model}"
        return f"{start} is {_at_most(bound)} {all_of_them}{_in_brackets(_random(c))}."
    counts = _in_brackets(_counts(c), _random(c))
    return f"No useful bound on {of_model} {chosen} of {c.n_features:,}{counts}."


def beyond_labels(c: Certificate) -> str:
    """Return the bound for other labels, unless the headline has it, and any promise.

    Bounds beyond 10 are left to the details.
    """
    sentences = [] if proven_ratio(c) is None else [_other_labels(c)]
    if c.a_priori is not None and c.promised_growth <= _USEFUL:
        promise = f"{_at_most(c.promised_growth)}{_chance(c.a_priori.probability)}"
        sentences.append(f"Promised beforehand: {promise}.")
    return " ".join(sentences)


def _multiplied(c: Certificate) -> str:
    """Return what the chosen columns are multiplied by, in words; nothing if they are not."""
    shown = number(c.factor)
    return "" if shown == "1" else f"multiplied by {shown}"


def _groups(c: Certificate) -> str:
    """Return the numbers of chosen groups and of their columns."""
    groups = f"{c.n_groups:,} group{'s' * (c.n_groups != 1)}"
    return f"{groups}, {c.n_selected:,} column{'s' * (c.n_selected != 1)}"


def objective_of(c: Certificate) -> str:
    """Return what the certificate is about: the training objective of a model, on which rows."""
    model = c.model or "any ℓ2-regularised linear model (for a hard margin, 1/margin²)"
    rows = f" on {'its' if c.model else 'the'} {c.n_rows:,} support vectors"
    return f"the training objective of {model}{rows if only_support(c) else ''}"


def proven_ratio(c: Certificate) -> str | None:
    """Return how many times the objective is as large for the labels at hand, if that is known."""
    ratio = c.realised_growth
    if c.realised is None or ratio is None or math.isinf(ratio):
        return None
    is_sure = c.realised.objective_gap <= _SURE_DIGITS
    return f"{'' if is_sure else 'at most '}{_times(rounded_up(ratio))}"


def _other_labels(c: Certificate) -> str:
    labels, bound = f"other {_labels(c)}", c.measured_growth
    if bound > _USEFUL:
        return f"No useful bound for {labels}{_in_brackets(_counts(c), _random(c))}."
    rows = "these support vectors" if c.rows == "support" else "these rows"
    chance = _chance(measured_probability(c))
    return f"For any {labels} of {rows}, {_at_most(bound)}{chance}{_in_brackets(_random(c))}."


def _random(c: Certificate) -> str:
    """Return what the bound is for random columns, so that nobody takes it for a grade."""
    if c.random_growth is None:
        return ""
    useful = c.random_growth <= _USEFUL
    bound = _times(rounded_up(c.random_growth)) if useful else "no useful bound"
    return f"as many random columns: {bound}"


def _in_brackets(*parts: str) -> str:
    return f" ({'; '.join(filter(None, parts))})" if any(parts) else ""


def _labels(c: Certificate) -> str:
    """Return what the model predicts."""
    return "targets" if (c.model or "").startswith(("Ridge(", "LinearSVR(")) else "labels"


def _counts(c: Certificate) -> str:
    rank = f"up to {min(c.n_rows, c.n_features):,}" if c.rank is None else f"{c.rank:,}"
    return f"{c.n_selected:,} features, {rank} directions"


def only_support(c: Certificate) -> bool:
    """Return whether the certificate may hold for the support vectors only."""
    return c.rows == "support" and not c.covers_all_rows


def scope(c: Certificate) -> str:
    """Return which rows the certificate holds for, in sentences."""
    sentences = [] if c.converged or c.rows == "all" else [_NOT_CONVERGED]
    if c.rows == "support" and c.covers_all_rows is not None:
        sentences.append(_COVERED if c.covers_all_rows else _NOT_COVERED)
    elif c.rows == "support" and c.realised is not None:
        sentences.append(_NOT_CHECKED)
    if _multiplied(c):
        times = number(c.factor**2)
        same = f"alpha over {times}" if "alpha=" in (c.model or "") else f"C times {times}"
        sentences.append(
            "So multiplied, the chosen columns vary as much in total as all columns; as they are, "
            f"{same} gives the same model."
        )
    end = "; cross-validation estimates the error on new data."
    end = end if c.new_data is None else ", not about new data."
    return " ".join([*sentences, f"All this is about the training rows{end}"])


def details(c: Certificate) -> list[str]:
    """Return a line for each layer: realised, measured and any promise, with all numbers."""
    lines = [_realised(c), _measured(c)]
    return lines if c.a_priori is None else [*lines, _promised(c, c.a_priori)]


def _realised(c: Certificate) -> str:
    r, ratio = c.realised, proven_ratio(c)
    found = [] if ratio is None else [f"{ratio} the objective with all features"]
    if r is not None and r.margin_ratio is not None:
        found.append(f"{_times(rounded_down(r.margin_ratio))} the squared hard margin")
    elif r is not None and r.margin_full is not None:
        found.append("no hard margin, since the chosen features no longer separate the classes")
    if r is not None and r.radius_ratio is not None:
        found.append(f"{_times(rounded_up(r.radius_ratio))} the squared radius")
    if not found:
        return "Realised: not computed."
    growth = c.realised_growth
    note = f" {_BELOW_ONE}" if growth is not None and rounded_up(growth) < 1 else ""
    multiplied = f" and columns {_multiplied(c)}" if _multiplied(c) else ""
    return f"Realised, for these {_labels(c)}{multiplied}: {', '.join(found)}.{note}"


def _measured(c: Certificate) -> str:
    rows = f"{c.n_rows:,} support vectors" if c.rows == "support" else f"{c.n_rows:,} rows"
    rank = "" if c.rank is None else f" of rank {c.rank:,}"
    if math.isinf(c.measured_growth):
        bound = f"no bound, because {_no_bound(c)}"
    else:
        bound = f"{_at_most(c.measured_growth)}{_chance(measured_probability(c))}"
    if c.exact and c.lambda_min > 0:
        margin = _times(rounded_down(c.lambda_min))
        bound += f"; the squared hard margin is at least {margin} as large"
    ratio = "∞" if math.isinf(c.condition) else f"{c.condition:.3g}"
    constants = f"λ = {c.lambda_min:.3g}, Λ = {c.lambda_max:.3g}, κ = {ratio}"
    multiplied = f", columns {_multiplied(c)}" if _multiplied(c) else ""
    start = f"Measured, for any {_labels(c)} of the {rows}{rank}{multiplied}"
    return f"{start}: {bound} ({constants})."


def _no_bound(c: Certificate) -> str:
    if c.withdrawn:
        return _WITHDRAWN
    if c.regularised is not None:
        return "C is so large for these rows that nothing below a million times is proven"
    if not c.exact or c.rank is None:
        return "the rows span more directions than were looked at"
    if c.n_selected < c.rank:
        return (
            f"{c.n_selected:,} features cannot span {c.rank:,} directions, and a model whose loss "
            "is not known may need them all"
        )
    return "the selection loses a direction of the rows, or keeps it too faintly to tell"


def _promised(c: Certificate, promise: APriori) -> str:
    of_groups = "" if c.n_groups is None else " of groups"
    picks = f"{promise.n_picks:,} pick{'s' * (promise.n_picks != 1)}{of_groups}"
    source = f"{promise.method} made {picks} for {promise.dimension:,} directions"
    start = f"Promised beforehand by theorem{_chance(promise.probability)}"
    if math.isinf(c.promised_growth):
        return f"{start}: no bound, because rounding left nothing of it ({source})."
    return f"{start}: {_at_most(c.promised_growth)} ({source})."


def shown_bound(growth: float) -> str:
    """Return a bound for a table, rounded up.

    Examples
    --------
    >>> shown_bound(1.2341), shown_bound(655.0)
    ('1.24', '> 10')
    """
    return f"> {_USEFUL:g}" if growth > _USEFUL else number(rounded_up(growth))


def measured_probability(c: Certificate) -> float:
    """Return the probability with which the measured growth is a bound."""
    return 1.0 if c.regularised is None else c.regularised.probability


def _chance(probability: float) -> str:
    return "" if probability == 1 else f" with probability {probability:g}"


def _at_most(value: float) -> str:
    return f"at most {_times(rounded_up(value))}"


def _times(value: float) -> str:
    return f"{number(value)} times"
