"""The memory, CPU time, waiting time and written bytes of a process, read from outside.

Code in the process cannot change these figures.  They come from /proc, proc(5), or from psutil on
systems without it, such as macOS.  Both are cheap: the judge reads them twenty times per second.
Each function returns None if the figure is not known.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

HAS_PROC = Path("/proc/self/statm").exists()


def resident_bytes(pid: int) -> int | None:
    """Return how many bytes of memory a process holds now."""
    if not HAS_PROC:
        return _by_psutil(pid, lambda process: process.memory_info().rss)
    with suppress(OSError, ValueError, IndexError):
        pages = int(Path(f"/proc/{pid}/statm").read_bytes().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    return None


def cpu_nanoseconds(pid: int) -> int | None:
    """Return the CPU time of a process and its threads, ended threads included."""
    if not HAS_PROC:
        return _by_psutil(pid, lambda process: 1e9 * sum(process.cpu_times()[:2]))  # user, system
    # The clock of another process is CPUCLOCK_SCHED (2) of its negated id, clock_getcpuclockid(3).
    with suppress(OSError):
        return time.clock_gettime_ns((~pid << 3) | 2)
    return None


def queued_seconds(pid: int) -> float | None:
    """Return the seconds that the living threads of a process have waited for a core, in sum."""
    with suppress(OSError, ValueError, IndexError):
        threads = Path(f"/proc/{pid}/task").iterdir()
        return sum(map(_queued_nanoseconds, threads)) / 1e9
    return None


def own_queued_seconds() -> float | None:
    """Return the seconds that the calling thread has waited for a core."""
    with suppress(OSError, ValueError, IndexError):
        return _queued_nanoseconds(Path("/proc/thread-self")) / 1e9
    return None


def _queued_nanoseconds(thread: Path) -> int:
    return int((thread / "schedstat").read_bytes().split()[1])


def written_bytes(pid: int) -> int | None:
    """Return how many bytes a process has written to its output and to files, deleted or not."""
    if not HAS_PROC:  # bytes and, on Linux, characters; macOS has no such counters
        return _by_psutil(pid, lambda process: max(process.io_counters()[3::2]))
    with suppress(OSError, ValueError, KeyError):
        counters = {}
        for line in Path(f"/proc/{pid}/io").read_text(encoding="ascii").splitlines():
            name, value = line.split()
            counters[name] = int(value)
        # `wchar` counts system calls.  Only `write_bytes` counts writes through mapped pages.
        return max(counters["wchar:"], counters["write_bytes:"])
    return None


def _by_psutil(pid: int, read: Callable[[Any], float]) -> int | None:
    with suppress(ImportError):  # psutil is a dependency only outside Linux
        import psutil

        with suppress(psutil.Error, AttributeError):
            return round(read(psutil.Process(pid)))
    return None
