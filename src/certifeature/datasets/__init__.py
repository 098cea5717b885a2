"""Data to try the selectors on: real and synthetic, with nothing to download, or from files."""

from certifeature.datasets.dataset import Dataset
from certifeature.datasets.docstrings import load_docstrings
from certifeature.datasets.synthetic import make_relevant_features

__all__ = ["Dataset", "load_docstrings", "make_relevant_features"]
