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

from grader import bank
from grader.commands import banks
from grader.commands.context import INSTALL_TORCH, Context, available_cores, torch_installed
from grader.model.errors import DrillError
from grader.model.number_format import format_count
from grader.model.version import __version__
from grader.records import events

_TORCH_SECONDS = 60  # a cold import of torch from a slow disk takes half a minute
_ASK_TORCH = """
import torch
names = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
print(", ".join(names) if torch.cuda.is_available() else "")
"""


class MachineFinding(NamedTuple):
    """One thing that was looked at; `status` is the exit status it asks for."""

    name: str
    value: str
    advice: str = ""  # what to do, where something is missing
    status: int = 0
    rows: tuple[str, ...] = ()
    state: str = ""  # MISSING or WEAK


def examine_machine(ctx: Context) -> list[MachineFinding]:
    """Look at everything a grade needs; what is missing or weak comes first."""
    found = [*_versions(), _isolation(), _records(ctx), *_banks(ctx)]
    return sorted(found, key=lambda one: ["MISSING", "WEAK", ""].index(one.state))


def readiness(ctx: Context, found: list[MachineFinding]) -> str:
    """Return what the machine is ready for: "Ready for 4 numpy questions and 1 torch question."."""
    usable = [Path(one.path) for one in banks.list_banks(ctx) if not one.fault]
    heads = bank.headers(usable) if usable else []
    counts = {"numpy": sum(not head.torch for head in heads), "torch": sum(h.torch for h in heads)}
    missing = {one.name for one in found if one.state == "MISSING"}
    if "isolation" in missing:
        return "Ready for nothing: no worker can be started."
    can, cannot = (
        " and ".join(
            format_count(count, f"{library} question")
            for library, count in counts.items()
            if count and (library not in missing) is ready
        )
        for ready in (True, False)
    )
    return f"Ready for {can or 'no question'}" + (f"; not for {cannot}." if cannot else ".")


def _versions() -> Iterator[MachineFinding]:
    """The program and what it runs on; without torch only some questions cannot be graded."""
    said = [f"drill {__version__}", f"python {platform.python_version()}"]
    for library in ("numpy", "torch"):
        with suppress(metadata.PackageNotFoundError):
            said.append(f"{library} {metadata.version(library)}")
    yield MachineFinding("versions", ", ".join(said))
    machine = (
        platform.platform(terse=True),
        platform.machine(),
        format_count(available_cores(), "core"),
    )
    yield MachineFinding("machine", ", ".join(machine))
    if not torch_installed():
        yield _missing(
            "torch", "not installed; only some questions need it", INSTALL_TORCH, status=0
        )
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
        yield MachineFinding("GPU", names.strip() or none)
        return
    yield _missing("torch", fault, f'{sys.executable} -c "import torch"')


def _missing(name: str, value: str, advice: str, status: int = 2) -> MachineFinding:
    return MachineFinding(name, value, advice, status, state="MISSING")


def _records(ctx: Context) -> MachineFinding:
    where = ctx.path_as_typed(ctx.data)
    try:
        ctx.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=ctx.data):
            grades = ctx.read(lambda db: events.count_attempts(db, kind="grade"), 0)
    except OSError as fault:
        value = f"{where} cannot be written: {fault.strerror}; grades are not recorded"
        return _missing("records", value, "export DRILL_HOME=DIR")
    return MachineFinding("kept in", f"{where}: {format_count(grades, 'grade')}")


def _banks(ctx: Context) -> Iterator[MachineFinding]:
    rows = banks.list_banks(ctx)
    if good := [row for row in rows if not row.fault]:
        named = ", ".join(row.name for row in good)
        count = format_count(sum(row.questions for row in good), "question")
        yield MachineFinding("banks", f"{format_count(len(good), 'bank')} ({named}), {count}")
    for row in rows:
        if row.fault:
            where = f"{row.origin}: " if row.origin else ""
            yield _missing("bank", f"{where}{row.fault}", row.hint)


def _isolation() -> MachineFinding:
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
    refused = len(ACTS) - len(found.possible_acts)
    value = f"{found.level}: {refused} of {len(ACTS)} forbidden things were refused just now"
    if found.level == STRONG:
        return MachineFinding("isolation", value, rows=tuple(rows))
    trust = "grade only the code of people you trust on this machine"
    return MachineFinding("isolation", f"{value}; {trust}", rows=(*rows, trust), state="WEAK")
