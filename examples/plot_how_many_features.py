"""
How many features do I need?
============================

``SelectorCV`` finds the number by cross-validation, as scikit-learn's ``RFECV`` does. In every
fold it chooses several numbers of features on the training rows, and computes the errors on the
others. It takes the smallest number whose error is within one standard error of the lowest.

This is the *one-standard-error rule*: such errors do not differ significantly, so the simplest
model is taken. The data are the words of 600 docstrings of two packages.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from certifeature import BSSSelector, SelectorCV
from certifeature.datasets import load_docstrings

docs = load_docstrings(packages=("numpy", "scipy"))
rows = np.random.default_rng(0).choice(len(docs.target), 600, replace=False)
X, y = docs.data[rows], docs.target[rows]

sizes = [5, 10, 20, 50, 100, 200, 400, X.shape[1]]
search = SelectorCV(sizes=sizes, cv=5).fit(X, y)
print(f"{search.n_features_} of {X.shape[1]} words are enough.")

# %%
# Errors against the number of words. Errors below the dashed line are within one standard error of
# the lowest.

results = search.cv_results_
errors = 100 * (1 - results["mean_test_score"])
folds = 100 * np.array([results[f"split{fold}_test_score"] for fold in range(5)])
deviations = folds.std(axis=0, ddof=1) / np.sqrt(len(folds))
best = errors.argmin()
found = sizes.index(search.n_features_)

fig, ax = plt.subplots(layout="constrained")
ax.fill_between(sizes, errors - deviations, errors + deviations, color="C0", alpha=0.25, lw=0)
ax.plot(sizes, errors, "o-", label="error ± standard error")
ax.axhline(errors[best] + deviations[best], color="0.4", linestyle="--")
ax.plot(sizes[found], errors[found], "*", color="C1", markersize=26, label="the number to take")
ax.set_xscale("log")
ticks = [*map(str, sizes[:-1]), "all"]
ax.set_xticks(sizes, ticks)
ax.xaxis.minorticks_off()
ax.set(xlabel="number of words", ylabel="test error (%)", ylim=(0, None))
ax.legend()
plt.show()

# %%
# The search used the soft SVM that is the default of the library. With C tuned by inner folds:

svm = LinearSVC(random_state=0)
tuned = GridSearchCV(svm, {"C": [0.1, 1, 10]}, cv=3)
selector = BSSSelector(search.n_features_)
for name, model in {"chosen": make_pipeline(selector, tuned), "all": tuned}.items():
    wrong = 100 * (1 - cross_val_score(model, X, y, cv=5))
    deviation = wrong.std(ddof=1) / np.sqrt(len(wrong))
    print(f"{name} words, C tuned: error {wrong.mean():.1f} ± {deviation:.1f} %")

# %%
# The certificate bounds the *growth*: the ratio of the training objective with the chosen words to
# that with all words. The bound improves with the number of words long after the error has stopped
# falling.

growths = [BSSSelector(size).fit(X, y).certificate_.measured_growth for size in sizes[:-1]]
for size, error, growth in zip(sizes, errors, [*growths, 1.0], strict=True):
    bound = np.ceil(10 * growth) / 10  # rounded up, to stay a bound
    print(f"{size:6} words: error {error:4.1f} %, objective at most {bound:5.1f} times")

fig, ax = plt.subplots(layout="constrained")
ax.plot(sizes, [*growths, 1.0], "o-", color="C2")
ax.plot(sizes[found], growths[found], "*", color="C1", markersize=26, label="the number to take")
ax.set(xscale="log", xlabel="number of words", ylabel="bound on the growth", ylim=(0, None))
ax.set_xticks(sizes, ticks)
ax.xaxis.minorticks_off()
ax.legend()
plt.show()
