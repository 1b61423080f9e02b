"""The two workers of a grade, started early: they import while the judge reads the question."""

from __future__ import annotations

import contextlib

from grader.programs.closing import Closing
from grader.programs.process import Worker


class Pair(Closing):
    """One worker for the submission, and one for the reference and the misconceptions."""

    def __init__(self, *, torch: bool) -> None:
        """Start both."""
        self.torch = torch
        with contextlib.ExitStack() as stack:
            self.theirs = stack.enter_context(Worker(torch=torch))
            self.ours = stack.enter_context(Worker(torch=torch))
            self._stack = stack.pop_all()

    def close(self) -> None:
        """End both, with all that they started."""
        self._stack.close()
