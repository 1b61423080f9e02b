"""The workers of one grading session."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from grader.model.limits import BANK_CPU_SECONDS, CPU_SECONDS
from grader.sandbox import Closeable, spawn

if TYPE_CHECKING:
    from grader.sandbox.client import WorkerClient


class WorkerPool(Closeable):
    """Gives a session its workers; the caller that takes a worker ends it.

    Workers share only the memory of the zygote before the fork, which contains only libraries.
    """

    def __init__(self, *, torch: bool) -> None:
        """Start a worker for a submission and one for the bank early: imports take time."""
        self.torch = torch
        with contextlib.ExitStack() as stack:
            self._zygote = spawn.zygote_if_safe(torch=torch)
            if self._zygote is not None:
                stack.enter_context(self._zygote)
            self._early = {
                seconds: stack.enter_context(self._start(seconds))
                for seconds in (CPU_SECONDS, BANK_CPU_SECONDS)
            }
            self._stack = stack.pop_all()

    def take_worker(self, cpu_seconds: int = CPU_SECONDS) -> WorkerClient:
        """Return a worker that has run nothing: one that was started early, or a new one.

        `cpu_seconds` limits its CPU time: CPU_SECONDS for a submission, BANK_CPU_SECONDS for
        programs of the bank.
        """
        worker = self._early.pop(cpu_seconds, None)
        return self._start(cpu_seconds) if worker is None else worker

    def _start(self, cpu_seconds: int) -> WorkerClient:
        from grader.sandbox.client import WorkerClient  # imports numpy while the zygote does

        return WorkerClient(torch=self.torch, cpu_seconds=cpu_seconds, zygote=self._zygote)

    def close(self) -> None:
        """End the zygote with all workers forked from it, and the two workers started early."""
        if self._zygote is not None:
            self._zygote.close()  # first: it ends all of its workers at once
        self._stack.close()
