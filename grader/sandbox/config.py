"""What a process that runs programs is told when it starts."""

from __future__ import annotations

import itertools
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from grader.sandbox import file_grants
from grader.sandbox.scratch import Scratch
from grader.sandbox.worker.walls.landlock import WRITE

BOOT = file_grants.WORKER / "boot.py"
MEMORY = 2 << 30  # address space of a numpy worker; it takes 0.14 GB by itself
MEMORY_TORCH = 8 << 30
SPARE_THREADS = 64  # beyond those that run already

# User ids that no system hands out: above all ranges of people, services and containers in use.
_FIRST_USER, _USERS, _NOBODY = 1_879_048_192, 1 << 20, 65534
_serial = itertools.count(os.getpid() << 4)


def for_all(*, torch: bool) -> dict[str, Any]:
    """What holds for every worker that a zygote forks."""
    cuda = (
        torch and file_grants.has_cuda()
    )  # its driver looks about itself in ways nobody has listed
    return {
        "torch": torch,
        "site": list(file_grants.site_folders()),
        "memory": address_space(torch=torch),
        "judge": os.getpid(),
        "parent": os.getpid(),
        "grants": list(file_grants.grants(torch=torch)) if sys.platform == "linux" else [],
        "sights": list(file_grants.sights(torch=torch))
        if sys.platform == "linux" and not cuda
        else [],
        "devices": cuda,
        "readable": file_grants.readable(),
        "kept": file_grants.kept(torch=torch),
        "control": None,
    }


def for_one(scratch: Scratch, cpu_seconds: int) -> dict[str, Any]:
    """What holds for one worker; its scratch folder becomes its own."""
    user = _own(scratch.folder)
    return {
        "cpu_seconds": cpu_seconds,
        "user": user,
        "threads": SPARE_THREADS if user is not None else _threads_here() + SPARE_THREADS,
        "scratch": scratch.folder,
        "scratch_grant": (WRITE, scratch.folder),
        "witness": scratch.witness,
    }


def most_memory(*, torch: bool) -> int:
    """Bytes of memory that a worker may hold."""
    return MEMORY_TORCH if torch else MEMORY


def address_space(*, torch: bool) -> int:
    """Bytes of address space; 0, no limit, where CUDA reserves far more than it uses."""
    return 0 if torch and file_grants.has_cuda() else most_memory(torch=torch)


def _own(scratch: str) -> int | None:
    """Give a folder to a user that nobody else is; None where the judge is not root."""
    if sys.platform != "linux" or os.getuid() != 0:
        return None
    for user in (_FIRST_USER + next(_serial) % _USERS, _NOBODY):
        with suppress(OSError):  # a container knows fewer ids
            os.chown(scratch, user, user)
            if os.access(scratch, os.R_OK | os.W_OK | os.X_OK):
                return user
            os.chown(scratch, 0, 0)  # a root without its powers could not look after it
            return None
    return None


def _threads_here() -> int:
    """Threads on this machine: at least those of this user, among which the kernel counts."""
    try:
        return int(Path("/proc/loadavg").read_text(encoding="ascii").split()[3].split("/")[1])
    except (OSError, ValueError, IndexError):
        return 4096
