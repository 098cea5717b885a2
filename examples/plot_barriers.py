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

from certifeature import BSSSelector
from certifeature.datasets import make_relevant_features
from certifeature.plotting import SpectrumDisplay

X, y = make_relevant_features(100, 1000, 20, random_state=0)

# %%
# Here nothing is trusted, so every feature is a pick of BSS. The more steps for the same number
# of directions, the closer are the barriers, measured by their ratio. Eigenvalues of directions
# that no pick has touched yet stay at zero until the lower barrier comes near, when only features
# that lift them are admissible.

fig, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for ax, n_steps in zip(axes, [80, 400], strict=True):
    selector = BSSSelector(n_steps, order="coef", trust=0, rescale="each").fit(X, y)
    display = SpectrumDisplay.from_estimator(selector, X, ax=ax)
    ratio = display.upper[-1] / display.lower[-1]
    ax.set_xlabel(f"step (barriers at the end: ratio {ratio:.1f})")
plt.show()
