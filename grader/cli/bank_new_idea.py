"""`drill bank new-idea`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.cli import entrypoint, output
from grader.cli.context import Id, Json, context

if TYPE_CHECKING:
    from grader.app.context import Context
    from grader.app.new_idea import Found, Kept

SHOWN = 60  # lines of a program


def command(
    ctx: typer.Context,
    question: Id,
    group: Annotated[
        str, typer.Argument(metavar="GROUP", help="Its first digits.", show_default=False)
    ],
    results: Annotated[
        Path,
        typer.Option("--from", metavar="RESULTS", help="Of the class.", show_default=False),
    ],
    name: Annotated[
        str, typer.Option(metavar="NAME", help="What the idea is called.", show_default=False)
    ],
    json: Json = False,
) -> int:
    """Make a misconception of equal answers, and audit it."""
    from grader.app.new_idea import find, keep

    here = context(ctx)
    found = find(here, question, results, group)
    if not json:
        _show(found)
    with output.waiting() as step:
        kept = keep(here, found, name, progress=step)
    if json:
        _write_json(found, kept)
    else:
        _sum_up(here, kept, name)
    return 0 if kept.audited.ready(strict=False) else entrypoint.EXIT_BANK_FAULT


def _show(found: Found) -> None:
    from grader.model.numerals import quantity
    from grader.reports.inert import harmless

    different = quantity(found.programs, "different program")
    output.write(f"{found.outputs}: {quantity(found.answers, 'file')}, {different}")
    output.write(f"the shortest is {harmless(found.path)}, stopped by {', '.join(found.checks)}")
    if found.named:
        output.write(f"the question knows {', '.join(found.named)}, which computes the same")
    what = "what differs from the reference" if found.layered else "the whole program"
    output.write(f"{what}:\n")
    lines = harmless(found.text).splitlines()
    for line in lines[:SHOWN]:
        output.write(f"  {line}".rstrip())
    if len(lines) > SHOWN:
        output.write(f"  ... ({len(lines) - SHOWN} more lines)")
    output.write()
    output.info("a stranger wrote this: read it before you keep it in your bank")


def _sum_up(ctx: Context, kept: Kept, name: str) -> None:
    from grader.reports.audit import audit_page

    if kept.audited.report is not None:
        output.show(audit_page(kept.audited.report))
        output.write()
    output.write(ctx.near(kept.program))
    output.write(f"{ctx.near(kept.spec)}:{kept.todo}")
    output.write(f"\nNext: read the program, and write the feedback of {name} where TODO stands")


def _write_json(found: Found, kept: Kept) -> None:
    from grader.reports.json import audit_to_json

    output.document(
        question=found.question.id,
        group=found.outputs,
        files=found.answers,
        programs=found.programs,
        path=found.path,
        layered=found.layered,
        checks=found.checks,
        known=found.named,
        written=[kept.program, kept.spec],
        todo=kept.todo,
        audit=audit_to_json(kept.audited.report) if kept.audited.report else None,
    )
