"""What this machine has, and what is missing."""

from __future__ import annotations

import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from grader import __version__, bank
from grader.app import banks
from grader.app.context import GET_TORCH, Context, cores, torch_installed
from grader.model.errors import DrillError
from grader.model.numerals import quantity
from grader.records import events

_TORCH_SECONDS = 60  # a cold import of torch from a slow disk takes half a minute
_ASK_TORCH = """
import torch
names = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
print(", ".join(names) if torch.cuda.is_available() else "")
"""


class Finding(NamedTuple):
    """One thing that was looked at; `status` is the exit status it asks for."""

    name: str
    value: str
    advice: str = ""  # what to do, where something is missing
    status: int = 0
    rows: tuple[str, ...] = ()
    state: str = ""  # MISSING or WEAK


def doctor(ctx: Context) -> list[Finding]:
    """Look at everything a grade needs; what is missing or weak comes first."""
    found = [*_versions(), _isolation(), _records(ctx), *_banks(ctx)]
    return sorted(found, key=lambda one: ["MISSING", "WEAK", ""].index(one.state))


def readiness(ctx: Context, found: list[Finding]) -> str:
    """Return what the machine is ready for: "Ready for 4 numpy questions and 1 torch question."."""
    usable = [Path(one.path) for one in banks.in_use(ctx) if not one.fault]
    heads = bank.headers(usable) if usable else []
    counts = {"numpy": sum(not head.torch for head in heads), "torch": sum(h.torch for h in heads)}
    missing = {one.name for one in found if one.state == "MISSING"}
    if "isolation" in missing:
        return "Ready for nothing: no worker can be started."
    can, cannot = (
        " and ".join(
            quantity(count, f"{library} question")
            for library, count in counts.items()
            if count and (library not in missing) is ready
        )
        for ready in (True, False)
    )
    return f"Ready for {can or 'no question'}" + (f"; not for {cannot}." if cannot else ".")


def _versions() -> Iterator[Finding]:
    """The program and what it runs on; without torch only some questions cannot be graded."""
    said = [f"drill {__version__}", f"python {platform.python_version()}"]
    for library in ("numpy", "torch"):
        with suppress(metadata.PackageNotFoundError):
            said.append(f"{library} {metadata.version(library)}")
    yield Finding("versions", ", ".join(said))
    machine = (platform.platform(terse=True), platform.machine(), quantity(cores(), "core"))
    yield Finding("machine", ", ".join(machine))
    if not torch_installed():
        yield _missing("torch", "not installed; only some questions need it", GET_TORCH, status=0)
        return
    try:
        command = [sys.executable, "-I", "-c", _ASK_TORCH]
        names = subprocess.check_output(
            command, stderr=subprocess.PIPE, text=True, timeout=_TORCH_SECONDS
        )
    except subprocess.TimeoutExpired:
        fault = f"did not load within {_TORCH_SECONDS} s"
    except subprocess.CalledProcessError as error:
        fault = f"does not load: {(error.stderr.strip() or str(error)).splitlines()[-1]}"
    else:
        none = "none; memory is graded on the CPU, and what needs a GPU is skipped"
        yield Finding("GPU", names.strip() or none)
        return
    yield _missing("torch", fault, f'{sys.executable} -c "import torch"')


def _missing(name: str, value: str, advice: str, status: int = 2) -> Finding:
    return Finding(name, value, advice, status, state="MISSING")


def _records(ctx: Context) -> Finding:
    where = ctx.typed(ctx.data)
    try:
        ctx.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=ctx.data):
            grades = ctx.read(lambda db: events.count(db, kind="grade"), 0)
    except OSError as fault:
        value = f"{where} cannot be written: {fault.strerror}; grades are not recorded"
        return _missing("records", value, "export DRILL_HOME=DIR")
    return Finding("kept in", f"{where}: {quantity(grades, 'grade')}")


def _banks(ctx: Context) -> Iterator[Finding]:
    rows = banks.in_use(ctx)
    if good := [row for row in rows if not row.fault]:
        named = ", ".join(row.name for row in good)
        count = quantity(sum(row.questions for row in good), "question")
        yield Finding("banks", f"{quantity(len(good), 'bank')} ({named}), {count}")
    for row in rows:
        if row.fault:
            where = f"{row.origin}: " if row.origin else ""
            yield _missing("bank", f"{where}{row.fault}", row.hint)


def _isolation() -> Finding:
    """Start a worker and have it try what a submission must not be able to do."""
    from grader.sandbox.client import STRONG, WorkerClient
    from grader.sandbox.worker.walls.canary import ACTS

    try:
        with WorkerClient(torch=False) as worker:
            found = worker.isolation
    except DrillError as fault:
        return _missing("isolation", fault.message, fault.hint, fault.exit_status)
    rows = [f"{found.acts.get(act, 'done')} {words}" for act, words in ACTS.items()]
    rows += [f"no wall: {reason}" for reason in found.missing]
    refused = len(ACTS) - len(found.done)
    value = f"{found.level}: {refused} of {len(ACTS)} forbidden things were refused just now"
    if found.level == STRONG:
        return Finding("isolation", value, rows=tuple(rows))
    trust = "grade only the code of people you trust on this machine"
    return Finding("isolation", f"{value}; {trust}", rows=(*rows, trust), state="WEAK")
