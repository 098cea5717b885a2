"""
Promised, measured, realised
============================

A model is trained by making one number as small as possible, its training objective. With fewer
features it cannot be made as small; by how many times it grows is what a certificate bounds, in
three ways. The *promise* is known before a single feature is chosen. The *measured* bound looks at
the features that were chosen. The *realised* growth is found by training both models.

Here are 120 docstrings. The SVM tells from their words which of two packages they belong to.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.svm import LinearSVC

from certifeature import BSSSelector, certify
from certifeature.datasets import load_docstrings

docs = load_docstrings()
rows = np.random.default_rng(0).choice(len(docs.target), 120, replace=False)
X, y = docs.data[rows], docs.target[rows]
sizes = [25, 50, 100, 200, 400]

# %%
# A small C makes a soft model, which feels few directions of the data, and a few words can keep
# those. A large C makes a model that feels nearly all of them.

fig, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
for ax, C in zip(axes, [0.1, 1.0], strict=True):
    svm = LinearSVC(C=C, dual=True, random_state=0)
    selectors = [
        BSSSelector(size, estimator=svm, order="cover", rescale="each").fit(X, y) for size in sizes
    ]
    certificates = [certify(selector) for selector in selectors]
    for name, marker in zip(["promised", "measured", "realised"], "os^", strict=True):
        growth = [getattr(certificate, f"{name}_growth") for certificate in certificates]
        ax.loglog(sizes, growth, marker=marker, label=name)
        print(f"C = {C:g}, {name:>8}:", *(f"{value:8.2f}" for value in growth))
    ax.axhline(1.0, color="black", linestyle=":", linewidth=1)
    ax.set_xticks(sizes, map(str, sizes), minor=False)
    ax.xaxis.minorticks_off()
    ax.set(title=f"LinearSVC(C={C:g})", xlabel=f"words chosen, of {X.shape[1]}")
axes[0].set_yticks([1, 2, 5, 10, 20, 50, 100, 200], map(str, [1, 2, 5, 10, 20, 50, 100, 200]))
axes[0].yaxis.minorticks_off()
axes[0].set_ylabel("training objective grows … times")
axes[0].legend()
plt.show()
