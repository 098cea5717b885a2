"""The experiments of the paper and comparisons of methods, resumable and reproducible."""

from certifeature.experiments.ccat import table4
from certifeature.experiments.comparison import Comparison, Contender, compare
from certifeature.experiments.methods import METHODS, Method
from certifeature.experiments.runner import run
from certifeature.experiments.study import Study
from certifeature.experiments.table1 import table1
from certifeature.experiments.tasks import Task
from certifeature.experiments.techtc import figures, table2_3

__all__ = [
    "METHODS",
    "Comparison",
    "Contender",
    "Method",
    "Study",
    "Task",
    "compare",
    "figures",
    "run",
    "table1",
    "table2_3",
    "table4",
]
