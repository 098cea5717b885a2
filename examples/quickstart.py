"""Choose 300 words that tell NumPy's docstrings from SciPy's, and see what the choice costs."""

from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from certifeature import BSSSelector, RandomSelector
from certifeature.datasets import load_docstrings

docs = load_docstrings(packages=("numpy", "scipy"))
print("{} docstrings, {} words".format(*docs.data.shape))
svm = LinearSVC(random_state=0)
folds = StratifiedKFold(5, shuffle=True, random_state=0)
bss = BSSSelector(300, estimator=svm)
for name, selector in {
    "all words": "passthrough",
    "300 words by BSS": bss,
    "300 random words": RandomSelector(300, estimator=svm, random_state=0),
}.items():
    scores = cross_val_score(make_pipeline(selector, svm), docs.data, docs.target, cv=folds)
    print(f"{name:>16}: cross-validated error {1 - scores.mean():.3f}")

bss.fit(docs.data, docs.target)
print("first choices:", *docs.feature_names[bss.indices_[:20]])
print(bss.certificate_)
