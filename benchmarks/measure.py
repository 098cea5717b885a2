"""Times and peak memory of contenders, side by side in one process."""

import gc
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import perf_counter

import numpy as np

STATUS = Path("/proc/self/status")
RESET_PEAK = Path("/proc/self/clear_refs")


@dataclass
class Result:
    """One contender in one case: times of its runs, and what else it has to show."""

    contender: str
    seconds: list = field(default_factory=list)
    peak_mib: float | None = None
    test_error: float | None = None
    note: str = ""

    def as_dict(self, reference):
        """Return the figures, with the time of the reference over this one's."""
        base = np.median(reference.seconds)
        ratios = [base / second for second in self.seconds]
        return asdict(self) | {
            "median_s": float(np.median(self.seconds)),
            "ratio": float(np.median(ratios)),
            "ratio_low": min(ratios),
            "ratio_high": max(ratios),
        }


@dataclass
class Case:
    """Contenders for the same work; the first is what the others are compared with.

    A contender is a function without arguments that does the work and returns, where there is
    something to show, a dict with ``test_error`` or ``note``; evaluating that is not timed.
    """

    name: str
    contenders: dict
    repeats: int = 3
    once: tuple = ()
    """Names of contenders that are too slow to be repeated."""

    def run(self):
        """Run the contenders in turn, round by round, and return their figures."""
        results = {name: Result(name) for name in self.contenders}
        for turn in range(self.repeats):
            for name, work in self.contenders.items():
                if turn == 0 or name not in self.once:
                    measure(work, results[name])
        reference = next(iter(results.values()))
        return [result.as_dict(reference) for result in results.values()]


def measure(work, result):
    """Run the work once and note time, memory and what it shows."""
    gc.collect()
    before = _reset_peak()
    start = perf_counter()
    show = work()
    result.seconds.append(perf_counter() - start)
    if before is not None:
        result.peak_mib = max(result.peak_mib or 0.0, _status("VmHWM") - before)
    for key, value in (show() if show else {}).items():
        setattr(result, key, value)


def _reset_peak():
    """Make the peak of the resident memory start anew; return what is resident, in MiB."""
    if not RESET_PEAK.exists():
        return None
    RESET_PEAK.write_text("5")
    return _status("VmRSS")


def _status(key):
    return int(re.search(rf"{key}:\s+(\d+)", STATUS.read_text())[1]) / 1024
