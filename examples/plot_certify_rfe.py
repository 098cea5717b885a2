"""
Certify your own RFE
====================

A certificate does not ask who chose the features. ``certify`` takes a fitted selector of
scikit-learn, a mask, or a plain list of columns. It says by how many times the training objective
of your model can grow when all other features go. (The *objective* is the number that training
makes as small as possible: errors on the training rows, plus a price for large weights.)

Here a linear support vector machine (SVM) tells from its words which of two packages each of 400
docstrings belongs to.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_selection import RFE
from sklearn.svm import LinearSVC

from certifeature import BSSSelector, certify
from certifeature.datasets import load_docstrings

docs = load_docstrings()
rows = np.random.default_rng(0).choice(len(docs.target), 400, replace=False)
X, y = docs.data[rows], docs.target[rows]
svm = LinearSVC(random_state=0).fit(X, y)

# %%
# First a selector that you may have already: recursive feature elimination, fitted as always. No
# theorem covers how RFE chooses, so nothing is promised beforehand. But what it has chosen can be
# measured, and that bound is as much of a proof as any. With ``cv=5`` the certificate also
# estimates the error on new data.

rfe = RFE(svm, n_features_to_select=100, step=0.1).fit(X, y)
print(certify(X, y, rfe, estimator=svm, cv=5))

# %%
# Next a mask, of the words with the largest weights, and a list of column numbers, of the words
# that are in most docstrings. For comparison, BSS chooses a hundred words as well. It also
# multiplies them by one factor, so that they have the size that all words had together; RFE gets
# such a factor in a row of its own, because it changes the objective.

weights = np.abs(svm.coef_[0])
mask = weights >= np.sort(weights)[-100]
in_most = np.argsort(-X.getnnz(axis=0), kind="stable")[:100]
factor = np.sqrt(X.power(2).sum() / rfe.transform(X).power(2).sum())
certificates = {
    "most frequent words": certify(X, y, in_most, estimator=svm),
    "largest weights": certify(X, y, mask, estimator=svm),
    "RFE": certify(X, y, rfe, estimator=svm),
    "RFE, scaled up": certify(X, y, rfe, weights=np.full(100, factor), estimator=svm),
    "BSS": certify(BSSSelector(100, estimator=svm).fit(X, y)),
}
for name, certificate in certificates.items():
    print(f"{name:20} {certificate!r}")

# %%
# Bars show what is proven, diamonds what happened when both models were trained.

proven = [certificate.measured_growth for certificate in certificates.values()]
happened = [certificate.realised_growth for certificate in certificates.values()]
places = np.arange(len(certificates))

fig, ax = plt.subplots(layout="constrained")
ax.barh(places, proven, color=["C5", "C5", "C5", "C5", "C0"], label="proven: at most")
ax.plot(happened, places, "D", color="black", label="what happened")
ax.axvline(1, color="0.4", linestyle=":")
ax.set_yticks(places, certificates)
ax.invert_yaxis()
ax.set(xlabel="times the objective with all words")
ax.legend(loc="lower right")
plt.show()
