"""
What the certificate means
==========================

A linear model is trained by making one number as small as possible, its *training objective*: the
errors on the training rows, plus a price for large weights. Take features away, and that number
grows. **By how many times at most?** A certificate answers three times:

- **promised**: what the method guarantees before a single feature is chosen;
- **measured**: what is proven of the very features that were chosen;
- **realised**: what happened, found by training both models.

Each is at most the one before it. None of them is about new data: that is a question for
cross-validation. Here are 120 docstrings; a support vector machine (SVM) tells from their words
which of two packages they belong to.
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
layers = ["promised", "measured", "realised"]

# %%
# The three numbers for growing numbers of words, and for two values of C, which says how much an
# error on a training row costs. A small C makes a soft model, which is content with the main traits
# of the data, and few words can keep those. A large C makes a model that feels nearly every detail.
# (Both axes have logarithmic scales. ``order="cover"`` and ``rescale="each"`` choose for the best
# proof.)

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

ticks = [1, 2, 5, 10, 20, 50, 100, 200]
fig, axes = plt.subplots(1, 2, figsize=(10, 5), sharey=True, layout="constrained")
for ax, C in zip(axes, (0.1, 1.0), strict=True):
    columns = np.array([growths(certificates[C, size]) for size in sizes]).T
    for layer, values, marker in zip(layers, columns, "os^", strict=True):
        ax.loglog(sizes, values, marker=marker, label=layer)
        print(f"C = {C:g}, {layer:>8}:", *(f"{rounded_up(value):8.2f}" for value in values))
    ax.axhline(1.0, color="black", linestyle=":", linewidth=1)
    ax.set_xticks(sizes, map(str, sizes))
    ax.set_yticks(ticks, map(str, ticks))
    ax.minorticks_off()
    ax.set(title=f"C = {C:g}", xlabel=f"words chosen, of {X.shape[1]:,}")
axes[0].set_ylabel("objective grows … times")
axes[1].legend()
plt.show()

# %%
# One choice: 200 words, at C = 1. The promise holds for any data of this kind. The measured bound
# knows which words were chosen, and is closer. What happened is below both, and could not have been
# above.

values = growths(certificates[1.0, 200])
fig, ax = plt.subplots(layout="constrained")
bars = ax.bar(["all words", *layers], [1, *values], color=["0.6", "C0", "C1", "C2"], width=0.65)
ax.bar_label(bars, ["1", *(f"{rounded_up(value):g}" for value in values)], padding=4, fontsize=18)
ax.axhline(1.0, color="black", linestyle=":", linewidth=1)
ax.margins(y=0.12)
ax.set(ylabel="training objective", title="200 words: at most so many times as much")
plt.show()

# %%
# How to read a number: at most 1 means that nothing is lost on the training rows; at most 2, that
# the objective can double at worst; ∞, that nothing is proven, which does *not* mean that the
# choice is bad. Printed, a certificate says all this in words:

print(certificates[1.0, 200])
