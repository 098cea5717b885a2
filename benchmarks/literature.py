"""How narrow a spectrum: our selections beside those of methods of the literature.

Usage: ``python benchmarks/literature.py FOLDER`` (the README says what FOLDER holds). Prints
Markdown tables, in some minutes. Every method chooses for all rows, from the same orthonormal basis
V of them; λ and Λ are the extreme eigenvalues of VᵀRRᵀV, computed here from what it returned.
"""

import sys
from pathlib import Path
from time import process_time

import numpy as np
from rivals import dual_set, forward, regret, removal
from scipy import sparse
from sets import data_set, directory_pairs
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from certifeature import BSSSelector
from certifeature.basis import exact_basis
from certifeature.sparsify import bss, leverage_scores
from certifeature.sparsify.rrqr import rrqr
from certifeature.sparsify.sampling import leverage_sample

DRAWS = 11
EPSILONS = (1, 1 / 3, 1 / 10)


def cases(folder):
    """Yield name, data and numbers of picks."""
    for name, sizes in (("golub", (106, 200)), ("alon", (92, 200))):
        X, _ = data_set(folder, f"microarray_{name}")
        # In single precision the means would not be 0, and rounding make one direction more.
        X = StandardScaler().fit_transform(X.toarray().astype(np.float64))
        yield f"{name} (genes, standardised)", X, sizes
    X, _ = next(directory_pairs(folder))
    words = sparse.csr_array(TfidfTransformer().fit_transform(X))
    yield "web pair 1 (words, tf-idf)", words, (300,)
    rng = np.random.default_rng(0)
    yield "random orthonormal rows", np.linalg.qr(rng.standard_normal((2_000, 50)))[0].T, (75,)


def methods(X, vectors, r):
    """Yield name and a function that returns features and squared scales."""

    def narrowest(choices):
        return sorted(choices, key=lambda choice: condition(vectors, *choice))

    def sampled():
        draws = (leverage_sample(vectors, r, random_state=seed) for seed in range(DRAWS))
        return narrowest(map(as_choice, draws))[DRAWS // 2]

    def selected(order):
        selector = BSSSelector(r, order=order, trust=0, rescale="each", supervised=False).fit(X)
        return selector.indices_, selector.scales_**2

    def best_regret(start):
        return narrowest(regret(vectors, r, epsilon, start) for epsilon in EPSILONS)[0]

    scores = leverage_scores(vectors)
    top = np.argsort(-scores, kind="stable")[:r]
    squared_norms = np.asarray((X * X).sum(axis=0)).ravel()
    yield "BSS, leverage order", lambda: as_choice(bss(vectors, r))
    yield "BSS, cover", lambda: as_choice(bss(vectors, r, priority="cover"))
    yield "`BSSSelector`, leverage order", lambda: selected("leverage")
    yield "`BSSSelector`, cover", lambda: selected("cover")
    yield f"leverage sampling, median of {DRAWS}", sampled
    yield "pivoted QR of X*", lambda: as_choice(rrqr(X, r))
    yield "pivoted QR of Vᵀ*", lambda: as_choice(rrqr(vectors.T, r))
    yield "dual set, standard basis", lambda: dual_set(vectors, r)
    yield "dual set, Frobenius, X", lambda: dual_set(vectors, r, squared_norms)
    yield "dual set, Frobenius, V", lambda: dual_set(vectors, r, scores)
    yield "greedy removal*", lambda: removal(vectors, r)
    yield "regret, swaps from top leverage*", lambda: best_regret(top)
    yield "regret, additions then swaps*", lambda: best_regret(())
    yield "A-optimal forward*", lambda: forward(vectors, r)


def as_choice(sample):
    """Return features and squared scales of a sample of ours."""
    return sample.indices, sample.scales**2


def spectrum(vectors, chosen, squared_scales):
    """Return λ and Λ of VᵀRRᵀV; 0 where rounding hides λ."""
    rows = vectors[chosen]
    values = np.linalg.eigvalsh((rows * squared_scales[:, None]).T @ rows)
    return values[0] if values[0] > 1e-12 * values[-1] else 0.0, values[-1]


def condition(vectors, chosen, squared_scales):
    """Return κ = Λ/λ."""
    lowest, highest = spectrum(vectors, chosen, squared_scales)
    return highest / lowest if lowest else np.inf


def measured(vectors, choose):
    """Return the cells of one method: columns, λ, Λ, κ, κ of plain columns, CPU seconds."""
    start = process_time()
    chosen, squared_scales = choose()
    seconds = process_time() - start
    if len(np.unique(chosen)) != len(chosen):
        raise ValueError(f"a method returned a feature twice: {chosen}")
    return [
        len(chosen),
        *spectrum(vectors, chosen, squared_scales),
        condition(vectors, chosen, squared_scales),
        condition(vectors, chosen, np.ones(len(chosen))),
        seconds,
    ]


def cell(value):
    if not isinstance(value, float):
        return str(value)
    if np.isinf(value):
        return "∞"
    return f"{value:,.0f}" if value >= 100 else f"{value:#.3g}"


def row(*cells):
    return "| " + " | ".join(map(cell, cells)) + " |"


def main(folder):
    summary = {}
    for name, X, sizes in cases(Path(folder)):
        vectors = np.asarray(exact_basis(X).vectors)
        n_features, n_components = vectors.shape
        for r in sizes:
            print(f"\n{name}, {X.shape[0]} × {n_features}, all rows: ℓ = {n_components}, r = {r}\n")
            print(row("method", "columns", "λ", "Λ", "κ", "κ, plain columns", "CPU seconds"))
            print("|---" * 7 + "|")
            low, high = ((1 + sign * np.sqrt(n_components / r)) ** 2 for sign in (-1, 1))
            print(row("promised by BSS", f"≤ {r}", low, high, high / low, "none", ""))
            summary.setdefault("case", []).append(f"{name.split(' (')[0]}, {n_components}, {r}")
            summary.setdefault("promised by BSS", []).append(cell(high / low))
            for method, choose in methods(X, vectors, r):
                cells = measured(vectors, choose)
                print(row(method, *cells), flush=True)
                summary.setdefault(method, []).append(" / ".join(map(cell, cells[3:5])))
    print("\nκ with the method's own scales / of plain columns; case, ℓ, r:\n")
    lines = [row(name, *cells) for name, cells in summary.items()]
    lines.insert(1, "|---" * (len(summary["case"]) + 1) + "|")
    print(*lines, "", "\\* exactly r different columns, no scales (all 1)", sep="\n")


if __name__ == "__main__":
    with threadpool_limits(1):
        main(sys.argv[1])
