"""Grades elsewhere: on a Dask cluster, which is imported when it is asked for."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import suppress
from functools import partial
from typing import Any

from grader.classroom.jobs import Job, grade_one
from grader.classroom.pools import PATIENCE
from grader.model.classroom import Graded
from grader.model.errors import UsageError

CONNECTING = 10.0  # seconds for a scheduler to answer
AGAIN = 5.0  # seconds after which the workers of a cluster are counted again


class Dask:
    """The workers of a Dask cluster; those that come or go while a class is graded count too."""

    def __init__(self, address: str) -> None:
        """Connect.

        Raises:
            UsageError: Dask is not installed, or no scheduler is there.
        """
        try:
            import distributed
        except ImportError as error:
            hint = "pip install 'drill-dl[dask]'"
            raise UsageError(
                "--scheduler needs distributed, which is not installed", hint=hint
            ) from error
        untyped: Any = distributed
        try:
            self._client = untyped.Client(address, timeout=CONNECTING, set_as_default=False)
        except (OSError, TimeoutError) as error:
            text = f"--scheduler: no Dask scheduler answers at {address}"
            raise UsageError(
                text, hint="is it running, and can it be reached from here?"
            ) from error
        except Exception as error:  # an address that is none, TLS that is not set up
            raise UsageError(f"--scheduler: {address}: {_words(error)}") from error
        # Not pure: a program that is graded again is computed again.
        self._executor: Executor = self._client.get_executor(pure=False)
        self._size, self._counted = 1, 0.0
        self._open: set[Future[Graded]] = set()

    @property
    def size(self) -> int:
        """Threads of all workers; 1 where there is none yet: a job then waits for the first.

        It is looked at all the time, so here is where a scheduler that is gone is noticed: what it
        was given never ends by itself.
        """
        if self._client.status == "closed":
            for future in list(self._open):
                self._pass_on(future, error=BrokenExecutor("the Dask scheduler was lost"))
        now = time.monotonic()
        if now - self._counted >= AGAIN or not self._counted:
            self._counted = now
            with suppress(Exception):  # what is wrong shows where a job is submitted
                self._size = max(1, sum(self._client.nthreads().values()))
        return self._size

    def submit(self, job: Job) -> Future[Graded]:
        """Begin a grade; where its workers end one after another, that is what came of it."""
        found: Future[Graded] = Future()
        source = self._executor.submit(_watched, job)
        self._open.add(found)
        source.add_done_callback(partial(self._ended, job, found))
        return found

    def _ended(self, job: Job, target: Future[Graded], source: Future[Graded]) -> None:
        """Have what came of a job be what came of another future."""
        error = BrokenExecutor("cancelled") if source.cancelled() else source.exception()
        if type(error).__name__ == "KilledWorker":
            fault = "the Dask workers that graded it ended, each time"
            self._pass_on(target, Graded(job.key, fault=fault))
        elif error is not None:
            self._pass_on(target, error=error)
        else:
            self._pass_on(target, source.result())

    def _pass_on(
        self,
        target: Future[Graded],
        graded: Graded | None = None,
        error: BaseException | None = None,
    ) -> None:
        """End a future, once."""
        try:
            self._open.remove(target)
        except KeyError:  # another thread has
            return
        if not target.set_running_or_notify_cancel():
            return
        if graded is not None:
            target.set_result(graded)
        else:
            target.set_exception(error)

    def close(self) -> None:
        """Cancel what is going on, and leave the cluster as it was."""
        with suppress(Exception):  # a scheduler that is gone
            self._executor.shutdown(wait=False)
        with suppress(Exception):
            self._client.close(timeout=CONNECTING)


def _watched(job: Job) -> Graded:
    """Grade in a worker; should the grader itself ever hang, the worker ends and is replaced.

    A worker's threads are none of them the main one: there are no alarms.
    """
    alarm = threading.Timer(PATIENCE, os._exit, (1,))
    alarm.daemon = True
    alarm.start()
    try:
        return grade_one(job)
    finally:
        alarm.cancel()


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
