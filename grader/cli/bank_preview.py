"""`drill bank preview`."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from grader.cli import entrypoint, output
from grader.cli.context import Id, Json, context


def command(
    ctx: typer.Context,
    question: Id,
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="A misconception of it, or starter.",
            show_default=False,
        ),
    ],
    variant: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Only this variant; every one if not given."),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", min=0, max=2**63 - 1, help="Of the cases.")] = 0,
    json: Json = False,
) -> int:
    """Show what somebody sees who holds a misconception."""
    from grader.app.previewing import preview
    from grader.model.report import Verdict

    here = context(ctx)
    pages = list(preview(here, question, name, variant=variant, seed=seed))
    if json:
        from grader.reports.json import to_json

        output.document(pages=[{"name": name, "report": to_json(one)} for name, one in pages])
    else:
        from grader.reports import grade

        words = f"drill bank preview {shlex.quote(question)} {name}{here.option}"
        for number, (label, report) in enumerate(pages):
            if number:
                output.write()
            output.heading(label)
            output.write()
            # The starter holds the idea that is previewed, and would keep it back.
            around = grade.Around(file="", explain=True, everything=f"{words} --json")
            output.show(grade.page(report, around), rows=around.rows)
    faulty = any(report.verdict is Verdict.INVALID for _, report in pages)
    return entrypoint.EXIT_BANK_FAULT if faulty else 0
