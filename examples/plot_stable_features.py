"""
Which features are stable?
==========================

A feature is not reliable if it is chosen from all rows but not from nine tenths of them. So repeat
the choice ten times, each time without a tenth of the rows, and count how often each feature is
chosen. In this example each method chooses 50 words of 600 docstrings of two packages.
"""

# sphinx_gallery_thumbnail_number = 2
import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_selection import RFE, SelectKBest, chi2
from sklearn.svm import LinearSVC

from certifeature import BSSSelector
from certifeature.datasets import load_docstrings
from certifeature.plotting import StabilityDisplay

docs = load_docstrings(packages=("numpy", "scipy"))
rows = np.random.default_rng(0).choice(len(docs.target), 600, replace=False)
X, y, words = docs.data[rows], docs.target[rows], docs.feature_names

svm = LinearSVC(random_state=0)
methods = {
    "BSS": BSSSelector(50),
    "RFE": RFE(svm, n_features_to_select=50, step=0.1),
    "single words": SelectKBest(chi2, k=50),
}

# %%
# For identical choices the plot would be a rectangle, 50 words wide; random words would give the
# dashed line. The *Jaccard* index is the number of words in both of two choices, divided by the
# number in either.

displays = {}
fig, axes = plt.subplots(1, 3, figsize=(12, 4.2), sharex=True, sharey=True, layout="constrained")
for ax, (name, method) in zip(axes, methods.items(), strict=True):
    display = StabilityDisplay.from_estimator(method, X, y, cv=10, ax=ax)
    display.legend_.remove()
    ax.set(title=f"{name}: Jaccard {display.jaccard:.2f}", xlim=(0, 100), xlabel="")
    ax.label_outer()
    displays[name] = display
fig.supxlabel("words, most often chosen first")
plt.show()

for name, display in displays.items():
    always, ever = (display.frequencies == 1).sum(), (display.frequencies > 0).sum()
    print(f"{name:16} {always} words in all ten choices, {ever} in at least one")

# %%
# The test of single words is the most stable of the three; RFE and BSS are similar.
# (:doc:`On these two packages <plot_words_against_rfe>` such a test has the largest errors: a
# stable choice need not be a good one.) BSS reports why each word was chosen. Most words are
# *trusted*: their weights are the most stable. The others *cover* the remaining directions, for
# which several words are often equally good.

selector = methods["BSS"].fit(X, y)
shares = 100 * displays["BSS"].frequencies[selector.indices_]
for reason in ("trusted", "cover"):
    print(f"{reason:8} words are in {shares[selector.reasons_ == reason].mean():.0f} % of choices")

fig, axes = plt.subplots(1, 2, figsize=(8, 5.6), sharex=True, layout="constrained")
for ax, reason, colour in zip(axes, ("trusted", "cover"), ("C0", "C4"), strict=True):
    first = np.flatnonzero(selector.reasons_ == reason)[:10]
    ax.barh(words[selector.indices_[first]], shares[first], color=colour)
    ax.invert_yaxis()
    ax.set(title={"trusted": "trusted", "cover": "picked by BSS"}[reason], xlim=(0, 100))
fig.supxlabel("share of the choices (%)")
plt.show()
