"""Worker processes, which run submissions and references for the judge.

The judge is the process that grades; it runs no code of a submission or a bank itself.  `spawn`
starts workers, `client` sends them requests, and `worker/` is the code that runs in them.  This
file holds only code that costs nothing to import.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Self

# The command line and the MCP server set this to True.  Then the start of a worker closes the
# memory of this process to other processes of its user.  A notebook that imports drill must not be
# changed like that.  No level of isolation depends on it.
own_process = False


class Closeable(ABC):
    """Base of classes with `close`: a `with` statement closes its object at the end."""

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
    """Limit, in seconds by the clock, on a whole grade; after it, requests raise OutOfTime."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds = seconds
        self.clock = clock
        self._end = clock() + seconds

    def postpone(self, seconds: float) -> None:
        """Move the end later by the time of uncounted work, such as an import of libraries."""
        self._end += seconds

    def check(self) -> None:
        """Raise OutOfTime if the end has passed."""
        if self.clock() >= self._end:
            raise OutOfTime
