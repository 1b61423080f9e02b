"""Worker processes: how the judge starts them, sends them requests and ends them.

This file holds only what costs nothing to import.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Self

# True in programs of drill, such as the command line, which set it first.  When such a program
# starts its first worker, it closes its memory to other processes of its user.  A notebook must not
# be changed like that, and no level of isolation depends on it.
own_process = False


class Closeable(ABC):
    """Gives a class with `close` the methods of a context manager."""

    @abstractmethod
    def close(self) -> None:
        """Release all resources; a second call does nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class OutOfTime(Exception):
    """The deadline of a grade has passed; no worker is to blame."""


class Deadline:
    """A number of seconds by the clock, after which a worker with this deadline is not awaited."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds = seconds
        self.clock = clock
        self._end = clock() + seconds

    def postpone(self, seconds: float) -> None:
        """Move the end by some seconds, which other work took."""
        self._end += seconds

    def check(self) -> None:
        """Raise OutOfTime if the end has passed."""
        if self.clock() >= self._end:
            raise OutOfTime
