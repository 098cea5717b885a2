"""
Always include given features
=============================

Some features have to be included: genes of a standard panel, a question that is required by law,
words that an editor wants to see. Pass them as ``fixed_features``. They count towards the number of
features, and the selector chooses the others.

This example has 600 docstrings, and six words that are always included.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from certifeature import BSSSelector, certify
from certifeature.datasets import load_docstrings

docs = load_docstrings(packages=("numpy", "scipy"))
rows = np.random.default_rng(0).choice(len(docs.target), 600, replace=False)
X, y, words = docs.data[rows], docs.target[rows], docs.feature_names
svm = LinearSVC(random_state=0)

must_stay = ["angle", "integral", "memory", "polynomial", "signal", "string"]
columns = np.flatnonzero(np.isin(words, must_stay))
free = BSSSelector(100).fit(X, y)
chosen_anyway = np.intersect1d(columns, free.indices_)
print(f"Without fixed_features, BSS chooses {len(chosen_anyway)} of these {len(columns)} words.")

# %%
# The certificate reports how many features were fixed, and its bounds are for all hundred together.
# ``reasons_`` says why each was chosen. With a data frame, pass the names of the columns.

selector = BSSSelector(100, fixed_features=columns).fit(X, y)
for reason in ("fixed", "trusted", "cover"):
    chosen = words[selector.indices_[selector.reasons_ == reason]]
    print(f"{len(chosen):3} {reason}:", *chosen[:6], "…" if len(chosen) > 6 else "")
print()
print(certify(X, y, selector, cv=5, n_repeats=1))

# %%
# What is the cost of always-included features? Here an increasing number of the hundred words is
# drawn at random and fixed, which is nearly the worst case. For the errors, C is tuned by inner
# folds.

drawn = np.random.default_rng(1).permutation(X.shape[1])
numbers = [0, 20, 40, 60, 80, 95]
errors, growths = [], []
for n in numbers:
    selector = BSSSelector(100, fixed_features=drawn[:n])
    model = make_pipeline(selector, GridSearchCV(svm, {"C": [0.1, 1, 10]}, cv=3))
    errors.append(100 * (1 - cross_val_score(model, X, y, cv=5).mean()))
    growths.append(selector.fit(X, y).certificate_.measured_growth)
    bound = np.ceil(10 * growths[-1]) / 10  # rounded up, to stay a bound
    print(f"{n:2} fixed: error {errors[-1]:4.1f} %, objective at most {bound:4.1f} times")

fig, (left, right) = plt.subplots(1, 2, figsize=(8, 5.6), sharex=True, layout="constrained")
left.plot(numbers, errors, "o-")
left.set(title="test error (%)", ylim=(0, None))
right.plot(numbers, growths, "o-", color="C2")
right.set(title="bound on the growth", ylim=(0, None), xticks=[0, 20, 40, 60, 80, 100])
fig.supxlabel("number of fixed words, of 100")
plt.show()

# %%
# A few fixed words cost little, since the others compensate for them. Eighty of a hundred leave
# only twenty informative words, which increases the error.
