"""Worker processes: how the judge starts them, asks them and ends them.

Here is what costs nothing to import.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Self

# Whether this process is a program of our own, such as the command line, whose first lines say so.
# The first worker that it starts then closes its memory to others of its user; a notebook must not
# find itself changed, and no level of isolation rests on it.
own_process = False


class Closeable(ABC):
    """Gives a class with `close` the methods of a context manager."""

    @abstractmethod
    def close(self) -> None:
        """Give back what is held; a second call does nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class OutOfTime(Exception):
    """The deadline of a grade has passed, whichever worker was at work then."""


class Deadline:
    """Seconds of wall clock from now on; a worker that has one is never waited for beyond it."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds = seconds
        self.clock = clock
        self._end = clock() + seconds

    def postpone(self, seconds: float) -> None:
        """Move it by the seconds that something else took."""
        self._end += seconds

    def check(self) -> None:
        """Raise OutOfTime once the seconds are over."""
        if self.clock() >= self._end:
            raise OutOfTime
