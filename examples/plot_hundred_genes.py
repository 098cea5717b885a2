"""
Pick 100 of 20,000 genes
========================

Eighty tissue samples, half of them from tumours, and the activity of 20,000 genes in each: many
more columns than rows. Which hundred genes tell the tissues apart, how much is lost with the
others, and how well would that do on new samples?

The table is simulated, so that the truth is known. Genes work in groups of twenty that rise and
fall together, as those of one pathway do. In tumours twenty pathways of the thousand are shifted
upwards. A gene's name tells its pathway: ``P003.17`` is gene 17 of pathway 3. It is one table out
of many that could have been drawn. With another seed all genes together may do better, and eighty
samples are too few to tell a small difference from none.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import stats
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from certifeature import BSSSelector, certify

rng = np.random.default_rng(0)
n_samples, n_pathways, n_members, n_shifted = 80, 1000, 20, 20
tumour = np.repeat([0, 1], n_samples // 2)

activity = rng.standard_normal((n_samples, n_pathways))
activity[tumour == 1, :n_shifted] += 1
noise = rng.standard_normal((n_samples, n_pathways, n_members))
X = (0.7 * activity[:, :, None] + 0.7 * noise).reshape(n_samples, -1)
names = np.array([f"P{p:03}.{g:02}" for p in range(n_pathways) for g in range(n_members)])
is_shifted = np.repeat(np.arange(n_pathways) < n_shifted, n_members)

# %%
# The columns share one scale here. Real ones should be standardised first. A small C suits a table
# with so many columns.

svm = LinearSVC(C=0.0001, random_state=0)
selector = BSSSelector(100, estimator=svm).fit(X, tumour)
chosen = selector.get_support()
print("the first ten:", *names[selector.indices_[:10]])
print(
    f"{chosen[is_shifted].sum()} of the 100 belong to the {n_shifted} shifted pathways, "
    f"which hold {is_shifted.sum()} of all {X.shape[1]:,} genes."
)

# %%
# The certificate. With ``cv=5`` it also estimates the error on new samples: a fifth of the samples
# is put aside, the genes are chosen again from the others, and so on with the next fifth.

print(certify(X, tumour, selector, cv=5))

# %%
# That was at one C. With C tuned by inner folds, for the chosen and for all genes:

tuned = GridSearchCV(svm, {"C": [0.00001, 0.0001, 0.001, 0.01]}, cv=3)
for name, model in [("100 genes", make_pipeline(selector, tuned)), ("all genes", tuned)]:
    scores = cross_val_score(model, X, tumour, cv=5)
    print(f"{name}: error {100 * (1 - scores.mean()):.1f} %")

# %%
# A volcano plot. Across: how much a gene differs between the tissues, on average. Up: how sure that
# is, by a t-test of this gene alone. Half of the hundred stand high up at the right, where the
# shifted pathways are. The others are low: alone they say little, but the model sees the tissues
# through all genes together, and these keep what it sees. Chance chooses, too: ``P619.03`` at the
# left is of a pathway that is not shifted. So a certificate is a proof about the model as a whole.
# It does not say of any single gene that it is a marker of the disease.

difference = X[tumour == 1].mean(axis=0) - X[tumour == 0].mean(axis=0)
evidence = -np.log10(stats.ttest_ind(X[tumour == 1], X[tumour == 0]).pvalue)

fig, ax = plt.subplots(layout="constrained")
ax.plot(difference, evidence, ".", color="0.8", markersize=3, label="20,000 genes", rasterized=True)
ax.plot(difference[chosen], evidence[chosen], "o", color="C1", markersize=6, label="100 chosen")
for gene in np.flatnonzero(np.isin(names, ["P003.04", "P002.17", "P619.03"])):
    ax.annotate(names[gene], (difference[gene] + 0.04, evidence[gene]), va="center")
ax.set(xlabel="mean in tumours less mean in healthy tissue", ylabel="evidence: −log₁₀ p")
ax.legend(loc="upper left", markerscale=2)
plt.show()
