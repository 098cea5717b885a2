"""Selections of words, against SVM fits and what users reach for today."""

from measure import Case
from sets import data_set, directory_pairs
from sklearn.feature_selection import RFE, SelectKBest, chi2
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC, LinearSVC

from cases.task import Task, in_turn, l1, others, tfidf_task
from certifeature import BSSSelector, LeverageScoreSelector
from certifeature.datasets import load_docstrings


def readme():
    """All defaults, on the data of the README."""
    docs = load_docstrings(packages=("scipy", "sklearn"))
    X, X_test, y, y_test = train_test_split(docs.data, docs.target, random_state=0)
    task = Task(X, y, X_test, y_test, LinearSVC(C=0.1, random_state=0))
    return Case(
        f"README, {X.shape[0]:,} × {X.shape[1]:,}, r = 100",
        {"LinearSVC(C=0.1)": task.fit_full, "BSS": task.select(BSSSelector())},
        bars={"BSS ≤ 5 s": lambda s: s["BSS"] <= 5},
    )


def text(name, folder):
    """Thousands of rows, with defaults all over."""
    svm = LinearSVC(random_state=0)
    task = tfidf_task(*data_set(folder, name), svm, test_size=0.2)
    r = 300
    rfe = RFE(svm, n_features_to_select=r, step=0.1)
    n_rows, n_features = task.X.shape
    return Case(
        f"{name}, {n_rows:,} × {n_features:,}, r = {r}",
        {
            "LinearSVC": task.fit_full,
            "RFE(step=0.1)": task.select(rfe),
            "BSS": task.select(BSSSelector(r)),
        },
        bars={"BSS ≤ RFE, or 0.15 s": lambda s: s["BSS"] <= max(s["RFE(step=0.1)"], 0.15)},
    )


def large_text(folder):
    """22,000 stories."""
    X, y = data_set(folder, "rcv1_ccat")
    svm = LinearSVC(C=10, random_state=0)
    task = Task(X[:22_000], y[:22_000], X[22_000:], y[22_000:], svm)
    r = 1024
    sketch = {"basis": "sketch", "n_components": 256, "estimator": svm}
    selectors = {
        "BSS": BSSSelector(r, estimator=svm),
        "BSS, sketch": BSSSelector(r, **sketch),
        "leverage sampling": LeverageScoreSelector(r, **sketch, random_state=0),
        "RFE(step=0.1)": RFE(svm, n_features_to_select=r, step=0.1),
        "L1 LinearSVC": l1(r),
        "SelectKBest(chi2)": SelectKBest(chi2, k=r),
    }
    fit = "LinearSVC(C=10), to its optimum"
    return Case(
        "rcv1_ccat, 22,000 × 47,236, r = 1,024",
        {fit: task.fit_to_optimum, "LinearSVC(C=10)": task.fit_full}
        | {name: task.select(selector) for name, selector in selectors.items()},
        bars={
            "BSS ≤ 2 fits to the optimum": lambda s: s["BSS"] <= 2 * s[fit],
            "BSS ≤ ⅓ RFE": lambda s: s["BSS"] <= s["RFE(step=0.1)"] / 3,
        },
    )


def web_pairs(folder):
    """Two hundred pages of ten thousand words, twenty-six times."""
    svm = SVC(kernel="linear")
    r = 300
    tasks = [tfidf_task(X, y, svm, test_size=0.3) for X, y in directory_pairs(folder)]
    paper = {"order": "leverage", "trust": 0, "rescale": "each", "basis": "exact"}
    selectors = {
        "RFE(step=0.1)": RFE(svm, n_features_to_select=r, step=0.1),
        "BSS": BSSSelector(r),
        "BSS, SVC": BSSSelector(r, estimator=svm),
        "BSS, paper": BSSSelector(r, estimator=svm, **paper),
        "leverage sampling": LeverageScoreSelector(r, estimator=svm, random_state=0),
        "L1 LinearSVC": l1(r),
        "SelectKBest(chi2)": SelectKBest(chi2, k=r),
        **others(r),
    }

    def span(axis):
        sizes = [task.X.shape[axis] for task in tasks]
        return f"{min(sizes):,}–{max(sizes):,}"

    return Case(
        f"{len(tasks)} web pairs, {span(0)} × {span(1)}, r = {r}",
        {"SVC": in_turn([task.fit_full for task in tasks])}
        | {n: in_turn([task.select(s) for task in tasks]) for n, s in selectors.items()},
        once=("fastcan", "abess, at most 60"),
        bars={"BSS ≤ RFE / 1.5": lambda s: s["BSS"] <= s["RFE(step=0.1)"] / 1.5},
    )
