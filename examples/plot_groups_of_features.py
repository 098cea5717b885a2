"""
Choose measurements, not columns
================================

A measurement often becomes several columns: a category one for each value, a number a few pieces of
a spline. What is measured or left out is all of them together. ``feature_groups`` makes the
selector choose whole groups.

The data come with scikit-learn: ten measurements of 442 diabetes patients, and how far the disease
has progressed a year later. Sex is a category in the data. We turn age into a second one, by
decades, and the eight other numbers into splines, so that a linear model can bend.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.model_selection import RepeatedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, SplineTransformer, StandardScaler

from certifeature import BSSSelector, certify

patients, progression = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
patients["decade"] = (patients.pop("age") // 10 * 10).astype(int).astype(str) + "s"
patients["sex"] = patients["sex"].map({1.0: "one", 2.0: "two"})
print(patients.head(3).to_string())

# %%
# The encoders name their columns: ``decade_50s``, ``bmi_sp_2``. The part before the first
# underscore is the measurement. ``set_output`` passes the names on to the selector, in every fold
# of a cross-validation.

categories = ["sex", "decade"]
numbers = [name for name in patients if name not in categories]
columns = make_column_transformer(
    (OneHotEncoder(handle_unknown="ignore", sparse_output=False), categories),
    (SplineTransformer(n_knots=4, extrapolation="linear"), numbers),
    verbose_feature_names_out=False,
)
encoder = make_pipeline(columns, StandardScaler()).set_output(transform="pandas")


def measurement(name):
    return name.partition("_")[0]


ridge = Ridge(alpha=100)
selector = BSSSelector(4, feature_groups=measurement, estimator=ridge)
encoded = encoder.fit_transform(patients)
names = selector.fit(encoded, progression).get_feature_names_out()
for group in selector.group_indices_:
    name = selector.group_names_[group]
    print(f"{name:4}", *[column for column in names if measurement(column) == name])

# %%
# The certificate gives the numbers of groups and columns. For these targets the loss is small. For
# any other targets the bound is weak: four measurements cannot stand in for all ten.

print(certify(selector))

# %%
# As many single columns come from more measurements: they cost more to collect.

single = BSSSelector(selector.n_features_, estimator=ridge).fit(encoded, progression)
needed = sorted({measurement(name) for name in single.get_feature_names_out()})
print(f"{single.n_features_} single columns need {len(needed)} measurements:", *needed)

# %%
# How well does the model predict, for each number of measurements? Encoder, selector and model are
# fitted anew in every fold. For single columns, the measurements that they come from are counted.

folds = RepeatedKFold(n_splits=5, n_repeats=2, random_state=0)
curves = {"groups": [], "single columns": []}
for kind, sizes in (("groups", range(1, 10)), ("single columns", [1, 2, 3, 5, 8, 12, 20, 30, 45])):
    for size in sizes:
        options = {"feature_groups": measurement} if kind == "groups" else {}
        chooser = BSSSelector(size, estimator=ridge, **options)
        model = make_pipeline(encoder, chooser, ridge)
        found = cross_validate(model, patients, progression, cv=folds, return_estimator=True)
        chosen = [fold[1].get_feature_names_out() for fold in found["estimator"]]
        counts = [len({measurement(name) for name in names}) for names in chosen]
        curves[kind].append((np.mean(counts), found["test_score"].mean()))

fig, ax = plt.subplots(layout="constrained")
for (kind, points), marker in zip(curves.items(), "os", strict=True):
    ax.plot(*np.transpose(points), marker=marker, label=kind)
ax.set(xlabel="measurements that are needed", ylabel="cross-validated R²", xticks=range(1, 11))
ax.legend()
plt.show()
