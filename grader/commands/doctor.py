"""`drill doctor`."""

from __future__ import annotations

from typing import Annotated

import typer

from grader.commands import output
from grader.commands.options import JsonOption, command_context, flag


def doctor(
    ctx: typer.Context,
    walls: Annotated[bool, flag("--walls", "List what a submission was refused just now.")] = False,
    json: JsonOption = False,
) -> int:
    """Show what this machine is ready for, and what is missing."""
    from grader.commands import machine_checks
    from grader.reports.blocks import Block, CodeBlock, Commands, Item, Paragraph
    from grader.reports.text_layout import REVERSE

    here = command_context(ctx)
    with output.show_status() as doing:
        doing("loading torch, starting a worker")
        found = machine_checks.examine_machine(here)
    status = max(finding.status for finding in found)
    ready = machine_checks.readiness(here, found)
    rows = [row for one in found for row in one.rows]
    if json:
        findings = [finding._asdict() | {"ok": finding.status == 0} for finding in found]
        output.write_json(ok=status == 0, ready=ready, findings=findings)
    elif walls:
        output.show_page([Paragraph(row, hang=9) for row in rows], paged=True)
    else:
        page: list[Block] = [Paragraph(ready)]
        for one in found:
            if one.state:  # something is missing: what, and what to do
                what = f"{one.name}: {one.value}"
                page.append(Paragraph(what, f"{one.state:<7}", REVERSE, indent=4, hang=8))
                page += [CodeBlock((one.advice,), 12)] * bool(one.advice)
            else:
                page.append(Item(one.value, f"{one.name:<10} ", 4))
        output.show_page([*page, *[Commands(("drill doctor --walls",))] * bool(rows)])
    return status
