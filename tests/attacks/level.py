"""The level of isolation here, and the one that this system should give."""

from __future__ import annotations

import functools
import platform
import sys

from grader.sandbox.client import STRONG, WorkerClient
from grader.sandbox.worker.walls import landlock, seccomp


@functools.cache
def level_here() -> str:
    """Return the level of a worker, and the acts that succeeded if it is not `strong`."""
    with WorkerClient(torch=False) as worker:
        isolation = worker.isolation
    if isolation.level == STRONG:
        return f"isolation {STRONG}, Landlock {landlock.version()}, {platform.machine()}"
    return f"isolation {isolation.level}: {[*isolation.missing, *isolation.possible_acts]}"


def could_be_strong() -> bool:
    """Return True if the kernel has Landlock and its system calls are known."""
    return sys.platform == "linux" and landlock.version() > 0 and seccomp.supported()
