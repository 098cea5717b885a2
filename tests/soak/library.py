"""How the laws call what is not public, in one place."""

from certifeature.certificate import hard_margin, hinge_objective, squared_hinge_objective
from certifeature.certificate.ball import minimum_enclosing_ball
from certifeature.support import fit_model
from certifeature.support import support_rows as rows_of_support


def margin(X, signs):
    """Return an enclosure, or None where the classes are said to overlap."""
    return hard_margin(X, signs)


def objective(X, signs, costs, intercept, *, squared):
    """Return an enclosure; the intercept is a constant feature's value, or None where free."""
    enclose = squared_hinge_objective if squared else hinge_objective
    return enclose(X, signs, costs, intercept=intercept)


def radius(X):
    """Return lower and upper bound."""
    ball = minimum_enclosing_ball(X)
    return ball.lower_bound, ball.radius


def support(svm, X, y):
    """Return the rows that a certificate for support vectors is about."""
    return rows_of_support(fit_model(svm, X, y), X, y)
