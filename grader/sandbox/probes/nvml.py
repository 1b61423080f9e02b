"""The probe of NVIDIA's GPUs: how much of their memory a process holds, by the driver's account.

Needs the extra `gpu` (nvidia-ml-py) and a driver.
"""

from __future__ import annotations

import importlib
from types import ModuleType

from grader.sandbox.probes import ResourceProbe


class NvmlProbe(ResourceProbe):
    """Asks NVML, the driver's library; memory is that of all GPUs together."""

    def __init__(self, nvml: ModuleType) -> None:
        """Take over the library's module, initialized."""
        self._nvml = nvml

    @classmethod
    def available(cls) -> NvmlProbe | None:
        """A probe, where the library and a driver are there."""
        try:
            nvml = importlib.import_module("pynvml")
        except ImportError:
            return None
        try:
            nvml.nvmlInit()
        except nvml.NVMLError:
            return None
        return cls(nvml)

    def resident_bytes(self, pid: int) -> int | None:
        """See `ResourceProbe`; 0 for a process that uses no GPU."""
        nvml, held = self._nvml, 0
        try:
            for index in range(nvml.nvmlDeviceGetCount()):
                gpu = nvml.nvmlDeviceGetHandleByIndex(index)
                for process in nvml.nvmlDeviceGetComputeRunningProcesses(gpu):
                    if process.pid != pid:
                        continue
                    if process.usedGpuMemory is None:  # where the driver does not count, as in MIG
                        return None
                    held += int(process.usedGpuMemory)
        except nvml.NVMLError:
            return None
        return held
