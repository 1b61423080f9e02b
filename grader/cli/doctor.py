"""`drill doctor`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from grader.cli import output
from grader.cli.context import Json, context
from grader.reports import sheet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.app.doctor import Finding

_NAME = 10  # columns of the name of a finding


def command(
    ctx: typer.Context,
    walls: Annotated[
        bool, typer.Option("--walls", help="List what a submission was refused just now.")
    ] = False,
    json: Json = False,
) -> int:
    """Show what this machine is ready for, and what is missing."""
    from grader.app import doctor

    here = context(ctx)
    with output.waiting() as step:
        step("loading torch, starting a worker")
        found = doctor.doctor(here)
    status = max(finding.status for finding in found)
    ready = doctor.readiness(here, found)
    if json:
        rows = [asdict(finding) for finding in found]
        output.document(
            ok=status == 0,
            ready=ready,
            findings=[row | {"ok": row.pop("status") == 0} for row in rows],
        )
        return status
    rejected = [row for one in found for row in one.rows]
    if walls:
        output.lines(
            (
                line
                for row in rejected
                for line in sheet.wrapped(row, output.measure(), indent=" " * 9)
            ),
            paged=True,
        )
        return status
    output.lines([ready, *(line for one in found for line in _lines(one))])
    if rejected:
        output.lines([sheet.steps("drill doctor --walls")])
    return status


def _lines(one: Finding) -> Iterator[sheet.Line]:
    """A finding in two columns; what is missing in one, with what to do."""
    if not one.state:
        first = f"    {sheet.padded(one.name, _NAME)}  "
        yield from sheet.wrapped(one.value, output.measure(), first=first)
        return
    start, *more = sheet.wrapped(f"{one.name}: {one.value}", output.measure() - 12)
    yield (("    ", ""), (one.state, sheet.REVERSE), (f"{' ' * (8 - len(one.state))}{start}", ""))
    yield from (f"{' ' * 12}{line}" for line in more)
    if one.advice:
        yield f"{' ' * 12}{one.advice}"
