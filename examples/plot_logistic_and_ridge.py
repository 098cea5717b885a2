"""
Logistic and ridge models
=========================

Certificates are available for other linear models than support vector machines. Pass your model as
``estimator``: features are then chosen for it, and the bounds are about its training objective.
This example has a classifier with probabilities, and a regression model.
"""

import tempfile

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from certifeature import BSSSelector, certify
from certifeature.datasets import load_docstrings

# %%
# **Classification.** Logistic regression predicts the probability that a docstring belongs to
# scikit-learn. There are 900 docstrings, and 200 of their words are chosen.

docs = load_docstrings()
rows = np.random.default_rng(0).choice(len(docs.target), 900, replace=False)
X, y = docs.data[rows], docs.target[rows]
logistic = LogisticRegression(C=10)
words = BSSSelector(200, estimator=logistic)
print(certify(words.fit(X, y)))

# %%
# Out-of-fold probabilities with all and with the chosen words, which are chosen again in every
# fold. Errors are for this C, and for C tuned by inner folds; ``memory`` caches the choice of a
# fold.

cache = tempfile.TemporaryDirectory()


def probabilities(*steps):
    model = make_pipeline(*steps, memory=cache.name)
    return cross_val_predict(model, X, y, cv=3, method="predict_proba")[:, 1]


tuned = GridSearchCV(logistic, {"C": [1, 10, 100]}, cv=3)
with_all, with_few = probabilities(logistic), probabilities(words, logistic)
tuned_all, tuned_few = probabilities(tuned), probabilities(words, tuned)
for name, *found in [("all words", with_all, tuned_all), ("200 words", with_few, tuned_few)]:
    fixed_error, tuned_error = (100 * np.mean((share > 0.5) != y) for share in found)
    print(f"{name}: error {fixed_error:.1f} % at C = 10, {tuned_error:.1f} % with C tuned")
cache.cleanup()

# %%
# **Regression.** The target is the progression of diabetes after a year. Ten measurements of 442
# patients and all their products of degree two and three give 285 columns. Ridge regression has a
# penalty ``alpha`` instead of C. Forty columns are chosen.

X_patients, progress = load_diabetes(return_X_y=True)
expand = make_pipeline(PolynomialFeatures(3, include_bias=False), StandardScaler())
X_wide = expand.fit_transform(X_patients)
ridge = Ridge(alpha=100)
columns = BSSSelector(40, estimator=ridge)
print(certify(columns.fit(X_wide, progress)))

# %%
# The out-of-fold R², at this alpha and with alpha tuned by inner folds.


def numbers(*steps):
    return cross_val_predict(make_pipeline(expand, *steps), X_patients, progress)


tuned = GridSearchCV(ridge, {"alpha": [1, 10, 100, 1000]}, cv=3)
number_all, number_few = numbers(ridge), numbers(columns, ridge)
tuned_all, tuned_few = numbers(tuned), numbers(columns, tuned)
for name, *found in [("all columns", number_all, tuned_all), ("40 columns", number_few, tuned_few)]:
    fixed_r2, tuned_r2 = (r2_score(progress, number) for number in found)
    print(f"{name}: R² = {fixed_r2:.2f} at alpha = 100, {tuned_r2:.2f} with alpha tuned")

# %%
# Each dot is a docstring or a patient. On the diagonal, the predictions are equal. Both models are
# as good with the chosen columns as with all. The worst-case bounds above are weak, 10 and 36,
# since forty columns are few for a bound. The realised growths, 0.84 and 1.05, are far below them.

fig, axes = plt.subplots(1, 2, figsize=(8, 5.6), layout="constrained")
axes[0].plot([0, 1], [0, 1], color="0.4", linewidth=1.5)
for label, colour in [(0, "C0"), (1, "C1")]:
    name = docs.target_names[label]
    axes[0].plot(with_all[y == label], with_few[y == label], ".", color=colour, label=name)
axes[0].set(title="logistic: probability", xlabel="with all words", ylabel="with 200 words")
axes[0].legend(markerscale=2)
axes[1].axline((150, 150), slope=1, color="0.4", linewidth=1.5)
axes[1].plot(number_all, number_few, ".", color="C2")
axes[1].set(title="ridge: progress", xlabel="with all columns", ylabel="with 40 columns")
plt.show()
