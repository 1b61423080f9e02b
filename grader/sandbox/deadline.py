"""A deadline for everything that a grade asks of its workers, by the wall clock."""

from __future__ import annotations

import time
from collections.abc import Callable


class OutOfTime(Exception):
    """The deadline has passed, whichever worker was at work then."""


class Deadline:
    """Seconds of wall clock from now on; a worker that has one is never waited for beyond it."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds = seconds
        self.clock = clock
        self._end = clock() + seconds

    def check(self) -> None:
        """Raise OutOfTime once the seconds are over."""
        if self.clock() >= self._end:
            raise OutOfTime
