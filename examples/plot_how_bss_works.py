"""
How BSS works
=============

BSS, named after Batson, Spielman and Srivastava, picks one feature a step. Think of the rows as
lying in some number of *directions*. Each pick stretches a few directions: it adds to their
*eigenvalues*, which say how much of each direction the chosen features hold. All start at zero.

Two barriers move up with every step, the lower one below all eigenvalues, the upper one above them.
Only features are allowed that keep the eigenvalues between the two, and the theorem says that there
always is one. At the end no direction is lost, and none is blown up: that is the certificate.
"""

# sphinx_gallery_thumbnail_number = 2
import matplotlib.pyplot as plt
from sklearn.svm import SVC

from certifeature import BSSSelector
from certifeature.datasets import make_relevant_features
from certifeature.plotting import SpectrumDisplay

X, y = make_relevant_features(100, 1000, 20, random_state=0)

# %%
# A support vector machine needs all directions of its support vectors, the rows that determine it.
# Here every feature is a pick of BSS (``trust=0``), in the order of the weights, and keeps the
# scale that BSS gives it.

settings = {"estimator": SVC(kernel="linear"), "order": "coef", "trust": 0, "rescale": "each"}


def show_steps(n_features):
    selector = BSSSelector(n_features, **settings).fit(X, y)
    _, ax = plt.subplots(layout="constrained")
    display = SpectrumDisplay.from_estimator(selector, X, ax=ax, linewidth=1.3)
    n_directions = display.eigenvalues.shape[1]
    display.eigenvalues_.set_label(f"{n_directions} directions")
    ax.set(xlabel="features picked", ylabel="how much is held of a direction")
    ax.legend(loc="upper left")
    plt.show()
    print(f"ratio of the barriers at the end: {display.upper[-1] / display.lower[-1]:.1f}")
    print(selector.certificate_)


# %%
# Eighty picks are about two for each direction. Directions that no pick has touched stay at zero
# until the lower barrier comes near; then only features that lift them are allowed.

show_steps(80)

# %%
# Four hundred picks for the same directions: the barriers end much closer to each other, as their
# ratio tells. What was promised and what is measured are better for it.

show_steps(400)
