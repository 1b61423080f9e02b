"""What this machine has, and what is missing."""

from __future__ import annotations

import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata

from grader import __version__, bank
from grader.app import banks, requirements
from grader.app.context import Context
from grader.model.errors import DrillError
from grader.model.numerals import quantity
from grader.records import events

_TORCH_SECONDS = 60  # a cold import of torch from a slow disk takes half a minute
MISSING, WEAK = "MISSING", "WEAK"

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
    advice: str = ""  # what to do, where something is missing
    status: int = 0
    rows: tuple[str, ...] = ()
    state: str = ""  # MISSING or WEAK


def doctor(ctx: Context) -> list[Finding]:
    """Look at everything a grade needs; what is missing or weak comes first."""
    found = [*_versions(), _machine(), _isolation(), _records(ctx), *_banks(ctx)]
    return sorted(found, key=lambda one: [MISSING, WEAK, ""].index(one.state))


def readiness(ctx: Context, found: list[Finding]) -> str:
    """Return what the machine is ready for: "Ready for 4 numpy questions; 1 torch question"."""
    usable = banks.usable(ctx)
    heads = bank.headers(usable) if usable else []
    torch = sum(head.torch for head in heads)
    counts = {"numpy": len(heads) - torch, "torch": torch}
    stopped = {one.name for one in found if one.state == MISSING}
    if "isolation" in stopped:
        return "Ready for nothing: no worker can be started."
    ready = [
        quantity(count, f"{library} question")
        for library, count in counts.items()
        if count and not stopped & {"numpy", library}
    ]
    cannot = [
        quantity(count, f"{library} question")
        for library, count in counts.items()
        if count and stopped & {"numpy", library}
    ]
    said = f"Ready for {' and '.join(ready)}" if ready else "Ready for no question"
    return f"{said}; not for {' and '.join(cannot)}." if cannot else f"{said}."


def _versions() -> Iterator[Finding]:
    """The program and what it runs on; torch is only missing where it is there and does not load.

    Only some drills need it.
    """
    said = [f"drill {__version__}", f"python {platform.python_version()}"]
    try:
        said.append(f"numpy {metadata.version('numpy')}")
    except metadata.PackageNotFoundError:
        yield Finding("numpy", "not installed", "pip install numpy", 2, state=MISSING)
    if not requirements.torch_installed():
        yield Finding("versions", ", ".join(said))
        value = "not installed; only some questions need it"
        yield Finding("torch", value, requirements.GET_TORCH, state=MISSING)
        return
    try:
        said.append(f"torch {metadata.version('torch')}")
    except metadata.PackageNotFoundError:
        said.append("torch")
    yield Finding("versions", ", ".join(said))
    command = [sys.executable, "-I", "-c", _ASK_TORCH]
    try:
        names = subprocess.check_output(
            command, stderr=subprocess.PIPE, text=True, timeout=_TORCH_SECONDS
        )
        none = "none; memory is graded on the CPU, and what needs a GPU is skipped"
        yield Finding("GPU", names.strip() or none)
    except subprocess.TimeoutExpired:
        yield _broken_torch(f"did not load within {_TORCH_SECONDS} s")
    except subprocess.CalledProcessError as fault:
        reason = (fault.stderr.strip() or str(fault)).splitlines()[-1]
        yield _broken_torch(f"does not load: {reason}")


def _broken_torch(value: str) -> Finding:
    return Finding("torch", value, f'{sys.executable} -c "import torch"', 2, state=MISSING)


def _machine() -> Finding:
    cores = quantity(requirements.cores(), "core")
    return Finding("machine", f"{platform.platform(terse=True)}, {platform.machine()}, {cores}")


def _records(ctx: Context) -> Finding:
    where = ctx.typed(ctx.data)
    try:
        ctx.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=ctx.data):
            tries = ctx.read(lambda db: events.count(db, kind="grade"), 0)
    except OSError as fault:
        return Finding(
            "records",
            f"{where} cannot be written: {fault.strerror}; grades are not recorded",
            "export DRILL_HOME=DIR",
            status=2,
            state=MISSING,
        )
    return Finding("kept in", f"{where}: {quantity(tries, 'try', 'tries')}")


def _banks(ctx: Context) -> Iterator[Finding]:
    rows = banks.rows(ctx)
    good = [row for row in rows if not row.fault]
    count = quantity(sum(row.questions for row in good), "question")
    named = ", ".join(row.name for row in good)
    if good:
        yield Finding("banks", f"{quantity(len(good), 'bank')} ({named}), {count}")
    for row in rows:
        if row.fault:
            where = f"{row.origin}: " if row.origin else ""
            yield Finding("bank", f"{where}{row.fault}", row.hint, status=2, state=MISSING)


def _isolation() -> Finding:
    """Start a worker and have it try what a submission must not be able to do."""
    from grader.sandbox.client import WorkerClient
    from grader.sandbox.levels import ACTS, STRONG

    try:
        with WorkerClient(torch=False) as worker:
            found = worker.isolation
    except DrillError as fault:
        return Finding("isolation", fault.message, fault.hint, fault.exit_status, state=MISSING)
    rows = [f"{found.acts.get(act, 'done')} {words}" for act, words in ACTS.items()]
    rows += [f"no wall: {reason}" for reason in found.missing]
    refused = len(ACTS) - len(found.done)
    value = f"{found.level}: {refused} of {len(ACTS)} forbidden things were refused just now"
    if found.level == STRONG:
        return Finding("isolation", value, rows=tuple(rows))
    trust = "grade only the code of people you trust on this machine"
    return Finding("isolation", f"{value}; {trust}", rows=(*rows, trust), state=WEAK)
