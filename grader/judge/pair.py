"""The two workers of a grade, started early: they import while the judge reads the question."""

from __future__ import annotations

import contextlib
from types import TracebackType
from typing import Self

from grader.programs.process import Worker


class Pair:
    """One worker for the submission, and one for the reference and the misconceptions."""

    def __init__(self, *, torch: bool) -> None:
        """Start both."""
        self.torch = torch
        with contextlib.ExitStack() as stack:
            self.theirs = stack.enter_context(Worker(torch=torch))
            self.ours = stack.enter_context(Worker(torch=torch))
            self._stack = stack.pop_all()

    def __enter__(self) -> Self:
        """Return the pair."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End both."""
        self.close()

    def close(self) -> None:
        """End both, with all that they started."""
        self._stack.close()
