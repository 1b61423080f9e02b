"""Limits on what one process may take."""

from __future__ import annotations

import resource
from contextlib import suppress

MAX_FILE = 16 << 20  # bytes of one file
MAX_OPEN = 64  # files at once


def apply(*, memory: int, cpu_seconds: int, threads: int) -> None:
    """Bound this process for good; a limit that this system lacks is left out.

    Args:
        memory: bytes of address space; 0 for no such limit.
        cpu_seconds: of all threads together.
        threads: of all processes of this user.  Root is not held to it.
    """
    bounds = {
        # Not 0, at which Linux still hands a crash to a program that keeps cores: core(5), "piping"
        "CORE": (1, 1),
        "CPU": (cpu_seconds, cpu_seconds + 1),
        "FSIZE": (MAX_FILE, MAX_FILE),
        "NOFILE": (MAX_OPEN, MAX_OPEN),
        "MEMLOCK": (0, 0),
        "SIGPENDING": (256, 256),  # timers take from what the user's processes share
        "MSGQUEUE": (0, 0),
        "NPROC": (threads, threads),
    } | ({"AS": (memory, memory)} if memory else {})
    for name, pair in bounds.items():
        with suppress(AttributeError, OSError, ValueError):
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), pair)


def bounded() -> bool:
    """Whether CPU time and files of this process are limited; the judge watches its memory."""
    wanted = (resource.RLIMIT_CPU, resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE)
    return all(resource.getrlimit(limit)[1] != resource.RLIM_INFINITY for limit in wanted)
