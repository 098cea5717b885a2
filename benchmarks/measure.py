"""CPU times and peak memory of contenders, side by side in one process."""

import gc
import os
import re
import resource
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import process_time

import numpy as np

STATUS = Path("/proc/self/status")
RESET_PEAK = Path("/proc/self/clear_refs")


@dataclass
class Result:
    """One contender in one case: CPU times of its runs, and what else it has to show."""

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
    something to show, a function that returns a dict with ``test_error``, ``note`` or ``peak_mib``;
    evaluating that is not timed.
    """

    name: str
    contenders: dict
    repeats: int = 3
    once: tuple = ()
    """Names of contenders that are too slow to be repeated."""
    bars: dict = field(default_factory=dict)
    """What is to be reached, in words: a function of the median seconds by contender that tells."""

    def run(self):
        """Run the contenders in turn, round by round; return their figures and which bars hold."""
        results = {name: Result(name) for name in self.contenders}
        for turn in range(self.repeats):
            for name, work in self.contenders.items():
                if turn == 0 or name not in self.once:
                    measure(work, results[name])
        reference = next(iter(results.values()))
        figures = [result.as_dict(reference) for result in results.values()]
        seconds = {figure["contender"]: figure["median_s"] for figure in figures}
        met = {bar: bool(holds(seconds)) for bar, holds in self.bars.items()}
        return {"results": figures, "bars": met}


def measure(work, result):
    """Run the work once and note CPU time, memory and what it shows."""
    gc.collect()
    before = _reset_peak()
    start = cpu_seconds()
    show = work()
    result.seconds.append(cpu_seconds() - start)
    if before is not None:
        result.peak_mib = max(result.peak_mib or 0.0, _status("VmHWM") - before)
    for key, value in (show() if show else {}).items():
        setattr(result, key, value)


def cpu_seconds():
    """Return the time that cores worked for this process, and for its children that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return process_time() + children.ru_utime + children.ru_stime


def run_python(*arguments):
    """Run a new interpreter, silently; return what shows its peak memory, where that is known."""
    process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, process.args)
    # A child is said to be as large as the process that started it, until it is larger.
    peak, own = usage.ru_maxrss / 1024, _status("VmHWM")
    return lambda: {"peak_mib": peak if peak > own else None}


def _reset_peak():
    """Make the peak of the resident memory start anew; return what is resident, in MiB."""
    if not RESET_PEAK.exists():
        return None
    RESET_PEAK.write_text("5")
    return _status("VmRSS")


def _status(key):
    return int(re.search(rf"{key}:\s+(\d+)", STATUS.read_text())[1]) / 1024
