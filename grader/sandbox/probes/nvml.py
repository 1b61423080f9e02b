"""The probe of NVIDIA's GPUs: how much of their memory a process holds, by the driver's account.

Needs the extra `gpu` (nvidia-ml-py) and a driver.
"""

from __future__ import annotations

import importlib
from contextlib import suppress
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
        with suppress(ImportError):
            nvml = importlib.import_module("pynvml")
            with suppress(nvml.NVMLError):
                nvml.nvmlInit()
                return cls(nvml)
        return None

    def resident_bytes(self, pid: int) -> int | None:
        """See `ResourceProbe`; 0 for a process that uses no GPU."""
        nvml = self._nvml
        with suppress(nvml.NVMLError):
            gpus = map(nvml.nvmlDeviceGetHandleByIndex, range(nvml.nvmlDeviceGetCount()))
            running = [p for gpu in gpus for p in nvml.nvmlDeviceGetComputeRunningProcesses(gpu)]
            held = [process.usedGpuMemory for process in running if process.pid == pid]
            return None if None in held else sum(held)  # not counted by every driver, as in MIG
        return None
