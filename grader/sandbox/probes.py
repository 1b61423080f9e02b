"""What a process takes, seen from outside: memory, CPU time, bytes written.

No code in the process has a say in it.  `None` is "not known", here and in every probe.
"""

from __future__ import annotations

import functools
import importlib
import os
import stat
import time
from contextlib import suppress
from pathlib import Path


class PsutilProbe:
    """Asks the system by psutil, which starts nothing for an answer: the watch asks often."""

    def resident_bytes(self, pid: int) -> int | None:
        """Bytes of memory that a process holds now."""
        import psutil

        with suppress(psutil.Error):
            return int(psutil.Process(pid).memory_info().rss)
        return None

    def cpu_nanoseconds(self, pid: int) -> int | None:
        """CPU time of a process and its threads, ended ones included."""
        import psutil

        with suppress(psutil.Error):
            times = psutil.Process(pid).cpu_times()
            return round((times.user + times.system) * 1e9)
        return None

    def written_bytes(self, pid: int) -> int | None:
        """Bytes that a process wrote to files so far, also to those that have no name any more."""
        import psutil

        with suppress(psutil.Error, AttributeError):  # macOS has no such counters
            counters = psutil.Process(pid).io_counters()
            return max(int(counters.write_bytes), int(getattr(counters, "write_chars", 0)))
        return None

    def occupied_bytes(self, pid: int, scratch: str) -> int | None:  # noqa: ARG002
        """Bytes of memory and files that a process holds: resident, swapped, in a folder."""
        return None

    def peak_bytes(self, pid: int) -> int | None:  # noqa: ARG002
        """The most memory that a process held since it started or since `forget_peak`."""
        return None

    def forget_peak(self, pid: int) -> bool:  # noqa: ARG002
        """Start counting the peak again; whether that could be done."""
        return False


class LinuxProbe(PsutilProbe):
    """Reads what the kernel says in /proc, proc(5)."""

    def resident_bytes(self, pid: int) -> int | None:
        """See `PsutilProbe`."""
        with suppress(OSError, ValueError, IndexError):
            pages = int(Path(f"/proc/{pid}/statm").read_bytes().split()[1])
            return pages * os.sysconf("SC_PAGE_SIZE")
        return None

    def occupied_bytes(self, pid: int, scratch: str) -> int | None:
        """See `PsutilProbe`.  Resident is all that is in memory, file pages included."""
        with suppress(OSError, ValueError, LookupError):
            # Exact; the counters of `statm` may lag behind by megabytes on machines of many cores.
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
            sizes = {line.split()[0]: int(line.split()[1]) * 1024 for line in lines[1:]}
            return sizes["Rss:"] + sizes["Swap:"] + _files_bytes(pid, scratch)
        return None

    def peak_bytes(self, pid: int) -> int | None:
        """See `PsutilProbe`."""
        with suppress(OSError, ValueError, IndexError):
            # The first line holds a name that the process may choose, of any bytes.
            for line in Path(f"/proc/{pid}/status").read_bytes().splitlines():
                if line.startswith(b"VmHWM:"):
                    return int(line.split()[1]) * 1024
        return None

    def forget_peak(self, pid: int) -> bool:
        """See `PsutilProbe`."""
        with suppress(OSError):
            Path(f"/proc/{pid}/clear_refs").write_text("5", encoding="ascii")
            return True
        return False

    def cpu_nanoseconds(self, pid: int) -> int | None:
        """See `PsutilProbe`."""
        # The clock of another process: CPUCLOCK_SCHED (2) of the negated id, clock_getcpuclockid(3)
        with suppress(OSError):
            return time.clock_gettime_ns((~pid << 3) | 2)
        return None

    def written_bytes(self, pid: int) -> int | None:
        """See `PsutilProbe`."""
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


@functools.cache
def of_this_system() -> PsutilProbe:
    """The probe that knows most here."""
    return LinuxProbe() if Path("/proc/self/statm").exists() else PsutilProbe()


def gpu_bytes(pid: int) -> int | None:
    """Bytes that a process holds on all NVIDIA GPUs together, by the driver's account.

    None without a driver or the extra `gpu` (nvidia-ml-py), and where the driver does not count by
    process, as in MIG.
    """
    with suppress(ImportError):
        nvml = importlib.import_module("pynvml")
        with suppress(nvml.NVMLError):
            nvml.nvmlInit()
            gpus = map(nvml.nvmlDeviceGetHandleByIndex, range(nvml.nvmlDeviceGetCount()))
            running = [p for gpu in gpus for p in nvml.nvmlDeviceGetComputeRunningProcesses(gpu)]
            held = [process.usedGpuMemory for process in running if process.pid == pid]
            return None if None in held else sum(held)
    return None
