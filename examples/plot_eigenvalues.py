"""
What a selection keeps
======================

A linear SVM sees its data through inner products. With V an orthonormal basis of the rows and R the
chosen columns and their scales, the eigenvalues of M = VᵀRRᵀV say how much each direction of the
rows is stretched or shrunk: 1 is untouched, 0 is lost. The squared margin shrinks at worst by the
smallest of them.

Here are 60 docstrings and 240 of their words, chosen by three methods. BSS promises that all
eigenvalues lie between the dashed lines, for any data. The other two promise nothing at this size;
random words lose whole directions.
"""

import matplotlib.pyplot as plt
import numpy as np

from certifeature import BSSSelector, LeverageScoreSelector, RandomSelector
from certifeature.basis import exact_basis
from certifeature.datasets import load_docstrings

docs = load_docstrings()
rows = np.random.default_rng(0).choice(len(docs.target), 60, replace=False)
X, y = docs.data[rows], docs.target[rows]

# %%
# Unsupervised selections for all 60 rows, so that the three share one basis.

n_words = 240
selectors = [
    BSSSelector(n_words, supervised=False, rescale="each"),
    LeverageScoreSelector(n_words, supervised=False, random_state=0),
    RandomSelector(n_words, supervised=False, random_state=0),
]
vectors = exact_basis(X).vectors
n_directions = vectors.shape[1]

fig, ax = plt.subplots(layout="constrained")
for selector, marker in zip(selectors, "os^", strict=True):
    selector.fit(X)
    chosen = vectors[selector.indices_] * selector.weights_[:, None]
    # Rounding can put a lost direction a little below zero.
    eigenvalues = np.maximum(np.linalg.eigvalsh(chosen.T @ chosen), 0.0)
    label = f"{type(selector).__name__}: {len(selector.indices_)} words, λ = {eigenvalues[0]:.2g}"
    ax.plot(np.arange(1, n_directions + 1), eigenvalues, marker, markersize=4, label=label)
ratio = np.sqrt(n_directions / n_words)
for bound in ((1 - ratio) ** 2, (1 + ratio) ** 2):
    ax.axhline(bound, color="black", linestyle="--", linewidth=1)
ax.set(xlabel="direction", ylabel="eigenvalue of M")
ax.set_yscale("symlog", linthresh=0.1)
ax.set_ylim(bottom=0)
ax.legend()
plt.show()
