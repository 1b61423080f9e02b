"""Where a session's workers come from; the first two start before anything else is known.

On Linux one zygote imports the libraries for all of them.  They share nothing but the memory of
before they were forked, in which there is nothing but libraries.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from grader.sandbox import Closing
from grader.sandbox.config import CPU_SECONDS, TORCH_USES_LATE
from grader.sandbox.spawn import zygote_if_safe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.sandbox.client import WorkerClient

BANK_CPU_SECONDS = 3600  # of a worker that runs programs of the bank for as long as a session lasts


class Workers(Closing):
    """Gives out workers, which belong to those who asked for them."""

    def __init__(self, *, torch: bool) -> None:
        """Start one worker for a submission, and one for the reference: they import meanwhile."""
        self.torch = torch
        with contextlib.ExitStack() as stack:
            self._zygote = zygote_if_safe(torch=torch)
            if self._zygote is not None:
                stack.enter_context(self._zygote)
            self._early = {
                seconds: stack.enter_context(self._start(seconds))
                for seconds in (CPU_SECONDS, BANK_CPU_SECONDS)
            }
            self._stack = stack.pop_all()

    def take(self, cpu_seconds: int = CPU_SECONDS) -> WorkerClient:
        """A worker in which nothing has run, for a submission or with `BANK_CPU_SECONDS`."""
        early = self._early.pop(cpu_seconds, None)
        return self._start(cpu_seconds) if early is None else early

    def take_for_many(self) -> WorkerClient:
        """A worker for misconceptions, which import meanwhile what some of them are sure to use."""
        return self._start(BANK_CPU_SECONDS, TORCH_USES_LATE if self.torch else ())

    def _start(self, cpu_seconds: int, ahead: Sequence[str] = ()) -> WorkerClient:
        from grader.sandbox.client import WorkerClient  # imports numpy while the zygote does

        return WorkerClient(
            torch=self.torch,
            cpu_seconds=cpu_seconds,
            zygote=self._zygote,
            ahead=ahead,
        )

    def close(self) -> None:
        """End the zygote with all that it has forked, and the first two workers."""
        if self._zygote is not None:
            self._zygote.close()  # first: it ends all of its workers at once
        self._stack.close()
