"""What became of a case: kept, undecided, refused by a clean error, or a violation."""

import time
import traceback
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import certifeature
from soak.library import TRAINING

KEPT, UNDECIDED, REFUSED, VIOLATED = "kept", "undecided", "refused", "violated"

_LIBRARY = str(Path(certifeature.__file__).parent)
# Where scikit-learn checks what it is given.
_CHECKS = ("/sklearn/utils/", "/sklearn/base.py")
# Warnings that a user cannot act on.
_SLIPS = (RuntimeWarning, DeprecationWarning, FutureWarning)


class Violation(Exception):  # noqa: N818
    """The library broke a law."""


class Undecided(Exception):  # noqa: N818
    """The truth about a case is not known well enough to judge the library by it."""


@dataclass(frozen=True)
class Outcome:
    """What became of one case."""

    law: str
    case: int
    status: str
    message: str = ""
    seconds: float = 0.0


def judge(name, law, case):
    """Run one case of a law and return its outcome."""
    start = time.monotonic()
    status, message = _status(law, case)
    return Outcome(name, case, status, message, time.monotonic() - start)


def _status(law, case):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for slip in _SLIPS:
            warnings.simplefilter("error", slip)
        try:
            law(np.random.default_rng(case))
        except Violation as violation:
            return VIOLATED, str(violation)
        except Undecided as reason:
            return UNDECIDED, str(reason)
        except Exception as error:
            return REFUSED if is_clean(error) else VIOLATED, described(error)
    return KEPT, ""


def is_clean(error):
    """Tell whether an error is one that a careful library raises on data that it cannot serve.

    A ValueError itself or one of the library's own kinds, not a LinAlgError, raised where input is
    checked.
    All cases are finite: an error that speaks of NaN speaks of what the library made itself.
    """
    kind = type(error)
    is_own = kind.__module__.partition(".")[0] == certifeature.__name__
    is_value_error = kind is ValueError or (is_own and isinstance(error, ValueError))
    if not is_value_error and not isinstance(error, OSError):
        return False
    place, own = _frames(error)[-1].filename, _own_frames(error)
    if not own or not str(error):
        return False
    if place == own[-1].filename:
        return True
    if "/sklearn/svm/" in place:
        # A user may be told what ails the SVM.
        return own[-1].filename == TRAINING
    return "NaN" not in str(error) and any(part in place for part in _CHECKS)


def described(error):
    """Return an error in one line, with the last line of the library on its way."""
    own, where = _own_frames(error), ""
    if own:
        where = f" at {Path(own[-1].filename).relative_to(_LIBRARY)}:{own[-1].lineno}"
    return f"{type(error).__name__}{where}: {' '.join(str(error).split())[:240]}"


def _frames(error):
    return traceback.extract_tb(error.__traceback__)


def _own_frames(error):
    """Return the lines of the library that an error passed."""
    return [frame for frame in _frames(error) if frame.filename.startswith(_LIBRARY)]
