"""`drill doctor`: check what grades need on this machine: torch, isolation, records and banks."""

from __future__ import annotations

import platform
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from grader import bank
from grader.commands import output
from grader.commands.bank_places import BankInUse, list_banks
from grader.commands.context import INSTALL_TORCH, Context, available_cores, torch_installed
from grader.commands.options import JsonOption, command_context, flag
from grader.model.errors import DrillError
from grader.model.number_format import format_count
from grader.model.version import __version__
from grader.records import events

if TYPE_CHECKING:
    from grader.reports.blocks import Block

_STATES = ("MISSING", "WEAK", "")  # in the order of the page
_TORCH_SECONDS = 60  # a cold import of torch from a slow disk takes half a minute
_ASK_TORCH = """
import torch
names = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
print(", ".join(names) if torch.cuda.is_available() else "")
"""


class MachineFinding(NamedTuple):
    """What was found about one thing that grades need, such as torch or the isolation."""

    name: str
    value: str
    advice: str = ""  # a command or a sentence, if something is missing
    status: int = 0  # the exit status of the command is at least this
    rows: tuple[str, ...] = ()  # lines that `--walls` lists
    state: str = ""  # MISSING or WEAK


def _readiness_text(banks: Sequence[BankInUse], findings: Sequence[MachineFinding]) -> str:
    """Return a sentence such as "Ready for 4 numpy questions and 1 torch question."."""
    usable = [Path(row.path) for row in banks if not row.fault]
    headers = bank.headers(usable) if usable else []
    missing = {finding.name for finding in findings if finding.state == "MISSING"}
    if "isolation" in missing:
        return "Ready for nothing: no worker can be started."
    ready: list[str] = []
    not_ready: list[str] = []
    for library in ("numpy", "torch"):
        count = sum(header.torch == (library == "torch") for header in headers)
        if count:
            text = format_count(count, f"{library} question")
            (not_ready if library in missing else ready).append(text)
    text = f"Ready for {' and '.join(ready) or 'no question'}"
    if not_ready:
        text += f"; not for {' and '.join(not_ready)}"
    return f"{text}."


def _versions() -> Iterator[MachineFinding]:
    """Yield findings on the versions, on the machine, and on torch and its GPUs."""
    from importlib import metadata

    versions = [f"drill {__version__}", f"python {platform.python_version()}"]
    for library in ("numpy", "torch"):
        with suppress(metadata.PackageNotFoundError):
            versions.append(f"{library} {metadata.version(library)}")
    yield MachineFinding("versions", ", ".join(versions))
    cores = format_count(available_cores(), "core")
    machine = (platform.platform(terse=True), platform.machine(), cores)
    yield MachineFinding("machine", ", ".join(machine))
    if torch_installed():
        yield _torch()
    else:
        value = "not installed; only some questions need it"
        yield _missing("torch", value, INSTALL_TORCH, status=0)


def _torch() -> MachineFinding:
    """Import torch in another process; return its GPUs, or why it does not load."""
    command = [sys.executable, "-I", "-c", _ASK_TORCH]
    try:
        gpu_names = subprocess.check_output(
            command, stderr=subprocess.PIPE, text=True, timeout=_TORCH_SECONDS
        )
    except subprocess.TimeoutExpired:
        fault = f"did not load within {_TORCH_SECONDS} s"
    except subprocess.CalledProcessError as error:
        fault = f"does not load: {(error.stderr.strip() or str(error)).splitlines()[-1]}"
    else:
        no_gpu = "none; memory is graded on the CPU, and what needs a GPU is skipped"
        return MachineFinding("GPU", gpu_names.strip() or no_gpu)
    return _missing("torch", fault, f'{sys.executable} -c "import torch"')


def _missing(name: str, value: str, advice: str, status: int = 2) -> MachineFinding:
    return MachineFinding(name, value, advice, status, state="MISSING")


def _isolation() -> MachineFinding:
    """Start a worker that tries everything a submission must not do; return what was refused."""
    from grader.sandbox.client import STRONG, WorkerClient
    from grader.sandbox.worker.walls.canary import ACTS

    try:
        with WorkerClient(torch=False) as worker:
            isolation = worker.isolation
    except DrillError as fault:
        return _missing("isolation", fault.message, fault.hint, fault.exit_status)
    rows = [f"{isolation.acts.get(act, 'done')} {words}" for act, words in ACTS.items()]
    rows += [f"no wall: {reason}" for reason in isolation.missing]
    refused = len(ACTS) - len(isolation.possible_acts)
    value = f"{isolation.level}: {refused} of {len(ACTS)} forbidden things were refused just now"
    if isolation.level == STRONG:
        return MachineFinding("isolation", value, rows=tuple(rows))
    trust = "grade only the code of people you trust on this machine"
    return MachineFinding("isolation", f"{value}; {trust}", rows=(*rows, trust), state="WEAK")


def _records(ctx: Context) -> MachineFinding:
    import tempfile

    folder = ctx.path_as_typed(ctx.data)
    try:
        ctx.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=ctx.data):
            grades = ctx.read(lambda db: events.count_attempts(db, kind="grade"), 0)
    except OSError as fault:
        value = f"{folder} cannot be written: {fault.strerror}; grades are not recorded"
        return _missing("records", value, "export DRILL_HOME=DIR")
    return MachineFinding("kept in", f"{folder}: {format_count(grades, 'grade')}")


def _banks(rows: Sequence[BankInUse]) -> Iterator[MachineFinding]:
    """Yield one finding on all usable banks, and one on each bank that cannot be used."""
    usable = [row for row in rows if not row.fault]
    if usable:
        names = ", ".join(row.name for row in usable)
        questions = format_count(sum(row.questions for row in usable), "question")
        value = f"{format_count(len(usable), 'bank')} ({names}), {questions}"
        yield MachineFinding("banks", value)
    for row in rows:
        if row.fault:
            origin = f"{row.origin}: " if row.origin else ""
            yield _missing("bank", f"{origin}{row.fault}", row.hint)


def doctor(
    ctx: typer.Context,
    walls: Annotated[bool, flag("--walls", "List what a submission was refused just now.")] = False,
    json: JsonOption = False,
) -> int:
    """Show what this machine is ready for, and what is missing."""
    from grader.reports.blocks import CodeBlock, Commands, Item, Paragraph
    from grader.reports.text_layout import REVERSE

    context = command_context(ctx)
    with output.show_status() as doing:
        doing("loading torch, starting a worker")
        banks = list_banks(context)
        findings = [*_versions(), _isolation(), _records(context), *_banks(banks)]
    findings.sort(key=lambda finding: _STATES.index(finding.state))
    status = max(finding.status for finding in findings)
    ready = _readiness_text(banks, findings)
    wall_rows = [row for finding in findings for row in finding.rows]
    if json:
        documents = [finding._asdict() | {"ok": finding.status == 0} for finding in findings]
        output.write_json(ok=status == 0, ready=ready, findings=documents)
    elif walls:
        output.show_page([Paragraph(row, hang=9) for row in wall_rows], paged=True)
    else:
        blocks: list[Block] = [Paragraph(ready)]
        for finding in findings:
            if not finding.state:
                blocks.append(Item(finding.value, f"{finding.name:<10} ", 4))
                continue
            text = f"{finding.name}: {finding.value}"
            blocks.append(Paragraph(text, f"{finding.state:<7}", REVERSE, indent=4, hang=8))
            if finding.advice:
                blocks.append(CodeBlock((finding.advice,), 12))
        if wall_rows:
            blocks.append(Commands(("drill doctor --walls",)))
        output.show_page(blocks)
    return status
