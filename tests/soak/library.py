"""How the laws call what is not public, in one place."""

from contextlib import contextmanager
from unittest.mock import patch

from certifeature import _utils as _memory
from certifeature.certificate.ball import minimum_enclosing_ball
from certifeature.models import enclose, hard_margin, make_loss
from certifeature.models import support as find
from certifeature.models.support import fit_model
from certifeature.models.support import support_rows as rows_of_support
from certifeature.selectors import bss as covering
from certifeature.selectors.bss import ORDERS

__all__ = [
    "ORDERS",
    "TRAINING",
    "margin",
    "objective",
    "radius",
    "support",
    "with_leading_directions",
    "without_bases",
    "without_gathering",
]

# The file where a user's model is trained.
TRAINING = fit_model.__code__.co_filename


def margin(X, signs):
    """Return an enclosure, or None where the classes are said to overlap."""
    return hard_margin(X, signs)


def objective(X, problem):
    """Return an enclosure of the optimum of a problem, on rows X."""
    name = {"tube": "squared_epsilon_insensitive"}.get(problem.loss, problem.loss)
    loss = make_loss(name.replace(" ", "_"), problem.target, problem.costs, problem.epsilon)
    return enclose(X, loss, intercept=problem.intercept)


def radius(X):
    """Return lower and upper bound."""
    ball = minimum_enclosing_ball(X)
    return ball.lower_bound, ball.radius


def support(model, X, y):
    """Return the rows that a certificate for support vectors is about."""
    return rows_of_support(fit_model(model, X, y), X, y)


@contextmanager
def without_bases():
    """Measure by products with the rows alone."""
    with patch.multiple(_memory, MAX_GRAM=0, MAX_QUICK_GRAM=0):
        yield


@contextmanager
def with_leading_directions(n_directions):
    """Find so many leading directions only, where there are more than twice as many."""
    limits = {"_FEWEST_LEADING": n_directions, "_MAX_LEADING": n_directions}
    with patch.object(_memory, "MAX_QUICK_GRAM", 0), patch.multiple(covering, **limits):
        yield


@contextmanager
def without_gathering():
    """Find the support of rows in blocks by passes, however few they are."""
    with patch.object(find, "FEW_ROWS", 0):
        yield
