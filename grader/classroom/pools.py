"""Where grades run: processes of this machine, or whatever is a `concurrent.futures.Executor`.

Of an executor only `submit` and `shutdown` are used: not all have more.
"""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import signal
import threading
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing.process import BaseProcess
from typing import Protocol

from grader.classroom.jobs import Job, grade_one
from grader.model.classroom import Graded

PATIENCE = 900.0  # seconds for one grade of a process here: several times the longest deadline


class Pool(Protocol):
    """What carries out grades side by side."""

    @property
    def size(self) -> int:
        """How many at once; it may change."""

    def submit(self, job: Job) -> Future[Graded]:
        """Begin a grade; where its process ends, the future raises."""

    def close(self) -> None:
        """End it at once, whatever is still going on."""


class Local:
    """Processes of this machine, started afresh, each with sessions of its own."""

    def __init__(self, size: int) -> None:
        """Start none yet: the executor does with the first jobs."""
        self.size = size
        context = multiprocessing.get_context("spawn")
        self._executor = ProcessPoolExecutor(size, mp_context=context, initializer=_prepare)

    def submit(self, job: Job) -> Future[Graded]:
        """Begin a grade.

        Processes are started by this, and an interrupt is not for them, from their first moment:
        they inherit that it is blocked, and ignore it once they run.
        """
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            return self._executor.submit(_watched, job)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def close(self) -> None:
        """End every process now; their workers end with them."""
        processes: dict[int, BaseProcess] = dict(self._executor._processes or {})
        for process in processes.values():
            process.terminate()
        self._executor.shutdown(wait=False)  # what has not begun never does: the pool is broken


def _prepare() -> None:
    """Begin a process that grades: it ends when the one that started it is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal's, for the one that started it
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_after, args=(parent,), daemon=True).start()


def _end_after(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)


def _watched(job: Job) -> Graded:
    """Grade in a process of its own, which ends if the grader itself should ever hang."""
    faulthandler.dump_traceback_later(PATIENCE, exit=True)
    try:
        return grade_one(job)
    finally:
        faulthandler.cancel_dump_traceback_later()
