"""The probe of Linux: /proc, proc(5)."""

from __future__ import annotations

import os
import stat
import time
from contextlib import suppress
from pathlib import Path

from grader.sandbox.probes import ResourceProbe

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class LinuxProbe(ResourceProbe):
    """Reads what the kernel says of a process."""

    def resident_bytes(self, pid: int) -> int | None:
        """See `ResourceProbe`."""
        with suppress(OSError, ValueError, IndexError):
            return int(Path(f"/proc/{pid}/statm").read_bytes().split()[1]) * _PAGE_BYTES
        return None

    def occupied_bytes(self, pid: int, scratch: str) -> int | None:
        """See `ResourceProbe`.  Resident is all that is in memory, file pages included."""
        with suppress(OSError, ValueError, LookupError):
            # Exact; the counters of `statm` may lag behind by megabytes on machines of many cores.
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
            sizes = {line.split()[0]: int(line.split()[1]) * 1024 for line in lines[1:]}
            return sizes["Rss:"] + sizes["Swap:"] + _files_bytes(pid, scratch)
        return None

    def peak_bytes(self, pid: int) -> int | None:
        """See `ResourceProbe`."""
        with suppress(OSError, ValueError, IndexError):
            # The first line holds a name that the process may choose, of any bytes.
            for line in Path(f"/proc/{pid}/status").read_bytes().splitlines():
                if line.startswith(b"VmHWM:"):
                    return int(line.split()[1]) * 1024
        return None

    def forget_peak(self, pid: int) -> bool:
        """See `ResourceProbe`."""
        with suppress(OSError):
            Path(f"/proc/{pid}/clear_refs").write_text("5", encoding="ascii")
            return True
        return False

    def cpu_nanoseconds(self, pid: int) -> int | None:
        """See `ResourceProbe`."""
        # The clock of another process: CPUCLOCK_SCHED (2) of the negated id, clock_getcpuclockid(3)
        with suppress(OSError):
            return time.clock_gettime_ns((~pid << 3) | 2)
        return None

    def written_bytes(self, pid: int) -> int | None:
        """See `ResourceProbe`."""
        with suppress(OSError, ValueError, KeyError):
            fields = Path(f"/proc/{pid}/io").read_text(encoding="ascii").split()
            said = dict(zip(fields[::2], map(int, fields[1::2]), strict=True))
            # By calls, and by way of mapped pages that are not on the disk yet.
            return max(said["wchar:"], said["write_bytes:"])
        return None


def _files_bytes(pid: int, scratch: str) -> int:
    """Bytes of files in a folder, and of those open in a process that have no name any more."""
    size = 0
    for folder, _, names in os.walk(scratch):
        for name in names:
            with suppress(OSError):
                size += os.lstat(f"{folder}/{name}").st_blocks * 512
    with suppress(OSError), os.scandir(f"/proc/{pid}/fd") as descriptors:
        for descriptor in descriptors:
            with suppress(OSError):
                found = Path(descriptor.path).stat()
                if stat.S_ISREG(found.st_mode) and not found.st_nlink:
                    size += found.st_blocks * 512
    return size
