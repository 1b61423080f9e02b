"""What a process takes, seen from outside: memory, CPU time, and files in its scratch folder."""

from __future__ import annotations

import functools
import os
import stat
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

MAX_SCRATCH = 64 << 20  # bytes of all files in a scratch folder
MAX_FILES = 1000
MAX_WRITTEN = 256 << 20  # bytes written in all, output included


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


def occupied_bytes(pid: int, scratch: str) -> int | None:
    """Bytes of memory and files that a process holds: resident, swapped out, and in its folder.

    Resident is all that is in memory, file pages included; None where that cannot be told.
    """
    with suppress(OSError, ValueError, IndexError):
        # Exact; the counters of `statm` may lag behind by megabytes on machines of many cores.
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
        sizes = {line.split()[0]: int(line.split()[1]) * 1024 for line in lines[1:]}
        return sizes["Rss:"] + sizes["Swap:"] + _files_bytes(pid, scratch)
    return None


def _files_bytes(pid: int, scratch: str) -> int:
    """Bytes of files in a folder, and of those open in a process that have no name any more."""
    size = 0
    for place, _, names in os.walk(scratch):
        for name in names:
            with suppress(OSError):
                size += os.lstat(f"{place}/{name}").st_blocks * 512
    with suppress(OSError), os.scandir(f"/proc/{pid}/fd") as descriptors:
        for descriptor in descriptors:
            with suppress(OSError):
                found = Path(descriptor.path).stat()
                if stat.S_ISREG(found.st_mode) and not found.st_nlink:
                    size += found.st_blocks * 512
    return size


def peak_bytes(pid: int) -> int | None:
    """The most memory that a process held since it started or since `forget_peak`."""
    with suppress(OSError, ValueError, IndexError):
        # The first line holds a name that the process may choose, of any bytes.
        for line in Path(f"/proc/{pid}/status").read_bytes().splitlines():
            if line.startswith(b"VmHWM:"):
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
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    count += 1
                    if count > MAX_FILES:
                        return f"made more than {MAX_FILES:,} files"
                    with suppress(FileNotFoundError):
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append(entry.path)
                        size += entry.stat(follow_symlinks=False).st_blocks * 512
        except FileNotFoundError:  # gone in the meantime
            continue
        except OSError as error:  # what cannot be listed cannot be counted
            return f"made a folder that cannot be listed ({error.strerror})"
        if size > MAX_SCRATCH:
            return f"wrote more than {MAX_SCRATCH >> 20} MB to files"
    return None


def written_bytes(pid: int) -> int | None:
    """Bytes that a process wrote to files so far, also to those that have no name any more."""
    with suppress(OSError, ValueError):
        fields = Path(f"/proc/{pid}/io").read_text(encoding="ascii").split()
        said = dict(zip(fields[::2], map(int, fields[1::2]), strict=True))  # proc(5)
        # By calls, and by way of mapped pages that are not on the disk yet.
        return max(said["wchar:"], said["write_bytes:"])
    return None
