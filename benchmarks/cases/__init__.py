"""What the benchmark measures: functions that return a `Case`, by name."""

from functools import partial

from sets import GENES, SOME_TEXTS, TEXTS

from cases.certificates import certificate, certified
from cases.kernel import kernel, many_directions, two_spectra
from cases.processes import import_time, reading
from cases.shapes import clicks, digits, growth, tall
from cases.texts import large_text, readme, text, web_pairs

__all__ = ["CASES", "NEED_DATA"]


def _each(kind, function, sets):
    """Return a case of this kind for every set."""
    words = {name: name.replace(" ", "-").replace("/", "-") for name in sets}
    return {f"{kind}-{word}": partial(function, name) for name, word in words.items()}


# Functions of the folder that holds the data.
_ON_DISK = {
    **_each("texts", text, TEXTS),
    "pairs": web_pairs,
    "rcv1": large_text,
    **_each("certify", certificate, (*TEXTS, *GENES[:2])),
    **_each("certified", certified, (*GENES, *SOME_TEXTS)),
    "reading": reading,
}
NEED_DATA = tuple(_ON_DISK)
CASES = {
    "kernel-small": partial(kernel, 20_000, 150, 300, coherent=False),
    "kernel": partial(kernel, 47_236, 256, 2_048, coherent=False),
    "kernel-coherent": partial(kernel, 47_236, 256, 2_048, coherent=True),
    "kernel-shares": partial(two_spectra, 20_000, 150, 300),
    "readme": readme,
    **_ON_DISK,
    "tall": tall,
    "digits": digits,
    "clicks": clicks,
    "many-directions": many_directions,
    "growth-1e4": partial(growth, 10**4),
    "growth-1e5": partial(growth, 10**5),
    "growth-1e6": partial(growth, 10**6),
    "growth-1e7": partial(growth, 10**7),
    "import": import_time,
}
