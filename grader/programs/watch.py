"""What a process takes, seen from outside: memory, CPU time, and files in its scratch folder."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

MAX_SCRATCH = 64 << 20  # bytes of all files in a scratch folder
MAX_FILES = 1000


def resident_bytes(pid: int) -> int | None:
    """Bytes of memory that a process holds now; None where that cannot be told."""
    with suppress(OSError, ValueError, IndexError):
        pages = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]
        return int(pages) * _page_bytes()
    return None if sys.platform == "linux" else by_ps(pid)


def by_ps(pid: int) -> int | None:
    """Resident bytes on systems without /proc."""
    with suppress(OSError, ValueError, subprocess.SubprocessError):
        told = subprocess.run(
            ["/bin/ps", "-o", "rss=", "-p", str(pid)], capture_output=True, timeout=5, check=True
        )
        return int(told.stdout) * 1024
    return None


@functools.cache
def _page_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE")


def peak_bytes(pid: int) -> int | None:
    """The most memory that a process held since it started or since `forget_peak`."""
    with suppress(OSError, ValueError, IndexError):
        for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return None


def forget_peak(pid: int) -> bool:
    """Start counting the peak anew; whether that could be done."""
    try:
        Path(f"/proc/{pid}/clear_refs").write_text("5", encoding="ascii")  # proc(5)
    except OSError:
        return False
    return True


def cpu_nanoseconds(pid: int) -> int | None:
    """CPU time of a process and its threads, ended ones included; None without such a clock."""
    if sys.platform != "linux":
        return None
    # The clock of another process: CPUCLOCK_SCHED (2) of the negated id, clock_getcpuclockid(3).
    try:
        return time.clock_gettime_ns((~pid << 3) | 2)
    except OSError:
        return None


def overfull(folder: str) -> str | None:
    """What is too much about a scratch folder; None while it is within its limits."""
    size = count = 0
    waiting = [folder]
    while waiting:
        with suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                count += 1
                if count > MAX_FILES:
                    return f"made more than {MAX_FILES:,} files"
                with suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    size += entry.stat(follow_symlinks=False).st_blocks * 512
        if size > MAX_SCRATCH:
            return f"wrote more than {MAX_SCRATCH >> 20} MB to files"
    return None
