"""What a process takes, seen from outside: memory, CPU time, bytes written.

No code in the process has a say in it.  /proc is read, proc(5), and psutil asked where there is
none, as on macOS; neither starts anything for an answer, and the watch asks twenty times per
second.  `None` is "not known", everywhere here.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from grader.sandbox.scratch_folder import file_sizes

PROC = Path("/proc/self/statm").exists()


def resident_bytes(pid: int) -> int | None:
    """Bytes of memory that a process holds now."""
    if not PROC:
        return _by_psutil(pid, lambda process: process.memory_info().rss)
    with suppress(OSError, ValueError, IndexError):
        pages = int(Path(f"/proc/{pid}/statm").read_bytes().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    return None


def cpu_nanoseconds(pid: int) -> int | None:
    """CPU time of a process and its threads, ended ones included."""
    if not PROC:
        return _by_psutil(pid, lambda process: 1e9 * sum(process.cpu_times()[:2]))  # user, system
    # The clock of another process: CPUCLOCK_SCHED (2) of the negated id, clock_getcpuclockid(3)
    with suppress(OSError):
        return time.clock_gettime_ns((~pid << 3) | 2)
    return None


def queued_seconds(pid: int) -> float | None:
    """How long the threads of a process were ready to run and did not, because others did."""
    with suppress(OSError, ValueError, IndexError):
        tasks = Path(f"/proc/{pid}/task").iterdir()
        return sum(int((task / "schedstat").read_bytes().split()[1]) for task in tasks) / 1e9
    return None


def own_queued_seconds() -> float | None:
    """Return how long the thread that asks was ready to run and did not, because others did."""
    with suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/thread-self/schedstat").read_bytes().split()[1]) / 1e9
    return None


def written_bytes(pid: int) -> int | None:
    """Bytes that a process wrote to files so far, also to those that have no name any more."""
    if not PROC:  # bytes and, on Linux, characters; macOS has no such counters
        return _by_psutil(pid, lambda process: max(process.io_counters()[3::2]))
    with suppress(OSError, ValueError, KeyError):
        fields = Path(f"/proc/{pid}/io").read_text(encoding="ascii").split()
        found = dict(zip(fields[::2], map(int, fields[1::2]), strict=True))
        # By calls, and by way of mapped pages that are not on the disk yet.
        return max(found["wchar:"], found["write_bytes:"])
    return None


def occupied_bytes(pid: int, scratch: str) -> int | None:
    """Bytes of memory and files that a process holds: resident, swapped, in a folder.

    Resident is all that is in memory, file pages included.
    """
    with suppress(OSError, ValueError, LookupError):
        # Exact; the counters of `statm` may lag behind by megabytes on machines of many cores.
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
        sizes = {line.split()[0]: int(line.split()[1]) * 1024 for line in lines[1:]}
        files = sum(file_sizes(scratch, lambda _: None))
        return sizes["Rss:"] + sizes["Swap:"] + files
    return None


def _by_psutil(pid: int, read: Callable[[Any], float]) -> int | None:
    with suppress(
        ImportError
    ):  # it comes along outside of Linux only; there may be no /proc either
        import psutil

        with suppress(psutil.Error, AttributeError):
            return round(read(psutil.Process(pid)))
    return None
