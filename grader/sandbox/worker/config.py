"""What a worker is configured with: the judge fills it in (`sandbox/config.py`), the worker obeys.

It travels as the first message on the worker's channel, or a zygote's, so it may be of any size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .walls.landlock import Grant
from .walls.mounts import Mount


@dataclass(frozen=True, slots=True)
class SharedConfig:
    """What holds for every worker that a zygote forks."""

    torch: bool  # whether programs may use it
    site: Sequence[str]  # folders from which libraries are imported
    memory: int  # bytes of address space; 0 for no such limit
    judge: int  # the judge's process id, to try whether it can be harmed
    grants: Sequence[Grant]  # files that may be read, for `landlock`
    mounts: Sequence[Mount]  # files that are seen, for `mounts`; none where all are
    devices: bool  # whether there are devices, of CUDA, that it must talk to
    readable: Sequence[str]  # files without which it cannot run
    kept: Sequence[str]  # files that it must not be able to read; the first one exists


@dataclass(frozen=True, slots=True)
class WorkerConfig:
    """What holds for one worker."""

    cpu_seconds: int
    user: int | None  # the id that it takes; None to stay who it is
    threads: int  # of all processes of its user
    scratch: str  # the folder in which it may write
    private: str  # a file of the judge's that it must not touch
    ahead: Sequence[str] = ()  # modules that it imports before it is asked anything
