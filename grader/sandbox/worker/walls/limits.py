"""Limits on what one process may take; a limit that this system lacks is left out."""

from __future__ import annotations

from typing import Any

r: Any
try:
    import resource as r
except ImportError:  # Windows
    r = None

MAX_FILE = 16 << 20  # bytes of one file
MAX_OPEN = 64  # files at once


def apply(*, memory: int, cpu_seconds: int, threads: int) -> None:
    """Bound this process for good.

    Args:
        memory: bytes of address space; 0 for no such limit.
        cpu_seconds: of all threads together.
        threads: of all processes of this user; 0 for no such limit.  Root is not held to it.
    """
    if r is None:
        return

    def bound(name: str, soft: int, hard: int | None = None) -> None:
        which = getattr(r, name, None)
        if which is None:
            return
        try:
            r.setrlimit(which, (soft, soft if hard is None else hard))
        except (OSError, ValueError):
            return

    # Not 0, at which Linux still hands a crash to a program that keeps cores: core(5), "piping".
    bound("RLIMIT_CORE", 1)
    bound("RLIMIT_CPU", cpu_seconds, cpu_seconds + 1)
    bound("RLIMIT_FSIZE", MAX_FILE)
    bound("RLIMIT_NOFILE", MAX_OPEN)
    bound("RLIMIT_MEMLOCK", 0)
    bound("RLIMIT_SIGPENDING", 256)  # timers take from what the user's processes share
    bound("RLIMIT_MSGQUEUE", 0)
    if memory:
        bound("RLIMIT_AS", memory)
    if threads:
        bound("RLIMIT_NPROC", threads)


def bounded() -> bool:
    """Whether CPU time and files of this process are limited; the judge watches its memory."""
    if r is None:
        return False
    wanted = ("RLIMIT_CPU", "RLIMIT_FSIZE", "RLIMIT_NOFILE")
    return all(r.getrlimit(getattr(r, n))[1] != r.RLIM_INFINITY for n in wanted)
