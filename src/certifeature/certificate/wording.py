"""Certificates in plain English, six lines at most."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

from certifeature.certificate.new_data import as_sentences as new_data_sentences

if TYPE_CHECKING:
    from certifeature.certificate.certificate import Certificate

__all__ = [
    "as_html",
    "as_phrase",
    "as_sentences",
    "measured_probability",
    "only_support",
    "rounded_down",
    "rounded_up",
]


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
