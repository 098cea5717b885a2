"""The algorithm itself, without data."""

import numpy as np
from direct import direct_bss
from measure import Case
from sets import long_tailed

from certifeature import BSSSelector
from certifeature.sparsify import bss


def kernel(n_features, n_components, n_select, coherent):
    """BSS against Algorithm 1 as it is written, which must make the same picks."""
    rng = np.random.default_rng(0)
    scales = rng.pareto(1.2, n_features) if coherent else rng.exponential(size=n_features)
    rows = rng.standard_normal((n_features, n_components)) * scales[:, None]
    vectors = np.linalg.qr(rows)[0]
    picks = {}

    def contender(name, algorithm):
        def work():
            picks[name] = algorithm(vectors, n_select)
            return show

        def show():
            same = np.array_equal(picks[name], picks["direct"])
            return {"note": "same picks" if same else "OTHER PICKS"}

        return work

    kind = "coherent" if coherent else "incoherent"
    return Case(
        f"kernel, {kind}, d = {n_features:,}, ℓ = {n_components}, r = {n_select:,}",
        {
            "direct": contender("direct", lambda V, r: direct_bss(V, r)[0]),
            "BSS": contender("BSS", lambda V, r: bss(V, r).indices),
        },
        repeats=5,
        once=("direct",) if n_features > 20_000 else (),
    )


def two_spectra(n_features, n_components, n_select):
    """Directions of which a model needs a share each, against all of them alike."""
    rng = np.random.default_rng(0)
    vectors = np.linalg.qr(rng.standard_normal((n_features, n_components)))[0]
    shares = 1 / (1 + np.arange(n_components) / 30)

    def contender(coverage):
        def work():
            bss(vectors, n_select, coverage=coverage)

        return work

    return Case(
        f"kernel, shares, d = {n_features:,}, ℓ = {n_components}, r = {n_select:,}",
        {"BSS": contender(None), "BSS, coverage": contender(shares)},
        repeats=5,
        bars={"coverage ≤ 1.6 times without": lambda s: s["BSS, coverage"] <= 1.6 * s["BSS"]},
    )


def many_directions():
    """An exact basis of 2,000 directions."""
    X = long_tailed(np.random.default_rng(0), 2_000, 50_000, 100)
    selector = BSSSelector(4_000, supervised=False, basis="exact", rescale="each")

    def work():
        selector.fit(X)
        return lambda: {"note": f"ℓ = {selector.basis_.n_components:,}"}

    return Case(
        "exact, ℓ = 2,000, r = 4,000, d = 50,000 sparse",
        {"BSS": work},
        repeats=1,
        bars={"BSS ≤ 60 s": lambda s: s["BSS"] <= 60},
    )
