"""The probe of systems without /proc, such as macOS: psutil, which asks the system itself.

Nothing is started for an answer, and the watch may ask twenty times per second.
"""

from __future__ import annotations

from contextlib import suppress

import psutil

from grader.sandbox.probes import ResourceProbe


class PsutilProbe(ResourceProbe):
    """Knows memory and CPU time; what a process wrote only where the system counts it."""

    def resident_bytes(self, pid: int) -> int | None:
        """See `ResourceProbe`."""
        with suppress(psutil.Error):
            return int(psutil.Process(pid).memory_info().rss)
        return None

    def cpu_nanoseconds(self, pid: int) -> int | None:
        """See `ResourceProbe`."""
        with suppress(psutil.Error):
            times = psutil.Process(pid).cpu_times()
            return round((times.user + times.system) * 1e9)
        return None

    def written_bytes(self, pid: int) -> int | None:
        """See `ResourceProbe`."""
        with suppress(psutil.Error, AttributeError):  # macOS has no such counters
            counters = psutil.Process(pid).io_counters()
            return max(int(counters.write_bytes), int(getattr(counters, "write_chars", 0)))
        return None
