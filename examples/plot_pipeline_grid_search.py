"""
Tune a pipeline by grid search
==============================

A selector is a step of a scikit-learn pipeline like any other. Here a scaler comes first, then
``BSSSelector``, then a linear support vector machine (SVM). Two numbers are open: how many features
to keep, and the SVM's C, which says how much an error on a training row costs. ``GridSearchCV``
tries all pairs of them.

The data are made up: 200 rows with 2,000 features. Twenty features carry information, and twenty
more are mixtures of these.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from certifeature import BSSSelector

X, y = make_classification(
    n_samples=200, n_features=2000, n_informative=20, n_redundant=20, class_sep=2, random_state=0
)

# %%
# The scaler and the selector are fitted anew to the training rows of every fold. That keeps the
# search honest: no test row helps to choose the features that it is tested with.

sizes = [5, 10, 20, 50, 100, 2000]
costs = [0.0001, 0.001, 0.01, 0.1]
pipeline = Pipeline(
    [
        ("scale", StandardScaler()),
        ("select", BSSSelector(estimator=LinearSVC(C=0.01, random_state=0))),
        ("svm", LinearSVC(random_state=0)),
    ]
)
grid = [
    {"select__n_features_to_select": sizes[:-1], "svm__C": costs},
    {"select": ["passthrough"], "svm__C": costs},  # all features
]
search = GridSearchCV(pipeline, grid, cv=5).fit(X, y)

errors = 1 - search.cv_results_["mean_test_score"].reshape(len(sizes), len(costs))
print("best pair:", search.best_params_)
print(f"its error over the folds: {100 * errors.min():.1f} %")
print(f"the best error with all features: {100 * errors[-1].min():.1f} %")

# %%
# Each square is one pair. Dark squares are good: ten features do best at every C, with half the
# errors of all features. (The best of many pairs looks a little better than it is. For an honest
# estimate, cross-validate the whole search.)

fig, ax = plt.subplots(layout="constrained")
ax.imshow(100 * errors.T, cmap="Blues_r", aspect="auto", origin="lower")
for place, error in np.ndenumerate(100 * errors):
    colour = "white" if error < 100 * errors.mean() else "black"
    ax.text(*place, f"{error:.0f}", ha="center", va="center", color=colour, fontsize=18)
ax.set_xticks(range(len(sizes)), [*map(str, sizes[:-1]), "all"])
ax.set_yticks(range(len(costs)), map(str, costs))
ax.set(xlabel="features that are kept", ylabel="C of the SVM", title="errors in percent")
plt.show()

# %%
# The selector that won has a certificate, as every fitted one does. Ten features are few for a
# proof, so it says little here; :doc:`what the certificate means <plot_certificate_meaning>`
# explains it.

print(search.best_estimator_["select"].certificate_)
