"""
Tune a pipeline by grid search
==============================

A selector is a step of a scikit-learn pipeline. Here the steps are a scaler, ``BSSSelector`` and a
linear support vector machine (SVM). ``GridSearchCV`` searches over the number of features and the
SVM's C, the cost of errors on training rows.

The data are synthetic: 200 rows with 2,000 features. Twenty features are informative, and twenty
more are linear combinations of these.
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
# The scaler and the selector are fitted to the training rows of every fold, so that no test row
# influences the choice of features.

sizes = [5, 10, 20, 50, 100, 2000]
costs = [0.0001, 0.001, 0.01, 0.1]
pipeline = Pipeline(
    [("scale", StandardScaler()), ("select", BSSSelector()), ("svm", LinearSVC(random_state=0))]
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
# Each square is one pair, and dark squares have low errors. Twenty features are the best, with less
# than half the errors of all features. (The error of the best pair is optimistic. For an unbiased
# estimate, cross-validate the whole search.)

fig, ax = plt.subplots(layout="constrained")
ax.imshow(100 * errors.T, cmap="Blues_r", aspect="auto", origin="lower")
for place, error in np.ndenumerate(100 * errors):
    colour = "white" if error < 100 * errors.mean() else "black"
    ax.text(*place, f"{error:.0f}", ha="center", va="center", color=colour, fontsize=18)
ax.set_xticks(range(len(sizes)), [*map(str, sizes[:-1]), "all"])
ax.set_yticks(range(len(costs)), map(str, costs))
ax.set(xlabel="number of features", ylabel="C of the SVM", title="errors in percent")
plt.show()

# %%
# The best selector has a certificate, as every fitted one; see
# :doc:`what the certificate means <plot_certificate_meaning>`.

print(search.best_estimator_["select"].certificate_)
