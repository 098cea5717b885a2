"""
Between two barriers
====================

BSS picks one feature a step. Each pick adds a multiple of v vᵀ to a matrix A, with v the row of the
basis that belongs to the feature, and two barriers move up after it: the lower one by 1, the upper
one by more. Only features are admissible that let the eigenvalues of A keep their distance from
both, and there always is one.

At the end, the ratio of the barriers bounds the ratio of the eigenvalues, which is how unevenly the
chosen features stretch the directions of the data.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from certifeature import BSSSelector
from certifeature.datasets import load_docstrings, make_relevant_features
from certifeature.plotting import SpectrumDisplay

X, y = make_relevant_features(100, 1000, 20, random_state=0)

# %%
# An SVM with a hinge loss needs all directions of its support vectors alike. Here nothing is
# trusted, so every feature is a pick of BSS. The more steps for the same number of directions, the
# closer are the barriers, measured by their ratio. Eigenvalues of directions that no pick has
# touched yet stay at zero until the lower barrier comes near, when only features that lift them are
# admissible.

settings = {"order": "coef", "trust": 0, "rescale": "each"}
fig, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for ax, n_steps in zip(axes, [80, 400], strict=True):
    selector = BSSSelector(n_steps, estimator=SVC(kernel="linear"), **settings).fit(X, y)
    display = SpectrumDisplay.from_estimator(selector, X, ax=ax)
    ratio = display.upper[-1] / display.lower[-1]
    ax.set_xlabel(f"step (barriers at the end: ratio {ratio:.1f})")
plt.show()

# %%
# Logistic regression does not need all directions alike. Of each it needs a share w, near 1 for a
# strong direction and near 0 for a faint one; their sum, the effective dimension, counts in the
# place of the number of directions. Here are 200 docstrings and their words. Eigenvalues
# start at 1 − w, and picks add what they cover of the rest; at 1 nothing is lost. Bounds hold even
# for fewer words than directions. Where words are too few for the shares of the model, as on the
# left, BSS covers smaller ones.

docs = load_docstrings()
rows = np.random.default_rng(0).choice(len(docs.target), 200, replace=False)
X, y = docs.data[rows], docs.target[rows]

fig, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for ax, n_steps in zip(axes, [80, 400], strict=True):
    selector = BSSSelector(n_steps, estimator=LogisticRegression(), **settings).fit(X, y)
    display = SpectrumDisplay.from_estimator(selector, X, ax=ax)
    dimension = selector.certificate_.a_priori.dimension
    ax.set_xlabel(f"step (effective dimension {dimension:.0f})")
plt.show()
