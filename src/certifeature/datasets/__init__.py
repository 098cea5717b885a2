"""Data to try the selectors on, real and synthetic, with nothing to download."""

from certifeature.datasets.docstrings import load_docstrings
from certifeature.datasets.synthetic import make_relevant_features

__all__ = ["load_docstrings", "make_relevant_features"]
