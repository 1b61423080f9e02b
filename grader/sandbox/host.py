"""The judging process's own part: it keeps its memory closed, and leaves nothing behind."""

from __future__ import annotations

import functools
import os
import signal
import sys
import threading
from contextlib import suppress
from pathlib import Path

from grader.sandbox import scratch
from grader.sandbox.worker.walls import kernel

known: set[int] = set()  # processes of ours that are still in use
starting = threading.Lock()  # held from before a process is started until it is known
_ROUNDS = 1000  # of a sweep: something may start processes faster than they are killed


@functools.cache
def prepare() -> None:
    """Close this process's memory to others of its user, and see to what workers leave."""
    scratch.clear_stale()
    if sys.platform == "linux":
        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)


def sweep() -> int:
    """Kill what outlived a worker and was handed to this process; return how many.

    Ours are those that are known, and whatever shares our session: an editor or a pager, say.  A
    worker leads a session of its own, and what it starts can make new ones but not join ours.
    """
    if sys.platform != "linux":
        return 0
    killed: set[int] = set()
    for _ in range(_ROUNDS):
        with starting:
            orphans = [c for c in _children() - known if _session(c) != os.getsid(0)]
        if not orphans:
            break
        for orphan in orphans:
            killed.add(orphan)
            with suppress(ProcessLookupError, PermissionError):
                os.kill(orphan, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(orphan, 0)
    return len(killed)


def _children() -> set[int]:
    found: set[int] = set()
    for task in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError, ValueError):
            found |= {int(word) for word in task.read_text(encoding="ascii").split()}
    return found


def _session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except ProcessLookupError:
        return 0
