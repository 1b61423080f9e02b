"""Confine this process before it runs anything that is not ours, and find out what that achieved.

The order matters.  Limits first, while they may still be set; then the user, because changing it
makes Linux forget what to do when the parent ends; then files, then system calls, because raising
the earlier walls needs calls that the last one refuses.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from .walls import canary, limits

if TYPE_CHECKING:
    from .config import SharedConfig, WorkerConfig


def confine(config: WorkerConfig, shared: SharedConfig, parent: int) -> list[str]:
    """Raise every wall there is.

    Args:
        config: of this worker.
        shared: of this worker and others.
        parent: the process with which this one ends.

    Returns:
        Why walls are missing, one sentence each.
    """
    limits.apply(memory=shared.memory, cpu_seconds=config.cpu_seconds, threads=config.threads)
    if sys.platform != "linux":
        return [f"there are no walls on {sys.platform}, only limits"]
    from .walls import identity, kernel, landlock, mounts, seccomp

    with suppress(OSError):  # where memory runs out, this process goes, and not the judge
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    # Where it cannot be, files can be seen, and still not read.  A root that cannot become anybody
    # else would look like others in a namespace of users.
    if shared.mounts and (config.user is not None or os.getuid() != 0):
        mounts.apply(shared.mounts, config.scratch, root=config.user is not None)
    missing = {"privileges": identity.apply(config.user, shared.readable)}
    die_with(parent)
    kernel.prctl(kernel.PR_SET_DUMPABLE, 1)  # so that the judge can ask what memory this takes
    missing["Landlock"] = landlock.apply([*shared.grants, (landlock.WRITE, config.scratch)])
    missing["threads"] = None if alone() else "a thread was running before the walls were up"
    missing["seccomp"] = seccomp.apply(devices=shared.devices)
    return [f"{wall}: {why}" for wall, why in missing.items() if why]


def die_with(parent: int) -> None:
    """Ask Linux to kill this process when its parent ends, however that ends."""
    if sys.platform != "linux":
        return
    import signal

    from .walls import kernel

    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)


def alone() -> bool:
    """Whether this process has one thread: a filter does not reach those that run already."""
    tasks = Path("/proc/self/task")
    return not tasks.is_dir() or sum(1 for _ in tasks.iterdir()) == 1


def try_everything(config: WorkerConfig, shared: SharedConfig) -> dict[str, str]:
    """What this process is refused now; see `canary.report`."""
    return canary.report(judge=shared.judge, private=config.private, kept=shared.kept)
