"""What the words of a report mean, for readers who do not train models."""

__all__ = ["WORDS"]

WORDS = {
    "Linear model": (
        "Adds up the features, each times a weight, and decides by the sum. LinearSVC is a "
        "support vector machine of this kind, made by scikit-learn."
    ),
    "C": (
        "How much training errors count against large weights. C tuned: the best of several, "
        "found on training rows alone."
    ),
    "Fold": (
        "A part of the rows. Each in turn is left out, to test what was chosen and trained on "
        "the others."
    ),
    "Error on new data": (
        "The share of rows left out that are put into a wrong class. 1 − R² is the share of the "
        "variance of a number that is not predicted."
    ),
    "Interval, tie": (
        "The difference of two errors is known roughly. If the interval contains 0, the rows do "
        "not show which is better."
    ),
    "Growth": (
        "By how many times what the model minimises in training is larger with the chosen "
        "features than with all. 1 is as good as with all; 2 or less is a good bound; beyond 5 "
        "a bound says little. It is about training rows, and no number of errors."
    ),
    "Rows that matter": (
        "Those that determine the model: of a support vector machine, its support vectors. All "
        "others could be left out without a change."
    ),
    "Trusted, cover": (
        "Trusted features are the first of an order by how sure their weights are. The others "
        "cover what these leave out of the differences between rows."
    ),
    "BSS": (
        "Single-set spectral sparsification, the method by Batson, Spielman and Srivastava that "
        "picks the features that cover."
    ),
    "RFE, univariate test": (
        "Recursive feature elimination drops the smallest weights again and again. The "
        "univariate test (an F test) looks at each feature alone."
    ),
    "Stability": (
        "How much the choices in the folds agree, beyond chance, by the index of Nogueira, "
        "Sechidis and Brown."
    ),
}
