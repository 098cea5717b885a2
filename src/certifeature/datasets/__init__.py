"""Data to try the selectors on: real and synthetic, with nothing to download, or from files."""

from certifeature.datasets.blocks import FileBlocks
from certifeature.datasets.data import Data
from certifeature.datasets.docstrings import load_docstrings
from certifeature.datasets.rcv1 import load_rcv1_ccat
from certifeature.datasets.reader import read_data
from certifeature.datasets.synthetic import make_relevant_features
from certifeature.datasets.techtc import list_techtc_tasks, load_techtc

__all__ = [
    "Data",
    "FileBlocks",
    "list_techtc_tasks",
    "load_docstrings",
    "load_rcv1_ccat",
    "load_techtc",
    "make_relevant_features",
    "read_data",
]
