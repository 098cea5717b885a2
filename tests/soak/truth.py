"""What an oracle returns, and how far it goes."""

from typing import NamedTuple

from gmpy2 import mpfr

# Costs of a row of norm 1, beyond which sums of multipliers would cancel all digits.
LARGEST_COST = mpfr(10) ** 50


class Truth(NamedTuple):
    """A number between two rigorous bounds."""

    lower: mpfr
    upper: mpfr


def squared_norms(X):
    """Return the squared norm of each row."""
    return (X * X).sum(axis=1)
