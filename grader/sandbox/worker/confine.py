"""Confine this process before it runs anything that is not ours, and find out what that achieved.

The order matters.  Limits first, while they may still be set; then the user, because changing it
makes Linux forget what to do when the parent ends; then files, then system calls, because raising
the earlier walls needs calls that the last one refuses.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from .walls import canary, limits

Orders = Mapping[str, Any]


def confine(orders: Orders) -> list[str]:
    """Raise every wall there is.

    Args:
        orders: `memory`, `cpu_seconds`, `threads`: see `limits`; `user`: see `identity`;
            `readable`: files that must stay readable; `grants`, `scratch_grant`: see `landlock`;
            `sights`: see `view`; `devices`: see `seccomp`; `parent`: the process with which this
            one ends.

    Returns:
        Why walls are missing, one sentence each.
    """
    limits.apply(
        memory=orders["memory"], cpu_seconds=orders["cpu_seconds"], threads=orders["threads"]
    )
    if sys.platform != "linux":
        return [f"there are no walls on {sys.platform}, only limits"]
    from .walls import identity, kernel, landlock, mounts, seccomp

    with suppress(OSError):  # where memory runs out, this process goes, and not the judge
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    # Where it cannot be, files can be seen, and still not read.  A root that cannot become anybody
    # else could not be told from others in a namespace of users.
    if orders["sights"] and (orders["user"] is not None or os.getuid() != 0):
        mounts.apply(orders["sights"], orders["scratch"], root=orders["user"] is not None)
    missing = {"privileges": identity.apply(orders["user"], orders["readable"])}
    die_with(orders["parent"])
    kernel.prctl(kernel.PR_SET_DUMPABLE, 1)  # so that the judge can ask what memory this takes
    missing["Landlock"] = landlock.apply([*orders["grants"], orders["scratch_grant"]])
    missing["threads"] = None if alone() else "a thread was running before the walls were up"
    missing["seccomp"] = seccomp.apply(devices=orders["devices"])
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


def try_everything(orders: Orders) -> dict[str, str]:
    """What this process is refused now; see `canary.report`."""
    return canary.report(judge=orders["judge"], witness=orders["witness"], kept=orders["kept"])
