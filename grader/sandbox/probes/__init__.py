"""What a process takes, seen from outside: memory, CPU time, bytes written.

No code in the process has a say in it.  `linux` reads /proc, `portable` asks psutil, and `nvml`
asks for the memory of a GPU.
"""

from __future__ import annotations

import functools
from pathlib import Path


class ResourceProbe:
    """What can be asked about a process; None, here and in every probe, is "not known"."""

    def resident_bytes(self, pid: int) -> int | None:  # noqa: ARG002
        """Bytes of memory that a process holds now."""
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

    def cpu_nanoseconds(self, pid: int) -> int | None:  # noqa: ARG002
        """CPU time of a process and its threads, ended ones included."""
        return None

    def written_bytes(self, pid: int) -> int | None:  # noqa: ARG002
        """Bytes that a process wrote to files so far, also to those that have no name any more."""
        return None


@functools.cache
def of_this_system() -> ResourceProbe:
    """The probe of processor and memory for the system that this runs on."""
    if Path("/proc/self/statm").exists():
        from grader.sandbox.probes.linux import LinuxProbe

        return LinuxProbe()
    from grader.sandbox.probes.portable import PsutilProbe

    return PsutilProbe()


@functools.cache
def of_gpus() -> ResourceProbe:
    """The probe of the memory of NVIDIA's GPUs; one that knows nothing where there are none."""
    from grader.sandbox.probes.nvml import NvmlProbe

    return NvmlProbe.available() or ResourceProbe()
