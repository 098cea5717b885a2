"""
What the certificate means
==========================

Training a linear model minimises its *training objective*: the errors on the training rows, plus a
penalty on large weights. With fewer features, its minimum grows. The *growth* is the ratio of the
objective with the chosen features to that with all. A certificate proves two things about it:

- **realised**: the ratio for these labels, from two trained models;
- **measured**: an upper bound for any labels of these rows.

The second is never below the first. None of them is about new data, for which cross-validation
estimates the error. In this example a support vector machine (SVM) classifies 120 docstrings of two
packages by their words.
"""

# sphinx_gallery_thumbnail_number = 2
import matplotlib.pyplot as plt
import numpy as np
from sklearn.svm import LinearSVC

from certifeature import BSSSelector, certify
from certifeature.datasets import load_docstrings

docs = load_docstrings()
rows = np.random.default_rng(0).choice(len(docs.target), 120, replace=False)
X, y = docs.data[rows], docs.target[rows]
sizes = [25, 50, 100, 200, 400]
layers = ["realised", "measured"]

# %%
# Both for several numbers of words and two values of C, the cost of errors on training
# rows. With a small C the model depends on few directions of the data, and few words preserve them.
# With a large C it depends on nearly all directions. (Both axes are logarithmic. ``order="cover"``
# and ``rescale="each"`` give the tightest bounds.)

certificates = {}
for C in (0.1, 1.0):
    svm = LinearSVC(C=C, random_state=0)
    for size in sizes:
        selector = BSSSelector(size, estimator=svm, order="cover", rescale="each").fit(X, y)
        certificates[C, size] = certify(selector)


def growths(certificate):
    return [getattr(certificate, f"{layer}_growth") for layer in layers]


def rounded_up(bound):
    return np.ceil(100 * bound) / 100


# %%

ticks = [1, 2, 5, 10, 20]
fig, axes = plt.subplots(1, 2, figsize=(10, 5), sharey=True, layout="constrained")
for ax, C in zip(axes, (0.1, 1.0), strict=True):
    columns = np.array([growths(certificates[C, size]) for size in sizes]).T
    for layer, values, marker in zip(layers, columns, "os", strict=True):
        ax.loglog(sizes, values, marker=marker, label=layer)
        print(f"C = {C:g}, {layer:>8}:", *(f"{rounded_up(value):8.2f}" for value in values))
    ax.axhline(1.0, color="black", linestyle=":", linewidth=1)
    ax.set_xticks(sizes, map(str, sizes))
    ax.set_yticks(ticks, map(str, ticks))
    ax.minorticks_off()
    ax.set(title=f"C = {C:g}", xlabel=f"words chosen, of {X.shape[1]:,}")
axes[0].set_ylabel("growth of the objective")
axes[1].legend()
plt.show()

# %%
# One choice: 200 words at C = 1. The realised growth is that for these labels. The measured bound
# holds for any labels of the same rows, so it is larger.

values = growths(certificates[1.0, 200])
fig, ax = plt.subplots(layout="constrained")
bars = ax.bar(["all words", *layers], [1, *values], color=["0.6", "C0", "C1"], width=0.65)
ax.bar_label(bars, ["1", *(f"{rounded_up(value):g}" for value in values)], padding=4, fontsize=18)
ax.axhline(1.0, color="black", linestyle=":", linewidth=1)
ax.margins(y=0.12)
ax.set(ylabel="training objective", title="200 words: what is proven")
plt.show()

# %%
# At 1 nothing is lost on the training rows; at 2 the objective doubles. A bound beyond 10 is of no
# use, which does *not* mean that the choice is bad. A certificate prints all of this as text:

print(certificates[1.0, 200])
