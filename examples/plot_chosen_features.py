"""
Which features, and again?
==========================

Half of the words are those whose weights are the surest over subsamples of the rows. BSS picks the
others in the order of their weights, but passes over words that would stretch the directions of the
data too unevenly. The marks show which words were taken.
"""

import matplotlib.pyplot as plt
import numpy as np

from certifeature import BSSSelector, LeverageScoreSelector
from certifeature.datasets import load_docstrings
from certifeature.plotting import RankDisplay, StabilityDisplay

docs = load_docstrings()
rows = np.random.default_rng(0).choice(len(docs.target), 240, replace=False)
X, y = docs.data[rows], docs.target[rows]

RankDisplay.from_estimator(BSSSelector(160).fit(X, y))
plt.show()

# %%
# How much does the choice depend on the rows? On each four fifths of them, many of the words are
# the same; draws in proportion to leverage scores agree little more than random words would.

fig, axes = plt.subplots(1, 2, figsize=(10, 4), sharex=True, layout="constrained")
selectors = [BSSSelector(160), LeverageScoreSelector(160)]
for ax, selector in zip(axes, selectors, strict=True):
    StabilityDisplay.from_estimator(selector, X, y, ax=ax)
    ax.set_xlabel(f"words, most often chosen by {type(selector).__name__} first")
plt.show()
