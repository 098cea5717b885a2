"""Cases of several parameters: all that matters of their product, in fewer tests."""

from itertools import combinations, cycle, islice, product


def pairwise(*factors):
    """Return cases in which any two values of two parameters meet at least once."""
    cases = list(product(*(range(len(factor)) for factor in factors)))

    def pairs(case):
        return set(combinations(enumerate(case), 2))

    missing, chosen = set().union(*map(pairs, cases)), []
    while missing:
        best = max(cases, key=lambda case: len(pairs(case) & missing))
        chosen.append(tuple(factor[i] for factor, i in zip(factors, best, strict=True)))
        missing -= pairs(best)
    return chosen


def each_once(*factors):
    """Return cases in which every value of every parameter stands at least once."""
    longest = max(map(len, factors))
    return list(zip(*(islice(cycle(factor), longest) for factor in factors), strict=True))
