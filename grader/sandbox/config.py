"""What a worker is configured with, on this machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from grader.sandbox import file_grants
from grader.sandbox.scratch import Scratch
from grader.sandbox.worker.control import SharedConfig, WorkerConfig

BOOT = file_grants.WORKER / "boot.py"
# Bytes of a worker without and with torch; one with numpy takes 0.14 GB by itself.
MEMORY = {False: 2 << 30, True: 8 << 30}
CPU_SECONDS = 120  # of a worker for one submission
# What torch imports when it is used: gradients with cotangents the first of these, 0.25 s, and
# its checkpoints the second, 0.5 s more; together 80 MB.
TORCH_USES_LATE = ("torch.fx.experimental.symbolic_shapes", "torch._dynamo")
SPARE_THREADS = 64  # beyond those that run already


def shared(*, torch: bool) -> SharedConfig:
    """What holds for every worker that a zygote forks."""
    linux, cuda = sys.platform == "linux", torch and bool(file_grants.cuda())
    return SharedConfig(
        torch=torch,
        site=file_grants.site_folders(),
        memory=0 if cuda else MEMORY[torch],  # CUDA reserves far more than it uses
        judge=os.getpid(),
        grants=file_grants.grants(torch=torch) if linux else (),
        devices=cuda,
        readable=file_grants.readable(),
        kept=file_grants.kept(torch=torch),
    )


def worker(scratch: Scratch, cpu_seconds: int, ahead: Sequence[str] = ()) -> WorkerConfig:
    """What holds for one worker; its scratch folder becomes its own."""
    user = scratch.give_away()
    return WorkerConfig(
        cpu_seconds=cpu_seconds,
        user=user,
        threads=SPARE_THREADS + (0 if user is not None else _threads_here()),
        scratch=scratch.folder,
        private=scratch.private,
        ahead=ahead,
    )


def _threads_here() -> int:
    """Threads on this machine: at least those of this user, among which the kernel counts."""
    try:
        return int(Path("/proc/loadavg").read_text(encoding="ascii").split()[3].split("/")[1])
    except (OSError, ValueError, IndexError):
        return 4096
