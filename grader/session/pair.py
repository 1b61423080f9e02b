"""The two workers of a grade, started early: they import while the judge reads the question.

On Linux one zygote imports for both.  They share nothing but the memory of before they were forked,
in which there is nothing but libraries.
"""

from __future__ import annotations

import contextlib

from grader.sandbox.client import WorkerClient
from grader.sandbox.closing import Closing
from grader.sandbox.spawn import zygote_if_safe


class Pair(Closing):
    """One worker for the submission, and one for the reference and the misconceptions."""

    def __init__(self, *, torch: bool) -> None:
        """Start both."""
        self.torch = torch
        with contextlib.ExitStack() as stack:
            zygote = zygote_if_safe(torch=torch)
            if zygote is not None:
                stack.enter_context(zygote)
            self.theirs = stack.enter_context(WorkerClient(torch=torch, zygote=zygote))
            self.ours = stack.enter_context(WorkerClient(torch=torch, zygote=zygote))
            self._stack = stack.pop_all()

    def close(self) -> None:
        """End both, with all that they started."""
        self._stack.close()
