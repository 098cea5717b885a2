"""
Keep features that must stay
============================

Some features are in whatever the data say: genes that the laboratory measures anyway, a question
that the law asks for, words that an editor wants to see. Name them in ``fixed_features`` and they
count among those that are asked for. The selector then chooses the others beside them.

Here are 600 docstrings, and six everyday words that have to stay.
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
free = BSSSelector(100, estimator=svm).fit(X, y)
chosen_anyway = np.intersect1d(columns, free.indices_)
print(f"left alone, BSS would choose {len(chosen_anyway)} of these {len(columns)} words.")

# %%
# The certificate says how many were fixed, and what is proven of all hundred together. ``reasons_``
# says why each of them is in. With a data frame the names themselves can be given.

selector = BSSSelector(100, estimator=svm, fixed_features=columns).fit(X, y)
for reason in ("fixed", "trusted", "cover"):
    chosen = words[selector.indices_[selector.reasons_ == reason]]
    print(f"{len(chosen):3} {reason}:", *chosen[:6], "…" if len(chosen) > 6 else "")
print()
print(certify(X, y, selector, cv=5))

# %%
# What does it cost to insist? Here more and more of the hundred are fixed, words that were drawn at
# random, which is about the worst that an editor can do. For the errors, C is tuned by inner folds.

drawn = np.random.default_rng(1).permutation(X.shape[1])
numbers = [0, 20, 40, 60, 80, 95]
errors, growths = [], []
for n in numbers:
    selector = BSSSelector(100, estimator=svm, fixed_features=drawn[:n])
    model = make_pipeline(selector, GridSearchCV(svm, {"C": [0.1, 1, 10]}, cv=3))
    errors.append(100 * (1 - cross_val_score(model, X, y, cv=5).mean()))
    growths.append(selector.fit(X, y).certificate_.measured_growth)
    bound = np.ceil(10 * growths[-1]) / 10  # rounded up, to stay a bound
    print(f"{n:2} fixed: error {errors[-1]:4.1f} %, objective at most {bound:4.1f} times")

fig, (left, right) = plt.subplots(1, 2, figsize=(8, 5.6), sharex=True, layout="constrained")
left.plot(numbers, errors, "o-")
left.set(title="wrong docstrings (%)", ylim=(0, None))
right.plot(numbers, growths, "o-", color="C2")
right.set(title="objective: at most … times", ylim=(0, None), xticks=[0, 20, 40, 60, 80, 100])
fig.supxlabel("of 100 words, so many must stay")
plt.show()

# %%
# A few do no harm: the others make up for them. Eighty fixed words out of a hundred leave twenty to
# carry the model, and that shows in the error as well as in the proof.
