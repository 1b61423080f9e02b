"""Confine this process before it runs anything that is not ours.

The order matters.  Limits first, while they may still be set; then the user, because changing it
makes Linux forget what to do when the parent ends; then files, then system calls, because raising
the earlier walls needs calls that the last one refuses.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from .walls import identity, kernel, landlock, limits, seccomp

if TYPE_CHECKING:
    from .control import SharedConfig, WorkerConfig


def confine(own: WorkerConfig, shared: SharedConfig, parent: int) -> list[str]:
    """Raise every wall there is; this process ends with its parent from now on.

    Returns:
        Why walls are missing, one sentence each.
    """
    limits.apply(memory=shared.memory, cpu_seconds=own.cpu_seconds, threads=own.threads)
    if sys.platform != "linux":
        return [f"there are no walls on {sys.platform}, only limits"]
    with suppress(OSError):  # where memory runs out, this process goes, and not the judge
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    missing = {"privileges": identity.apply(own.user, shared.readable)}
    die_with(parent)
    kernel.prctl(kernel.PR_SET_DUMPABLE, 1)  # so that the judge can ask what memory this takes
    missing["Landlock"] = landlock.apply([*shared.grants, (landlock.WRITE, own.scratch)])
    missing["threads"] = None if alone() else "a thread was running before the walls were up"
    missing["seccomp"] = seccomp.apply(devices=shared.devices)
    return [f"{wall}: {why}" for wall, why in missing.items() if why]


def die_with(parent: int) -> None:
    """Ask Linux to kill this process when its parent ends, however that ends."""
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)


def alone() -> bool:
    """Whether this process has one thread: a filter does not reach those that run already."""
    tasks = Path("/proc/self/task")
    return not tasks.is_dir() or len(list(tasks.iterdir())) == 1
