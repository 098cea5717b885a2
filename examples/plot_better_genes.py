"""
Is there a better set of genes?
===============================

A method chose a hundred of 5,000 genes. Would another hundred have been better? For the training
objective of a linear SVM, :func:`~certifeature.certify` answers that for any choice: it bounds the
objective of *all* sets of a hundred genes from below, all 10²¹¹ of them.

The table is simulated: eighty tissue samples, and pathways of twenty correlated genes, of which ten
have a higher mean in tumours.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_selection import RFE, SelectKBest, f_classif
from sklearn.svm import LinearSVC

from certifeature import BestSubsetSelector, BSSSelector, at_scale, certify

rng = np.random.default_rng(0)
tumour = np.repeat([0, 1], 40)
activity = rng.standard_normal((80, 250))
activity[tumour == 1, :10] += 1
X = 0.7 * activity[:, :, None] + 0.7 * rng.standard_normal((80, 250, 20))
X = X.reshape(80, -1)
X = (X - X.mean(axis=0)) / X.std(axis=0)

# %%
# `BestSubsetSelector` looks for the genes of smallest objective. Its certificate says how far from
# the best they can be.

best = BestSubsetSelector(100).fit(X, tumour)
closeness = certify(X, tumour, best).optimality
print(closeness)

# %%
# Any other choice can be asked, too. Objectives can be compared if all have one model, here that of
# the first choice.

model = at_scale(X[:, best.indices_], LinearSVC(C="soft", dual=False, intercept_scaling=np.inf))
choices = {
    "best subset": best,
    "BSS": BSSSelector(100).fit(X, tumour),
    "RFE": RFE(LinearSVC(dual=False), n_features_to_select=100, step=0.2).fit(X, tumour),
    "F-test": SelectKBest(f_classif, k=100).fit(X, tumour),
    "random": rng.choice(X.shape[1], 100, replace=False),
}
layers = {
    name: certify(X, tumour, choice, estimator=model, realised=False).optimality
    for name, choice in choices.items()
}
bound = max(layer.lower_bound for layer in layers.values())
above = {name: 100 * (layer.objective / bound - 1) for name, layer in layers.items()}
for name, layer in layers.items():
    n_always = layer.always.sum()
    print(f"{name:12} {above[name]:6.1f} % above the bound, {n_always:3} genes always")

# %%
# The bound proves more. Some genes are in *every* hundred with an objective as small as that of the
# best subset, and most genes are in none. Between them is what the eighty samples leave open: genes
# that one may exchange for others. These marks are about the objective on these samples; other
# samples have other best sets.

first = layers["best subset"]
chosen = best.get_support()
weights = np.abs(model.fit(X, tumour).coef_[0])
order = np.argsort(-weights)
marks = {
    "in every set": first.always[order],
    "open, chosen": (chosen & ~first.always)[order],
    "open, not chosen": (~chosen & ~first.never)[order],
    "in no set": first.never[order],
}

fig, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
bars = left.barh(list(above), list(above.values()), color="C0")
left.bar_label(bars, fmt="%.1f", padding=4)
left.invert_yaxis()
left.set(xlabel="objective above the bound on all sets (%)", xlim=(0, 1.15 * max(above.values())))
for (name, mask), colour in zip(marks.items(), ["C2", "C0", "C1", "0.8"], strict=True):
    label = f"{name} ({mask.sum():,})"
    right.plot(np.flatnonzero(mask) + 1, weights[order[mask]], ".", color=colour, label=label)
right.set(xscale="log", xlabel="rank of the weight in the SVM on all genes", ylabel="weight")
right.legend(loc="lower left", markerscale=2)
plt.show()
