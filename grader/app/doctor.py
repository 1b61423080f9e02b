"""What this machine has, and what is missing."""

from __future__ import annotations

import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata

from grader import __version__
from grader.app import banks, requirements
from grader.app.context import Context
from grader.model.errors import DrillError
from grader.model.numerals import quantity

_TORCH_SECONDS = 60  # a cold import of torch from a slow disk takes half a minute

_ASK_TORCH = """
import torch
names = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
print(", ".join(names) if torch.cuda.is_available() else "")
"""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at; `status` is the exit status it asks for."""

    name: str
    value: str
    advice: str = ""
    status: int = 0
    rows: tuple[str, ...] = ()


def doctor(ctx: Context) -> Iterator[Finding]:
    """Look at everything a grade needs."""
    yield Finding("drill", __version__)
    yield Finding("python", f"{platform.python_version()} ({sys.executable})")
    cores = quantity(requirements.cores(), "core")
    yield Finding("platform", f"{platform.platform(terse=True)}, {platform.machine()}, {cores}")
    try:
        yield Finding("numpy", metadata.version("numpy"))
    except metadata.PackageNotFoundError:
        yield Finding("numpy", "missing", "pip install numpy", status=2)
    yield from _torch()
    yield _data_folder(ctx)
    for row in banks.rows(ctx):
        if row.fault:
            yield Finding("bank", f"{row.origin}: {row.fault}", row.hint, status=2)
        else:
            yield Finding("bank", f"{row.path}, {quantity(row.questions, 'question')}")
    yield _isolation()


def _torch() -> Iterator[Finding]:
    """Torch is a matter of taste: only some drills need it."""
    if not requirements.torch_installed():
        yield Finding("torch", "not installed; only some drills need it", requirements.GET_TORCH)
        return
    try:
        yield Finding("torch", metadata.version("torch"))
    except metadata.PackageNotFoundError:
        yield Finding("torch", "installed")
    command = [sys.executable, "-I", "-c", _ASK_TORCH]
    try:
        names = subprocess.check_output(
            command, stderr=subprocess.PIPE, text=True, timeout=_TORCH_SECONDS
        )
        yield Finding("CUDA", names.strip() or "none; memory is graded on the CPU")
    except subprocess.TimeoutExpired:
        yield Finding("CUDA", f"torch did not load within {_TORCH_SECONDS} s", status=2)
    except subprocess.CalledProcessError as fault:
        reason = (fault.stderr.strip() or str(fault)).splitlines()[-1]
        yield Finding("CUDA", f"torch does not load: {reason}", status=2)


def _data_folder(ctx: Context) -> Finding:
    try:
        ctx.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=ctx.data):
            return Finding("records", str(ctx.data))
    except OSError as fault:
        return Finding(
            "records",
            f"{ctx.data} cannot be written: {fault.strerror}",
            "grading works, but nothing is recorded; DRILL_HOME names another folder",
            status=2,
        )


def _isolation() -> Finding:
    """Start a worker and have it try what a submission must not be able to do."""
    from grader.sandbox.client import WorkerClient
    from grader.sandbox.levels import ACTS, BEYOND, STRONG

    try:
        with WorkerClient(torch=False) as worker:
            found = worker.isolation
    except DrillError as fault:
        return Finding("isolation", fault.message, fault.hint, fault.exit_status)
    but = "" if found.level == STRONG else "not "
    summary = f"{found.level}: a submission is {but}refused all of this, as was just tried:"
    beyond = {name: f"{words}; no level rests on this" for name, words in BEYOND.items()}
    rows = [f"{found.acts.get(act, 'done'):<8} {words}" for act, words in (ACTS | beyond).items()]
    rows += [f"no wall: {reason}" for reason in found.missing]
    if found.level != STRONG:
        rows.append("grade only the code of people you trust on this machine")
    return Finding("isolation", summary, rows=tuple(rows))
