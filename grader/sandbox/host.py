"""What a process does to itself that is the judge's own, such as the command line's."""

from __future__ import annotations

import sys


def harden_this_process() -> None:
    """Close this process's memory to other programs of its user.

    A notebook or a server must not find itself changed, so nothing but a program's own first lines
    calls this; no level of isolation rests on it.
    """
    if sys.platform == "linux":
        from grader.sandbox.worker.walls import kernel

        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
