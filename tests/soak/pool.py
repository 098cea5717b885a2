"""Processes that run one case at a time and may hang or die without harm to the others."""

import multiprocessing
import resource
import time
from multiprocessing.connection import wait

from threadpoolctl import threadpool_limits

from soak.laws import LAWS
from soak.verdict import VIOLATED, Outcome, judge

# A mutated file may ask for any amount of memory.
_MAX_BYTES = 4 * 2**30


def outcomes(cases, n_workers, seconds_per_case, deadline):
    """Yield the outcome of each (law, case) that was begun before the deadline.

    Which process runs a case does not matter to its outcome.
    """
    cases = iter(cases)
    workers = [_Worker() for _ in range(n_workers)]
    try:
        while True:
            for worker in workers:
                if worker.job is None and time.monotonic() < deadline:
                    worker.begin(next(cases, None))
            busy = [worker for worker in workers if worker.job is not None]
            if not busy:
                return
            latest = min(worker.started for worker in busy) + seconds_per_case
            ready = wait([worker.pipe for worker in busy], max(0.0, latest - time.monotonic()))
            for worker in busy:
                if worker.pipe in ready:
                    yield worker.result()
                elif time.monotonic() - worker.started >= seconds_per_case:
                    yield worker.given_up(f"not done after {seconds_per_case} seconds")
    finally:
        for worker in workers:
            worker.stop()


class _Worker:
    """A process, and the case that it is at."""

    def __init__(self):
        self._start()
        self.job, self.started = None, 0.0

    def _start(self):
        # A fresh interpreter, since BLAS and LIBSVM do not take to being forked.
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        self._process = context.Process(target=_serve, args=(other,), daemon=True)
        self._process.start()
        other.close()
        self._is_ready = False

    def begin(self, job):
        if job is None:
            return
        if not self._is_ready:
            # Imports take seconds, which are not the first case's.
            self._is_ready = self.pipe.recv()
        self.job, self.started = job, time.monotonic()
        self.pipe.send(job)

    def result(self):
        try:
            outcome = self.pipe.recv()
        except EOFError:
            return self.given_up("the process died")
        self.job = None
        return outcome

    def given_up(self, reason):
        """Return a violation, and start again with a new process."""
        law, case = self.job
        seconds = time.monotonic() - self.started
        self.stop()
        self._start()
        self.job = None
        return Outcome(law, case, VIOLATED, reason, seconds)

    def stop(self):
        self._process.kill()
        self._process.join()
        self.pipe.close()


def _serve(pipe):
    # Cases are small, and there is a process for each core.
    threadpool_limits(1)
    resource.setrlimit(resource.RLIMIT_AS, (_MAX_BYTES, _MAX_BYTES))
    pipe.send(True)
    while True:
        law, case = pipe.recv()
        pipe.send(judge(law, LAWS[law], case))
