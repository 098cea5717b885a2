"""The contents of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from certifeature.certificate import Certificate
from certifeature.comparison import Comparison, Contender
from certifeature.evaluation import NewData

__all__ = ["Feature", "Report"]


@dataclass(frozen=True)
class Feature:
    """One chosen feature.

    Attributes
    ----------
    rank : int
        Place in the order of choice, from 1.
    name : str
        Its name, which may be any text.
    scale : float
        Factor that the selection gives to its column.
    weight : float or None
        Absolute weight in the model on all features, where there is one.
    label : str or None
        Class that it points to, or "higher" or "lower" numbers, where there is such a thing.
    why : str or None
        Why it is in ("fixed", "trusted", "cover" or "next"), where the selector tells.
    times_chosen : int or None
        In how many folds it was chosen, where it was chosen anew in folds.
    """

    rank: int
    name: str
    scale: float
    weight: float | None = None
    label: str | None = None
    why: str | None = None
    times_chosen: int | None = None


@dataclass(frozen=True)
class Report:
    """A selection of features, ready to be shown. What is None or empty is left out.

    Attributes
    ----------
    title : str
        Heading of the page.
    data : str
        The data in a few words, for the first screen: "60 rows, 46 sick and 14 well".
    asked : mapping of str to str
        What was asked for: "Data", "Method", "Number of features" and the like.
    certificate : Certificate or None
        What the selection can cost.
    features : sequence of Feature
        The features chosen.
    comparison : Comparison or None
        Test errors of methods on the same data.
    own : Contender or None
        The one of the comparison that chose the features: the page opens with how it does beside
        the others of its size.
    methods : str
        How the features were chosen and tested, to paste into a paper; see
        `certifeature.report.methods_paragraph`.
    reproduction : mapping of str to str
        What is needed to get the same result again. The entry "Command" gets a button that
        copies it.
    figures : mapping of str to str
        Captions, and drawings as SVG text. A drawing is shown as an image, in which a browser runs
        no scripts and loads nothing.

    Examples
    --------
    >>> report = Report("Genes", features=[Feature(1, "BRCA1", 1.2)])
    >>> report.features[0].name
    'BRCA1'
    """

    title: str
    asked: Mapping[str, str] = field(default_factory=dict)
    certificate: Certificate | None = None
    features: Sequence[Feature] = ()
    comparison: Comparison | None = None
    own: Contender | None = None
    methods: str = ""
    reproduction: Mapping[str, str] = field(default_factory=dict)
    figures: Mapping[str, str] = field(default_factory=dict)
    data: str = ""

    @property
    def new_data(self) -> NewData | None:
        """What the certificate estimates for new data."""
        return None if self.certificate is None else self.certificate.new_data
