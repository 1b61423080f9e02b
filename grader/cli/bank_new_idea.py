"""`drill bank new-idea`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grader.cli import entrypoint, output
from grader.cli.context import Id, Json, context


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
    from grader.app.new_idea import new_idea
    from grader.model.numerals import quantity
    from grader.reports.audit import audit_page
    from grader.reports.json import audit_to_json
    from grader.reports.sheet import harmless

    here = context(ctx)
    with output.waiting() as step:
        made = new_idea(here, question, results, group, name, progress=step)
    report = made.audited.report
    if json:
        output.document(
            question=question,
            group=made.outputs,
            files=made.answers,
            checks=made.checks,
            known=made.known,
            written=[made.program, made.spec],
            todo=made.line,
            audit=audit_to_json(report) if report else None,
        )
        return 0 if made.audited.ready(strict=False) else entrypoint.EXIT_BANK_FAULT
    files = quantity(made.answers, "file")
    output.write(f"{made.outputs}: {files}, stopped by {', '.join(made.checks)}")
    if made.known:
        output.write(f"the question knows {', '.join(made.known)}, which computes the same")
    output.write("\n" + "\n".join(f"  {line}" for line in harmless(made.text).splitlines()) + "\n")
    if report is not None:
        output.show(audit_page(report))
        output.write()
    output.write(here.near(made.program))
    output.write(f"{here.near(made.spec)}:{made.line}")
    output.info("a stranger wrote this: read it before you keep it in your bank")
    output.write(f"\nNext: read the program, and write the feedback of {name} where TODO stands")
    return 0 if made.audited.ready(strict=False) else entrypoint.EXIT_BANK_FAULT
