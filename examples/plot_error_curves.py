"""
Fewer words, the same error?
============================

How many features does a linear SVM need, and what can the choice cost? Here are docstrings of three
packages; the SVM tells from the words of a docstring which package it belongs to. Methods choose
words on the training rows of each fold, and an SVM that sees only these is tested on the others.
"""

import matplotlib.pyplot as plt
import numpy as np

from certifeature import BSSSelector
from certifeature.datasets import load_docstrings
from certifeature.plotting import CertificateDisplay, ErrorCurveDisplay

docs = load_docstrings()
rows = np.random.default_rng(0).choice(len(docs.target), 200, replace=False)
X, y = docs.data[rows], docs.target[rows]

# %%
# The floor is what random words give. A 1-norm SVM finds its own number of words.

ErrorCurveDisplay.from_data(
    X,
    y,
    [20, 50, 100, 200, 400],
    methods=["bss", "leverage", "univariate", "lpsvm", "random"],
    n_folds=3,
    n_jobs=1,
)
plt.show()

# %%
# The test error shows what the choice did cost, on these folds. The certificate bounds what it can
# cost in training, on the support vectors of the SVM: by how many times its objective can grow. BSS
# promises a limit before it looks at the words, even with fewer of them than there are support
# vectors; the measured limit is lower, and what is realised is lower than both. Coverage alone,
# with a scale for each word, makes for the best certificate.

coverage = BSSSelector(order="cover", rescale="each")
CertificateDisplay.from_estimator(coverage, X, y, [100, 200, 400, 800])
plt.show()
