"""
Certify your own RFE
====================

A certificate does not depend on how the features were chosen. ``certify`` takes a fitted selector
of scikit-learn, a mask, or a list of columns. It bounds the growth of the training objective of
your model when all other features are dropped. (Training minimises the *objective*: errors on the
training rows, plus a penalty on large weights.)

In this example a linear support vector machine (SVM) classifies 400 docstrings of two packages by
their words.
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
# First, recursive feature elimination. No theorem covers RFE, so there is no a priori bound. The
# measured bound for its choice is proven nevertheless. With ``cv=5`` the certificate also estimates
# the error on new data.

rfe = RFE(svm, n_features_to_select=100, step=0.1).fit(X, y)
print(certify(X, y, rfe, cv=5, n_repeats=1))

# %%
# Next, a mask of the words with the largest weights, a list of the most frequent words, and for
# comparison a hundred words chosen by BSS. The certificates are for a soft SVM whose C suits the
# scale of the rows, so they do not depend on how the columns are scaled. ``estimator=`` takes your
# own model.

weights = np.abs(svm.coef_[0])
mask = weights >= np.sort(weights)[-100]
in_most = np.argsort(-X.getnnz(axis=0), kind="stable")[:100]
certificates = {
    "most frequent words": certify(X, y, in_most),
    "largest weights": certify(X, y, mask),
    "RFE": certify(X, y, rfe),
    "BSS": certify(BSSSelector(100).fit(X, y)),
}
for name, certificate in certificates.items():
    print(f"{name:20} {certificate!r}")

# %%
# Diamonds show the realised growth, proven for these labels; bars the bound for any labels.

proven = [certificate.measured_growth for certificate in certificates.values()]
happened = [certificate.realised_growth for certificate in certificates.values()]
places = np.arange(len(certificates))

fig, ax = plt.subplots(layout="constrained")
ax.barh(places, proven, color=["C5", "C5", "C5", "C0"], label="measured bound")
ax.plot(happened, places, "D", color="black", label="realised")
ax.axvline(1, color="0.4", linestyle=":")
ax.set_yticks(places, certificates)
ax.invert_yaxis()
ax.set(xlabel="growth of the objective")
ax.legend(loc="lower right")
plt.show()
