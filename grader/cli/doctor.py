"""`drill doctor`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from grader.cli import output
from grader.cli.context import Json, context, flag
from grader.reports import sheet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.app.doctor import Finding


def doctor(
    ctx: typer.Context,
    walls: Annotated[bool, flag("--walls", "List what a submission was refused just now.")] = False,
    json: Json = False,
) -> int:
    """Show what this machine is ready for, and what is missing."""
    from grader.app import doctor

    here = context(ctx)
    with output.waiting() as doing:
        doing("loading torch, starting a worker")
        found = doctor.doctor(here)
    status = max(finding.status for finding in found)
    ready = doctor.readiness(here, found)
    rows = [row for one in found for row in one.rows]
    width = output.measure()
    if json:
        findings = [asdict(finding) | {"ok": finding.status == 0} for finding in found]
        output.document(ok=status == 0, ready=ready, findings=findings)
    elif walls:
        lines = (line for row in rows for line in sheet.wrapped(row, width, indent=" " * 9))
        output.lines(lines, paged=True)
    else:
        ending = [sheet.steps("drill doctor --walls")] if rows else []
        output.lines([ready, *(line for one in found for line in _lines(one, width)), *ending])
    return status


def _lines(one: Finding, width: int) -> Iterator[sheet.Line]:
    """A finding in two columns; what is missing in one, with what to do."""
    if not one.state:
        yield from sheet.wrapped(one.value, width, first=f"    {one.name:<10}  ")
        return
    start, *more = sheet.wrapped(f"{one.name}: {one.value}", width - 12)
    yield (("    ", ""), (one.state, sheet.REVERSE), (f"{' ' * (8 - len(one.state))}{start}", ""))
    yield from (f"{' ' * 12}{line}" for line in (*more, *filter(None, [one.advice])))
